"""The migrations' files: a wrong one is refused by name, and what is done twice changes nothing the second time."""

import pytest
import yaml

from contracts import ContractError, migrations, table_files
from contracts.migrations import BACKFILL, CONTRACT, EXPAND, SWITCH, NotYetError
from contracts.tables import FOLLOWERS, LEASES, MIGRATIONS
from contracts.topic import DATA

FILES = table_files.load(DATA)
KNOWN = migrations.load(DATA, FILES)
ARN = "arn:aws:dynamodb:eu-central-1:1:table/followers/stream/2026-11-19T00:00:00.000"
ROW = {LEASES.stream_arn: {"S": ARN}, LEASES.shard_id: {"S": "shardId-1"}, LEASES.epoch: {"N": "7"}}
SPREAD = KNOWN["spread-leases"]


@pytest.fixture
def written(tmp_path):
    """Write a migration's file, and load it."""
    (tmp_path / "migrations").mkdir()

    def write(name="more-room", **entry):
        text = yaml.safe_dump({"description": "More room.", "table": "users", "steps": [EXPAND, CONTRACT]} | entry)
        (tmp_path / f"migrations/{name}.yaml").write_text(text)
        return migrations.load(tmp_path, FILES)[name]

    return write


def test_every_migration_has_a_name_that_services_can_ask_for():
    """Its row is found by a name from contracts.tables."""
    assert {*KNOWN, MIGRATIONS.ADOPT} == {*FILES[MIGRATIONS.name].attributes[MIGRATIONS.migration].values}


def test_a_migration_without_functions_leaves_the_rows_alone(written):
    """One that only adds or drops an index needs no code."""
    migration = written(table="followers", drops=["by_recency"])
    assert migration.change(CONTRACT) is None
    assert migration.drops == ("by_recency",)


def test_the_migration_of_follows_gives_each_its_part():
    """As a new follow has it; done twice it changes nothing."""
    row = {"followee_id": {"S": "bob"}, "follower_id": {"S": "alice"}, "followed_at": {"N": "1"}}
    change = KNOWN[MIGRATIONS.SPREAD_FOLLOWERS].change(BACKFILL)
    (changed,) = change(row)
    assert changed == {**row, "part": {"S": FOLLOWERS.part_of("bob", "alice")}}
    assert [*change(changed)] == [changed]
    assert changed["part"]["S"] in FOLLOWERS.parts_of("bob")


def test_the_migration_of_tweets_lists_the_living_and_takes_the_texts_of_the_others():
    """As a release that knows it writes and deletes; also what an older one deleted since. Done twice, nothing more."""
    live = {"tweet_id": {"S": "1"}, "author_id": {"S": "ann"}, "text": {"S": "hello"}}
    gone = {**live, "deleted_at": {"N": "2"}}
    migration = KNOWN[MIGRATIONS.LIVE_TWEETS]
    listed = {**live, "live_author_id": {"S": "ann"}}
    for row, becomes in ((live, listed), (listed, listed), (gone, gone), ({**gone, **listed}, gone)):
        assert [*migration.change(BACKFILL)(row)] == [becomes]
    textless = {name: value for name, value in gone.items() if name != "text"}
    for row, becomes in ((listed, listed), (gone, textless), (textless, textless)):
        assert [*migration.change(CONTRACT)(row)] == [becomes]


def test_the_migration_that_switches_a_tables_first_stream_on_is_found_by_the_table():
    """Whoever reads streams waits for it in peace; of other tables there is none to wait for."""
    assert migrations.switching_stream("users", KNOWN) == MIGRATIONS.USERS_STREAM
    assert migrations.switching_stream("followers", KNOWN) is None


@pytest.mark.parametrize(
    ("entry", "named"),
    [
        ({"table": "cars"}, "there is no table cars"),
        ({"steps": [EXPAND, CONTRACT, SWITCH]}, "contract last"),
        ({"steps": [SWITCH, CONTRACT]}, "expand is first"),
        ({"switches_stream": True}, "has no step switch"),
        ({"steps": [EXPAND, SWITCH], "switches_stream": True, "table": "dismissals"}, "the table's file no stream"),
        ({"steps": [EXPAND, BACKFILL, CONTRACT]}, "backfill is a step exactly if"),
        ({"before": {"switch": "all is new"}}, "before names switch"),
        ({"reads": ["age"]}, "reads age"),
        ({"drops": ["by_erasure"]}, "drops by_erasure, which tables/users.yaml still has"),
        ({"drops": ["by_age"]}, "drops by_age, which are not among those that are leaving"),
        ({"colour": "blue"}, "colour"),
    ],
)
def test_a_wrong_file_is_refused_by_name(written, entry, named):
    """The error names the file and what is wrong with it."""
    with pytest.raises(ContractError, match=r"migrations/more-room\.yaml") as refused:
        written(**entry)
    assert named in str(refused.value)


def test_a_lease_moves_once_and_what_is_left_is_nobody_s():
    """The row goes on in its part under a higher epoch, and the old place is taken for good; then nothing is to do."""
    backfill = SPREAD.change(BACKFILL)
    moved, left = backfill(ROW)
    assert moved == {**ROW, LEASES.stream_arn: {"S": LEASES.part_of(ARN, "shardId-1")}, LEASES.epoch: {"N": "8"}}
    assert LEASES.shards([left, moved]) == {"shardId-1": moved}
    assert (left[LEASES.state], LEASES.gap in left) == ({"S": LEASES.GAP}, False)  # 0.2.0 tells no loss of it
    assert [backfill(row) for row in (moved, left)] == [[moved], [left]]
    assert [SPREAD.change(CONTRACT)(row) for row in (moved, left)] == [[moved], []]


def test_a_lease_that_somebody_holds_stays_until_it_is_taken():
    """Only its owner knows how far the shard is published."""
    held = {**ROW, LEASES.owner: {"S": "bridge-1"}}
    with pytest.raises(NotYetError, match="bridge-1 holds shardId-1"):
        SPREAD.change(BACKFILL)(held)
    with pytest.raises(NotYetError, match="still lies in its old place"):
        SPREAD.change(CONTRACT)(held)


@pytest.mark.parametrize("partition", ["table/followers", "topics", "bridges"])
def test_other_rows_of_the_leases_stay_where_they_are(partition):
    """They are few, and written rarely."""
    row = {**ROW, LEASES.stream_arn: {"S": partition}}
    assert [SPREAD.change(step)(row) for step in (BACKFILL, CONTRACT)] == [[row], [row]]
