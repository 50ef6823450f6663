"""A run that looks wrong is not switched to unless somebody insists; what Redis lost is loaded again by one command."""

import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from murmuration_suggested.reader import SuggestedReader
from murmuration_suggested.writer import connect
from murmuration_testkit.redis_nodes import redis_node

from .job_process import ran, started
from .town import Town

STACK = ""
SPARK = {"SPARK_PARTITIONS": "1", "SPARK_PARTS": "2"}
REFUSED = 3


def refused() -> dict[str, Any]:
    """Lose three people of five, insist, lose Redis, and load."""
    town = Town.drawn(300, 8, 3)
    less = replace(town, deleted=frozenset(sorted(town.people)[: 3 * len(town.people) // 5]))
    differences: list[str] = []
    with (
        tempfile.TemporaryDirectory(prefix="proof-") as directory,
        redis_node() as node,
        closing(connect(node.url)) as nodes,
    ):
        folder, reader = Path(directory), SuggestedReader(nodes)
        all_of, few = town.export(folder / "all"), less.export(folder / "few")

        def compare(what: str, found: object, expected: object) -> None:
            if found != expected:
                differences.append(f"{what}: {found}, not {expected}")

        ran(folder, node.url, "run", "--export", all_of, **SPARK)
        first = reader.run()
        with started(folder, node.url, "run", "--export", few, **SPARK) as job:
            compare("exit code of a run of fewer people", job.end(), REFUSED)
        compare("the run that counts after it", reader.run(), first)
        told = reader.refused()
        compare("whether the refusal is known", bool(told and told.refused_because), True)
        version = told.version if told else ""
        with started(folder, node.url, "load", version) as job:
            compare("exit code of loading it", job.end(), REFUSED)
        compare("the run that counts after that", reader.run(), first)
        ran(folder, node.url, "load", version, "--force")
        loaded = reader.run()
        compare("the run that counts when it was insisted on", loaded and loaded.version, version)
        insisted = ran(folder, node.url, "run", "--force", "--export", few, **SPARK)
        second = reader.run()
        compare("people in the run that was insisted on", second and second.people, len(less.expected()))
        compare("what is known of a refusal then", reader.refused(), None)
        broken = less.export(folder / "broken")
        next((folder / "broken").rglob("users/**/part1.json.gz")).unlink()
        with started(folder, node.url, "run", "--export", broken, **SPARK) as job:
            compare("exit code of a run of half an export", job.end(), 1)
        node.redis.flushall()
        compare("the run that counts after a loss", reader.run(), None)
        ran(folder, node.url, "load")
        compare("the run that counts after it was loaded again", reader.run(), second)
        shown = {person: reader.find(person, second.version if second else None).of_run for person in less.expected()}
        wrong = [person for person, expected in less.expected().items() if shown[person] != expected]
        compare("people who are shown others than before", wrong, [])
    return {
        "name": "runs of suggestions that look wrong, and Redis empty",
        "faults": "three people of five gone; half an export; all of Redis gone",
        "compared": "exit codes, which run counts, whether a refusal is known, all lists after the loading",
        "differences": differences,
        "counts": insisted.told("lists "),
    }


PROOFS = [refused]
