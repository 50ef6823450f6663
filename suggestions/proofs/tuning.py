"""Find the weights of blend.yaml, on shapes that nothing is reported of: .venv/bin/python -m suggestions.proofs.tuning.

All combinations are tried, on each shape drawn twice. The best is the one whose recall and reciprocal rank, each as a
share of the best rival's on the same graph, are highest on average over the graphs.
"""

import itertools

from murmuration_suggestions.blend import Weights, blend

from .shapes import TO_TUNE_ON, drawn
from .trial import RIVALS, Found, Trial

SEEDS = (101, 102)
CHOICES = {  # of Adamic-Adar it is 1: only proportions count
    "jaccard": (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.4),
    "personal_rank": (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.4),
    "global_rank": (0.0, 0.05, 0.1, 0.2, 0.4),
}
SHOWN = 15


def main() -> None:
    """Print the best combinations, and the one that is in use."""
    trials = [Trial.of(drawn(shape, seed), seed, blend()) for shape in TO_TUNE_ON for seed in SEEDS]
    marks = [_best([trial.rivals()[name]() for name in RIVALS]) for trial in trials]
    tried = {}
    for values in itertools.product(*CHOICES.values()):
        weights = Weights(adamic_adar=1.0, **dict(zip(CHOICES, values, strict=True)))
        tried[weights] = _worth([trial.blend(weights) for trial in trials], marks)
    for weights in sorted(tried, key=lambda each: -tried[each])[:SHOWN]:
        print(f"{tried[weights]:.4f}  {weights}")
    in_use = blend().weights
    print(f"{_worth([trial.blend(in_use) for trial in trials], marks):.4f}  {in_use}, in use")


def _best(rivals: list[Found]) -> tuple[float, float]:
    return max(float(each.recall.mean()) for each in rivals), max(float(each.reciprocal.mean()) for each in rivals)


def _worth(found: list[Found], marks: list[tuple[float, float]]) -> float:
    parts = [
        (each.recall.mean() / recall + each.reciprocal.mean() / reciprocal) / 2
        for each, (recall, reciprocal) in zip(found, marks, strict=True)
    ]
    return float(sum(parts)) / len(parts)


if __name__ == "__main__":
    main()
