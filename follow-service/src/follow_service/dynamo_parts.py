"""The followers of an account, from the parts that the index by_part has them in: a request for each, side by side.

Rule: until the migration spread-followers is switched they are read from by_recency, as releases up to 0.3.0 read them.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from contracts.tables import FOLLOWERS
from follow_service.dynamo_facts import edge_key
from follow_service.lists import Row
from follow_service.parts import Part, newest
from murmuration_runtime.dynamo import errors_named

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

AT_ONCE = 32  # requests of all pages together
SideBySide = Callable[[Callable[[Part], None], Sequence[Part]], object]


class DynamoParts:
    """The lists of followers in by_part."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str, side_by_side: SideBySide) -> None:
        self._dynamodb = dynamodb
        self._table = f"{table_prefix}{FOLLOWERS.name}"
        self._side_by_side = side_by_side

    def rows(self, user_id: str, most: int, after: Row | None) -> tuple[list[Row], Row | None]:
        """Return so many followers at most, newest first, and after whom the list goes on; None at its end."""
        names = FOLLOWERS.parts_of(user_id)

        def read_on(parts: Sequence[Part], enough: int) -> None:
            self._side_by_side(lambda part: self._read(part, names[part.number], enough), parts)

        return newest([Part(number, _start(user_id, number, after)) for number in range(len(names))], most, read_on)

    def _read(self, part: Part, name: str, most: int) -> None:
        where, values = part.rest.get("where", ""), part.rest.get("values", {})
        begin: Any = {"ExclusiveStartKey": part.rest["after"]} if "after" in part.rest else {}
        with errors_named():
            answer = self._dynamodb.query(
                TableName=self._table,
                IndexName=FOLLOWERS.by_part,
                KeyConditionExpression=f"part = :part{where}",
                ExpressionAttributeValues={":part": {"S": name}, **values},
                ScanIndexForward=False,
                Limit=most,
                **begin,
            )
        part.rows += [
            Row(item[FOLLOWERS.follower_id]["S"], int(item[FOLLOWERS.followed_at]["N"])) for item in answer["Items"]
        ]
        last = answer.get("LastEvaluatedKey")
        part.rest = {**part.rest, "after": last} if last else None


def one_by_one(ask: Callable[[Part], None], parts: Sequence[Part]) -> None:
    """Read parts one after the other."""
    for part in parts:
        ask(part)


def side_by_side() -> SideBySide:
    """Return what reads parts by threads of its own, each within the deadline of whoever asked."""
    threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="parts")

    def ask_all(ask: Callable[[Part], None], parts: Sequence[Part]) -> None:
        begun = [threads.submit(copy_context().run, ask, part) for part in parts[1:]]
        for part in parts[:1]:
            ask(part)
        for each in begun:
            each.result()

    return ask_all


def _start(user_id: str, number: int, after: Row | None) -> dict[str, Any]:
    """Return where a part goes on behind a row of this list: by its key in its own part, else by its time."""
    if after is None:
        return {}
    mine, at = FOLLOWERS.number_of(after.user_id), {"N": str(after.at)}
    if number == mine:
        key = edge_key(after.user_id, user_id)
        return {"after": {FOLLOWERS.part: {"S": FOLLOWERS.parts_of(user_id)[number]}, FOLLOWERS.followed_at: at, **key}}
    return {"where": f" AND followed_at {'<' if number < mine else '<='} :at", "values": {":at": at}}
