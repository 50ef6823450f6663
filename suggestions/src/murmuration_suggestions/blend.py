"""What blend.yaml says. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from murmuration_suggestions.paths import MOST_STEPS
from murmuration_suggestions.walks import Plan


@dataclass(frozen=True)
class Weights:
    """What each score counts for."""

    adamic_adar: float
    jaccard: float
    personal_rank: float
    global_rank: float


@dataclass(frozen=True)
class Blend:
    """How suggestions are computed."""

    weights: Weights
    cap: int
    most: int
    reasons: int
    walks: Plan
    work_at_once: int

    def __post_init__(self) -> None:
        if not 0 < self.cap <= MOST_STEPS:
            raise ValueError(f"blend.yaml: cap is {self.cap}; it may be 1 to {MOST_STEPS}")

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "Blend":
        """Read what the file says; a name that is missing or unknown is an error."""
        return cls(**{**told, "weights": Weights(**told["weights"]), "walks": Plan(**told["walks"])})


@cache
def blend() -> Blend:
    """Return what the file says that belongs to this code."""
    return Blend.of(yaml.safe_load((files("murmuration_suggestions") / "blend.yaml").read_text("utf-8")))
