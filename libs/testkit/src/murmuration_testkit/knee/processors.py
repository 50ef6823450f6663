"""How much processor time each process of the stack has used, with all that it started, and everybody else."""

import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from murmuration_testkit.knee.bottleneck import GENERATOR, STRANGERS
from murmuration_testkit.processes import control

_TICKS = os.sysconf("SC_CLK_TCK")
_RUNNING = re.compile(r"^(\S+)\s+RUNNING\s+pid (\d+)", re.MULTILINE)


class Processors:
    """The stack's processes as they run now: each leads a process group of its own."""

    def __init__(self, names: Mapping[int, str]) -> None:
        self._names = names

    @classmethod
    def of_stack(cls) -> Self:
        """Look at the stack that this process's environment names."""
        return cls({int(pid): name for name, pid in _RUNNING.findall(control("status"))})

    def used(self) -> dict[str, float]:
        """Return the processor seconds of each since its start; the caller is the load generator."""
        seconds = dict.fromkeys(self._names.values(), 0.0)
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                group, used = of_process(stat.read_text())
            except OSError:  # it ended a moment ago
                continue
            if group in self._names:
                seconds[self._names[group]] += used
        seconds[GENERATOR] = time.process_time()
        seconds[STRANGERS] = of_machine(Path("/proc/stat").read_text()) - sum(seconds.values())
        return seconds


def of_process(stat: str) -> tuple[int, float]:
    """Return a process's group and its seconds, in user and system mode, from its line in /proc."""
    after_name = stat.rpartition(")")[2].split()
    return int(after_name[2]), (int(after_name[11]) + int(after_name[12])) / _TICKS


def of_machine(stat: str) -> float:
    """Return for how many seconds the machine's processors were busy since its start."""
    user, nice, system, _idle, _waiting, *interrupts = map(int, stat.split("\n", 1)[0].split()[1:9])
    return (user + nice + system + sum(interrupts)) / _TICKS
