"""JSON bodies, read strictly: a model says which fields there are, and its faults become a problem with status 400."""

from typing import TypeVar

from flask import request
from pydantic import BaseModel, ConfigDict
from werkzeug.exceptions import UnsupportedMediaType

LARGEST_BODY = 64 * 1024


class Body(BaseModel):
    """A body: no unknown field, no other type."""

    model_config = ConfigDict(extra="forbid", strict=True)


Read = TypeVar("Read", bound=Body)


def read_body(model: type[Read]) -> Read:
    """Read the request's body as this model."""
    if not request.is_json:
        raise UnsupportedMediaType("Send JSON, with the header Content-Type: application/json.")
    return model.model_validate_json(request.get_data())
