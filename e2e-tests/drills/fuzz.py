"""Schemathesis asks the gateway, with seeds that nobody has tried before; the answers must be as the document says.

SECONDS in the environment says how long each seed is asked for; 120 unless set. SEEDS says with which: numbers with
spaces between them, so that what was found can be found again.
"""

import os
import random
import tempfile
from pathlib import Path
from typing import Any

from murmuration_testkit.fuzz import fuzz

SECONDS = int(os.environ.get("SECONDS", "120"))
SEEDS = [int(seed) for seed in os.environ.get("SEEDS", "").split()] or random.sample(range(1_000_000), 4)


def random_requests() -> dict[str, Any]:
    """Ask with each seed in a world of its own."""
    differences, asked = [], 0
    for seed in SEEDS:
        with tempfile.TemporaryDirectory() as directory:
            outcome = fuzz(Path(directory), SECONDS, seed)
        differences += [f"SEEDS={seed}: {failure}" for failure in outcome.failures]
        asked += outcome.asked
        if outcome.failures:
            print(outcome.said)
    return {
        "name": "requests of all kinds",
        "faults": f"{asked} requests, with the seeds {' '.join(map(str, SEEDS))}",
        "compared": "every answer with the OpenAPI document, by all checks of schemathesis",
        "differences": differences,
        "counts": f"{len(SEEDS)} runs of {SECONDS} s",
    }


DRILLS = [random_requests]
