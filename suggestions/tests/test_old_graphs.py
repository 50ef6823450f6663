"""What earlier runs left on a machine is deleted by the next one."""

import fcntl

import pytest

from murmuration_suggestions.old_graphs import delete_older

OLDER, OWN, LATER = "20261118T010000Z", "20261119T010000Z", "20261120T010000Z"


@pytest.fixture
def graphs(tmp_path):
    """A machine's graphs, beside what somebody else put there."""
    for name in (OLDER, OWN, LATER, "10-letters-of-somebody"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "people").write_text("")
    return tmp_path


def left(graphs):
    return sorted(each.name for each in graphs.iterdir())


def test_graphs_of_earlier_runs_are_deleted(graphs):
    """And no other folder."""
    delete_older(graphs / OWN)
    assert left(graphs) == ["10-letters-of-somebody", OWN, LATER]


def test_one_that_is_being_put_together_is_left(graphs):
    """Another job's, on the same machine."""
    with (graphs / OLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        delete_older(graphs / OWN)
        assert OLDER in left(graphs)
    delete_older(graphs / OWN)
    assert OLDER not in left(graphs)
