"""The headers that the API has meanings for: what each says, for the OpenAPI document. Pure data."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TEXT = {"type": "string"}
ALWAYS, SOMETIMES = True, False


@dataclass(frozen=True)
class Header:
    """What a header of an answer means, and whether every answer that declares it has it."""

    meaning: str
    required: bool
    schema: Mapping[str, Any]


OF_ANSWERS: Mapping[str, Header] = {  # a name that is not here cannot be declared
    "Age": Header(
        "How many seconds ago was found what is shown, if it was kept", SOMETIMES, {"type": "integer", "minimum": 0}
    ),
    "Allow": Header("The methods that this path has", ALWAYS, TEXT),
    "ETag": Header("Send it back as If-None-Match, to be told 304 while nothing has changed", ALWAYS, TEXT),
    "Link": Header("The next page, if there is one: rel=next", SOMETIMES, TEXT),
    "Location": Header("Where the new one is read", ALWAYS, {"type": "string", "format": "uri-reference"}),
    "RateLimit": Header("What is left of the budget, and in how many seconds it is full again", SOMETIMES, TEXT),
    "RateLimit-Policy": Header("The budget: how many calls in how many seconds", SOMETIMES, TEXT),
    "Retry-After": Header("Seconds to wait before the next try", ALWAYS, {"type": "integer", "minimum": 0}),
    "Suggestions-From": Header(
        "run: the list of the last run; online: there is none, and it was made now or a minute ago",
        ALWAYS,
        {"type": "string", "enum": ["run", "online"]},
    ),
    "WWW-Authenticate": Header("Which token is wanted, and what was wrong with this one", ALWAYS, TEXT),
    "X-Request-ID": Header("The id by which logs name this request", ALWAYS, TEXT),
}
OF_REQUESTS: Mapping[str, Mapping[str, Any]] = {
    "Idempotency-Key": {
        "description": "For a day, repeats of this request with the same key are one request",
        "schema": {"type": "string", "pattern": "^[!-~]{1,255}$"},
    },
    "If-None-Match": {"description": "The ETag of what the client has already", "schema": TEXT},
}
COUNTED = ("RateLimit", "RateLimit-Policy")  # on what a caller is answered who is known
OF_PROBLEMS: Mapping[int, Sequence[str]] = {
    401: ["WWW-Authenticate"],
    405: ["Allow"],
    429: [*COUNTED, "Retry-After"],
    503: [*COUNTED, "Retry-After"],
}


def components() -> dict[str, Any]:
    """Return what the document says of each header of answers."""
    return {
        name: {"description": each.meaning, "required": each.required, "schema": each.schema}
        for name, each in OF_ANSWERS.items()
    }


def of_success(own: Iterable[str]) -> dict[str, Any]:
    """Return the headers of a good answer, of which these are its own."""
    return referred([*COUNTED, *own])


def of_refusal(status: int) -> dict[str, Any]:
    """Return the headers of a problem with this status."""
    return referred(OF_PROBLEMS.get(status, COUNTED))


def referred(names: Iterable[str]) -> dict[str, Any]:
    """Return these headers, and the one that every answer has, as what the document says of each."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-ID", *names)}
