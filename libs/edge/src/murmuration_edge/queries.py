"""Queries, read by a model: a parameter that is wrong is named, one that nobody knows is ignored."""

from typing import Annotated, Any, TypeVar, get_origin

from flask import request
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

MOST_DIGITS = 9
SENT_BACK = {"cursor", "since"}  # parameters that clients send exactly as they came


class Query(BaseModel):
    """A query; of a parameter that is sent twice the first counts, unless the model takes a list."""

    model_config = ConfigDict(extra="ignore")


class BadQueryError(Exception):
    """What is wrong with the query, by parameter."""

    def __init__(self, error: ValidationError) -> None:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        self.errors = [{"parameter": str(each["loc"][0]), "detail": each["msg"]} for each in found]
        super().__init__("; ".join(f"{each['parameter']}: {each['detail']}" for each in self.errors))


Read = TypeVar("Read", bound=Query)


def read_query(model: type[Read]) -> Read:
    """Read the request's query as this model."""
    args, sent = request.args, dict[str, Any]()
    for name, each in model.model_fields.items():
        if name in args:
            sent[name] = args.getlist(name) if get_origin(each.annotation) is list else args[name]
    try:
        return model.model_validate(sent)
    except ValidationError as error:
        raise BadQueryError(error) from None


def _digits(value: object) -> object:
    """Let only plain decimal digits be a number: int() takes spaces, signs and underscores, too."""
    if isinstance(value, str) and not (value.isascii() and value.isdecimal() and len(value) <= MOST_DIGITS):
        raise PydanticCustomError("digits", "Send a whole number in decimal digits.")
    return value


Limit = Annotated[int, Field(ge=1, le=200, description="How many rows at most"), BeforeValidator(_digits)]


class Page(Query):
    """Which part of a list."""

    cursor: str | None = Field(None, description="next_cursor of the page before, exactly as it came")
