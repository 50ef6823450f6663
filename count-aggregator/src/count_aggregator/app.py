"""The worker's wiring, and nothing else."""

from functools import partial
from typing import NoReturn

from count_aggregator.counting import Counting
from count_aggregator.ledger import Ledger
from count_aggregator.metrics import OPEN_GAPS
from count_aggregator.topic import KEPT_SECONDS, PARTITION_IDS, SERVICE, TOPIC, ancestors
from murmuration_runtime import dynamo
from murmuration_runtime.settings import read
from murmuration_worker.progress import Progress
from murmuration_worker.settings import WorkerSettings
from murmuration_worker.worker import consume, run_worker

BATCH = 500  # events: several full transactions
ROOM = 4_000


def count() -> NoReturn:
    """Count follows until told to stop."""
    settings = read(WorkerSettings)
    # counting tries again with a fresh place
    one_try = dynamo.client(attempts=1, connect_seconds=2, read_seconds=4)
    ledger = Ledger(one_try, settings.table_prefix, KEPT_SECONDS, ancestors)
    progress = Progress()
    counting = Counting(ledger, heartbeat=progress.heartbeat)
    run_worker(
        SERVICE,
        settings,
        [consume(TOPIC, counting.apply, batch=BATCH, room=ROOM)],
        stores={"dynamodb": ledger.check},
        refresh={"open gaps": partial(measure_open_gaps, ledger)},
        repair="python -m count_aggregator reconcile --all",
        progress=progress,
    )


def measure_open_gaps(ledger: Ledger) -> None:
    """Set the metric to what vanished and was not recounted since."""
    OPEN_GAPS.set(sum(map(len, ledger.open_gaps(PARTITION_IDS).values())))
