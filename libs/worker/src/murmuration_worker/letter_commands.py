"""`dead-letters list | show | handle | drop`: the command that every worker has for the letters of its topics."""

import argparse
import base64
import json
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime

from contracts import Topic
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_worker.letters import Letter, open_letters

Handle = Callable[[Sequence[Letter]], Collection[Letter]]
"""A service's function for its open letters; it returns those that are settled now."""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]", about: str) -> argparse.ArgumentParser:
    """Add the command and its verbs; return the parser of `handle`, for what a service wants to be told beside it."""
    verbs = commands.add_parser("dead-letters", help=about).add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("list", help="a line of JSON for each open letter: place, time, reason, ids")
    verbs.add_parser("show", help="all of some letters").add_argument("places", nargs="+", metavar="PLACE")
    handle = verbs.add_parser("handle", help=f"{about}; of all open letters, or of these")
    handle.add_argument("places", nargs="*", metavar="PLACE")
    verbs.add_parser("drop", help="never handle these").add_argument("places", nargs="+", metavar="PLACE")
    return handle


def run(asked: argparse.Namespace, kafka: KafkaSettings, service: str, topics: Sequence[Topic], handle: Handle) -> int:
    """Do what was asked; 1 if a place has no open letter, or a letter that was to be handled is still open."""
    with ExitStack() as stack:
        opened = [stack.enter_context(open_letters(kafka, topic, service)) for topic in topics]
        found = [(letter, letters) for letters in opened for letter in letters.open()]
        places = getattr(asked, "places", [])
        if unknown := set(places) - {letter.place for letter, _ in found}:
            named = ", ".join(sorted(unknown))
            sys.stderr.write(
                f"{service} has no open letter at {named}: `dead-letters list` names those that are open\n"
            )
            return 1
        chosen = [letter for letter, _ in found if not places or letter.place in places]
        if asked.verb in ("list", "show"):
            for letter in chosen:
                print(json.dumps(_told(letter, whole=asked.verb == "show"), ensure_ascii=False))  # noqa: T201
            return 0
        settled = {letter.place for letter in (handle(chosen) if asked.verb == "handle" else chosen)}
        for letters in opened:
            letters.settle([letter for letter, its in found if its is letters and letter.place in settled])
    return int(len(settled) < len(chosen))


def _told(letter: Letter, *, whole: bool) -> dict[str, object]:
    headers = letter.headers
    told: dict[str, object] = {
        "place": letter.place,
        "sent_at": letter.sent_at
        and datetime.fromtimestamp(letter.sent_at / 1000, UTC).isoformat(timespec="milliseconds"),
        "reason": headers.get("reason"),
        "ids": letter.ids,
    }
    return (
        told | {"headers": headers, "key": _text(letter.message.key), "value": _text(letter.message.value)}
        if whole
        else told
    )


def _text(data: bytes | None) -> str | None:
    """Return bytes as text, or else as base64."""
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return f"base64:{base64.b64encode(data).decode()}"
