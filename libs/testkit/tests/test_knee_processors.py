"""Processor time: of a process whatever its name, of all that it started, and of the machine."""

import os
import subprocess
import sys
from pathlib import Path

from murmuration_testkit.knee.bottleneck import GENERATOR, STRANGERS
from murmuration_testkit.knee.processors import Processors, of_machine, of_process
from murmuration_testkit.waiting import eventually

TICK = 1 / os.sysconf("SC_CLK_TCK")
WORKS = "sum(range(30_000_000))"
STARTS = f"import subprocess, sys, time; subprocess.run([sys.executable, '-c', '{WORKS}; input()'])"


def test_a_line_of_proc_is_read_whatever_the_process_is_called():
    """A name may have spaces and parentheses."""
    line = "12 (a) b (c) S 1 34 34 0 -1 0 1 2 3 4 500 250 9 9 20 0 1 0 100 1 1"
    assert of_process(line) == (34, 750 * TICK)


def test_what_the_machine_waits_for_is_not_used():
    """Idle and waiting for a disk are not; interrupts and what other guests of the host take are."""
    assert of_machine("cpu  1 2 3 1000 1000 4 5 6 7 8\ncpu0 1 1 1\n") == 21 * TICK


def test_what_a_process_started_is_its_own():
    """The child works; its parent, who leads the group, is named."""
    with subprocess.Popen([sys.executable, "-c", STARTS], stdin=subprocess.PIPE, start_new_session=True) as parent:
        processors = Processors({parent.pid: "parent"})
        try:
            used = eventually(lambda: (it := processors.used())["parent"] > 0.2 and it, within=60)
        finally:
            os.killpg(parent.pid, 9)
    assert used["parent"] > 0.2
    assert used[GENERATOR] > 0


def test_everybody_else_is_what_is_left_of_the_machine():
    used = Processors({}).used()
    left = of_machine(Path("/proc/stat").read_text("utf-8")) - sum(used.values())
    assert left >= 0
    assert used[STRANGERS] > 0
