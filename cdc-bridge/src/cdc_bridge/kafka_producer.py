"""One Kafka producer for many shards: every message of a batch in the log, in order, or an error.

Rule: gapless. Within a partition a later message of a shard never lies in the log when an earlier one does not, because
a consumer's watermark would take the earlier one's retry for a repeat. Between partitions there is no order.
1. Messages never time out but wait, and the first that fails ends the producer (enable.gapless.guarantee), for all of
   its shards: each begins again at its checkpoint, with a new producer.
2. The first message to each partition goes alone, until Kafka has acknowledged it. A broker that has no state of a
   producer in a partition takes any request as its first, also the second after a refused one, and librdkafka then
   reports the refused one as delivered (KAFKA-15591). From the second request on the broker knows the producer and
   refuses what is out of sequence. It forgets a producer that is idle for long: then the first goes alone again.
3. Only an offset proves that a message lies in the log. A delivery report without one means that nobody knows.
4. After requests out of sequence librdkafka begins a new epoch by itself and sends again. A broker that knows an older
   epoch takes only sequence 0 as the first of a new one, so rule 2 still holds; but nobody asked for it: the producer
   ends when its statistics show it. They show producer_epoch; epoch_cnt does not count these.
5. A shard has at most WINDOW messages in librdkafka, which gives none of them back. The others wait here, in order:
   behind one for which there is no room, none of its shard goes to that partition, though room may come meanwhile.
"""

import logging
import math
import re
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka import Message as Delivery

from cdc_bridge.kafka_batches import POLL_SECONDS, Batch, PublishError, RefusedError, Sender, failure_of
from cdc_bridge.message import Message
from murmuration_runtime.kafka import FATAL_ONLY, connect
from murmuration_runtime.kafka_connection import KafkaSettings

KNOWN_SECONDS = 3600  # well below Kafka's producer.id.expiration.ms, a day
WINDOW = 1000  # messages: a page
QUEUE_KB = 32_768
STATISTICS_MS = 500
_FLUSH_SECONDS = 3
_EPOCH = re.compile(r'"producer_id":\s*(-?\d+),\s*"producer_epoch":\s*(-?\d+)')
_log = logging.getLogger(__name__)


class _Lane:
    """One partition: what waits for it, and whether it knows the producer."""

    def __init__(self) -> None:
        self.waiting: deque[tuple[Batch, Message]] = deque()
        self.known_at = -math.inf  # when a message began that got an offset there
        self.first_is_out = False

    def report_first(self, batch: Batch, error: KafkaError | None, delivery: Delivery) -> None:
        """Take the report of the message that went alone."""
        batch.report(error, delivery)
        if error is None and delivery.offset() is not None:
            self.known_at, self.first_is_out = batch.began, False


class SharedProducer:
    """A producer and the thread that polls it, until something fails. Safe among threads."""

    def __init__(self, kafka: KafkaSettings, largest: int, clock: Callable[[], float]) -> None:
        """Raise StoreRefusedError if Kafka cannot be spoken to with these settings now."""
        self._kafka = kafka
        self.fault: PublishError | None = None
        self._clock = clock
        self._lock = threading.Lock()
        self._lanes: dict[tuple[str, int], _Lane] = defaultdict(_Lane)
        self._batches: list[Batch] = []  # somebody waits for these; whoever takes one out tells them
        self._withdrawn: list[Batch] = []  # nobody does, and something of them is under way
        self._told: set[int] = set()
        self._id = ""
        ours = {
            "acks": "all",
            "enable.idempotence": True,
            "enable.gapless.guarantee": True,
            "message.timeout.ms": 0,
            "message.max.bytes": largest,
            "linger.ms": 1,
            "queue.buffering.max.kbytes": QUEUE_KB,
            "statistics.interval.ms": STATISTICS_MS,
            "stats_cb": self._check_epoch,
            "log_level": FATAL_ONLY,  # see _tell
            "error_cb": self._tell,
            "logger": _log,
        }
        self._producer = connect(kafka, Producer, **ours)
        self._thread = threading.Thread(target=self._run, name="kafka-producer", daemon=True)
        self._thread.start()

    def now(self) -> float:
        """Read the clock by which it knows how long something waits."""
        return self._clock()

    def begin(self, batch: Batch, messages: Sequence[Message]) -> None:
        """Send a batch behind all that its shard has begun; it ends at once if that has failed."""
        with self._lock:
            error = batch.sender.error or self.fault
            if error is None and messages:
                self._batches.append(batch)
                for message in messages:
                    self._lanes[message.topic, message.partition].waiting.append((batch, message))
                for partition in batch.partitions:
                    self._hand_over(self._lanes[partition])
        if error is not None or not messages:
            batch.end(error)
        elif batch.sender.error:  # librdkafka itself refused
            self.withdraw(batch.sender, batch.sender.error)

    def withdraw(self, sender: Sender, error: PublishError) -> None:
        """Send nothing more of a shard, but what librdkafka has already."""
        with self._lock:
            sender.error = sender.error or error
            theirs = [batch for batch in self._batches if batch.sender is sender]
            self._batches = [batch for batch in self._batches if batch.sender is not sender]
            self._withdrawn += theirs
            for lane in self._lanes.values():
                lane.waiting = deque(entry for entry in lane.waiting if entry[0].sender is not sender)
        for batch in theirs:
            batch.end(sender.error)

    def end(self, fault: PublishError) -> None:
        """Send nothing more of anybody; whatever is not acknowledged fails."""
        with self._lock:
            self.fault = self.fault or fault

    def join(self) -> None:
        """Return when it has ended."""
        self._thread.join()

    def _run(self) -> None:
        while self.fault is None:
            try:
                self._settle(self._producer.poll(POLL_SECONDS))
            except Exception as error:  # noqa: BLE001 - what ends the producer is raised here, in many guises
                self.end(PublishError(f"the producer has ended: {error!r}"))
        self._close(self.fault)

    def _settle(self, served: int) -> None:
        """See whether the producer has to end; if not, end the batches that are whole, and hand over what may go."""
        with self._lock:
            self.fault = self.fault or self._failure()
            if self.fault is not None:
                return
            whole = [batch for batch in self._batches if batch.acknowledged == batch.count]
            self._batches = [batch for batch in self._batches if batch.acknowledged < batch.count]
            self._withdrawn = [batch for batch in self._withdrawn if batch.sender.under_way]
            for batch in whole:
                for partition in batch.partitions:
                    lane = self._lanes[partition]
                    lane.known_at = max(lane.known_at, batch.began)
            for lane in self._lanes.values() if served else ():
                self._hand_over(lane)
        for batch in whole:
            batch.end()
            self._told.clear()

    def _failure(self) -> PublishError | None:
        """Return what went wrong with a message, or that one waits for so long that Kafka may have forgotten us."""
        for batch in *self._withdrawn, *self._batches:
            if (failure := batch.failure()) is not None:
                return PublishError(f"a message of this producer failed: {failure}")
            if self._clock() - batch.began >= KNOWN_SECONDS:
                return PublishError(f"given up with {batch} acknowledged in {KNOWN_SECONDS} s")
        return None

    def _hand_over(self, lane: _Lane) -> None:
        """Give librdkafka what may go now, in order; what may not stays, and so does all of its shard behind it."""
        kept: list[tuple[Batch, Message]] = []
        full: set[Sender] = set()
        while lane.waiting and not lane.first_is_out and self.fault is None:
            batch, message = lane.waiting.popleft()
            if batch.sender in full or (batch.sender.error is None and not self._produce(lane, batch, message)):
                full.add(batch.sender)
                kept.append((batch, message))
        lane.waiting.extendleft(reversed(kept))

    def _produce(self, lane: _Lane, batch: Batch, message: Message) -> bool:
        """Return False if there is no room now."""
        sender = batch.sender
        if sender.under_way >= WINDOW:
            return False
        lane.first_is_out = self._clock() - lane.known_at >= KNOWN_SECONDS
        sender.handed += 1
        try:
            self._producer.produce(
                self._kafka.topic_name(message.topic),
                message.value,
                message.key,
                message.partition,
                on_delivery=partial(lane.report_first, batch) if lane.first_is_out else batch.report,
                headers=[*message.headers],
            )
        except BufferError:
            lane.first_is_out = False
            sender.handed -= 1
            return False
        except Exception as error:  # noqa: BLE001 - whatever it is, nothing may go behind this message
            lane.first_is_out = False
            sender.handed -= 1
            code = error.args[0] if isinstance(error, KafkaException) else None
            failure = failure_of(code, f"{message.topic} [{message.partition}]", batch.count)
            if isinstance(failure, RefusedError):
                sender.error = failure  # librdkafka has not taken it, so it concerns nobody else
            else:
                self.fault = PublishError(f"the producer has ended: {error!r}")
        return True

    def _close(self, fault: PublishError) -> None:
        """Send nothing more, and let every message be told its fate.

        confluent-kafka raises what ends a producer out of the next poll or flush, and first goes on calling delivery
        callbacks with that exception set: a call of C code in one of them becomes a SystemError.
        """
        self._producer.purge()
        while True:
            with suppress(Exception):  # it has ended already
                self._producer.flush(_FLUSH_SECONDS)
                break
        with self._lock:
            batches, withdrawn, self._batches, self._withdrawn = self._batches, self._withdrawn, [], []
            self._lanes.clear()
        for batch in batches:
            failure = batch.failure()
            if isinstance(failure, RefusedError):  # also of those before it, so that the reader goes one by one
                batch.sender.error = failure
                fault = PublishError(f"a message of this producer failed: {failure}")
        for batch in withdrawn + batches:
            batch.sender.error = batch.sender.error or fault
            batch.sender.reported = batch.sender.handed
        for batch in batches:
            batch.end(batch.sender.error)

    def _check_epoch(self, statistics: str) -> None:
        """End when it is not any more the producer that a broker made, whose epoch is 0."""
        found = _EPOCH.search(statistics)
        if found is None or found[1] == "-1":
            return
        self._id = self._id or found[1]
        if (self._id, "0") != found.groups():
            self.end(PublishError("librdkafka has begun a new epoch: requests came to Kafka out of sequence"))

    def _tell(self, error: KafkaError) -> None:
        """Log each kind of trouble once until something is acknowledged again."""
        if error.code() not in self._told:
            _log.warning("Kafka cannot be reached or refuses; librdkafka retries", extra={"reason": error.str()})
        self._told.add(error.code())
