"""Each of DynamoDB, Redis and the issuer hangs while people ask; then what each answer was, and how long it took.

SECONDS in the environment says how long each hangs; 60 unless set.
"""

import os
from typing import Any

from murmuration_testkit.hangs import BY_TABLES, hang

SECONDS = float(os.environ.get("SECONDS", "60"))
MAY_FAIL = {"redis": (), "dynamodb": BY_TABLES, "gateway": ()}  # the gateway is the stack's issuer


def hangs() -> list[dict[str, Any]]:
    """Let one after the other hang."""
    outcomes = []
    for store, may_fail in MAY_FAIL.items():
        print(f"    {store} hangs", flush=True)
        outcome = hang(store, may_fail, SECONDS)
        outcomes.append(
            {
                "name": f"{store} accepts and never answers, under load",
                "faults": f"SIGSTOP of {store} for {SECONDS:.0f} s",
                "compared": "each answer with what needs no such store, its time with the deadline; probes; restarts",
                "differences": outcome.differences,
                "counts": outcome.figures,
            }
        )
    return outcomes


DRILLS = [hangs]
