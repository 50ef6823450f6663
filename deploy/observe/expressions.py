"""What an expression of PromQL asks for: which metrics, by which labels. For the tests of rules and dashboards.

Rule: it reads what we write, not all of PromQL: matchers stand behind a metric's name, whose name is no keyword.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

HERE = Path(__file__).parent
_GROUPING = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)")
# A name with no bracket behind it, which would make it a function, and its matchers.
_SELECTOR = re.compile(r"(?<![\w.$:])([a-zA-Z_:][\w:]*)\b(?!\s*\()\s*(?:\{([^}]*)\})?")
_MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"')
_NOT_METRICS = {"and", "or", "unless", "bool", "offset", "by", "on"}
OF_THE_CLUSTER = "kubernetes"  # the file of rules about what kube-state-metrics exports
OF_TARGETS = {"job", "instance", "namespace", "pod"}  # which Prometheus adds when it scrapes


class Selector(NamedTuple):
    """A metric, and what its labels must be: (label, operator, value)."""

    metric: str
    matchers: tuple[tuple[str, str, str], ...]

    def takes(self, labels: dict[str, str], but: frozenset[str] = frozenset()) -> bool:
        """Say whether it matches a series with these labels; matchers of the labels in `but` are passed over."""
        return all(_holds(labels.get(name, ""), *rest) for name, *rest in self.matchers if name not in but)


def selectors(expression: str) -> list[Selector]:
    """Return every selector of an expression."""
    bare = re.sub(r"\[[^]]*\]|\boffset\s+\w+", "", _GROUPING.sub("", expression))
    return [
        Selector(
            name, tuple((label, sign, value.replace(r"\\", "\\")) for label, sign, value in _MATCHER.findall(braces))
        )
        for name, braces in _SELECTOR.findall(bare)
        if name not in _NOT_METRICS
    ]


def labels(expression: str) -> set[str]:
    """Return every label that an expression names, in matchers and in groupings."""
    grouped = {
        label.strip() for inside in _GROUPING.findall(expression) for label in inside.split(",") if label.strip()
    }
    return grouped | {label for selector in selectors(expression) for label, _, _ in selector.matchers}


def rules(name: str = "*") -> Iterator[dict[str, object]]:
    """Give the rules of a file, or of all."""
    for path in sorted(HERE.glob(f"rules/{name}.yaml")):
        for group in yaml.safe_load(path.read_text("utf-8"))["groups"]:
            yield from group["rules"]


def our_rules() -> Iterator[dict[str, object]]:
    """Give the rules about the services' own metrics: those of every file but the cluster's."""
    for path in sorted(HERE.glob("rules/*.yaml")):
        if path.stem != OF_THE_CLUSTER:
            yield from rules(path.stem)


def ours() -> list[str]:
    """Return every expression about the services' own metrics: of rules, and of dashboards."""
    described = yaml.safe_load((HERE / "dashboards.yaml").read_text("utf-8"))
    shown = [each for board in described.values() for panel in board["panels"] for each in panel[2].values()]
    asked = [str(rule["expr"]) for rule in our_rules()]
    return asked + [each.replace("$__rate_interval", "5m") for each in shown]


def _holds(value: str, sign: str, wanted: str) -> bool:
    same = bool(re.fullmatch(wanted, value)) if "~" in sign else value == wanted
    return same != sign.startswith("!")
