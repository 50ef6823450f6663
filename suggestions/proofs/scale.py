"""What a run costs: 50,000 and 100,000 people with 30 follows each, and a celebrity who has half of a million edges."""

import json
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmuration_suggested.reader import SuggestedReader
from murmuration_suggested.writer import connect
from murmuration_testkit.redis_nodes import redis_node

from .job_process import JobProcess, ran
from .town import Town

STACK = ""
TIME_LIMIT_S = 7_200
EACH = 30
SIZES = (50_000, 100_000)
EDGES = 1_000_000
MOST = 2.6  # times the seconds, for twice the people
SEED = 5


def scale() -> list[dict[str, Any]]:
    """Run each, and say what it cost."""
    seconds = [_ran(f"{size:,} people with {EACH} follows each", size, _circles(size)) for size in SIZES]
    grown = seconds[1][0] / seconds[0][0]
    doubled = seconds[1][1]
    doubled["counts"] += f"; {grown:.2f} times the seconds of half as many"
    if grown > MOST:
        doubled["differences"].append(f"{grown:.2f} times the seconds for twice the people, more than {MOST}")
    _, celebrity = _ran("a celebrity with half of a million edges", EDGES // 2 + 1, _with_celebrity())
    return [seconds[0][1], doubled, celebrity]


def _circles(size: int) -> NDArray[np.int64]:
    """Follows of people who know mostly those near them, and popular people everywhere."""
    random = np.random.default_rng(SEED)
    rows = np.repeat(np.arange(size), EACH)
    near = (rows + random.geometric(1 / 40, len(rows)) * random.choice((-1, 1), len(rows))) % size
    far = (random.random(len(rows)) ** 4 * size).astype(np.int64)
    return np.stack((rows, np.where(random.random(len(rows)) < 0.7, near, far)), axis=1)


def _with_celebrity() -> NDArray[np.int64]:
    random = np.random.default_rng(SEED)
    people = np.arange(1, EDGES // 2 + 1)
    others = random.integers(1, len(people), len(people))
    return np.concatenate((np.stack((people, np.zeros_like(people)), 1), np.stack((people, others), 1)))


def _ran(name: str, size: int, edges: NDArray[np.int64]) -> tuple[float, dict[str, Any]]:
    people = [f"p{number:07}" for number in range(size)]
    edges = np.unique(edges[edges[:, 0] != edges[:, 1]], axis=0)
    follows = frozenset((people[a], people[b]) for a, b in edges.tolist())
    with tempfile.TemporaryDirectory(prefix="proof-") as directory, redis_node() as node:
        uri = Town(tuple(people), follows).export(Path(directory) / "export")
        job = ran(Path(directory), node.url, "run", "--export", uri)
        with closing(connect(node.url)) as nodes:
            run = SuggestedReader(nodes).run()
        (told,) = (json.loads(path.read_text()) for path in Path(directory).glob("kept/runs/*/report.json"))
        memory = node.redis.info("memory")["used_memory"]
    seconds = sum(step["seconds"] for step in told["steps"].values())
    shuffled = sum(step["shuffled_bytes"] for step in told["steps"].values())
    counts = (
        f"{len(follows):,} edges in {seconds:.0f} s ({_steps(job, told)}), {told['peak_memory_bytes'] / 1e6:,.0f} MB,"
        f" {shuffled / 1e6:,.0f} MB shuffled, {memory / size:,.0f} bytes a person in Redis"
    )
    few = [f"only {run and run.people} of {size} have a list"] if not run or run.people < 0.9 * size else []
    return seconds, {
        "name": f"suggestions for {name}",
        "faults": "none",
        "compared": "how many have a list",
        "differences": few,
        "counts": counts,
    }


def _steps(job: JobProcess, told: dict[str, Any]) -> str:
    print("\n".join(f"    {line}" for line in job.lines[-10:]))
    return ", ".join(f"{name} {step['seconds']:.0f}" for name, step in told["steps"].items())


PROOFS = [scale]
