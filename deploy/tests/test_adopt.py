"""Starting on tables with a past: which jobs run, how often, and what a run that was killed leaves to the next."""

import shlex
import sys

import pytest
from migrating.adopt import BRIDGE, COMMANDS, COUNTS, STATES, TIMELINES, Jobs, adopt
from migrating.dynamo_record import Record
from migrating.errors import AdoptError

from murmuration_testkit.unkind_aws import UnkindAws

STREAMS = {"followers": "arn:followers/1", "users": "arn:users/1"}
SEEN = "print('followers  arn:followers/1  reading'); print('users  arn:users/1  reading')"
ALL = [BRIDGE, COUNTS, STATES, TIMELINES]
DRIFT = """print('{"message": "drift", "user_id": "ann"}'); print('{"checked": 1}')"""


@pytest.fixture
def town(tmp_path):
    """Give what remembers, a way to make jobs of Python's lines, and what ran."""
    ran = tmp_path / "ran"
    ran.touch()

    def jobs(**codes):
        def command(job):
            code = codes.get(job, SEEN if job == BRIDGE else DRIFT)
            return f"{sys.executable} -c {shlex.quote(f'open({str(ran)!r}, chr(97)).write({job!r} + chr(10)); {code}')}"

        return Jobs({job: command(job) for job in COMMANDS}, patience_s=0)

    return Record(UnkindAws().client("dynamodb"), ""), jobs, lambda: ran.read_text().split()


def test_every_job_runs_once_and_not_again(town, capsys):
    """What is done for these streams is done."""
    record, jobs, ran = town
    adopt(record, STREAMS, jobs())
    assert ran() == ALL
    assert "counts: ended with 0" in (said := capsys.readouterr().out)
    assert "1 x 'drift'" in said
    adopt(record, STREAMS, jobs())
    assert ran() == ALL
    adopt(record, {**STREAMS, "followers": "arn:followers/2"}, jobs(bridge=SEEN.replace("followers/1", "followers/2")))
    assert ran() == ALL * 2


def test_before_users_has_a_stream_nobody_tells_its_states(town, capsys):
    """What changed behind them would never be told; with its stream all begins anew."""
    record, jobs, ran = town
    adopt(record, {"followers": "arn:followers/1"}, jobs())
    assert ran() == [BRIDGE, COUNTS, TIMELINES]
    assert "states: users has no stream yet" in capsys.readouterr().out
    adopt(record, STREAMS, jobs())
    assert ran() == [BRIDGE, COUNTS, TIMELINES, *ALL]


@pytest.mark.parametrize(
    ("job", "code", "said", "next_run"),
    [
        (BRIDGE, "pass", "no bridge has seen the stream of followers, users", ALL),
        (COUNTS, "raise SystemExit(1)", "still in doubt", ALL[1:]),
        (STATES, "raise SystemExit(1)", "could not be told", ALL[2:]),
        (TIMELINES, "raise SystemExit(1)", "could not be made cold", [TIMELINES]),
    ],
)
def test_a_job_that_fails_is_told_and_the_next_run_goes_on_there(town, job, code, said, next_run):
    """Nothing after it was done."""
    record, jobs, ran = town
    with pytest.raises(AdoptError, match=said):
        adopt(record, STREAMS, jobs(**{job: code}))
    before = len(ran())
    adopt(record, STREAMS, jobs())
    assert ran()[before:] == next_run
