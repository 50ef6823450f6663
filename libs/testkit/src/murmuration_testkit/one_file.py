"""Runs what one file of a suite lists: python -m murmuration_testkit.one_file MODULE LIST ANSWER.json.

What one of them returns is written at once, so that it is kept whatever happens to the next.
"""

import json
import signal
import sys
import traceback
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn


def main() -> None:
    """Run them in turn; one that raises is a failure, and the next one runs."""
    module, listed, file = sys.argv[1:]
    signal.signal(signal.SIGTERM, _leave)
    answer: dict[str, Any] = {"results": [], "failures": [], "whole": False}
    for function in getattr(import_module(module), listed):
        try:
            found = function()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told and the others run
            traceback.print_exc()
            answer["failures"].append(f"{function.__name__}: {type(error).__name__}: {error}")
        else:
            answer["results"] += found if isinstance(found, list) else [found]
        _write(Path(file), answer)
    _write(Path(file), answer | {"whole": True})


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    """End as a signal asks to, but through every finally on the way."""
    raise SystemExit(128 + number)


def _write(file: Path, answer: dict[str, Any]) -> None:
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps(answer))
    fresh.replace(file)


if __name__ == "__main__":
    main()
