"""What happens to some messages of a partition, in a thread: decode, then try to handle them, as often as it takes.

Rule: a handler whose store is away raises StoreAwayError, and is called with the same batch again until it returns. So
a handler is written as if stores were always there, and must be safe to repeat: a crash repeats a batch, too.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from murmuration_runtime import traces
from murmuration_runtime.errors import StoreAwayError
from murmuration_worker.inbox import Inbox
from murmuration_worker.messages import Batch, Message, texts
from murmuration_worker.metrics import RETRIED
from murmuration_worker.progress import Progress

Handle = Callable[[Batch[Any]], object]
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Handler:
    """One topic's messages, and the service's function for them. Safe among threads."""

    handle_batch: Handle
    topic_id: str
    inbox: Inbox
    progress: Progress

    def attempt(self, messages: Sequence[Message]) -> Callable[[], bool]:
        """Return what tries to handle these messages, and tells whether they are done; if not, it is called again."""
        topic, partition = messages[0].topic, messages[0].partition
        batch: Batch[Any] | None = None

        def try_once() -> bool:
            nonlocal batch
            with self.progress.busy_with((topic, partition)), _span(messages):
                batch = batch or Batch(topic, self.topic_id, partition, list(self.inbox.read(messages)))
                return self._is_done(batch)

        return try_once

    def _is_done(self, batch: Batch[Any]) -> bool:
        try:
            self.handle_batch(batch)
        except StoreAwayError as error:
            RETRIED.labels(batch.topic).inc()
            about = {"topic": batch.topic, "partition": batch.partition, "offset": batch.arrivals[0].offset}
            event_id = next((event.event_id for event in batch.events), None)
            _log.warning("retrying", extra={**about, "event_id": event_id, "reason": str(error)})
            return False
        return True


def _span(messages: Sequence[Message]) -> AbstractContextManager[None]:
    """Return a span for a try, in the trace that the one of the messages carries, or linked with those of several."""
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
