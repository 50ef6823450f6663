"""Conditions, filters and key conditions: AND, OR, NOT, brackets, comparisons and functions."""

from __future__ import annotations

import operator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from murmuration_testkit.unkind_aws.expressions import (
    InvalidError,
    Item,
    Names,
    Reader,
    UnknownExpressionError,
    Values,
    given,
    kind_of,
    named,
    operand,
    plain,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Comparison(NamedTuple):
    """One comparison of a key condition."""

    path: str
    how: str
    values: tuple[str, ...]


class Parsed(NamedTuple):
    """A condition, ready to be asked."""

    holds: Callable[[Item, Names, Values], bool]
    words: frozenset[str]
    comparisons: tuple[Comparison, ...]


def _compare(how: str, left: Any, right: Any) -> bool:
    if left is None or right is None or kind_of(left) != kind_of(right):
        return how == "<>"
    if how not in ("=", "<>") and kind_of(left) not in ("S", "N", "B"):
        raise InvalidError(f"Invalid operand type for operator {how}: {kind_of(left)}")
    return _COMPARISONS[how](plain(left), plain(right))


def _predicate(reader: Reader, comparisons: list[Comparison]) -> Any:  # noqa: C901
    if reader.took("("):
        inner = _or(reader, comparisons)
        reader.expect(")")
        return inner
    word = reader.next.lower()
    if word in ("attribute_exists", "attribute_not_exists"):
        reader.take()
        reader.expect("(")
        path = reader.path()
        reader.expect(")")
        wanted = word == "attribute_exists"
        return lambda item, names, _: (named(path, names) in item) is wanted
    if word in ("begins_with", "contains"):
        reader.take()
        reader.expect("(")
        path = reader.path()
        reader.expect(",")
        wanted_part = reader.value()
        reader.expect(")")
        comparisons.append(Comparison(path, word, (wanted_part,)))
        begins = word == "begins_with"

        def has(item: Item, names: Names, values: Values) -> bool:
            found, part = item.get(named(path, names)), given(wanted_part, values)
            if found is None:
                return False
            if begins:
                return kind_of(found) == kind_of(part) and plain(found).startswith(plain(part))
            return plain(part) in plain(found) if kind_of(found) != "L" else part in found["L"]

        return has
    start = reader.next
    left = operand(reader)
    how = reader.take().upper()
    if how == "BETWEEN":
        low_word, low = reader.next, operand(reader)
        reader.expect("AND")
        high_word, high = reader.next, operand(reader)
        comparisons.append(Comparison(start, how, (low_word, high_word)))
        return lambda item, names, values: (
            _compare(">=", left(item, names, values), low(item, names, values))
            and _compare("<=", left(item, names, values), high(item, names, values))
        )
    if how == "IN":
        reader.expect("(")
        options = [operand(reader)]
        while reader.took(","):
            options.append(operand(reader))
        reader.expect(")")
        comparisons.append(Comparison(start, how, ()))
        return lambda item, names, values: any(
            _compare("=", left(item, names, values), option(item, names, values)) for option in options
        )
    if how not in _COMPARISONS:
        raise UnknownExpressionError(f"{how!r} is not known in {reader.text!r}")
    other = reader.next
    right = operand(reader)
    comparisons.append(Comparison(start, how, (other,)))
    return lambda item, names, values: _compare(how, left(item, names, values), right(item, names, values))


def _not(reader: Reader, comparisons: list[Comparison]) -> Any:
    if reader.took("NOT"):
        inner = _not(reader, comparisons)
        return lambda item, names, values: not inner(item, names, values)
    return _predicate(reader, comparisons)


def _and(reader: Reader, comparisons: list[Comparison]) -> Any:
    parts = [_not(reader, comparisons)]
    while reader.took("AND"):
        parts.append(_not(reader, comparisons))
    return parts[0] if len(parts) == 1 else lambda *of: all(part(*of) for part in parts)


def _or(reader: Reader, comparisons: list[Comparison]) -> Any:
    parts = [_and(reader, comparisons)]
    while reader.took("OR"):
        parts.append(_and(reader, comparisons))
    return parts[0] if len(parts) == 1 else lambda *of: any(part(*of) for part in parts)


@lru_cache(maxsize=1000)
def condition(text: str) -> Parsed:
    """Parse a condition, a filter or a key condition."""
    reader, comparisons = Reader(text), list[Comparison]()
    holds = _or(reader, comparisons)
    reader.end()
    return Parsed(holds, frozenset(reader.words), tuple(comparisons))
