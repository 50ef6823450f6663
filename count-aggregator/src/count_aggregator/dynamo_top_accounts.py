"""Who has the most followers: a kept list, so that no run reads all of users.

Rule: users is read in 24 parts, and those with the most followers of each part are kept in a row of `ledgers` that
nothing else writes. Each run reads the part that was read longest ago, so an hourly run has read everything in a day; a
run that finds parts missing reads those.
"""

import heapq
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from contracts.tables import LEDGERS, USERS
from murmuration_runtime.dynamo import errors_named, items

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PARTS = 24
KEPT = 2_000  # of each part: several times what 10,000 leave for it
LIST = "most followed"  # its partition_id; no topic is called that


class TopAccounts:
    """The list in the table ledgers."""

    def __init__(
        self,
        dynamodb: "DynamoDBClient",
        table_prefix: str,
        before_page: Callable[[], object],
        now: Callable[[], float] = time.time,
        parts: int = PARTS,
    ) -> None:
        """Take whom to ask before each page that is read, to limit the rate and to show the progress."""
        self._dynamodb = dynamodb
        self._users = f"{table_prefix}{USERS.name}"
        self._ledgers = f"{table_prefix}{LEDGERS.name}"
        self._before_page = before_page
        self._now = now
        self._parts = [f"{part}/{parts}" for part in range(parts)]

    def find(self, count: int) -> list[str]:
        """Return the accounts with the most followers, and whoever has a count below zero in what was read for it."""
        keys = [_key(part) for part in self._parts]
        kept = {item[LEDGERS.shard_id]["S"]: item for item in items(self._dynamodb, self._ledgers, keys)}
        missing = [part for part in self._parts if part not in kept]
        oldest = min(kept, key=lambda part: int(kept[part][LEDGERS.scanned_at]["N"]), default="")
        negative: list[str] = []
        for part in missing or [oldest]:
            kept[part] = self._read(part, negative)
        listed = ((int(n["N"]), user) for row in kept.values() for user, n in row[LEDGERS.accounts]["M"].items())
        top = [user for _, user in heapq.nlargest(count, listed)]
        return [*dict.fromkeys([*top, *negative])]

    def _read(self, part: str, negative: list[str]) -> Any:
        """Read a part of users and keep its top; return the row."""
        largest = heapq.nlargest(KEPT, self._followed(part, negative))
        row = {
            **_key(part),
            LEDGERS.accounts: {"M": {user: {"N": str(number)} for number, user in largest}},
            LEDGERS.scanned_at: {"N": str(int(self._now()))},
        }
        with errors_named():
            self._dynamodb.put_item(TableName=self._ledgers, Item=row)
        return row

    def _followed(self, part: str, negative: list[str]) -> Iterator[tuple[int, str]]:
        number, parts = map(int, part.split("/"))
        pages = self._dynamodb.get_paginator("scan").paginate(
            TableName=self._users,
            ProjectionExpression="user_id, followers_count, following_count",
            Segment=number,
            TotalSegments=parts,
        )
        self._before_page()
        with errors_named():
            for page in pages:
                for item in page["Items"]:
                    user = item[USERS.user_id]["S"]
                    followers, following = (
                        int(item.get(name, {"N": "0"})["N"]) for name in (USERS.followers_count, USERS.following_count)
                    )
                    if min(followers, following) < 0:
                        negative.append(user)
                    if followers > 0:
                        yield followers, user
                if "LastEvaluatedKey" in page:
                    self._before_page()


def _key(part: str) -> Any:
    return {LEDGERS.partition_id: {"S": LIST}, LEDGERS.shard_id: {"S": part}}
