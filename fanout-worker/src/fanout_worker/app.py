"""The worker's wiring, and nothing else."""

from typing import NoReturn

from contracts import Event
from fanout_worker.deliveries import Deliveries
from fanout_worker.known import Known
from fanout_worker.settings import Settings
from fanout_worker.store import client
from fanout_worker.tables import Tables
from fanout_worker.timelines import Timelines, connect
from fanout_worker.topics import SERVICE, TOPICS_READ
from murmuration_runtime.settings import read
from murmuration_worker.messages import Batch
from murmuration_worker.progress import Progress
from murmuration_worker.worker import consume, run_worker


def fan_out() -> NoReturn:
    """Fan tweets out until told to stop."""
    settings = read(Settings)
    timelines = Timelines(connect(settings.redis_url))
    tables = Tables(client(), settings.table_prefix)
    known = Known(tables.celebrities)
    progress = Progress()
    deliveries = Deliveries(
        timelines,
        tables,
        settings.celebrity_threshold,
        settings.celebrity_ahead,
        known.__contains__,
        alive=progress.heartbeat,
    )

    def deliver(batch: Batch[Event]) -> None:
        deliveries.deliver(batch.events)

    run_worker(
        SERVICE,
        settings,
        [consume(topic, deliver) for topic in TOPICS_READ],
        stores={"redis": timelines.check, "dynamodb": tables.check},
        refresh={"celebrities": known.refresh},
        repair="python -m fanout_worker cold --all",
        progress=progress,
    )
