"""One kind of timeline in Redis: the home timelines, or the authors' own. What is read, and what is built.

Rule of a rebuild: first `begin` leaves a marker, then everything is read from the database, then `commit` replaces the
marker by the timeline, and fails if it is gone. A tweet that arrives after the marker lands above it and is merged in;
one that arrived before it is among its author's recent ones. A follow that changes after the marker flags it with "~",
and `commit` fails until `renew` has taken the flags off, before the follows are read again; one that changed before is
in the table, and in `noted` where the index lags. A marker that is not renewed is gone after seconds.

Rule of a replacement: a warm timeline serves while another is built from the database. The new one takes its place if
no follow has changed since the old one was loaded, which the edition tells; ids that the old one has got since are
merged in. So `load` comes first, then the database is read.
"""

import random
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf

from murmuration_runtime.errors import RedisAwayError
from murmuration_runtime.redis_nodes import Argument, Item, Nodes
from murmuration_timelines import layout
from murmuration_timelines.heads import Head, ages, next_look, read_head
from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.merge import Timeline
from murmuration_timelines.scripts import BEGIN, COMMIT, DUE, LOAD, RENEW, REPLACE
from murmuration_timelines.shown import Shown


@dataclass(frozen=True)
class Held:
    """A warm timeline that a reader holds, how many ids of it they asked for (inf: all), and its state in Redis."""

    timeline: Timeline
    asked: float
    state: str


class CachedTimelines:
    """Safe among threads."""

    def __init__(
        self,
        nodes: Nodes,
        version: str,
        keys: Callable[[str], Item],
        lifetime: Callable[[], int],
        now: Callable[[], float] = time.time,
    ) -> None:
        """Take how the keys of an owner are named, and for how many seconds a timeline lives that is built now."""
        self._nodes = nodes
        self._version = version
        self._keys = keys
        self._lifetime = lifetime
        self._now = now

    def load(self, owner_ids: Iterable[str], count: int | None = None, *, renew: bool = True) -> dict[str, Timeline]:
        """Return the warm ones, with all of their ids or so many of the newest."""
        found = self.look(dict.fromkeys(owner_ids), count, renew=renew)
        return {owner_id: one.timeline for owner_id, one in found.items() if one}

    def look(
        self, held: Mapping[str, Held | None], count: int | None = None, *, renew: bool = True
    ) -> dict[str, Held | None]:
        """Return timelines as they are now, with all ids or so many of the newest; None for each that is cold.

        A held one that has not changed since comes back as it is, maybe with more ids. Those on nodes that do not
        answer are left out, as long as one node does. renew: a read lets them live on; False if nobody reads them.
        """
        owners = {
            (*self._keys(owner_id), one.state if one and one.asked >= (count or inf) else ""): owner_id
            for owner_id, one in held.items()
        }
        with self._nodes.errors_named():
            answers = self._nodes.gather(LOAD, (self._version, count or 0), [*owners], whole=False)
        found: dict[str, Held | None] = {}
        for items, answer in answers:
            for item, said in zip(items, answer, strict=True):
                owner_id = owners[item]
                if not said:
                    found[owner_id] = None
                    continue
                left, *changed = said
                was = held[owner_id]
                if changed:
                    was = Held(_timeline(*changed, was=was), count or inf, changed[1].decode())
                found[owner_id] = was
                if renew:
                    self._prolong(item, left)
        return found

    def begin(self, owner_id: str) -> str | None:
        """Mark a rebuild and return its token; None if the timeline is warm already, or another rebuild is on."""
        token = uuid.uuid4().hex
        args = (self._version, token, layout.REBUILD_SECONDS)
        with self._nodes.errors_named():
            begun = self._nodes.call(BEGIN, self._keys(owner_id), args)
        return token if begun else None

    def renew(self, owner_id: str, token: str, *, look_again: bool = False) -> bool:
        """Let the marker live on; False if it is gone. look_again: takes its "~" off: the follows are read again."""
        args = (self._version, token, layout.REBUILD_SECONDS, int(look_again))
        with self._nodes.errors_named():
            return bool(self._nodes.call(RENEW, self._keys(owner_id)[:1], args))

    def commit(self, owner_id: str, token: str, timeline: Timeline) -> bool:
        """Put the timeline in its place, among what arrived; False if a follow changed, or the marker is gone."""
        args: list[Argument] = [self._version, token, *self._ages(), timeline.shown.digests]
        args += _down_to_floor(timeline)
        with self._nodes.errors_named():
            return bool(self._nodes.call(COMMIT, self._keys(owner_id), args))

    def replace(self, owner_id: str, was: Timeline, timeline: Timeline) -> bool:
        """Put the timeline in place of the warm one that was loaded; False if that is cold, or of another edition."""
        if was.head is None:
            return False
        args: list[Argument] = [self._version, was.head.edition, *self._ages(), timeline.shown.digests]
        args += [len(was.ids), *was.ids, *_down_to_floor(timeline)]
        with self._nodes.errors_named():
            return bool(self._nodes.call(REPLACE, self._keys(owner_id), args))

    def take_turn(self, owner_id: str, head: Head) -> bool:
        """Put off the next look at a warm timeline that is due; False if another does that, or it changed meanwhile."""
        new = head.due_at(next_look(self._now(), random.random()))
        with self._nodes.errors_named():
            return bool(self._nodes.call(DUE, self._keys(owner_id)[1:2], (head.text, new)))

    def _ages(self) -> tuple[int, str]:
        """Return for how long it lives what is built now, and what its head says of its age."""
        return self._lifetime(), ages(self._now(), random.random())

    def _prolong(self, keys: Item, left: int) -> None:
        """Let a timeline that is read live on; but not what was built right after a node lost its data."""
        if layout.PROVISIONAL_SECONDS < left < layout.RENEWED_SECONDS:
            with suppress(RedisAwayError), self._nodes.errors_named():  # the next read tries again
                for key in keys[:2]:
                    self._nodes.command("EXPIRE", key, layout.TIMELINE_SECONDS)


def _timeline(ids: bytes, _state: bytes, shown: bytes = b"", *, was: Held | None) -> Timeline:
    """Read what was sent; whom it shows is not sent if that is what it was."""
    down = ids.decode().split(" ")
    if shown or not was:
        head, _, digests = shown.partition(b" ")
        known: tuple[Shown, Head | None] = Shown(digests), read_head(head.decode())
    else:
        known = was.timeline.shown, was.timeline.head
    return Timeline(down[:-1] if down[-1] == BEGINNING else down, down[-1], *known)


def _down_to_floor(timeline: Timeline) -> Sequence[str]:
    """Return the ids, and the floor behind them unless it is the last of them."""
    ids = timeline.ids
    return ids if ids and ids[-1] == timeline.floor else [*ids, timeline.floor]
