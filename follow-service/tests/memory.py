"""A Cache and Pages in memory, in which nothing expires: what the Lua scripts do, said a second time."""

import itertools
from dataclasses import dataclass, field

from follow_service.cache import BUSY, MOST, MOST_NOTED, SLACK, Fill, Kind, Known, Newest
from follow_service.kept_pages import MOST as MOST_PAGES
from follow_service.kept_pages import Opened
from follow_service.lists import Row
from murmuration_runtime.errors import RedisAwayError


@dataclass
class Kept:
    """A list that is kept, or the mark of who fills it."""

    edition: str
    filling: bool = True
    whole: bool = True
    at: dict = field(default_factory=dict)

    def newest(self):
        return sorted(self.at.items(), key=lambda each: each[::-1], reverse=True)


class MemoryCache:
    """The Cache."""

    def __init__(self):
        self.states, self.lists, self.noted = {}, {}, {}
        self._tokens = itertools.count()

    def look(self, viewer_id, user_ids):
        states = {each: self.states[each] for each in user_ids if each in self.states}
        kept = {kind: self._warm(kind, viewer_id) for kind in (Kind.BLOCKING, Kind.BLOCKED)}
        if not all(kept.values()):
            return Known(states, set(), set())
        blocking, blocked = kept.values()
        there = {(viewer_id, each) for each in user_ids if each in blocking.at}
        back = {(each, viewer_id) for each in user_ids if each in blocked.at}
        certain = {
            each
            for each in user_ids
            if (blocking.whole or each in blocking.at) and (blocked.whole or each in blocked.at)
        }
        return Known(states, there | back, certain)

    def newest(self, kind, owner_id, most):
        kept = self._warm(kind, owner_id)
        if kept is None:
            return None
        rows = [Row(*each) for each in kept.newest()]
        return Newest(rows[:most], kept.whole and len(rows) <= most)

    def keep(self, states):
        self._put(states)

    def tell(self, states):
        self._put(states)

    def begin(self, kind, owner_id):
        if (kind, owner_id) in self.lists:
            return None
        token = f"t{next(self._tokens)}"
        self.lists[kind, owner_id] = Kept(token)
        return Fill(token, [*self.noted.get((kind, owner_id), ())])

    def commit(self, kind, owner_id, fill, newest):
        mark = self.lists.get((kind, owner_id))
        if not mark or not mark.filling or mark.edition != fill.token:
            return False
        at = {row.user_id: row.at for row in newest.rows}
        self.lists[kind, owner_id] = Kept(fill.token, filling=False, whole=newest.whole, at=at)
        return True

    def note(self, edition, changes):
        found = []
        for each in changes:
            noted = self.noted.setdefault(each[:2], {})
            noted.pop(each.user_id, None)
            noted[each.user_id] = True
            for oldest in [*noted][:-MOST_NOTED]:
                del noted[oldest]
            if kept := self._warm(*each[:2]):
                kept.edition = edition
                found.append(each)
            elif len(noted) < BUSY:
                self.lists.pop(each[:2], None)
            elif each[:2] in self.lists:
                self.lists[each[:2]].edition = None
        return found

    def agree(self, edition, found):
        for each, at in found.items():
            kept = self._warm(*each[:2])
            if kept is None:
                continue
            if kept.edition != edition:
                del self.lists[each[:2]]
            elif at is None:
                kept.at.pop(each.user_id, None)
            elif kept.whole or (kept.at and at > min(kept.at.values())):
                kept.at[each.user_id] = at
            if len(kept.at) > MOST + SLACK:
                kept.at, kept.whole = dict(kept.newest()[:MOST]), False

    def _warm(self, kind, owner_id):
        kept = self.lists.get((kind, owner_id))
        return None if kept is None or kept.filling else kept

    def _put(self, states):
        for each in states:
            kept = self.states.get(each.user_id)
            if kept is None or each.version > kept.version:
                self.states[each.user_id] = each


class MemoryPages:
    """The Pages; `now` (ms) is their clock."""

    def __init__(self):
        self.readers, self.noted, self.told, self.now, self.is_away = {}, {}, [], 1_000_000, False
        self._marks = itertools.count()

    def open(self, user_id, asked):
        self._check()
        mark, pages = self.readers.setdefault(user_id, (f"m{next(self._marks)}", {}))
        return Opened(self.now, mark, pages.get(asked))

    def commit(self, user_id, asked, mark, text):
        self._check()
        stands, pages = self.readers.get(user_id, (None, {}))
        if stands == mark and (asked in pages or len(pages) < MOST_PAGES):
            pages[asked] = text

    def drop(self, user_ids):
        self._check()
        for user_id in user_ids:
            self.readers.pop(user_id, None)

    def note_gone(self, user_ids):
        self._check()
        self.noted |= dict.fromkeys(user_ids, self.now)

    def gone(self, since):
        self._check()
        told = sorted(((who, at) for who, at in self.noted.items() if at >= since), key=lambda each: each[1])
        self.told += told[:2]
        return self.now, told[:2]

    def _check(self):
        if self.is_away:
            raise RedisAwayError("this test has taken it away")
