"""Runs what one file of a suite lists: python -m murmuration_testkit.one_file MODULE LIST ANSWER.json.

What one of them returns is written at once, so that it is kept whatever happens to the next.
"""

import json
import signal
import sys
import traceback
from importlib import import_module
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, NoReturn


def main() -> None:
    """Run them in turn; one that raises is a failure, and the next one runs."""
    module, listed, file = sys.argv[1:]
    signal.signal(signal.SIGTERM, _leave)
    answer: dict[str, Any] = {"results": [], "failures": [], "whole": False}
    for function in getattr(_import(module), listed):
        try:
            found = function()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told and the others run
            traceback.print_exc()
            answer["failures"].append(f"{function.__name__}: {type(error).__name__}: {error}")
        else:
            answer["results"] += found if isinstance(found, list) else [found]
        _write(Path(file), answer)
    _write(Path(file), answer | {"whole": True})


def _import(module: str) -> ModuleType:
    """Import a file by its path with dots; its folders are packages, even one that has a bench.py beside its bench."""
    *folders, _ = module.split(".")
    for depth in range(1, len(folders) + 1):
        package = ModuleType(".".join(folders[:depth]))
        package.__path__ = [str(Path.cwd().joinpath(*folders[:depth]))]
        sys.modules[package.__name__] = package
    return import_module(module)


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    """End as a signal asks to, but through every finally on the way."""
    raise SystemExit(128 + number)


def _write(file: Path, answer: dict[str, Any]) -> None:
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps(answer))
    fresh.replace(file)


if __name__ == "__main__":
    main()
