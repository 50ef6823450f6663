"""Asks the gateway whatever its OpenAPI document allows, and what it does not, by schemathesis with all of its checks.

Rule: whoever asks lives in a small world, so that half of the requests find what they ask for.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from murmuration_testkit import REPOSITORY
from murmuration_testkit.people import Person, gateway

CALLER = "FUZZ_CALLER"  # the variable that names who asks
DOCUMENT = REPOSITORY / "deploy/gateway/src/murmuration_gateway/openapi.json"
COMMAND = Path(sys.executable).with_name("schemathesis")
LONG = 8 * 1024
SHOWN = 300  # of a line: a request may be long
CONFIGURATION = """
continue-on-failure = true
hooks = "murmuration_testkit.fuzz_hooks"
[checks.positive_data_acceptance]  # 404, 409 and 422 refuse what no schema can say; 400 has a check in the hooks
expected-statuses = ["2xx", 304, 400, 401, 403, 404, 409, 414, 422, 429, 431]
[checks.negative_data_rejection]
expected-statuses = ["4xx"]
[[operations]]  # who is called "sent" has a request there, too
include-path = "/v1/users/me/follow-requests/sent"
checks.allow_header_conformance.enabled = false
checks.unsupported_method.enabled = false
"""


@dataclass(frozen=True)
class Outcome:
    """What was found, in short and as schemathesis says it; how much was asked; which operations never succeeded."""

    failures: Sequence[str]
    said: str
    asked: int
    never_accepted: Sequence[str]


def fuzz(directory: Path, seconds: int, seed: int) -> Outcome:
    """Ask for so long; the report stays in the directory."""
    caller, there = world()
    (directory / "schemathesis.toml").write_text(configuration(there), "utf-8")
    command = [str(COMMAND), "run", str(DOCUMENT), f"--url={gateway()}", f"--seed={seed}", f"--max-time={seconds}"]
    options = ["--generation-database=none", "--report=json", "--report-json-path=report.json", "--no-color"]
    with (directory / "output.txt").open("w+", encoding="utf-8") as output:
        environment = os.environ | {CALLER: caller}
        subprocess.call([*command, *options], cwd=directory, env=environment, stdout=output, stderr=subprocess.STDOUT)
        output.seek(0)
        said = "\n".join(line[:SHOWN] for line in output.read().splitlines())
    return outcome(json.loads((directory / "report.json").read_text("utf-8")), said)


def outcome(report: Mapping[str, Any], said: str) -> Outcome:
    """Read the report of a run."""
    failures = [f"{each['title']}: {', '.join(each['operations'])}" for each in report["failures"]]
    accepted = {
        operation
        for operation, phases in report["valid_rates"].items()
        if any(phase["accepted"] for phase in phases.values())
    }
    paths = json.loads(DOCUMENT.read_text("utf-8"))["paths"]
    operations = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    never = sorted(operations - accepted)
    return Outcome([*failures, *map(str, report["errors"])], said, report["test_cases"]["generated"], never)


def world() -> tuple[str, dict[str, list[str]]]:
    """Make a small world; return who asks in it, and by parameter the values that are there."""
    caller, author, private = (Person(name).join() for name in ("Caller", "Author", "Private"))
    fans = [Person("Fan").join() for _ in range(20)]
    for person in (caller, private):
        person.turn(private=True)
    for fan in fans:
        fan.follow(caller)
        fan.follow(author)
    said = [person.tweet(str(n)) for person in (caller, author, private) for n in range(10)]
    return caller.user_id, {
        "path.user_id": [person.user_id for person in (caller, author, private, *fans)],
        "path.other_id": [person.user_id for person in (author, *fans)],
        "path.follower_id": [fan.user_id for fan in fans],
        "path.tweet_id": said,
        "query.since": [caller.ask("GET", "/v1/timeline")["newest"]],
    }


def configuration(there: Mapping[str, Sequence[str]]) -> str:
    """Return the command's configuration: half of the parameters name what is there, some texts are very long."""
    lines = [CONFIGURATION]
    for place, values in there.items():
        lines += [
            f'[dictionaries."{place}"]',
            f"values = {json.dumps([*values])}",
            f'[parameters."{place}"]',
            f'dictionary = "{place}"',
            "probability = 0.5",
        ]
    lines += ["[dictionaries.long]", f'values = ["{"x" * LONG}", "{"é" * LONG}"]']
    lines += ["[generation.dictionaries.string]", 'dictionary = "long"', "probability = 0.02"]
    return "\n".join(lines)
