"""A process that makes ids until it is killed: python makes_ids.py FIRST_NUMBER CLOCK_ERROR_MS."""

import os
import sys
import time
from contextlib import suppress
from dataclasses import replace

from tweet_service.snowflake import NoWorkerIdError, Snowflakes
from tweet_service.tables import client
from tweet_service.worker_ids import WorkerIds, keep_reserved

first, error = int(sys.argv[1]), int(sys.argv[2])


def now() -> int:
    """Tell the time as this machine sees it."""
    return time.time_ns() // 1_000_000 + error


ids = Snowflakes(now)
numbers = WorkerIds(client(), os.environ.get("TABLE_PREFIX", ""), now, range(first, first + 4))
keep_reserved(numbers, lambda held: ids.reserve(replace(held, worker=held.worker - first)))
while True:
    with suppress(NoWorkerIdError):
        print(ids.next()[0], flush=True)  # noqa: T201 - it is asked for
