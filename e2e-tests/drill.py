"""Run every fault drill of the repository: break real processes under load, then compare what is there with the truth.

A folder's drills/*.py lists callables in DRILLS. Each returns a dict, or a list of them: name, faults (what was done,
and how often), compared (what with what), differences (a list of texts: none is expected), counts (text).
"""

import sys
from typing import Any

from murmuration_testkit.suite import Suite, main

MOST_SHOWN = 20


def line(outcome: dict[str, Any]) -> str:
    """Say one outcome in one line."""
    return f"{outcome['name']:<70} differences: {len(outcome['differences']) or 'none'}"


def details(outcome: dict[str, Any]) -> list[str]:
    """Say what was done, what was compared, and what differed."""
    differences = [f"DIFFERENCE {difference}" for difference in outcome["differences"][:MOST_SHOWN]]
    return [outcome["faults"], f"compared {outcome['compared']}", outcome["counts"], *differences]


DRILL = Suite("drill", "drills", "DRILLS", line, details, good=lambda outcome: not outcome["differences"])

if __name__ == "__main__":
    sys.exit(main(DRILL))
