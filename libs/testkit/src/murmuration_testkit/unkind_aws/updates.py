"""Updates: SET with +, -, if_not_exists and list_append, REMOVE, ADD and DELETE."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from murmuration_testkit.unkind_aws.expressions import (
    SETS,
    InvalidError,
    Item,
    Names,
    Reader,
    UnknownExpressionError,
    Values,
    given,
    kind_of,
    named,
    number,
    operand,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_CLAUSES = ("SET", "REMOVE", "ADD", "DELETE")


class Update(NamedTuple):
    """An update, ready to be applied."""

    apply: Callable[[Item, Names, Values], Item]
    words: frozenset[str]
    targets: tuple[str, ...]


def _sum(left: Any, right: Any, sign: int) -> Any:
    if kind_of(left) != "N" or kind_of(right) != "N":
        raise InvalidError("An operand in the update expression has an incorrect data type")
    return {"N": str(number(left["N"]) + sign * number(right["N"]))}


def _assigned(reader: Reader) -> Any:
    """Parse what SET sets an attribute to."""
    left = _term(reader)
    if reader.next not in ("+", "-"):
        return left
    sign = 1 if reader.take() == "+" else -1
    right = _term(reader)
    return lambda *of: _sum(left(*of), right(*of), sign)


def _term(reader: Reader) -> Any:
    word = reader.next.lower()
    if word == "if_not_exists":
        reader.take()
        reader.expect("(")
        path = reader.path()
        reader.expect(",")
        default = _assigned(reader)
        reader.expect(")")

        def first(item: Item, names: Names, values: Values) -> Any:
            found = item.get(named(path, names))
            return default(item, names, values) if found is None else found

        return first
    if word == "list_append":
        reader.take()
        reader.expect("(")
        left = _term(reader)
        reader.expect(",")
        right = _term(reader)
        reader.expect(")")
        return lambda *of: {"L": [*left(*of)["L"], *right(*of)["L"]]}
    plain_operand = operand(reader)

    def there(item: Item, names: Names, values: Values) -> Any:
        found = plain_operand(item, names, values)
        if found is None:
            raise InvalidError("The provided expression refers to an attribute that does not exist in the item")
        return found

    return there


def _added(old: Any, by: Any) -> Any:
    if old is None:
        return by
    kind = kind_of(old)
    if kind != kind_of(by) or kind not in (*SETS, "N"):
        raise InvalidError("An operand in the update expression has an incorrect data type")
    return _sum(old, by, 1) if kind == "N" else {kind: sorted({*old[kind], *by[kind]})}


def _without(old: Any, part: Any) -> Any:
    kind = kind_of(old)
    left = sorted({*old[kind]} - {*part[kind]})
    return {kind: left} if left else None


@lru_cache(maxsize=1000)
def update(text: str) -> Update:  # noqa: C901
    """Parse an update."""
    reader = Reader(text)
    steps: list[tuple[str, str, Any]] = []
    while reader.next:
        clause = reader.take().upper()
        if clause not in _CLAUSES:
            raise UnknownExpressionError(f"{clause!r} is not known in {text!r}")
        while True:
            path = reader.path()
            if clause == "SET":
                reader.expect("=")
                steps.append((clause, path, _assigned(reader)))
            else:
                steps.append((clause, path, None if clause == "REMOVE" else reader.value()))
            if not reader.took(","):
                break

    def apply(item: Item, names: Names, values: Values) -> Item:
        becomes = dict(item)
        for clause, path, what in steps:
            name = named(path, names)
            if clause == "SET":
                becomes[name] = what(item, names, values)
            elif clause == "REMOVE":
                becomes.pop(name, None)
            elif clause == "ADD":
                becomes[name] = _added(item.get(name), given(what, values))
            elif name in item:
                becomes[name] = _without(item[name], given(what, values))
                if becomes[name] is None:
                    del becomes[name]
        return becomes

    return Update(apply, frozenset(reader.words), tuple(path for _, path, _ in steps))
