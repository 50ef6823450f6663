"""A process that asks Kafka how far groups are, again and again in four threads; it writes a byte for each answer.

It ends well when its input does. What it asks by must not end it before, whatever Kafka does meanwhile.
"""

import sys
import threading
from contextlib import suppress

from contracts import TOPICS
from murmuration_runtime.kafka import KafkaAwayError, KafkaTopics
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_runtime.settings import read


def main() -> None:
    """Ask until it is over."""
    topics = KafkaTopics(read(KafkaSettings), TOPICS.values(), timeout=1)
    over = threading.Event()

    def ask() -> None:
        while not over.is_set():
            with suppress(KafkaAwayError):
                topics.behind_each("count-aggregator", topics.partitions)
                topics.committed("fanout-worker")
                sys.stdout.write(".")
                sys.stdout.flush()

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    sys.stdin.read()
    over.set()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
