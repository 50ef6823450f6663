"""What is known of the last runs, asked of Redis alone: for operators, `helm test`, and whoever has no metrics."""

import sys
import time
from contextlib import closing

from murmuration_runtime.errors import StoreAwayError
from murmuration_suggested.reader import SuggestedReader
from murmuration_suggested.runs import Run
from murmuration_suggested.writer import connect
from murmuration_suggestions.settings import Settings

HOUR_MS = 3_600_000


def check(settings: Settings, late_hours: int | None) -> int:
    """Say it; 1 if Redis is away, or if the run that counts is older than that."""
    try:
        with closing(connect(settings.redis.url, **settings.redis.options())) as nodes:
            reader = SuggestedReader(nodes)
            counts, refused = reader.run(), reader.refused()
    except StoreAwayError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    lines, good = told(counts, refused, int(time.time() * 1000), late_hours)
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if good else 1


def told(counts: Run | None, refused: Run | None, now_ms: int, late_hours: int | None) -> tuple[list[str], bool]:
    """Return what to say of the runs, and whether that is good. Pure."""
    lines = [f"run {refused.version} was refused: {'; '.join(refused.refused_because)}"] if refused else []
    if counts is None:
        return ["no run counts: nobody has a list", *lines], late_hours is None
    age = (now_ms - counts.began_at) / HOUR_MS
    good = late_hours is None or age <= late_hours
    late = "" if good else f", more than {late_hours}"
    return [f"run {counts.version} counts: {counts.people:,} people, begun {age:.1f} hours ago{late}", *lines], good
