"""What is told of a run, and whether it looks right. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from murmuration_suggested.runs import Run

LEAST_SHARE = 0.5  # of the last run: with less something is wrong, and it is not for this job to say what


@dataclass(frozen=True)
class Counted:
    """How much there was, and how much came out."""

    people: int
    edges: int
    lists: int
    suggestions: int
    digest: str  # of all lists: the same text if they are the same


@dataclass(frozen=True)
class Step:
    """What one step cost."""

    seconds: float
    shuffled_bytes: int = 0
    tasks: int = 0
    longest_task_s: float = 0.0
    median_task_s: float = 0.0

    @property
    def skew(self) -> float:
        """How much longer the longest task took than the median one."""
        return self.longest_task_s / self.median_task_s if self.median_task_s else 1.0


@dataclass(frozen=True)
class Report:
    """One run. It is accepted if nothing looks wrong with it, or if somebody insists."""

    version: str
    began_at: int  # ms
    counted: Counted
    everybody: Sequence[str]
    accepted: bool
    faults: Sequence[str] = ()
    steps: Mapping[str, Step] = field(default_factory=dict)
    peak_memory_bytes: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return asdict(self)

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "Report":
        """Read it."""
        counted, steps = Counted(**told["counted"]), {name: Step(**each) for name, each in told["steps"].items()}
        return cls(**{**told, "counted": counted, "steps": steps})

    def run(self) -> Run:
        """Return what readers are told of it."""
        return Run(self.version, self.began_at, self.counted.lists, tuple(self.everybody), tuple(self.faults))

    def lines(self) -> list[str]:
        """Say it."""
        it = self.counted
        lines = [
            f"run {self.version}, {'accepted' if self.accepted else 'refused'}",
            f"people {it.people:,}, edges {it.edges:,}",
            f"lists {it.lists:,}, suggestions {it.suggestions:,}, digest {it.digest}",
        ]
        if self.steps:
            lines.append(f"{'step':10}{'seconds':>9}{'shuffled':>12}{'tasks':>7}{'longest / median task':>27}")
        for name, step in self.steps.items():
            skew = f"{step.longest_task_s:.2f} / {step.median_task_s:.2f} s = {step.skew:.1f}" if step.tasks else ""
            lines.append(f"{name:10}{step.seconds:>9.1f}{step.shuffled_bytes / 1e6:>9.1f} MB{step.tasks:>7}{skew:>27}")
        if self.peak_memory_bytes:
            lines.append(f"most memory of one executor with its processes {self.peak_memory_bytes / 1e6:,.0f} MB")
        return [*lines, *(f"looks wrong: {fault}" for fault in self.faults)]


def faults(now: Counted, before: Counted | None) -> list[str]:
    """Say what looks wrong with a run, beside the last one that was accepted."""
    if not now.suggestions:
        return ["nobody is suggested anybody"]
    return [
        f"{getattr(now, name):,} {name}, and {getattr(before, name):,} in the last run"
        for name in ("people", "edges", "lists", "suggestions")
        if before and getattr(now, name) < LEAST_SHARE * getattr(before, name)
    ]
