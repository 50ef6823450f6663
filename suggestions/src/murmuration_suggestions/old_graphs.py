"""Graphs that earlier runs left on this machine: of those that were killed, and wherever their driver was not."""

import fcntl
import shutil
from contextlib import suppress
from pathlib import Path

from murmuration_suggestions.kept_runs import began


def delete_older(folder: Path) -> None:
    """Delete the graphs of earlier runs beside this one, unless somebody is just putting one together.

    One of a run that is still under way is put together again: whoever has mapped it keeps it meanwhile.
    """
    for each in folder.parent.iterdir():
        if began(each.name) and each.name < folder.name:
            with suppress(OSError), (each / "lock").open("w") as lock:  # BlockingIOError, and whatever is not ours
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(each)
