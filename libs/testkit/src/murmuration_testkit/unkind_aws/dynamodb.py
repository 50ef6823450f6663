"""A client of the fake's DynamoDB, with the methods and the parameters of boto3's that this repository uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from murmuration_testkit.unkind_aws.client import Client
from murmuration_testkit.unkind_aws.descriptions import described
from murmuration_testkit.unkind_aws.expressions import InvalidError, named, plain, projection
from murmuration_testkit.unkind_aws.pages import Paginator, page
from murmuration_testkit.unkind_aws.unkindness import Unkindness
from murmuration_testkit.unkind_aws.writes import Write

if TYPE_CHECKING:
    from collections.abc import Callable

    from murmuration_testkit.unkind_aws.table import Item, Key, Table

Answer = TypeVar("Answer")
TRANSACTION = 100  # actions
UNITS = 2  # that a write in a transaction costs, of an index, too: at most so, AWS does not say
BATCH = 100  # keys
WRITES = 25  # of one BatchWriteItem
TOKEN_SECONDS = 600.0


class DynamoDb(Client):
    """What boto3.client("dynamodb") makes."""

    service = "dynamodb"
    throttled = ("ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded")

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._tokens: dict[str, tuple[float, Any]] = {}

    def get_item(self, **request: Any) -> dict[str, Any]:
        """Read one item."""
        name = request.pop("TableName")

        def act() -> dict[str, Any]:
            asked = dict(request)
            table = self._table("GetItem", name)
            key = table.key_of(asked.pop("Key"), only=True)
            consistent = asked.pop("ConsistentRead", False)
            names, projected = asked.pop("ExpressionAttributeNames", {}), asked.pop("ProjectionExpression", None)
            self._unknown("GetItem", asked)
            item = self._read(table, key, consistent=consistent)
            return _ok({} if item is None else {"Item": _projected(item, projected, names)})

        return self._call("GetItem", name, act)

    def batch_get_item(self, **request: Any) -> dict[str, Any]:
        """Read items, perhaps not all of them."""
        wanted = request.pop("RequestItems")
        self._unknown("BatchGetItem", request)

        def act() -> dict[str, Any]:
            asked = [(name, each, key) for name, each in wanted.items() for key in each["Keys"]]
            if len(asked) > BATCH:
                raise InvalidError("Too many items requested for the BatchGetItem call")
            if len({(name, repr(sorted(key.items()))) for name, _, key in asked}) < len(asked):
                raise InvalidError("Provided list of item keys contains duplicates")
            left: dict[str, Any] = {}
            found: dict[str, list[Item]] = {name: [] for name in wanted}
            if asked and self._dice.falls(Unkindness.UNPROCESSED_KEYS, "BatchGetItem", next(iter(wanted))):
                self._dice.occurred[Unkindness.UNPROCESSED_KEYS] += 1
                cut = self._aws.random.randrange(len(asked))
                for name, each, key in asked[cut:]:
                    left.setdefault(name, {**each, "Keys": []})["Keys"].append(key)
                asked = asked[:cut]
            for place, (name, each, key) in enumerate(asked):
                table = self._table("BatchGetItem", name)
                if place:
                    self._tear("BatchGetItem", table)
                item = self._read(table, table.key_of(key, only=True), consistent=each.get("ConsistentRead", False))
                if item is not None:
                    names = each.get("ExpressionAttributeNames", {})
                    found[name].append(_projected(item, each.get("ProjectionExpression"), names))
            return _ok({"Responses": found, "UnprocessedKeys": left})

        return self._call("BatchGetItem", ",".join(wanted), act)

    def put_item(self, **request: Any) -> dict[str, Any]:
        """Put an item."""
        return self._write("PutItem", "Put", request)

    def update_item(self, **request: Any) -> dict[str, Any]:
        """Update an item."""
        return self._write("UpdateItem", "Update", request)

    def delete_item(self, **request: Any) -> dict[str, Any]:
        """Delete an item."""
        return self._write("DeleteItem", "Delete", request)

    def batch_write_item(self, **request: Any) -> dict[str, Any]:
        """Put and delete items, perhaps not all of them."""
        wanted = request.pop("RequestItems")
        self._unknown("BatchWriteItem", request)

        def act() -> dict[str, Any]:
            asked = [(name, each) for name, writes in wanted.items() for each in writes]
            if len(asked) > WRITES:
                raise InvalidError("Too many items requested for the BatchWriteItem call")
            left: dict[str, Any] = {}
            if asked and self._dice.falls(Unkindness.UNPROCESSED_KEYS, "BatchWriteItem", next(iter(wanted))):
                self._dice.occurred[Unkindness.UNPROCESSED_KEYS] += 1
                cut = self._aws.random.randrange(len(asked))
                for name, each in asked[cut:]:
                    left.setdefault(name, []).append(each)
                asked = asked[:cut]
            for name, each in asked:
                ((kind, content),) = each.items()
                write = Write(self._table("BatchWriteItem", name), kind.removesuffix("Request"), dict(content))
                self._commit(write)
            return _ok({"UnprocessedItems": left})

        return self._call("BatchWriteItem", ",".join(wanted), act, writes=True)

    def transact_write_items(self, **request: Any) -> dict[str, Any]:
        """Do all of these writes or none; other readers may see them arrive one by one."""
        actions, token = request.pop("TransactItems"), request.pop("ClientRequestToken", None)
        self._unknown("TransactWriteItems", request)
        tables = sorted({next(iter(each.values()))["TableName"] for each in actions})

        def act() -> dict[str, Any]:
            at, before = self._tokens.get(token, (0.0, None))
            if token and before is not None and at > self._aws.now - TOKEN_SECONDS:
                if before != actions:
                    raise self._error("TransactWriteItems", "IdempotentParameterMismatchException", "")
                return _ok({})
            self._transact(actions)
            self._tokens[token] = self._aws.now, actions
            return _ok({})

        return self._call("TransactWriteItems", ",".join(tables), act, writes=True)

    def query(self, **request: Any) -> dict[str, Any]:
        """Read a page of one partition."""
        name = request.pop("TableName")
        return self._call("Query", name, lambda: self._page("Query", name, request))

    def scan(self, **request: Any) -> dict[str, Any]:
        """Read a page of everything."""
        name = request.pop("TableName")
        return self._call("Scan", name, lambda: self._page("Scan", name, request))

    def get_paginator(self, operation: str) -> Paginator:
        """Return what reads page after page."""
        return Paginator({"query": self.query, "scan": self.scan}[operation])

    def describe_table(self, **request: Any) -> dict[str, Any]:
        """Describe a table."""
        name = request.pop("TableName")
        self._unknown("DescribeTable", request)
        return self._call("DescribeTable", name, lambda: _ok({"Table": described(self._table("DescribeTable", name))}))

    def create_table(self, **request: Any) -> dict[str, Any]:
        """Create a table; it is there at once."""
        name = request.pop("TableName")
        request.pop("BillingMode", None)

        def act() -> dict[str, Any]:
            if name in self._aws.tables:
                raise self._error("CreateTable", "ResourceInUseException", f"Table already exists: {name}")
            return _ok({"TableDescription": described(self._aws.make_table(name, request))})

        return self._call("CreateTable", name, act)

    def delete_table(self, **request: Any) -> dict[str, Any]:
        """Delete a table; its stream tells nothing of its rows, and can be read for a day."""
        name = request.pop("TableName")
        self._unknown("DeleteTable", request)

        def act() -> dict[str, Any]:
            table = self._table("DeleteTable", name)
            self._aws.switch_stream_off(name)
            del self._aws.tables[name]
            return _ok({"TableDescription": described(table)})

        return self._call("DeleteTable", name, act)

    def _write(self, operation: str, kind: str, request: dict[str, Any]) -> dict[str, Any]:
        name = request.pop("TableName")

        def act() -> dict[str, Any]:
            write = Write(self._table(operation, name), kind, dict(request))
            if write.key in write.table.locked:
                self._dice.occurred[Unkindness.CONFLICT] += 1
                raise self._conflict(operation)
            before = write.table.get(write.key)
            if not write.may():
                more: dict[str, Any] = {"Item": dict(before)} if write.shows_old and before is not None else {}
                message = "The conditional request failed"
                raise self._error(operation, "ConditionalCheckFailedException", message, **more)
            after = self._commit(write)
            shown = {"ALL_OLD": before, "ALL_NEW": after}.get(write.returns)
            return _ok({} if shown is None else {"Attributes": dict(shown)})

        return self._call(operation, name, act, writes=True)

    def _commit(self, write: Write) -> Item | None:
        after = write.becomes()
        self._put(write.table, write.key, after)
        return after

    def _put(self, table: Table, key: Key, item: Item | None) -> None:
        self._aws.items_written[table.name, key[0]] += 1
        table.put(key, item, self._aws.now, self._dice)

    def _transact(self, actions: list[Any]) -> None:
        if not 0 < len(actions) <= TRANSACTION:
            raise InvalidError(f"Member must have length less than or equal to {TRANSACTION}")
        writes = []
        for action in actions:
            ((kind, content),) = action.items()
            asked = dict(content)
            writes.append(Write(self._table("TransactWriteItems", asked.pop("TableName")), kind, asked))
        if len({(write.table.name, write.key) for write in writes}) < len(writes):
            raise InvalidError("Transaction request cannot include multiple operations on one item")
        reasons = [self._reason(write) for write in writes]
        if any(reasons):
            self._dice.occurred[Unkindness.CONFLICT] += "TransactionConflict" in reasons
            raise self._cancelled(reasons)
        self._take_units(writes)
        self._commit_each([(write.table, write.key, write.becomes()) for write in writes])

    def _take_units(self, writes: list[Write]) -> None:
        """Cancel a transaction that one partition key of an index has no units for: it holds up its table."""
        asked: list[Any] = []
        for write in writes:
            item, before = write.becomes(), write.table.get(write.key)
            asked.append(
                [
                    (name, plain(item[index.key[0]]), int(self._aws.now))
                    for name, index in write.table.indexes.items()
                    if name in self._aws.units and item and item != before and index.key[0] in item
                ]
            )
        used = self._aws.units_used
        codes = [
            "ThrottlingError" if any(used[place] + UNITS > self._aws.units[place[0]] for place in places) else None
            for places in asked
        ]
        if any(codes):
            self._dice.occurred[Unkindness.THROTTLING] += 1
            raise self._cancelled(codes)
        for places in asked:
            used.update(dict.fromkeys(places, UNITS))

    def _commit_each(self, commits: list[tuple[Table, Key, Item | None]]) -> None:
        """Commit item by item; whoever waits for the answer may be killed between two, and DynamoDB goes on."""
        if Unkindness.ITEM_BY_ITEM in self._dice.switches:
            self._aws.random.shuffle(commits)
        for table, key, _ in commits:
            table.locked.add(key)
        items = {(table.name, key) for table, key, _ in commits}
        self._aws.half_committed.append(items)
        died: BaseException | None = None
        for place, (table, key, item) in enumerate(commits):
            if place and died is None and not self._dice.idle:
                try:
                    if self._dice.falls(Unkindness.ITEM_BY_ITEM, "TransactWriteItems", table.name):
                        self._aws.let_others_act("between two commits of TransactWriteItems")
                except BaseException as error:  # noqa: BLE001 - raised below
                    died = error
            self._put(table, key, item)
            table.locked.discard(key)
        self._aws.half_committed.remove(items)
        if died is not None:
            raise died

    def _reason(self, write: Write) -> str | None:
        if write.key in write.table.locked:
            return "TransactionConflict"
        return None if write.may() else "ConditionalCheckFailed"

    def _cancelled(self, reasons: list[str | None]) -> Exception:
        codes = [reason or "None" for reason in reasons]
        told = [{"Code": code} if code == "None" else {"Code": code, "Message": code} for code in codes]
        message = "Transaction cancelled, please refer cancellation reasons for specific reasons "
        text = f"{message}[{', '.join(codes)}]"
        return self._error("TransactWriteItems", "TransactionCanceledException", text, CancellationReasons=told)

    def _conflict(self, operation: str) -> Exception:
        if operation == "TransactWriteItems":
            return self._cancelled(["TransactionConflict"])
        return self._error(operation, "TransactionConflictException", "Transaction is ongoing for the item")

    def _throttled(self, operation: str) -> Exception:
        if operation == "TransactWriteItems" and self._aws.random.random() < 1 / 2:
            return self._cancelled([self._aws.random.choice(("ThrottlingError", "ProvisionedThroughputExceeded"))])
        return super()._throttled(operation)

    def _repeat(self, operation: str, act: Callable[[], Answer]) -> Answer:
        if operation == "TransactWriteItems":  # botocore repeats it with the same token
            message = "The transaction with the given request token is already in progress."
            raise self._error(operation, "TransactionInProgressException", message)
        return super()._repeat(operation, act)

    def _page(self, operation: str, name: str, request: dict[str, Any]) -> dict[str, Any]:
        table = self._table(operation, name)
        return _ok(page(self._aws, table, operation, request, lambda: self._tear(operation, table), self._read))

    def _read(self, table: Table, key: Key, *, consistent: bool) -> Item | None:
        if any((table.name, key) in items for items in self._aws.half_committed):
            self._dice.occurred[Unkindness.ITEM_BY_ITEM] += 1
        return table.get(key) if consistent else table.seen(key, self._aws.now, self._dice)

    def _tear(self, operation: str, table: Table) -> None:
        """Let others write between two items of one read."""
        if not self._dice.idle and self._dice.falls(Unkindness.TORN_READ, operation, table.name):
            before = table.writes
            self._aws.let_others_act(f"between two items of {operation} on {table.name}")
            self._dice.occurred[Unkindness.TORN_READ] += table.writes > before

    def _table(self, operation: str, name: str) -> Table:
        if name not in self._aws.tables:
            raise self._error(operation, "ResourceNotFoundException", f"Requested resource not found: Table: {name}")
        return self._aws.tables[name]


def _ok(answer: dict[str, Any]) -> dict[str, Any]:
    return {**answer, "ResponseMetadata": {"HTTPStatusCode": 200, "RetryAttempts": 0}}


def _projected(item: Item, expression: str | None, names: dict[str, str]) -> Item:
    if expression is None:
        return dict(item)
    wanted = [named(path, names) for path in projection(expression)]
    return {name: item[name] for name in wanted if name in item}
