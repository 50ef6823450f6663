"""What happens to a partition's next messages, in a thread: nothing was skipped, decode, handle until it succeeds.

Rule: a handler whose store is away raises StoreAwayError, and is called with the same batch again until it returns. So
a handler is written as if stores were always there, and must be safe to repeat: a crash repeats a batch, too.
"""

import logging
import random
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from murmuration_runtime import traces
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.retries import pauses
from murmuration_worker.continuity import Continuity
from murmuration_worker.inbox import Inbox
from murmuration_worker.messages import Batch, Message, texts
from murmuration_worker.metrics import RETRIED
from murmuration_worker.progress import Progress

Handle = Callable[[Batch[Any]], object]
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Handler:
    """One topic's messages, and the service's function for them. Safe among threads that have a partition each."""

    handle_batch: Handle
    topic_id: str
    inbox: Inbox
    continuity: Continuity
    progress: Progress
    sleep: Callable[[float], object] = time.sleep

    def handle(self, messages: Sequence[Message]) -> None:
        """Return when the messages are done."""
        topic, partition = messages[0].topic, messages[0].partition
        self.continuity.check((topic, partition), [message.offset for message in messages])
        with self.progress.busy_with((topic, partition)), _span(messages):
            batch = Batch(topic, self.topic_id, partition, list(self.inbox.read(messages)))
            for pause in pauses(draw=random.random):
                if self._is_done(batch):
                    return
                self.sleep(pause)

    def _is_done(self, batch: Batch[Any]) -> bool:
        try:
            self.handle_batch(batch)
        except StoreAwayError as error:
            RETRIED.labels(batch.topic).inc()
            about = {"topic": batch.topic, "partition": batch.partition, "offset": batch.arrivals[0].offset}
            event_id = next((event.event_id for event in batch.events), None)
            _log.warning("retrying", extra={**about, "event_id": event_id, "reason": str(error)})
            return False
        finally:
            self.progress.heartbeat()
        return True


def _span(messages: Sequence[Message]) -> AbstractContextManager[None]:
    """Return a span for the messages, in the trace that the one of them carries, or linked with those of several."""
    if not traces.are_on():
        return traces.NO_SPAN
    headers = [texts(message.headers) for message in messages]
    about: traces.Attributes = {
        "messaging.destination.name": messages[0].topic,
        "messaging.destination.partition.id": str(messages[0].partition),
        "messaging.batch.message_count": len(messages),
        "event_id": [each.get("event_id", "") for each in headers],
    }
    contexts = [each[traces.HEADER] for each in headers if traces.HEADER in each]
    return traces.span(f"handle {messages[0].topic}", "CONSUMER", contexts, about)
