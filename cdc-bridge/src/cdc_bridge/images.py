"""The images of rows in stream records, read strictly. Pure: no clock, no I/O.

Rule: an attribute is there with its right type, or the row breaks its contract, and the error names the attribute.
"""

from collections.abc import Mapping
from typing import Any


class BadRowError(Exception):
    """The row breaks the data contract; the message names the attribute."""


class Row:
    """One image of a row."""

    def __init__(self, name: str, attributes: Mapping[str, Mapping[str, Any]]) -> None:
        """Take what errors call it, and its attributes in DynamoDB's JSON."""
        self._name = name
        self._attributes = attributes

    def __contains__(self, attribute: str) -> bool:
        return attribute in self._attributes

    def text(self, attribute: str) -> str:
        """Return a string attribute."""
        try:
            text: str = self._attributes[attribute]["S"]
        except KeyError:
            raise self._bad(attribute, "S") from None
        return text

    def ms(self, attribute: str) -> int:
        """Return a time in whole milliseconds."""
        return self._integer(attribute, "whole milliseconds")

    def count(self, attribute: str) -> int:
        """Return a whole number; one that is absent is 0."""
        return self._integer(attribute, "a whole number") if attribute in self._attributes else 0

    def flag(self, attribute: str, absent: bool) -> bool:
        """Return a yes or no, and what an absent one means."""
        if attribute not in self._attributes:
            return absent
        try:
            flag: bool = self._attributes[attribute]["BOOL"]
        except KeyError:
            raise self._bad(attribute, "BOOL") from None
        return flag

    def _integer(self, attribute: str, what: str) -> int:
        try:
            number = self._attributes[attribute]["N"]
        except KeyError:
            raise self._bad(attribute, "N") from None
        try:
            return int(number)
        except ValueError:
            raise BadRowError(f"{attribute} of {self._name} is {number!r}, not {what}") from None

    def _bad(self, attribute: str, kind: str) -> BadRowError:
        if attribute not in self._attributes:
            return BadRowError(f"{attribute} is missing in {self._name}")
        return BadRowError(f"{attribute} of {self._name} is {dict(self._attributes[attribute])!r}, not of type {kind}")
