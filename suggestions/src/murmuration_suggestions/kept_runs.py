"""The runs that are kept in the folder, by their versions: reports, lists, and what they were computed from.

Rule: a run whose report is not there was killed, or is still under way. Nobody reads it, and the first run that begins
a day later deletes it. Whatever else lies there is left alone.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from murmuration_suggestions.report import Report

if TYPE_CHECKING:  # it is Arrow's, and this needs none
    from murmuration_suggestions.folders import Folder

VERSION = "%Y%m%dT%H%M%S%z"
REPORT = "report.json"
UNFINISHED = timedelta(days=1)


def version_of(moment: datetime) -> str:
    """Return the version of a run that begins now; time is in UTC."""
    return f"{moment:%Y%m%dT%H%M%SZ}"


def began(version: str) -> datetime | None:
    """Return when the run of a version began; nothing if it is no version."""
    try:
        return datetime.strptime(version, VERSION)  # noqa: DTZ007 - %z reads the Z
    except ValueError:
        return None


@dataclass(frozen=True)
class KeptRuns:
    """All of them."""

    folder: "Folder"

    def report(self, version: str) -> Report | None:
        """Return the report of a run, if it has one."""
        told = (self.folder / version / REPORT).read_json()
        return told and Report.of(told)

    def keep(self, report: Report) -> None:
        """Write the report of a run."""
        (self.folder / report.version / REPORT).write_json(report.to_json())

    def accepted(self) -> Iterator[Report]:
        """Give the reports of the accepted ones, the latest first."""
        reports = (self.report(run.name) for run, _ in reversed(self._runs()))
        return (each for each in reports if each and each.accepted)

    def tidy(self, kept: int, now: datetime, spared: Collection[str] = ()) -> list[str]:
        """Delete all but so many of the accepted runs, and what was left unfinished; return their versions."""
        wanted = {report.version for _, report in zip(range(kept), self.accepted(), strict=False)}
        oldest = min(wanted, default="")
        gone = []
        for run, moment in self._runs():
            is_old = now - moment > UNFINISHED
            if run.name not in {*wanted, *spared} and (is_old or (self.report(run.name) and run.name < oldest)):
                run.delete()
                gone.append(run.name)
        return gone

    def _runs(self) -> list[tuple["Folder", datetime]]:
        return [(run, moment) for run in self.folder.entries() if (moment := began(run.name))]
