"""Pages that are kept: what Pages promise, in memory and on Redis; and that no page outlives what it rests on."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts import FollowChanged, Source, Tombstone, UserChanged
from follow_service import keeper, kept_pages
from follow_service.cache import Kind, Newest, State
from follow_service.kept_pages import MOST, Answered, Asked, KeptPages, from_text, hiding, pages_key, to_text
from follow_service.kept_topics import PARTITIONS, SETTLED
from follow_service.redis_cache import RedisCache
from follow_service.redis_pages import RedisPages
from follow_service.redis_reset import forget_all
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.redis_nodes import Nodes
from murmuration_runtime.redis_settled import RedisSettled
from murmuration_suggested.layout import ONLINE, ONLINE_SECONDS

from .memory import MemoryCache, MemoryPages
from .redis_kinds import KINDS, as_follow_service, kept_in

FIRST = Asked("20261119T010000Z", "", 20)
SOURCE = Source("shard-1", 1)


@pytest.fixture(params=KINDS)
def pages(request):
    with kept_in(request, MemoryPages, RedisPages) as pages:
        yield pages


def answer(*named, source="run", suggested=None):
    count = len(named) if suggested is None else suggested
    return Answered('{"users": [], "next_cursor": null}', None, source, named, count)


def test_a_page_is_kept_while_its_mark_stands(pages, ana):
    """It is that reader's, and of what they asked."""
    opened = pages.open(ana, FIRST)
    assert opened.text is None
    pages.commit(ana, FIRST, opened.mark, "7 page")
    again = pages.open(ana, FIRST)
    assert (again.text, again.mark) == ("7 page", opened.mark)
    assert again.now >= opened.now > 0
    for user_id, asked in ((ana, FIRST._replace(limit=19)), (ana, FIRST._replace(run="")), (f"{ana}-2", FIRST)):
        assert pages.open(user_id, asked).text is None


def test_what_is_dropped_is_gone_and_so_is_a_page_that_was_being_looked_up(pages, ana):
    """Whoever read before the change keeps nothing after it; one who reads after it does."""
    late = pages.open(ana, FIRST)
    pages.commit(ana, FIRST, late.mark, "7 page")
    pages.drop([ana, f"{ana}-2"])
    pages.commit(ana, FIRST, late.mark, "7 page")
    anew = pages.open(ana, FIRST)
    assert anew.text is None
    pages.commit(ana, FIRST, late.mark, "7 page")
    assert pages.open(ana, FIRST).text is None
    pages.commit(ana, FIRST, anew.mark, "8 page")
    assert pages.open(ana, FIRST).text == "8 page"


def test_of_one_reader_a_few_pages_are_kept(pages, ana):
    """Whoever asks for all there are takes no more memory than others."""
    for limit in range(1, MOST + 10):
        asked = Asked("", "", limit)
        pages.commit(ana, asked, pages.open(ana, asked).mark, "7 page")
    kept = [limit for limit in range(1, MOST + 10) if pages.open(ana, Asked("", "", limit)).text]
    assert kept == [*range(1, MOST + 1)]
    asked = Asked("", "", MOST)
    pages.commit(ana, asked, pages.open(ana, asked).mark, "8 page")
    assert pages.open(ana, asked).text == "8 page"


def test_who_is_gone_is_known_since_when(pages, ana):
    """Also to who asks only for the last ones."""
    pages.note_gone([f"{ana}-0", f"{ana}-1"])
    (one, other) = (each for each in pages.gone(0)[1] if each[0].startswith(ana))
    assert {one[0], other[0]} == {f"{ana}-0", f"{ana}-1"}
    assert one in pages.gone(one[1])[1]
    assert one not in pages.gone(other[1] + 1)[1]


@given(st.lists(st.sampled_from(["change", "event", "ask", "read", "commit"]), max_size=40))
@settings(max_examples=300, deadline=None)
def test_a_page_that_is_kept_when_all_is_heard_is_what_the_tables_say(doings):
    """Whatever changed while it was looked up, however many looked, and however late they kept it."""
    in_redis, version, queue, looks = MemoryPages(), 0, [], []
    pages = KeptPages(in_redis, lambda: True)
    for what in doings:
        if what == "change":
            version += 1
            queue.append(FollowChanged("e", SOURCE, "ana", "bob", following=True))
        elif what == "event" and queue:
            keeper.apply(MemoryCache(), in_redis, None, [queue.pop(0)], 0)
        elif what == "ask":
            looks.append([in_redis.open("ana", FIRST), None])
        elif what == "read":
            for look in looks:
                look[1] = version if look[1] is None else look[1]
        elif what == "commit" and looks and looks[0][1] is not None:
            opened, found = looks.pop(0)
            in_redis.commit("ana", FIRST, opened.mark, to_text(opened.now, Answered(str(found), None, "run", (), 0)))
    for event in queue:
        keeper.apply(MemoryCache(), in_redis, None, [event], 0)
    assert pages.answer("ana", FIRST, lambda: Answered(str(version), None, "run", (), 0)).body == str(version)


@pytest.mark.parametrize("gone", ["s01", "friend"])
def test_a_page_that_names_somebody_who_left_is_looked_up_anew(gone):
    """In a process that heard of it, whoever's page it is; and then it is kept again."""
    in_redis, looks = MemoryPages(), []
    pages = KeptPages(in_redis, lambda: True)

    def look():
        looks.append(in_redis.now)
        return answer(*({"s01", "friend"} - ({gone} if len(looks) > 1 else set())))

    for _ in range(2):
        pages.answer("ana", FIRST, look)
    assert len(looks) == 1
    in_redis.now += 60_000
    for who in ("a", "b", gone, "c", "d"):  # more than are read at once
        in_redis.now += 1
        keeper.apply(MemoryCache(), in_redis, None, [Tombstone("e", SOURCE, who, 9)], 0)
    pages.refresh()
    for _ in range(2):
        pages.answer("ana", FIRST, look)
    assert len(looks) == 2


@pytest.mark.parametrize(("hidden", "looked_up"), [("s01", 2), ("friend", 1)])
def test_who_hides_is_suggested_to_nobody_and_may_be_a_reason(hidden, looked_up):
    """Each change of their counts says it again: else who follows a hidden celebrity would have no page kept."""
    in_redis, looks = MemoryPages(), []
    pages = KeptPages(in_redis, lambda: True)

    def look():
        looks.append(1)
        return answer("s01", "friend", suggested=1)

    pages.answer("ana", FIRST, look)
    in_redis.note_gone([hiding(hidden)])
    pages.refresh()
    pages.answer("ana", FIRST, look)
    assert len(looks) == looked_up


def test_who_was_gone_before_a_page_was_looked_up_does_not_concern_it():
    """Somebody who wants to be found again, say."""
    in_redis, looks = MemoryPages(), []
    pages = KeptPages(in_redis, lambda: True)
    in_redis.note_gone(["s01"])
    in_redis.now += 60_000
    pages.refresh()
    for _ in range(2):
        pages.answer("ana", FIRST, lambda: looks.append(1) or answer("s01"))
    assert len(looks) == 1


@pytest.mark.parametrize(("seconds_ago", "noted"), [(0, True), (kept_pages.SECONDS, True), (86_400, False)])
def test_what_is_read_again_from_the_start_of_a_topic_is_not_noted(seconds_ago, noted):
    """Each page that is kept was looked up since: else all who ever left or hid would be told to every process."""
    in_redis, now = MemoryPages(), 1_700_000_000_000
    left = UserChanged("e", SOURCE, "ana", 2, None, False, False, 0, 0, 1, 2, now - seconds_ago * 1000)
    keeper.apply(MemoryCache(), in_redis, None, [left], now)
    assert ("ana" in in_redis.noted) == noted


def test_each_who_is_gone_is_told_to_a_process_once_and_then_forgotten():
    """However quiet it is after many of them."""
    in_redis = MemoryPages()
    pages = KeptPages(in_redis, lambda: True)
    in_redis.note_gone(["s01", "s02"])
    pages.refresh()
    in_redis.now += kept_pages.CLOCKS_MS + 1
    pages.refresh()
    in_redis.told.clear()
    pages.refresh()
    assert not in_redis.told
    in_redis.now += (kept_pages.GONE_SECONDS + kept_pages.FORGET_SECONDS) * 1000
    pages.refresh()
    assert not pages._gone  # noqa: SLF001 (memory that nothing else shows)


def test_what_was_made_online_is_shown_for_a_minute():
    """As the list that it was made from."""
    in_redis, looks = MemoryPages(), []
    pages = KeptPages(in_redis, lambda: True)
    for later, times in ((0, 1), (ONLINE_SECONDS * 1000, 1), (1, 2)):
        in_redis.now += later
        pages.answer("ana", FIRST, lambda: looks.append(1) or answer("s01", source=ONLINE))
        assert len(looks) == times


def test_who_asks_while_a_page_is_looked_up_waits_for_that_look():
    """Else a page that many ask for is looked up by all of them, and stores drown."""
    begun, go_on, looks = threading.Event(), threading.Event(), []
    pages = KeptPages(MemoryPages(), lambda: True)

    def look():
        looks.append(1)
        begun.set()
        assert go_on.wait(30)
        return answer("s01")

    with ThreadPoolExecutor(4) as threads:
        asking = [threads.submit(pages.answer, "ana", FIRST, look) for _ in range(4)]
        assert begun.wait(30)
        go_on.set()
        found = [each.result().body for each in asking]
    assert len(found) == 4
    assert len(looks) == 1


@pytest.mark.parametrize("in_redis", [MemoryPages(), None])
def test_nobody_waits_for_a_look_that_cannot_be_kept(in_redis):
    """While the keeper stands still everybody's pages are looked up: waiting would only add to it."""
    pages = KeptPages(in_redis, lambda: False)

    def look():
        return pages.answer("ana", FIRST, lambda: answer("s01"))  # asked meanwhile: a lock would wait for itself

    assert pages.answer("ana", FIRST, look).named == ("s01",)


def test_pages_are_dropped_before_a_table_is_asked():
    """They are right at once, however long the tables are silent."""
    in_redis, cache = MemoryPages(), MemoryCache()
    pages = KeptPages(in_redis, lambda: True)
    pages.answer("ana", FIRST, lambda: answer("s01"))
    event = FollowChanged("e", SOURCE, "ana", "s01", following=True)
    with (
        patch.object(cache, "note", side_effect=StoreAwayError("silence")),
        pytest.raises(StoreAwayError),
    ):
        keeper.apply(cache, in_redis, None, [event], 0)
    assert pages.answer("ana", FIRST, lambda: answer("s02")).named == ("s02",)


def test_a_redis_that_is_away_is_done_without():
    """Each page is looked up, and what could not be dropped is when it is back; without one there is nothing to do."""
    in_redis, looks = MemoryPages(), []
    for pages in (KeptPages(in_redis, lambda: True), KeptPages(None, bool)):
        in_redis.is_away = True
        for _ in range(2):
            pages.answer("ana", FIRST, lambda: looks.append(1) or answer("s01"))
        pages.drop("ana")
        in_redis.is_away = False
        pages.refresh()
    assert len(looks) == 4


@given(st.integers(0), st.lists(st.sampled_from(["a", "b:c", "d|e"])), st.sampled_from([None, "c"]))
def test_a_page_is_read_as_it_was_written(looked_at, named, rest):
    page = Answered('{"users": []}', rest, "run", named, len(named) // 2)
    assert from_text(to_text(looked_at, page)) == (looked_at, page)


@pytest.mark.stack(shared=False)
def test_nothing_kept_lives_for_ever(single, ana):
    """Nor does another page, or a note, let it live longer."""
    with closing(Nodes(single.url, 2, 2)) as nodes:
        real = RedisPages(nodes)
        mark = real.open(ana, FIRST).mark
        assert 0 < single.redis.ttl(pages_key(ana)) <= kept_pages.SECONDS
        single.redis.expire(pages_key(ana), 100)
        real.commit(ana, FIRST, mark, "7 page")
        real.open(ana, FIRST._replace(limit=3))
        assert 0 < single.redis.ttl(pages_key(ana)) <= 100
        single.redis.zadd(kept_pages.GONE, {f"{ana}-long-ago": 1})
        real.note_gone([ana])
        assert [who for who, _ in real.gone(0)[1] if who.startswith(ana)] == [ana]
        assert 0 < single.redis.ttl(kept_pages.GONE) <= kept_pages.GONE_SECONDS


@pytest.mark.stack(shared=False)
@pytest.mark.parametrize("kind", ["single", "cluster"])
def test_after_events_were_lost_nothing_that_is_kept_is_shown(request, kind, ana):
    """Profiles, lists and pages, and what was being looked up; what is no such key stays."""
    with closing(Nodes(request.getfixturevalue(kind).url, 2, 2)) as nodes:
        pages, cache, beats = RedisPages(nodes), RedisCache(nodes), []
        opened = pages.open(ana, FIRST)
        pages.commit(ana, FIRST, opened.mark, "7 page")
        cache.keep([State(ana, 1, None)])
        for each in Kind:
            cache.commit(each, ana, cache.begin(each, ana), Newest([], whole=True))
        late = cache.begin(Kind.FOLLOWING, f"{ana}-2")
        pages.note_gone([ana])
        forget_all(nodes, lambda: beats.append(1))
        assert pages.open(ana, FIRST).text is None
        assert cache.look("viewer", [ana]).states == {}
        assert {cache.newest(each, ana, 1) for each in Kind} == {None}
        assert not cache.commit(Kind.FOLLOWING, f"{ana}-2", late, Newest([], whole=True))
        assert ana in dict(pages.gone(0)[1])
        assert beats


@pytest.mark.stack(shared=False)
def test_the_user_of_the_acl_file_may_do_all_of_this(single, ana):
    with as_follow_service(single) as nodes:
        pages, settled = RedisPages(nodes), RedisSettled(nodes, SETTLED, PARTITIONS)
        opened = pages.open(ana, FIRST)
        pages.commit(ana, FIRST, opened.mark, "7 page")
        pages.note_gone([ana])
        assert ana in dict(pages.gone(opened.now - 1)[1])
        settled.write(dict.fromkeys(PARTITIONS, 7))
        assert settled.until() == 7
        forget_all(nodes, int)
        assert pages.open(ana, FIRST).text is None
        pages.drop([ana])
