"""Run every benchmark of the repository: our figure beside a reference's, in the same run.

A folder's bench/*.py lists callables in BENCHMARKS. Each returns a dict, or a list of them: name, ours, reference,
unit, ratio, target (of the ratio), setup. Where less is better, "at_most" bounds our figure instead.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from suite import REPOSITORY, listed


def told(benchmark: Callable[[], Any]) -> list[dict[str, Any]]:
    """Run one benchmark, and print its figures."""
    found = benchmark()
    figures: list[dict[str, Any]] = found if isinstance(found, list) else [found]
    for figure in figures:
        print(f"  {line(figure)}\n    {figure['setup']}", flush=True)
    return figures


def line(figure: dict[str, Any]) -> str:
    """Say one figure in one line."""
    ours = f"{figure['name']:<58}{number(figure['ours']):>12} {figure['unit']:<9}"
    if figure.get("reference") is None:
        return f"{ours}{'':>30}{verdict(figure)}"
    return f"{ours} reference {number(figure['reference']):>10}  ratio {figure['ratio']:<6.2f} {verdict(figure)}"


def verdict(figure: dict[str, Any]) -> str:
    """Say whether the target is met, where there is one."""
    if figure.get("at_most") is not None:
        return f"target <= {number(figure['at_most'])}: {'met' if figure['ours'] <= figure['at_most'] else 'MISSED'}"
    if figure.get("target") is not None:
        return f"target >= {figure['target']}: {'met' if figure['ratio'] >= figure['target'] else 'MISSED'}"
    return ""


def number(value: float) -> str:
    """Write a number as a person reads it."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"  # noqa: PLR2004


def main() -> int:
    """Run, then say it all once more as a table and as JSON."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("only", nargs="?", default="", help="part of a benchmark file's name")
    arguments.add_argument("--json", type=Path, help="where to write them")
    asked = arguments.parse_args()
    file = asked.json or REPOSITORY / f".stack/bench{asked.only and '-' + asked.only}.json"
    found = [figure for each in listed("bench", "BENCHMARKS", asked.only) for figure in told(each)]
    file.write_text(json.dumps(found, indent=1) + "\n")
    print("\nSummary")
    for figure in found:
        print(f"  {line(figure)}")
    print(f"as JSON: {file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
