"""Break processes and stores while people follow, ask, block, mute and leave; then all that anybody is shown agrees."""

import os
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from itertools import combinations
from typing import Any

from murmuration_testkit.faults import some_faults, told
from murmuration_testkit.processes import all_ready
from murmuration_testkit.services import PROCESSES
from murmuration_testkit.waiting import remaining

from .explained import ends
from .histories import Histories
from .truth import Truth, differences

FAULTS = int(os.environ.get("FAULTS", "30"))
PEOPLE = 24
WRITERS = 6
BETWEEN = (0.5, 2.5)  # seconds from one fault to the next
STORES = ("kafka", "dynamodb", "redis", "limits-redis", "suggestions-redis", "graph-redis", "registry")
TARGETS = (*PROCESSES, *STORES, "follow-service", "follow-finisher", "dynamodb")  # these twice as often
SETTLED_S = 180.0
Model: Any = import_module("follow-service.tests.model").Model


def graph() -> dict[str, Any]:
    """Let people go on while something breaks every second or two; let the dust settle, and compare."""
    histories = Histories(PEOPLE, WRITERS)
    with ThreadPoolExecutor(WRITERS) as threads:
        writers = [threads.submit(write) for write in histories.writers()]
        done = some_faults(FAULTS, BETWEEN, TARGETS)
        histories.stop()
        for writer in writers:
            writer.result()
    print("    settling", flush=True)
    all_ready(within=SETTLED_S)
    allowed = _allowed(histories)
    found = remaining(lambda: _differences(histories, allowed), within=SETTLED_S, every=2)
    truth = Truth.read()
    again = sum(act.unanswered is not None for act in histories.acts)
    return {
        "name": f"{FAULTS} random faults while people follow, ask, block, mute and leave",
        "faults": told(done, sorted({*TARGETS})),
        "compared": "what each two were answered and what is left between them with the model; the rows of those who "
        "left with none; relationships, lists, counts and timelines of everybody with the rows",
        "differences": found,
        "counts": f"{len(histories.acts)} acts of {PEOPLE} people, {again} sent more than once; {len(histories.gone)} "
        f"left; {len(truth.follows)} follows, {len(truth.requests)} requests, {len(truth.blocks)} blocks, "
        f"{len(truth.mutes)} mutes in the end",
    }


def _allowed(histories: Histories) -> dict[tuple[str, str], set[Any]]:
    """Return of each two who are there what there may be between them."""
    allowed = {}
    for pair in combinations(sorted({*histories.people} - histories.gone), 2):
        beginning = Model()
        for person in pair:
            beginning.do("join", person, person, 0)
        allowed[pair] = ends(beginning, histories.acts, pair)
    return allowed


def _differences(histories: Histories, allowed: dict[tuple[str, str], set[Any]]) -> list[str]:
    truth = Truth.read()
    found = [*truth.leftovers(histories.gone)]
    for pair, states in allowed.items():
        if not states:
            found.append(f"{pair}: no order of what they did gives what they were answered")
        elif (state := truth.between(pair)) not in states:
            found.append(f"{pair}: {state}, and not one of {states}")
    return found or [*differences(truth, histories.people)]


DRILLS = [graph]
