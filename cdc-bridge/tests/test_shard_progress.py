"""What to do with a page: everything once, in order, and a checkpoint only behind what it covers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdc_bridge.leases import Progress
from cdc_bridge.lineage import CLOCKS_MS, RETENTION_MS, State
from cdc_bridge.pages import FULL_PAGE, GapError, Page, TrimmedError
from cdc_bridge.shard_progress import (
    COARSE_MS,
    Checkpoint,
    Finished,
    Opened,
    Publish,
    Refusals,
    Tip,
    TooLateError,
    Verdict,
    check_beginning,
    judge,
    plan,
    position_of,
)

from .records import edge, record

NOW = 100 * RETENTION_MS
OVERDUE_MS = RETENTION_MS - CLOCKS_MS  # two clocks may differ
SINCE = NOW - 600_000


def records(count, first=1, created_at=NOW):
    made = [record(None, edge(), sequence=n) for n in range(first, first + count)]
    for one in made:
        one["dynamodb"]["ApproximateCreationDateTime"] = created_at // 1000
    return made


def messages(made):
    """Make something of two records in three, two messages of one of them: the others concern nobody."""
    number = int(position_of(made))
    return [f"{number}.{n}" for n in range(number % 3)]


def progress(state, position=None, tip_at=0):
    return Progress(state, position, SINCE, tip_at)


def planned(page, state, position=None, refusals=None):
    return list(plan(page, progress(state, position), position, NOW, refusals or Refusals(), messages))


STATES = st.sampled_from([(State.LEFT, None), (State.OPENED, None), (State.READING, "3")])


@given(STATES, st.integers(0, 12), st.booleans(), st.booleans())
def test_a_checkpoint_comes_behind_what_it_covers_and_the_end_behind_all(begun, count, last, one_by_one):
    """Whoever stops between any two actions has checkpointed nothing that he has not published."""
    state, position = begun
    page = Page(records(count, first=4), last)
    actions = planned(page, state, position, Refusals(one_by_one))
    covers = {position_of(one): n for n, one in enumerate(page.records, 1)}
    sent = []
    for n, action in enumerate(actions):
        match action:
            case Publish():
                assert not one_by_one or (len(action.records), len(action.messages)) == (1, 1)
                assert not one_by_one or action.messages == [messages(action.records[0])[action.number]]
                sent += action.messages
            case Checkpoint(covered):
                assert sent == [made for one in page.records[: covers[covered]] for made in messages(one)]
            case Opened():
                assert state is State.LEFT
                assert not page.records
            case Finished():
                assert n == len(actions) - 1
    assert sent == [made for one in page.records for made in messages(one)]
    assert (Finished() in actions) == last
    checkpoints = [action.position for action in actions if isinstance(action, Checkpoint)]
    assert checkpoints[-1:] == [position_of(one) for one in page.records][-1:]


def test_what_is_checkpointed_is_not_published_again():
    """A shard whose checkpoint was trimmed is read from its oldest record on, which may lie before it."""
    [published, *_] = planned(Page(records(4), last=False), State.READING, f"{2:021}")
    assert published.records == records(2, first=3)


@given(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5))
def test_at_a_first_start_with_latest_only_the_old_records_at_the_beginning_are_skipped(old, new, older):
    """A record's time is coarse, and another machine's."""
    long_ago = SINCE - COARSE_MS - 1000
    page = Page([*records(old, 1, long_ago), *records(new, 10), *records(older, 20, long_ago)], last=False)
    actions = planned(page, State.SKIPPING)
    published = [one for action in actions if isinstance(action, Publish) for one in action.records]
    assert published == (list(page.records[old:]) if new else [])
    if not new and page.records:
        assert actions[-1] == Checkpoint(position_of(page.records[-1]))


@pytest.mark.parametrize(("count", "last"), [(0, False), (1, False), (FULL_PAGE, False), (1, True)])
def test_until_when_a_shard_is_published(count, last):
    """As far as its pages prove, and only behind their records; see test_tips.py."""
    actions = planned(Page(records(count, 4, SINCE), last), State.READING, "3")
    assert [action for action in actions if isinstance(action, Tip)] == [Tip(NOW)]
    assert count == 0 or actions.index(Tip(NOW)) > actions.index(Checkpoint(f"{count + 3:021}"))


def test_the_end_of_a_shard_without_records_is_no_tip():
    """It may have closed long ago, and its child been written to ever since."""
    assert planned(Page([], last=True), State.READING, "3") == [Finished()]


class TestGaps:
    @pytest.mark.parametrize("state", [State.OPENED, State.LEFT, State.SKIPPING])
    def test_a_shard_must_be_begun_in_time(self, state):
        """The stream gives what is left without a word; what was before it, nobody can know."""
        check_beginning(progress(state), SINCE + OVERDUE_MS - 1)
        check_beginning(progress(state, tip_at=SINCE + 1), SINCE + OVERDUE_MS)
        check_beginning(progress(State.READING, "3"), SINCE + OVERDUE_MS)
        with pytest.raises(TooLateError, match="not begun in time"):
            check_beginning(progress(state), SINCE + OVERDUE_MS)

    @pytest.mark.parametrize(
        ("error", "since_tip", "from_oldest", "verdict"),
        [
            (TrimmedError, OVERDUE_MS - 1, False, Verdict.QUIET),
            (TrimmedError, OVERDUE_MS, False, Verdict.LOST),  # something may have come after its tip
            (TrimmedError, OVERDUE_MS - 1, True, Verdict.LOST),  # the oldest record is refused, too
            (GapError, OVERDUE_MS - 1, False, Verdict.LOST),  # no such shard, or no such sequence number
            (TooLateError, OVERDUE_MS - 1, False, Verdict.LOST),
        ],
    )
    def test_a_quiet_shard_outlives_its_last_record(self, error, since_tip, from_oldest, verdict):
        """Its checkpoint is trimmed though nothing is lost: all up to its tip is published, and the rest is kept."""
        quiet = progress(State.READING, "3", tip_at=NOW - since_tip)
        assert judge(error("?"), quiet, NOW, read_from_oldest=from_oldest) is verdict

    @pytest.mark.parametrize("state", [State.LEFT, State.SKIPPING])
    def test_of_what_is_left_nothing_may_be_left(self, state):
        """That is no gap; whether the shard is finished, its stream says."""
        assert judge(GapError("?"), progress(state), NOW, read_from_oldest=False) is Verdict.NOTHING_LEFT


def test_what_kafka_refuses_is_found_by_going_one_by_one():
    """First the page, then a message, which is then replaced; it may be refused again."""
    page = records(2)
    refusals = Refusals().and_of(Publish(page, []), "too large")
    assert (refusals.one_by_one, refusals.reasons) == (True, {})
    refusals = refusals.and_of(Publish(page[:1], []), "no").and_of(Publish(page[:1], []), "still no")
    refusals = refusals.and_of(Publish(page[:1], [], number=1), "nor its second message")
    assert refusals.reasons == {("event-1", 0): ["no", "still no"], ("event-1", 1): ["nor its second message"]}
