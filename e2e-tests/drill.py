"""Run every fault drill of the repository: break real processes under load, then compare what is there with the truth.

A folder's drills/*.py lists callables in DRILLS. Each returns a dict, or a list of them: name, faults (what was done,
and how often), compared (what with what), differences (a list of texts: none is expected), counts (text).
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from suite import REPOSITORY, listed


def told(drill: Callable[[], Any]) -> list[dict[str, Any]]:
    """Run one drill, and print what it found."""
    found = drill()
    outcomes: list[dict[str, Any]] = found if isinstance(found, list) else [found]
    for outcome in outcomes:
        print(f"  {line(outcome)}\n    {outcome['faults']}\n    compared {outcome['compared']}", flush=True)
        print(f"    {outcome['counts']}", flush=True)
        for difference in outcome["differences"][:20]:
            print(f"    DIFFERENCE {difference}", flush=True)
    return outcomes


def line(outcome: dict[str, Any]) -> str:
    """Say one outcome in one line."""
    return f"{outcome['name']:<70} differences: {len(outcome['differences']) or 'none'}"


def main() -> int:
    """Run, then say it all once more in short and as JSON."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("only", nargs="?", default="", help="part of a drill file's name")
    arguments.add_argument("--json", type=Path, help="where to write them")
    asked = arguments.parse_args()
    file = asked.json or REPOSITORY / f".stack/drill{asked.only and '-' + asked.only}.json"
    outcomes = [outcome for drill in listed("drills", "DRILLS", asked.only) for outcome in told(drill)]
    file.write_text(json.dumps(outcomes, indent=1) + "\n")
    print("\nSummary")
    for outcome in outcomes:
        print(f"  {line(outcome)}")
    print(f"as JSON: {file}")
    return int(any(outcome["differences"] for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
