"""Has DynamoDB make the tables what their files say. Every call is safe to repeat, and to make twice at once."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any

from botocore.exceptions import ClientError, ConnectionError, HTTPClientError  # noqa: A004

from contracts.table_files import TableFile
from migrating.errors import TableError
from migrating.shapes import Look, index_of, look

PAUSES_S = (0.02, 1.0)  # between two looks, the first and the longest
SOON = {  # somebody else is at it, or DynamoDB does enough at once: ten tables, one index of a table
    "LimitExceededException",
    "ResourceInUseException",
    "ThrottlingException",
}
say = partial(print, flush=True)


class Tables:
    """The tables of one deployment."""

    def __init__(self, dynamodb: Any, prefix: str, deadline: float) -> None:
        """Take until when DynamoDB may be away or busy, as time.monotonic() has it."""
        self._dynamodb = dynamodb
        self._prefix = prefix
        self._deadline = deadline

    def look(self, table: TableFile, drops: Collection[str] = ()) -> Look | None:
        """Look once at a table; None if there is none. These indexes may be there still."""
        name = self._prefix + table.name
        try:
            found = self._dynamodb.describe_table(TableName=name)["Table"]
        except self._dynamodb.exceptions.ResourceNotFoundException:
            return None
        return look(table.create, found, drops)

    def expand(self, table: TableFile, drops: Collection[str] = (), *, leave_stream: bool = False) -> bool:
        """Return when the table has all that it should have; say whether this call made it.

        leave_stream: a table that is there and has no stream gets none; a migration's switch turns it on.
        """
        made, wanted = False, table.create
        for seen in self._looks(table, drops):
            if seen is None:
                new = self._ask(self._dynamodb.create_table, table, BillingMode="PAY_PER_REQUEST", **wanted)
                self._say(table, "created" if new else "")
                made |= new
            elif seen.missing:
                index = seen.missing[0]
                new = self._ask(self._dynamodb.update_table, table, **index_of(wanted, index))
                self._say(table, f"gets the index {index}" if new else "")
            elif seen.streamless and not leave_stream:
                new = self._ask(self._dynamodb.update_table, table, StreamSpecification=wanted["StreamSpecification"])
                self._say(table, "gets a stream; if it has rows: `python deploy/tables.py adopt`" if new else "")
            else:
                break
        if table.expires:
            self._let_expire(self._prefix + table.name, table.expires)
        self._say(table, "is there")
        return made

    def contract(self, table: TableFile, drops: Collection[str]) -> None:
        """Return when the table has none of these indexes."""
        for seen in self._looks(table, drops):
            if seen is None or not seen.surplus:
                return
            index = seen.surplus[0]
            drop = {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": index}}]}
            new = self._ask(self._dynamodb.update_table, table, **drop)
            self._say(table, f"loses the index {index}" if new else "")

    def _looks(self, table: TableFile, drops: Collection[str]) -> Iterator[Look | None]:
        """Look until the caller has seen enough, while DynamoDB is at nothing; wait for a store that is away."""
        pause, longest = PAUSES_S
        while True:
            try:
                seen = self.look(table, drops)
            except (ConnectionError, HTTPClientError) as error:
                if time.monotonic() > self._deadline:
                    raise
                say(f"waiting for DynamoDB: {error}")
                pause = longest
            else:
                if seen and seen.differences:
                    name = self._prefix + table.name
                    raise TableError(f"table {name} differs from schemas/tables: {'; '.join(seen.differences)}")
                if not (seen and seen.busy):
                    yield seen
                elif time.monotonic() > self._deadline:
                    raise TableError(f"{seen.busy}; DynamoDB goes on building it, run this again later")
            time.sleep(pause)
            pause = min(longest, 2 * pause)

    def _ask(self, call: Callable[..., object], table: TableFile, **words: Any) -> bool:
        """Ask for one change; False if it has to wait, or somebody else has just asked for it."""
        try:
            call(TableName=self._prefix + table.name, **words)
        except ClientError as error:
            if error.response["Error"]["Code"] not in SOON:
                raise
            return False
        return True

    def _say(self, table: TableFile, what: str) -> None:
        if what:
            say(f"table {self._prefix}{table.name} {what}")

    def _let_expire(self, name: str, attribute: str) -> None:
        """Have DynamoDB delete the table's items after the time in this attribute; who asks for it is the same."""

        def found() -> Any:
            return self._dynamodb.describe_time_to_live(TableName=name)["TimeToLiveDescription"].get("AttributeName")

        if found() is None:
            try:
                wanted: Mapping[str, Any] = {"Enabled": True, "AttributeName": attribute}
                self._dynamodb.update_time_to_live(TableName=name, TimeToLiveSpecification=wanted)
            except ClientError:
                if found() is None:
                    raise
        if found() != attribute:
            is_ = f"items should expire at {attribute}, not {found()}"
            raise TableError(f"table {name} differs from schemas/tables: {is_}")
