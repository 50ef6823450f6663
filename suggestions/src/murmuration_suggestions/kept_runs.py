"""The runs that are kept in the folder, by their versions: reports, lists, and what they were computed from.

Rule: a run whose report is not there was killed, or is still under way. Nobody reads it, and a day later it is deleted.
"""

from collections.abc import Iterator
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
        reports = (self.report(each.name) for each in reversed(self.folder.entries()))
        return (each for each in reports if each and each.accepted)

    def tidy(self, kept: int, now: datetime) -> list[str]:
        """Delete all but so many of the accepted runs, and what was left unfinished; return their versions."""
        wanted = {report.version for _, report in zip(range(kept), self.accepted(), strict=False)}
        oldest = min(wanted, default="")
        gone = []
        for run in self.folder.entries():
            is_old = now - datetime.strptime(run.name, VERSION) > UNFINISHED  # noqa: DTZ007 - %z reads the Z
            if run.name not in wanted and (is_old or (self.report(run.name) and run.name < oldest)):
                run.delete()
                gone.append(run.name)
        return gone
