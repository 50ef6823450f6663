"""DynamoDB's expressions as far as this repository uses them; whatever else one has is an UnknownExpressionError.

Known are conditions (conditions.py), updates (updates.py) and projections, all of them of attributes at the top of an
item. Here is what these have in common: words, values, paths and sizes.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

Item = dict[str, Any]
Names = dict[str, str]
Values = dict[str, Any]
SETS = {"SS", "NS", "BS"}

_TOKEN = re.compile(r"\s*(<>|<=|>=|[=<>(),+\-]|[:#]?[A-Za-z_]\w*|\S)")


class UnknownExpressionError(NotImplementedError):
    """The fake does not know this; teach it, and its contract test."""


class InvalidError(Exception):
    """What DynamoDB answers with a ValidationException."""


def plain(value: Any) -> Any:
    """Return an attribute's value as one of Python's, which sorts as DynamoDB sorts."""
    ((kind, content),) = value.items()
    if kind == "N":
        return number(content)
    if kind in SETS:
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


class Reader:
    """Tokens, one after the other."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _TOKEN.findall(text)
        self.place = 0
        self.words: set[str] = set()

    @property
    def next(self) -> str:
        """Look at the next token; nothing at the end."""
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self) -> str:
        """Take the next token."""
        token = self.next
        self.place += 1
        return token

    def took(self, word: str) -> bool:
        """Take this word if it comes next; say whether it did."""
        if self.next.upper() == word:
            self.place += 1
            return True
        return False

    def expect(self, word: str) -> None:
        """Take this word; nothing else may come here."""
        if not self.took(word):
            raise UnknownExpressionError(f"{word!r} expected, not {self.next!r}, in {self.text!r}")

    def path(self) -> str:
        """Take an attribute, by its name or by a word for it."""
        word = self.take()
        if not re.fullmatch(r"#?[A-Za-z_]\w*", word) or self.next in (".", "["):
            raise UnknownExpressionError(f"only attributes at the top are known, not {word!r} in {self.text!r}")
        self.words.add(word)
        return word

    def value(self) -> str:
        """Take the word for a value."""
        word = self.take()
        if word[:1] != ":":
            raise UnknownExpressionError(f"a value expected, not {word!r}, in {self.text!r}")
        self.words.add(word)
        return word

    def end(self) -> None:
        """Refuse whatever is left."""
        if self.next:
            raise UnknownExpressionError(f"{self.next!r} is not known in {self.text!r}")


def named(path: str, names: Names) -> str:
    """Return the attribute that a path means."""
    if path[0] != "#":
        return path
    if path not in names:
        raise InvalidError(f"An expression attribute name used in the document path is not defined: {path}")
    return names[path]


def given(word: str, values: Values) -> Any:
    """Return the value that a word means."""
    if word not in values:
        raise InvalidError(f"An expression attribute value used in expression is not defined; attribute value: {word}")
    return values[word]


def operand(reader: Reader) -> Any:
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
        return lambda _item, _names, values: given(word, values)
    path = reader.path()
    return lambda item, names, _: item.get(named(path, names))


@lru_cache(maxsize=1000)
def projection(text: str) -> tuple[str, ...]:
    """Parse a projection."""
    reader = Reader(text)
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
