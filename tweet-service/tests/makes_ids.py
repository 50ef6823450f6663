"""A process that makes ids until it is killed: python makes_ids.py FIRST_NUMBER NOW AHEAD, of two numbers.

Its clock is ahead until it has a number. Then it steps back to NOW, and stands still.
"""

import os
import sys
import threading
from dataclasses import replace

from murmuration_runtime.dynamo import client
from murmuration_runtime.readiness import Readiness
from tweet_service.dynamo_worker_ids import DynamoWorkerIds, keep_reserved
from tweet_service.snowflake import NoWorkerIdError, Reservation, Snowflakes

first, clock, ahead = map(int, sys.argv[1:])
held: list[Reservation] = []


def now() -> int:
    """Tell the time as this process sees it."""
    return clock if held else clock + ahead


def reserve(reservation: Reservation) -> None:
    """Note it, under a number that fits into an id."""
    held.append(reservation)
    ids.reserve(replace(reservation, worker=reservation.worker - first))


ids = Snowflakes(now)
worker_ids = DynamoWorkerIds(client(), os.environ.get("TABLE_PREFIX", ""), now, range(first, first + 2))
keep_reserved(worker_ids, reserve, Readiness())
while True:
    try:
        print(ids.next()[0], flush=True)  # noqa: T201 - it is asked for
    except NoWorkerIdError:
        threading.Event().wait(0.01)
