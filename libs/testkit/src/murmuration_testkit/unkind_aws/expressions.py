"""DynamoDB's expressions as far as this repository uses them; whatever else one has is an UnknownExpressionError.

Known are conditions (AND, OR, NOT, brackets, comparisons, BETWEEN, IN, attribute_exists, attribute_not_exists,
begins_with, contains, size), updates (SET with +, -, if_not_exists and list_append, REMOVE, ADD, DELETE) and
projections, all of them of attributes at the top of an item.
"""

from __future__ import annotations

import operator
import re
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Item = dict[str, Any]
Names = dict[str, str]
Values = dict[str, Any]

_TOKEN = re.compile(r"\s*(<>|<=|>=|[=<>(),+\-]|[:#]?[A-Za-z_]\w*|\S)")
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_SETS = {"SS", "NS", "BS"}
_CLAUSES = ("SET", "REMOVE", "ADD", "DELETE")


class UnknownExpressionError(NotImplementedError):
    """The fake does not know this; teach it, and its contract test."""


class InvalidError(Exception):
    """What DynamoDB answers with a ValidationException."""


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


def plain(value: Any) -> Any:
    """Return an attribute's value as one of Python's, which sorts as DynamoDB sorts."""
    ((kind, content),) = value.items()
    if kind == "N":
        return number(content)
    if kind in _SETS:
        return frozenset(number(each) if kind == "NS" else each for each in content)
    if kind == "L":
        return [tuple(each.items()) and (next(iter(each)), plain(each)) for each in content]
    if kind == "M":
        return {name: (next(iter(each)), plain(each)) for name, each in content.items()}
    return content


def number(text: str) -> Any:
    """Return a number, exactly."""
    try:
        return int(text)
    except ValueError:
        return Decimal(text)


def kind_of(value: Any) -> str:
    """Return an attribute's type."""
    return str(next(iter(value)))


def size_of(value: Any) -> int:
    """Return what size() says."""
    ((kind, content),) = value.items()
    return len(content.encode()) if kind == "S" else len(content)


class _Reader:
    """Tokens, one after the other."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _TOKEN.findall(text)
        self.place = 0
        self.words: set[str] = set()

    @property
    def next(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self) -> str:
        token = self.next
        self.place += 1
        return token

    def took(self, word: str) -> bool:
        if self.next.upper() == word:
            self.place += 1
            return True
        return False

    def expect(self, word: str) -> None:
        if not self.took(word):
            raise UnknownExpressionError(f"{word!r} expected, not {self.next!r}, in {self.text!r}")

    def path(self) -> str:
        word = self.take()
        if not re.fullmatch(r"#?[A-Za-z_]\w*", word) or self.next in (".", "["):
            raise UnknownExpressionError(f"only attributes at the top are known, not {word!r} in {self.text!r}")
        self.words.add(word)
        return word

    def value(self) -> str:
        word = self.take()
        if word[:1] != ":":
            raise UnknownExpressionError(f"a value expected, not {word!r}, in {self.text!r}")
        self.words.add(word)
        return word

    def end(self) -> None:
        if self.next:
            raise UnknownExpressionError(f"{self.next!r} is not known in {self.text!r}")


def named(path: str, names: Names) -> str:
    """Return the attribute that a path means."""
    if path[0] != "#":
        return path
    if path not in names:
        raise InvalidError(f"An expression attribute name used in the document path is not defined: {path}")
    return names[path]


def _given(word: str, values: Values) -> Any:
    if word not in values:
        raise InvalidError(f"An expression attribute value used in expression is not defined; attribute value: {word}")
    return values[word]


Operand = "Callable[[Item, Names, Values], Any]"


def _operand(reader: _Reader) -> Any:
    """Parse what a comparison compares: a path, a value, or a size."""
    if reader.next.lower() == "size" and reader.tokens[reader.place + 1 : reader.place + 2] == ["("]:
        reader.take()
        reader.expect("(")
        path = reader.path()
        reader.expect(")")

        def size(item: Item, names: Names, _: Values) -> Any:
            found = item.get(named(path, names))
            return None if found is None else {"N": str(size_of(found))}

        return size
    if reader.next[:1] == ":":
        word = reader.value()
        return lambda _item, _names, values: _given(word, values)
    path = reader.path()
    return lambda item, names, _: item.get(named(path, names))


def _compare(how: str, left: Any, right: Any) -> bool:
    if left is None or right is None or kind_of(left) != kind_of(right):
        return how == "<>"
    if how not in ("=", "<>") and kind_of(left) not in ("S", "N", "B"):
        raise InvalidError(f"Invalid operand type for operator {how}: {kind_of(left)}")
    return _COMPARISONS[how](plain(left), plain(right))


def _predicate(reader: _Reader, comparisons: list[Comparison]) -> Any:  # noqa: C901
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
        given = reader.value()
        reader.expect(")")
        comparisons.append(Comparison(path, word, (given,)))
        begins = word == "begins_with"

        def has(item: Item, names: Names, values: Values) -> bool:
            found, part = item.get(named(path, names)), _given(given, values)
            if found is None:
                return False
            if begins:
                return kind_of(found) == kind_of(part) and plain(found).startswith(plain(part))
            return plain(part) in plain(found) if kind_of(found) != "L" else part in found["L"]

        return has
    start = reader.next
    left = _operand(reader)
    how = reader.take().upper()
    if how == "BETWEEN":
        low_word, low = reader.next, _operand(reader)
        reader.expect("AND")
        high_word, high = reader.next, _operand(reader)
        comparisons.append(Comparison(start, how, (low_word, high_word)))
        return lambda item, names, values: (
            _compare(">=", left(item, names, values), low(item, names, values))
            and _compare("<=", left(item, names, values), high(item, names, values))
        )
    if how == "IN":
        reader.expect("(")
        options = [_operand(reader)]
        while reader.took(","):
            options.append(_operand(reader))
        reader.expect(")")
        comparisons.append(Comparison(start, how, ()))
        return lambda item, names, values: any(
            _compare("=", left(item, names, values), option(item, names, values)) for option in options
        )
    if how not in _COMPARISONS:
        raise UnknownExpressionError(f"{how!r} is not known in {reader.text!r}")
    other = reader.next
    right = _operand(reader)
    comparisons.append(Comparison(start, how, (other,)))
    return lambda item, names, values: _compare(how, left(item, names, values), right(item, names, values))


def _not(reader: _Reader, comparisons: list[Comparison]) -> Any:
    if reader.took("NOT"):
        inner = _not(reader, comparisons)
        return lambda item, names, values: not inner(item, names, values)
    return _predicate(reader, comparisons)


def _and(reader: _Reader, comparisons: list[Comparison]) -> Any:
    parts = [_not(reader, comparisons)]
    while reader.took("AND"):
        parts.append(_not(reader, comparisons))
    return parts[0] if len(parts) == 1 else lambda *of: all(part(*of) for part in parts)


def _or(reader: _Reader, comparisons: list[Comparison]) -> Any:
    parts = [_and(reader, comparisons)]
    while reader.took("OR"):
        parts.append(_and(reader, comparisons))
    return parts[0] if len(parts) == 1 else lambda *of: any(part(*of) for part in parts)


@lru_cache(maxsize=1000)
def condition(text: str) -> Parsed:
    """Parse a condition, a filter or a key condition."""
    reader, comparisons = _Reader(text), list[Comparison]()
    holds = _or(reader, comparisons)
    reader.end()
    return Parsed(holds, frozenset(reader.words), tuple(comparisons))


class Update(NamedTuple):
    """An update, ready to be applied."""

    apply: Callable[[Item, Names, Values], Item]
    words: frozenset[str]
    targets: tuple[str, ...]


def _sum(left: Any, right: Any, sign: int) -> Any:
    if kind_of(left) != "N" or kind_of(right) != "N":
        raise InvalidError("An operand in the update expression has an incorrect data type")
    return {"N": str(number(left["N"]) + sign * number(right["N"]))}


def _assigned(reader: _Reader) -> Any:
    """Parse what SET sets an attribute to."""
    left = _term(reader)
    if reader.next not in ("+", "-"):
        return left
    sign = 1 if reader.take() == "+" else -1
    right = _term(reader)
    return lambda *of: _sum(left(*of), right(*of), sign)


def _term(reader: _Reader) -> Any:
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
    operand = _operand(reader)

    def there(item: Item, names: Names, values: Values) -> Any:
        found = operand(item, names, values)
        if found is None:
            raise InvalidError("The provided expression refers to an attribute that does not exist in the item")
        return found

    return there


def _added(old: Any, by: Any) -> Any:
    if old is None:
        return by
    kind = kind_of(old)
    if kind != kind_of(by) or kind not in (*_SETS, "N"):
        raise InvalidError("An operand in the update expression has an incorrect data type")
    return _sum(old, by, 1) if kind == "N" else {kind: sorted({*old[kind], *by[kind]})}


def _without(old: Any, part: Any) -> Any:
    kind = kind_of(old)
    left = sorted({*old[kind]} - {*part[kind]})
    return {kind: left} if left else None


@lru_cache(maxsize=1000)
def update(text: str) -> Update:  # noqa: C901
    """Parse an update."""
    reader = _Reader(text)
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
                becomes[name] = _added(item.get(name), _given(what, values))
            elif name in item:
                becomes[name] = _without(item[name], _given(what, values))
                if becomes[name] is None:
                    del becomes[name]
        return becomes

    return Update(apply, frozenset(reader.words), tuple(path for _, path, _ in steps))


@lru_cache(maxsize=1000)
def projection(text: str) -> tuple[str, ...]:
    """Parse a projection."""
    reader = _Reader(text)
    paths = [reader.path()]
    while reader.took(","):
        paths.append(reader.path())
    reader.end()
    return tuple(paths)


def check_words(names: Names, values: Mapping[str, Any], *used: frozenset[str]) -> None:
    """Refuse names and values that no expression uses, as DynamoDB does."""
    words = frozenset().union(*used)
    for what, given in (("ExpressionAttributeNames", names), ("ExpressionAttributeValues", values)):
        if unused := sorted(given.keys() - words):
            raise InvalidError(f"Value provided in {what} unused in expressions: keys: {{{', '.join(unused)}}}")
