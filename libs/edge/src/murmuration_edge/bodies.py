"""JSON bodies, read strictly: a model says which fields there are, and its faults become a problem with status 400."""

import json
from collections.abc import Sequence
from typing import Any, TypeVar
from urllib.parse import quote

from flask import request
from pydantic import BaseModel, ConfigDict, ValidationError
from werkzeug.exceptions import UnsupportedMediaType

LARGEST_BODY = 64 * 1024


class Body(BaseModel):
    """A body: no unknown field, no other type."""

    model_config = ConfigDict(extra="forbid", strict=True)


class BadBodyError(Exception):
    """What is wrong with the body, by field."""

    def __init__(self, errors: Sequence[tuple[Sequence[int | str], str]]) -> None:
        """errors: where in the body, and what is wrong there."""
        super().__init__("; ".join(f"{'/'.join(map(str, where)) or 'body'}: {detail}" for where, detail in errors))
        self.errors = [{"pointer": _pointer(where), "detail": detail} for where, detail in errors]


Read = TypeVar("Read", bound=Body)


def read_body(model: type[Read]) -> Read:
    """Read the request's body as this model."""
    if not request.is_json:
        raise UnsupportedMediaType
    sent = request.get_data()
    try:
        body = model.model_validate_json(sent)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        raise BadBodyError([(each["loc"], each["msg"]) for each in found]) from None
    json.loads(sent, object_pairs_hook=_once)  # pydantic takes the last of two members with one name
    return body


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its members; of two with one name nobody could say which counts."""
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        raise BadBodyError([([name], "This name stands twice.") for name in made if names.count(name) > 1])
    return made


def _pointer(where: Sequence[int | str]) -> str:
    """Return the JSON pointer of a field, as a URI fragment (RFC 6901, section 6); of the whole body it is #."""
    return "#" + "".join("/" + quote(str(step).replace("~", "~0").replace("/", "~1"), safe="") for step in where)
