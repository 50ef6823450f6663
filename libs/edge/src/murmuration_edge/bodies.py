"""JSON bodies, read strictly: a model says which fields there are, and its faults become a problem with status 400."""

import json
from collections.abc import Sequence
from typing import Any, TypeVar

from flask import request
from pydantic import BaseModel, ConfigDict, ValidationError
from werkzeug.exceptions import UnsupportedMediaType

LARGEST_BODY = 64 * 1024


class Body(BaseModel):
    """A body: no unknown field, no other type."""

    model_config = ConfigDict(extra="forbid", strict=True)


class BadBodyError(Exception):
    """What is wrong with the body, by field."""

    def __init__(self, errors: Sequence[tuple[str, str]]) -> None:
        """errors: a JSON pointer, and what is wrong there."""
        super().__init__("; ".join(f"{pointer.removeprefix('#/') or 'body'}: {detail}" for pointer, detail in errors))
        self.errors = [{"pointer": pointer, "detail": detail} for pointer, detail in errors]


Read = TypeVar("Read", bound=Body)


def read_body(model: type[Read]) -> Read:
    """Read the request's body as this model."""
    if not request.is_json:
        raise UnsupportedMediaType("Send JSON, with the header Content-Type: application/json.")
    sent = request.get_data()
    try:
        body = model.model_validate_json(sent)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        raise BadBodyError([(_pointer(each["loc"]), each["msg"]) for each in found]) from None
    json.loads(sent, object_pairs_hook=_once)  # pydantic takes the last of two members with one name
    return body


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its members; of two with one name nobody could say which counts."""
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        raise BadBodyError([(_pointer([name]), "This name stands twice.") for name in made if names.count(name) > 1])
    return made


def _pointer(where: Sequence[int | str]) -> str:
    """Return the JSON pointer of a field (RFC 6901)."""
    return "#/" + "/".join(str(step).replace("~", "~0").replace("/", "~1") for step in where)
