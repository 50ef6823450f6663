"""Run every benchmark of the repository: our figure beside a reference's, in the same run.

A folder's bench/*.py lists callables in BENCHMARKS. Each returns a dict, or a list of them: name, ours, reference,
unit, ratio, target (of the ratio), setup. Where less is better, "at_most" bounds our figure instead.
"""

import sys
from typing import Any

from murmuration_testkit.suite import Suite, main


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


BENCH = Suite("bench", "bench", "BENCHMARKS", line, lambda figure: [figure["setup"]])

if __name__ == "__main__":
    sys.exit(main(BENCH))
