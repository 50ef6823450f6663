"""What a timeline is, without any store."""

from hypothesis import given
from hypothesis import strategies as st

from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.merge import TOP, Run, incomplete, older, union

tweet_id = st.integers(10**18, 10**18 + 200).map(str)
everything = st.sets(tweet_id, max_size=60)


@st.composite
def sources(draw):
    """Some authors' ids, and of each a run: complete from the top to somewhere."""
    owned = draw(st.lists(everything, min_size=1, max_size=5))
    floors = [draw(st.sampled_from([BEGINNING, *ids])) for ids in owned]
    return owned, [
        Run(sorted((i for i in ids if i >= floor), reverse=True), floor)
        for ids, floor in zip(owned, floors, strict=True)
    ]


@given(sources(), st.one_of(tweet_id, st.just(TOP)), st.one_of(st.none(), st.integers(1, 20)))
def test_a_union_is_complete_down_to_its_floor(drawn, below, count):
    """Whatever lies between the cursor and the floor is there, once, newest first; nothing else is."""
    owned, runs = drawn
    run = union(runs, below, count)
    whole = sorted({i for ids in owned for i in ids if i < below and i >= run.floor}, reverse=True)
    assert run.ids == whole
    assert len(run.ids) == count or run.floor == max(one.floor for one in runs)


@given(sources(), st.integers(1, 20))
def test_who_is_not_incomplete_need_not_be_read_on(drawn, count):
    """Reading on where those are who are incomplete, step by step, gives the newest ids of all."""
    owned, first = drawn
    runs = {str(n): run for n, run in enumerate(first)}
    while late := incomplete(runs, count):
        for name, floor in late.items():
            rest = sorted((i for i in owned[int(name)] if i < floor), reverse=True)
            runs[name] = Run([*runs[name].ids, *rest[:2]], rest[1] if len(rest) > 1 else BEGINNING)
    whole = sorted({i for ids in owned for i in ids}, reverse=True)
    assert union(runs.values(), count=count).ids == whole[:count]


@given(everything, st.one_of(tweet_id, st.just(TOP)))
def test_a_cursor_cuts_by_id_never_by_place(ids, cursor):
    """Whatever was inserted above since, the next page begins where the last one ended."""
    descending = sorted(ids, reverse=True)
    assert older(descending, cursor) == [i for i in descending if i < cursor]
