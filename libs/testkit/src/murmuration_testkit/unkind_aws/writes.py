"""One write of one item, as part of a call or of a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from murmuration_testkit.unkind_aws.conditions import condition
from murmuration_testkit.unkind_aws.expressions import InvalidError, check_words, named
from murmuration_testkit.unkind_aws.updates import update

if TYPE_CHECKING:
    from murmuration_testkit.unkind_aws.table import Item, Table


class Write:
    """One write of one item: whether it may be done, and what becomes of the item."""

    def __init__(self, table: Table, kind: str, request: dict[str, Any]) -> None:
        self.table = table
        self._kind = kind
        self._names = request.pop("ExpressionAttributeNames", {})
        self._values = request.pop("ExpressionAttributeValues", {})
        conditional = request.pop("ConditionExpression", None)
        self._condition = conditional and condition(conditional)
        updated = request.pop("UpdateExpression", None)
        self._update = updated and update(updated)
        self._item = dict(request.pop("Item" if kind == "Put" else "Key"))
        self.key = table.key_of(self._item, only=kind != "Put")
        self.returns = request.pop("ReturnValues", "NONE")
        self.shows_old = request.pop("ReturnValuesOnConditionCheckFailure", "NONE") == "ALL_OLD"
        if request or self.returns not in ("NONE", "ALL_OLD", "ALL_NEW"):
            raise NotImplementedError(f"the fake does not know {request or self.returns} of {kind}: teach it")
        used = [parsed.words for parsed in (self._condition, self._update) if parsed]
        check_words(self._names, self._values, *used)
        if self._update:
            targets = [named(path, self._names) for path in self._update.targets]
            if wrong := [name for name in targets if name in table.key]:
                raise InvalidError(f"Cannot update attribute {wrong[0]}. This attribute is part of the key")
            if len(set(targets)) < len(targets):
                raise InvalidError("Two document paths overlap with each other")

    def may(self) -> bool:
        """Say whether the condition holds."""
        found = self.table.get(self.key) or {}
        return not self._condition or self._condition.holds(found, self._names, self._values)

    def becomes(self) -> Item | None:
        """Return what the item will be."""
        found = self.table.get(self.key)
        if self._kind == "Put":
            return self._item
        if self._kind == "Delete":
            return None
        if self._kind == "ConditionCheck":
            return found
        base = found if found is not None else self._item
        return self._update.apply(base, self._names, self._values) if self._update else base
