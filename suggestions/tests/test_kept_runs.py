"""Which runs are kept, and which is the last that counts."""

from datetime import UTC, datetime, timedelta

import pytest

from murmuration_suggestions.kept_runs import KeptRuns, version_of
from murmuration_suggestions.report import Counted, Report

from .memory import MemoryFolder

NOW = datetime(2026, 11, 19, 1, tzinfo=UTC)


def report(days_ago, *, accepted=True):
    began = NOW - timedelta(days=days_ago)
    return Report(version_of(began), int(began.timestamp() * 1000), Counted(9, 20, 9, 50, "f00"), ["ana"], accepted)


@pytest.fixture
def kept():
    return KeptRuns(MemoryFolder())


def versions(kept):
    return [each.name for each in kept.folder.entries()]


def killed(kept, days_ago):
    """Leave what a run leaves that was killed."""
    version = version_of(NOW - timedelta(days=days_ago))
    (kept.folder / version / "people").write_json({})
    return version


def test_the_last_accepted_run_comes_first(kept):
    """Refused and unfinished ones do not count."""
    for days, accepted in ((3, True), (2, True), (1, False)):
        kept.keep(report(days, accepted=accepted))
    killed(kept, 0)
    assert [*kept.accepted()] == [report(2), report(3)]


def test_old_runs_are_deleted(kept):
    """All but so many accepted ones; a newer refused one stays, to be looked at."""
    for days in (5, 4, 2, 1):
        kept.keep(report(days))
    kept.keep(report(3, accepted=False))
    kept.keep(report(0, accepted=False))
    gone = kept.tidy(2, NOW)
    assert gone == [report(days).version for days in (5, 4, 3)]
    assert versions(kept) == [report(days).version for days in (2, 1, 0)]


def test_what_a_killed_run_left_is_deleted_a_day_later(kept):
    """Not before: it may still be under way."""
    kept.keep(report(3))
    old, new = killed(kept, 2), killed(kept, 0)
    assert kept.tidy(3, NOW) == [old]
    assert versions(kept) == [report(3).version, new]


def test_what_is_read_is_not_deleted(kept):
    """An export may be that of a run which was killed."""
    old = killed(kept, 2)
    assert kept.tidy(3, NOW, ["file:", old, "export"]) == []
    assert kept.tidy(3, NOW) == [old]


def test_what_is_no_run_is_left_alone(kept):
    """Somebody put it there."""
    (kept.folder / "lost+found" / "it").write_json({})
    kept.keep(report(3))
    assert kept.tidy(1, NOW) == []
    assert [*kept.accepted()] == [report(3)]
    assert versions(kept) == [report(3).version, "lost+found"]


def test_the_only_accepted_run_is_kept_however_old_it_is(kept):
    """It is what an empty Redis is filled from."""
    kept.keep(report(30))
    assert kept.tidy(1, NOW) == []
