"""Rows, many at once, straight into DynamoDB."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

BATCH = 25  # what BatchWriteItem takes
THREADS = 4


def put_all(dynamodb: Any, table: str, items: Iterable[dict[str, Any]]) -> None:
    """Put all these items, in batches, several at a time."""
    rest = iter(items)

    def put(some: tuple[dict[str, Any], ...]) -> None:
        asked: Any = {table: [{"PutRequest": {"Item": item}} for item in some]}
        while asked:
            asked = dynamodb.batch_write_item(RequestItems=asked)["UnprocessedItems"]

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(put, iter(lambda: tuple(islice(rest, BATCH)), ())))
