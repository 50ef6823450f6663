"""A small world on the local stack, as people see it: follow, run, read, dismiss, run, gone. The tables are scanned."""

import json
import os
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from murmuration_suggested.layout import Suggestion
from murmuration_suggested.reader import SuggestedReader
from murmuration_suggested.writer import connect
from murmuration_testkit.people import Person, send
from murmuration_testkit.waiting import eventually

from .job_process import ran

STACK = "kafka,dynamodb,redis,registry,limits-redis,suggestions-redis,gateway,follow-service"
RUN_SEEN_S = 10  # a process remembers for a second which run counts


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
            eventually(lambda: (shown := _shown(ana))[0] == "run" or shown, True, within=RUN_SEEN_S)
            run = reader.run()
            found = reader.find(ana.user_id, run.version).of_run if run else None
            read = _shown(ana)[1]
            differences.extend(
                f"{what}: {those}, not {expected}" for those in (found, read) if {*(those or ())} != {*expected}
            )

        cleo_by_ben, dora_by_ben = (Suggestion(each.user_id, 1, (ben.user_id,)) for each in (cleo, dora))
        ran(Path(directory), url, "run")
        compare("Ana, who follows Ben and has asked Emil", cleo_by_ben, dora_by_ben)
        ana.ask("DELETE", f"/v1/suggestions/{cleo.user_id}")
        if {each.user_id for each in _shown(ana)[1]} != {dora.user_id}:
            differences.append("Cleo is shown to Ana, who has just dismissed her")
        job = ran(Path(directory), url, "run")
        compare("Ana, who dismissed Cleo", dora_by_ben)
    return {
        "name": "who to follow, from follows to a list",
        "faults": "none",
        "compared": "whom Ana is suggested and why, after each run, in Redis and by GET /v1/suggestions",
        "differences": differences,
        "counts": job.told("lists "),
    }


def _shown(person: Person) -> tuple[str, list[Suggestion]]:
    """Return where the list came from that somebody is read, and the list."""
    answer = send("GET", "/v1/suggestions", headers=person.headers)
    rows = json.loads(answer.data)["users"]
    return answer.headers["Suggestions-From"], [
        Suggestion(row["user_id"], row["because"]["count"], tuple(row["because"]["user_ids"])) for row in rows
    ]


PROOFS = [story]
