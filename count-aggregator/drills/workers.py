"""The stack's aggregator and a second one beside it: to break, and to watch through their metrics."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]

from contracts import TOPICS
from murmuration_testkit.ports import free_port
from murmuration_testkit.probes import metrics
from murmuration_testkit.processes import control
from murmuration_testkit.topics import admin, ends, move
from murmuration_testkit.waiting import eventually
from murmuration_testkit.worker import Worker

TOPIC = TOPICS["FollowChanged"]
GROUP = "count-aggregator"
HOUR_MS = 3_600_000


def second_aggregator() -> Worker:
    """Return another aggregator of the same group, not started yet."""
    return Worker("count_aggregator", free_port(), "count-aggregator-2")


class Watch:
    """What the aggregators counted, added up over all their lives as far as it was seen."""

    def __init__(self, *ports: int) -> None:
        self._ports = ports
        self._seen: dict[tuple[str, str], float] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Watch no longer."""
        self._over.set()
        self._thread.join()

    def total(self, name: str) -> int:
        """Return the sum of a metric over every process that there was."""
        return int(sum(value for (_, metric), value in self._seen.items() if metric == f"count_aggregator_{name}"))

    @property
    def lives(self) -> int:
        """How many processes were seen."""
        return len({process for process, _ in self._seen})

    def _look(self) -> None:
        while not self._over.wait(0.25):
            for port in self._ports:
                if values := metrics(port, timeout_s=1):
                    life = f"{port} {values['process_start_time_seconds']}"
                    self._seen |= {(life, name): value for name, value in values.items()}


@contextmanager
def nobody(second: Worker) -> Iterator[None]:
    """Have no aggregator at all for as long as the context lasts."""
    second.stop()
    control("stop", "count-aggregator")
    try:
        yield
    finally:
        control("start", "count-aggregator")
        second.start()


def redeliver_the_last_hour(second: Worker) -> int:
    """Set the group back by an hour; return how many messages that brings again."""
    kafka = admin()
    places = [TopicPartition(TOPIC.name, number) for number in range(TOPIC.partitions)]

    def offsets(which: Any) -> dict[int, int]:
        """Ask until Kafka answers: it may just have been killed."""
        found: dict[int, int] = {}

        def asked() -> bool:
            with suppress(KafkaException):
                answers = kafka.list_offsets(dict.fromkeys(places, which), request_timeout=5)
                found.update({place.partition: future.result().offset for place, future in answers.items()})
                return True
            return False

        eventually(asked, True, within=60, every=0.5)
        return found

    with nobody(second):
        hour_ago = offsets(OffsetSpec.for_timestamp(int(time.time() * 1000) - HOUR_MS))
        latest = offsets(OffsetSpec.latest())  # type: ignore[no-untyped-call]
        back = {number: hour_ago[number] if hour_ago[number] >= 0 else latest[number] for number in latest}
        move(kafka, GROUP, TOPIC.name, back)
    return sum(latest[number] - back[number] for number in latest)


def events() -> int:
    """Return how many messages the topic has."""
    kafka = admin()
    return sum(ends(kafka, TOPIC.name).values())
