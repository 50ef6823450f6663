"""A small world on the local stack: follow, run, read, dismiss, run, gone. The tables are scanned."""

import os
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import boto3

from contracts.tables import DISMISSALS
from murmuration_suggested.layout import Suggestion
from murmuration_suggested.reader import SuggestedReader
from murmuration_suggested.writer import connect
from murmuration_testkit.people import Person

from .job_process import ran

STACK = "kafka,dynamodb,redis,registry,limits-redis,suggestions-redis,gateway,follow-service"


def story() -> dict[str, Any]:
    """Tell it, and compare at each turn."""
    ana, ben, cleo, dora, emil = (Person(name).join() for name in ("Ana", "Ben", "Cleo", "Dora", "Emil"))
    emil.turn(private=True)
    for one, others in {ana: (ben, emil), ben: (ana, cleo, dora, emil), dora: (cleo,)}.items():
        for other in others:
            one.follow(other)
    url = os.environ["SUGGESTIONS_REDIS_URL"]
    differences: list[str] = []
    with tempfile.TemporaryDirectory(prefix="proof-") as directory, closing(connect(url)) as nodes:
        reader = SuggestedReader(nodes)

        def compare(what: str, *expected: Suggestion) -> None:
            found = reader.find(ana.user_id, reader.run()).of_run
            if {*(found or ())} != {*expected}:
                differences.append(f"{what}: {found}, not {expected}")

        cleo_by_ben, dora_by_ben = (Suggestion(each.user_id, 1, (ben.user_id,)) for each in (cleo, dora))
        ran(Path(directory), url, "run")
        compare("Ana, who follows Ben and has asked Emil", cleo_by_ben, dora_by_ben)
        row = {DISMISSALS.user_id: ana.user_id, DISMISSALS.dismissed_id: cleo.user_id}
        boto3.client("dynamodb").put_item(
            TableName=os.environ.get("TABLE_PREFIX", "") + DISMISSALS.name,
            Item={name: {"S": it} for name, it in row.items()},
        )
        job = ran(Path(directory), url, "run")
        compare("Ana, who dismissed Cleo", dora_by_ben)
    return {
        "name": "who to follow, from follows to a list",
        "faults": "none",
        "compared": "whom Ana is suggested and why, after each run",
        "differences": differences,
        "counts": job.told("lists "),
    }


PROOFS = [story]
