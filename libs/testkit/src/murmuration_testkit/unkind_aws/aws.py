"""The fake itself: its clock, its switches, its tables, and the clients of it that one makes."""

from __future__ import annotations

import heapq
import threading
from collections import Counter
from contextlib import contextmanager
from functools import cache
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any

import botocore.session
from botocore.errorfactory import ClientExceptionsFactory

from contracts.table_files import TableFile, load
from contracts.topic import DATA
from murmuration_testkit.unkind_aws.stream import Stream
from murmuration_testkit.unkind_aws.table import Table
from murmuration_testkit.unkind_aws.unkindness import Dice, Unkindness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from murmuration_testkit.unkind_aws.actors import Actors
    from murmuration_testkit.unkind_aws.unkindness import Amount

BEGINNING = 1_800_000_000.0  # of virtual time, in seconds since 1970


class Process:
    """One process's clock, a little before or after AWS's. Each is called like those of the module time."""

    def __init__(self, aws: UnkindAws, ahead: float) -> None:
        self._aws = aws
        self.ahead = ahead

    def time(self) -> float:
        """Return what this process takes for the time, in seconds."""
        if self.ahead:
            self._aws.occurred[Unkindness.CLOCKS_APART_LAG] += 1
        return self._aws.now + self.ahead

    def ms(self) -> int:
        """Return what this process takes for the time, in whole milliseconds."""
        return int(self.time() * 1000)

    def monotonic(self) -> float:
        """Return seconds that only grow, from wherever."""
        return self._aws.now

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass."""
        self._aws.sleep(seconds)


class UnkindAws:
    """DynamoDB and its streams, in memory and in virtual time."""

    def __init__(
        self,
        seed: int | Random = 0,
        unkind: Mapping[Unkindness, Amount] | None = None,
        *,
        table_prefix: str = "",
        call_seconds: float = 0.0,
    ) -> None:
        """Take what to be unkind with (EVERYTHING, or some of it), and how long a call takes in virtual time.

        The tables are those of schemas/tables.
        """
        self.random = seed if isinstance(seed, Random) else Random(seed)
        self.dice = Dice(self.random, dict(unkind or {}))
        self.now = BEGINNING
        self.call_seconds = call_seconds
        self.calls: Counter[tuple[str, str]] = Counter()  # by operation and table
        self.items_written: Counter[tuple[str, Any]] = Counter()  # by table and partition key
        self.lock: AbstractContextManager[Any] = threading.RLock()
        self.tables: dict[str, Table] = {}
        self.streams: dict[str, Stream] = {}
        self.units: dict[str, int] = {}  # by index: what transactions may write to one partition key in a second
        self.units_used: Counter[tuple[str, Any, int]] = Counter()
        self.half_committed: list[set[tuple[str, Any]]] = []  # the items of transactions that are being committed
        self.iterators: dict[str, Any] = {}
        self.meanwhile: Callable[[str], object] = lambda _: None
        self.actors: Actors | None = None
        self._is_meanwhile = False
        self._later: list[tuple[float, int, Callable[[], object]]] = []
        self._order = count()
        for file in _tables().values():
            self.make_table(f"{table_prefix}{file.name}", file.create).expires = file.expires

    @property
    def occurred(self) -> Counter[Unkindness]:
        """How often each unkindness really happened."""
        return self.dice.occurred

    @property
    def unkind(self) -> dict[Unkindness, Amount]:
        """The switches, to be set or deleted at any time."""
        return self.dice.switches

    @contextmanager
    def kind(self) -> Iterator[None]:
        """Be kind for as long as the context lasts; what lags is still behind."""
        before, self.dice.switches = self.dice.switches, {}
        try:
            yield
        finally:
            self.dice.switches = before

    def order(self, unkindness: Unkindness, operation: str = "", table: str = "") -> None:
        """Have something unkind happen once, to the next call of this operation (as GetItem) on this table."""
        self.dice.ordered.append((unkindness, operation, table))

    def time(self) -> float:
        """Return AWS's own time, in seconds."""
        return self.now

    def ms(self) -> int:
        """Return AWS's own time, in whole milliseconds."""
        return int(self.now * 1000)

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass; what was to happen meanwhile happens."""
        if not (self.actors and self.actors.sleep(seconds)):
            self.advance_to(self.now + seconds)

    def advance_to(self, until: float) -> None:
        """Let it be then."""
        while self._later and self._later[0][0] <= until:
            at, _, act = heapq.heappop(self._later)
            self.now = max(self.now, at)
            act()
        self.now = max(self.now, until)

    def later(self, seconds: float, act: Callable[[], object]) -> None:
        """Have something done when this time has passed."""
        heapq.heappush(self._later, (self.now + seconds, next(self._order), act))

    def process(self, ahead: float | None = None) -> Process:
        """Return the clock of a process: so much ahead, or as CLOCKS_APART_LAG draws it."""
        if ahead is None:
            ahead = self.dice.seconds(Unkindness.CLOCKS_APART_LAG) * self.random.choice((-1, 1))
        return Process(self, ahead)

    def let_others_act(self, where: str) -> None:
        """Call `meanwhile`, unless it is those others who are acting. Actors hand on to each other."""
        if self.actors:
            self.actors.let_others_act()
        elif not self._is_meanwhile:
            self._is_meanwhile = True
            try:
                self.meanwhile(where)
            finally:
                self._is_meanwhile = False

    def client(self, service: str = "dynamodb", *, attempts: int = 1, read_seconds: float = 2.0) -> Any:
        """Make a client of `dynamodb` or `dynamodbstreams`; a call that hangs takes attempts x read_seconds."""
        from murmuration_testkit.unkind_aws.dynamodb import DynamoDb  # noqa: PLC0415 - they know each other
        from murmuration_testkit.unkind_aws.streams import Streams  # noqa: PLC0415

        made = {"dynamodb": DynamoDb, "dynamodbstreams": Streams}[service]
        return made(self, attempts * read_seconds)

    def make_table(self, name: str, create: Mapping[str, Any]) -> Table:
        """Make a table, in the words of CreateTable."""
        table = self.tables[name] = Table(name, create, self.now)
        if create.get("StreamSpecification", {}).get("StreamEnabled"):
            self.switch_stream_on(name)
        return table

    def switch_stream_on(self, table: str) -> Stream:
        """Give a table a new stream; one that it had ends."""
        if self.tables[table].stream is not None:
            self.switch_stream_off(table)
            self.now += 0.001  # so that its label is another
        view = self.tables[table].create.get("StreamSpecification", {}).get("StreamViewType", "NEW_AND_OLD_IMAGES")
        stream = Stream(table, view, self.time, self.dice, self.random)
        self.streams[stream.arn] = self.tables[table].stream = stream
        return stream

    def switch_stream_off(self, table: str) -> None:
        """End a table's stream; it can be read for a day."""
        stream = self.tables[table].stream
        if stream is not None:
            stream.switch_off()
        self.tables[table].stream = None

    def stream(self, table: str) -> Stream:
        """Return the stream of a table."""
        found = self.tables[table].stream
        if found is None:
            raise KeyError(f"{table} has no stream")
        return found

    def put(self, table: str, item: dict[str, Any]) -> None:
        """Put a row as somebody to whom AWS is kind; others hear of it as late as ever."""
        with self.lock:
            self.tables[table].put(self.tables[table].key_of(item), item, self.now, self.dice)

    def delete(self, table: str, key: dict[str, Any]) -> None:
        """Delete a row, likewise."""
        with self.lock:
            self.tables[table].put(self.tables[table].key_of(key, only=True), None, self.now, self.dice)

    def items(self, table: str) -> list[dict[str, Any]]:
        """Return all rows as they are."""
        return [dict(item) for item in self.tables[table].items()]

    def delete_expired(self) -> None:
        """Delete what TTL would delete by now."""
        for table in self.tables.values():
            for item in list(table.items()):
                if table.expires in item and int(item[table.expires]["N"]) <= self.now:
                    table.put(table.key_of(item), None, self.now, self.dice)


@cache
def _tables() -> Mapping[str, TableFile]:
    return load(DATA)


@cache
def errors_of(service: str) -> Any:
    """Return the exceptions of a client of boto3's; loading botocore's model takes a moment, once."""
    model = botocore.session.get_session().get_service_model(service)
    return ClientExceptionsFactory().create_client_exceptions(model)


def error(service: str, operation: str, code: str, message: str, status: int = 400, **more: Any) -> Exception:
    """Make the error that botocore raises."""
    response = {
        "Error": {"Code": code, "Message": message},
        "ResponseMetadata": {"HTTPStatusCode": status, "RequestId": "UNKIND", "RetryAttempts": 0},
        **more,
    }
    made: Exception = errors_of(service).from_code(code)(response, operation)
    return made
