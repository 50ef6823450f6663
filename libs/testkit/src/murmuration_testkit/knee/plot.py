"""How latency and freshness rise with the load, as SVG. Pure.

Rule: each panel ends at half as much again as its bound. What is higher stands at the edge, with its value beside it.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from murmuration_testkit.knee.search import MOST_READ_MS, MOST_STALE_S, Step, best

WIDTH, HEIGHT = 720, 260
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 40, 40
LABEL = 28  # what a load's number takes; one that would lie on another is left out
TOP_OF_BOUND = 1.5
FONT = 'font-family="sans-serif" font-size="12"'
COLOURS = ("#1f5fa8", "#9bbbdd", "#c2571a")
Points = Sequence[tuple[float, float]]


class Panel(NamedTuple):
    """Lines over one axis of loads, and the bound that they should stay below."""

    title: str
    bound: float
    lines: Mapping[str, Points]


def plot(tried: Sequence[Step], about: str) -> str:
    """Draw what was measured at each load; of a load that was tried twice, the last."""
    steps = sorted({step.load: step for step in tried}.values(), key=lambda step: step.load)
    knee = best(tried)
    panels = (
        Panel(
            "reads, ms",
            MOST_READ_MS,
            {
                "p99": [(step.load, step.read_p99_ms) for step in steps],
                "p50": [(step.load, step.read_p50_ms) for step in steps],
            },
        ),
        Panel(
            "freshness, s",
            MOST_STALE_S,
            {
                "tweet in a follower's page, p99": [(step.load, step.tweet_p99_s) for step in steps],
                "follow in the count, p99": [(step.load, step.follow_p99_s) for step in steps],
            },
        ),
    )
    return svg(panels, [step.load for step in steps], f"over reads a second; {about}", knee.load if knee else None)


def svg(panels: Sequence[Panel], loads: Sequence[float], caption: str, knee: float | None) -> str:
    """Draw panels, one below the other."""
    height = HEIGHT * len(panels) + BOTTOM
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" {FONT}>',
            f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
            *(line for number, panel in enumerate(panels) for line in _panel(panel, loads, knee, number * HEIGHT)),
            _text(LEFT, height - 14, caption),
            "</svg>\n",
        )
    )


def _panel(panel: Panel, loads: Sequence[float], knee: float | None, top: float) -> Iterator[str]:
    most = panel.bound * TOP_OF_BOUND
    floor = top + HEIGHT - BOTTOM

    def x(load: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * load / max(loads)

    def y(value: float) -> float:
        return floor - (HEIGHT - TOP - BOTTOM) * min(value, most) / most

    yield _text(LEFT, top + 20, panel.title, weight="bold")
    for share in (0.0, 0.5, 1.0):
        value = panel.bound * share
        yield _line((LEFT, y(value)), (WIDTH - RIGHT, y(value)), "#c00" if share == 1 else "#ddd", dashed=share == 1)
        yield _text(LEFT - 8, y(value) + 4, f"{value:g}", anchor="end")
    if knee:
        yield _line((x(knee), top + TOP), (x(knee), floor), "#888", dashed=True)
        yield _text(x(knee) - 4, top + TOP + 10, "knee", anchor="end")
    labelled = -math.inf
    for load in loads:
        if x(load) - labelled >= LABEL:
            labelled = x(load)
            yield _text(labelled, floor + 16, f"{load:.0f}", anchor="middle")
    for number, ((name, points), colour) in enumerate(zip(panel.lines.items(), COLOURS, strict=False)):
        places = " ".join(f"{x(load):.1f},{y(value):.1f}" for load, value in points)
        yield f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="2"/>'
        yield from (f'<circle cx="{x(load):.1f}" cy="{y(value):.1f}" r="3" fill="{colour}"/>' for load, value in points)
        yield from (
            _text(x(load) - 6, top + TOP + 10 + 14 * number, f"{value:,.3g}", anchor="end", colour=colour)
            for load, value in points
            if value > most
        )
        yield _text(LEFT + 130 + 220 * number, top + 20, name, colour=colour)


def _line(start: tuple[float, float], end: tuple[float, float], colour: str, *, dashed: bool) -> str:
    (x1, y1), (x2, y2) = start, end
    dashes = ' stroke-dasharray="5 4"' if dashed else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{dashes}/>'


def _text(x: float, y: float, text: str, *, anchor: str = "start", weight: str = "normal", colour: str = "#222") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}" fill="{colour}">{text}</text>'
