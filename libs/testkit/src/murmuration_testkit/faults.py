"""What drills do to a process of the stack, whichever: kill it, end it, or stop it for a while."""

import random
import time
from collections import Counter
from collections.abc import Iterable

from murmuration_testkit.processes import kill, pause, resume, terminate

PAUSE_S = 3
KILL, END, STOP = "kill -9", "SIGTERM", f"SIGSTOP {PAUSE_S} s"


def some_faults(number: int, between: tuple[float, float], targets: Iterable[str]) -> Counter[str]:
    """Do so many, each to any of these processes and so many seconds after the one before; return how often which."""
    done: Counter[str] = Counter({KILL: 0, END: 0, STOP: 0})
    choice = [*targets]
    for count in range(number):
        time.sleep(random.uniform(*between))
        target, fault = random.choice(choice), random.choice((KILL, END, STOP))
        print(f"    {count + 1}/{number} {fault} {target}", flush=True)
        done[fault] += do(fault, target)
    return done


def do(fault: str, target: str) -> bool:
    """Do it; False if the target was down already."""
    if fault == KILL:
        return kill(target)
    if fault == END:
        return terminate(target)
    was_up = pause(target)
    time.sleep(PAUSE_S)
    resume(target)
    return was_up


def told(done: Counter[str], targets: Iterable[str]) -> str:
    """Say what was done, and to what."""
    return ", ".join(f"{count} x {fault}" for fault, count in done.items()) + f" among {', '.join(targets)}"
