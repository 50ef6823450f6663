"""What the run says, on the screen and in its log, and how long each thing took."""

import time
from collections.abc import Callable
from pathlib import Path

LINES: list[str] = []


class NotAsItShouldBeError(Exception):
    """What was seen, and what should have been."""


def say(text: str) -> None:
    """Say something."""
    print(text, flush=True)
    LINES.append(text)


def timed(what: str, do: Callable[..., object], *words: str) -> None:
    """Do it, and say how long it took."""
    began = time.monotonic()
    do(*words)
    say(f"    {what:<60} {time.monotonic() - began:7.1f} s")


def expect(what: str, seen: object, wanted: object) -> None:
    """Fail unless what is seen is what is wanted."""
    if seen != wanted:
        raise NotAsItShouldBeError(f"{what}: {seen!r}, not {wanted!r}")


def keep(file: Path) -> None:
    """Write all that was said into a file."""
    file.write_text("".join(f"{line}\n" for line in LINES))
