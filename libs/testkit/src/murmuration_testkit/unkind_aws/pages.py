"""One page of Query or Scan, of a table or of an index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from murmuration_testkit.unkind_aws.conditions import Parsed, condition
from murmuration_testkit.unkind_aws.expressions import InvalidError, check_words, named, plain, projection
from murmuration_testkit.unkind_aws.unkindness import Unkindness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from murmuration_testkit.unkind_aws.aws import UnkindAws
    from murmuration_testkit.unkind_aws.table import Index, Item, Table

SHORT = 3  # items of a short page at most


def page(  # noqa: C901, PLR0912
    aws: UnkindAws,
    table: Table,
    operation: str,
    request: dict[str, Any],
    tear: Callable[[], None],
    read: Callable[..., Item | None],
) -> dict[str, Any]:
    """Answer a Query or a Scan."""
    asked = dict(request)
    names = asked.pop("ExpressionAttributeNames", {})
    values = asked.pop("ExpressionAttributeValues", {})
    wanted = _parsed(asked.pop("KeyConditionExpression", None))
    chosen = _parsed(asked.pop("FilterExpression", None))
    paths = projection(text) if (text := asked.pop("ProjectionExpression", None)) else None
    check_words(names, values, *(each.words for each in (wanted, chosen) if each), frozenset(paths or ()))
    index = _index(table, asked.pop("IndexName", None))
    consistent = asked.pop("ConsistentRead", False)
    if index and consistent:
        raise InvalidError("Consistent reads are not supported on global secondary indexes")
    rows = index.rows(aws.now) if index else table.rows()
    key = index.key if index else table.key
    if (wanted is None) is (operation == "Query"):
        raise InvalidError(
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
        )
    partition = _partition(wanted, key, names, values) if wanted else None
    if index and index.lacks(partition):
        aws.occurred[Unkindness.INDEX_LAG] += 1
    start = asked.pop("ExclusiveStartKey", None)
    after = start and (plain(start[key[0]]), index.place(start) if index else table.key_of(start, only=True)[1:])
    limit, counts = asked.pop("Limit", None), asked.pop("Select", None) == "COUNT"
    walk = rows.walk([partition] if wanted else rows.partitions(), after, forward=asked.pop("ScanIndexForward", True))
    if asked:
        raise NotImplementedError(f"the fake does not know {', '.join(asked)} of {operation}: teach it")
    short = aws.dice.falls(Unkindness.SHORT_PAGE, operation, table.name) and aws.random.randint(1, SHORT)
    found: list[Item] = []
    scanned, last = 0, None
    for partition_, place in walk:
        if short and scanned == short:
            aws.occurred[Unkindness.SHORT_PAGE] += 1
            break
        if scanned:
            tear()
        item = rows.get(partition_, place) if index else read(table, (partition_, *place), consistent=consistent)
        if item is None or (wanted and not wanted.holds(item, names, values)):
            continue
        scanned, last = scanned + 1, item
        if chosen is None or chosen.holds(item, names, values):
            found.append(item)
        if scanned == limit:
            break
    else:
        last = None
    answer: dict[str, Any] = {"Count": len(found), "ScannedCount": scanned}
    if not counts:
        shown = None if paths is None else {named(path, names) for path in paths}
        if index and index.projection["ProjectionType"] == "KEYS_ONLY":
            shown = {*index.key, *table.key} if shown is None else shown
        answer["Items"] = [{name: it[name] for name in it if shown is None or name in shown} for it in found]
    if last is not None:
        answer["LastEvaluatedKey"] = {name: last[name] for name in {*key, *table.key}}
    return answer


def _parsed(text: str | None) -> Parsed | None:
    return None if text is None else condition(text)


def _index(table: Table, name: str | None) -> Index | None:
    if name is not None and name not in table.indexes:
        raise InvalidError(f"The table does not have the specified index: {name}")
    return None if name is None else table.indexes[name]


def _partition(wanted: Parsed, key: tuple[str, ...], names: dict[str, str], values: dict[str, Any]) -> Any:
    """Return the partition that a key condition asks for."""
    asked = {named(each.path, names): each for each in wanted.comparisons}
    if key[0] not in asked or asked[key[0]].how != "=":
        raise InvalidError(f"Query condition missed key schema element: {key[0]}")
    if asked.keys() - set(key) or len(asked) < len(wanted.comparisons):
        raise InvalidError("Query key condition not supported")
    word = asked[key[0]].values[0]
    if word not in values:
        raise InvalidError(f"An expression attribute value used in expression is not defined: {word}")
    return plain(values[word])


class Paginator:
    """Reads page after page."""

    def __init__(self, read: Callable[..., dict[str, Any]]) -> None:
        self._read = read

    def paginate(self, **request: Any) -> Iterator[dict[str, Any]]:
        """Give all pages."""
        settings = request.pop("PaginationConfig", {})
        if "PageSize" in settings:
            request["Limit"] = settings["PageSize"]
        while True:
            answer = self._read(**request)
            yield answer
            if "LastEvaluatedKey" not in answer:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
