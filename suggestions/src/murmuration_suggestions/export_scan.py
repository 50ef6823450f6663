"""All tables read by a parallel Scan into Parquet: for a laptop, and wherever a scan is cheaper than an export to S3.

Rule: what is read is eventually consistent and no snapshot. That is enough: what changed meanwhile is filtered when
suggestions are read.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from murmuration_runtime.dynamo import errors_named
from murmuration_suggestions.folders import Folder
from murmuration_suggestions.wanted import WANTED

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

SEGMENTS = 4  # that are read side by side, of each table
ARROW_TYPES = {"S": pa.string(), "N": pa.int64(), "BOOL": pa.bool_()}


def export(dynamodb: "DynamoDBClient", table_prefix: str, folder: Folder, told: Callable[[str], object]) -> None:
    """Write all tables, each to the folder of its name."""
    with ThreadPoolExecutor(SEGMENTS) as threads:
        for table, wanted in WANTED.items():
            place = folder / table.name

            pages = partial(_pages, dynamodb, f"{table_prefix}{table.name}", wanted)
            rows = sum(threads.map(partial(_write, place, wanted, pages), range(SEGMENTS)))
            (place / "_SUCCESS").write_json({"rows": rows, "attributes": [*wanted]})
            told(f"{table.name}: {rows:,} rows")


def _pages(dynamodb: "DynamoDBClient", table: str, wanted: Mapping[str, str], segment: int) -> Iterator[Any]:
    with errors_named():
        pages = dynamodb.get_paginator("scan").paginate(
            TableName=table, Segment=segment, TotalSegments=SEGMENTS, ProjectionExpression=", ".join(wanted)
        )
        yield from (page["Items"] for page in pages)


def _write(place: Folder, wanted: Mapping[str, str], pages: Callable[[int], Iterator[Any]], segment: int) -> int:
    schema = pa.schema({name: ARROW_TYPES[kind] for name, kind in wanted.items()})
    rows = 0
    with (place / f"part-{segment:05}.parquet").create() as out, pq.ParquetWriter(out, schema) as file:
        for items in pages(segment):
            columns = {name: [_value(item.get(name)) for item in items] for name in wanted}
            file.write_table(pa.table(columns, schema))
            rows += len(items)
    return rows


def _value(typed: Mapping[str, Any] | None) -> Any:
    """Return a value of DynamoDB's as Arrow takes it."""
    if typed is None:
        return None
    ((kind, value),) = typed.items()
    return int(value) if kind == "N" else value
