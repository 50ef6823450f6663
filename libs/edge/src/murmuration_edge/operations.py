"""Each route is declared in one place: what it takes, answers and refuses, and what it costs.

Rule: query and body are checked by the declared models, and openapi.py makes the document from the same declarations. A
handler runs only after every guard has let the request pass, and sees only a query and a body that their models accept.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flask import Blueprint
from flask.typing import ResponseReturnValue

from murmuration_edge.bodies import Body, read_body
from murmuration_edge.queries import Query, read_query

Handler = Callable[..., ResponseReturnValue]


@dataclass(frozen=True)
class Answer:
    """One way in which an operation succeeds: what it means, the type of its JSON, and headers of its own."""

    meaning: str
    model: Any = None
    headers: Sequence[str] = ()


@dataclass(frozen=True)
class Operation:
    """One method of one path, as clients may use it."""

    name: str
    method: str
    path: str
    summary: str
    answers: Mapping[int, Answer]
    refusals: Sequence[type[Exception]]  # what it raises besides what every operation may raise
    query: type[Query] | None
    body: type[Body] | None
    headers: Sequence[str]  # request headers that it reads besides those that every operation reads
    cost: int  # how many tokens one call takes from the caller's budget
    budget: str


Guard = Callable[[Operation], object]  # raises an exception to refuse the request


@dataclass
class Operations:
    """A service's routes under /v1, and each one's declaration by its Flask endpoint.

    patterns: regular expressions for the ids in answers, by the names of their fields.
    guards: run before each operation, in this order; not before Flask's own answers to OPTIONS and to a wrong method.
    """

    blueprint: Blueprint
    patterns: Mapping[str, str] = field(default_factory=dict)
    guards: list[Guard] = field(default_factory=list)
    by_endpoint: dict[str, Operation] = field(default_factory=dict)

    def add(
        self,
        method: str,
        path: str,
        answers: Mapping[int, Answer],
        *refusals: type[Exception],
        query: type[Query] | None = None,
        body: type[Body] | None = None,
        headers: Sequence[str] = (),
        cost: int = 1,
        budget: str = "calls",
    ) -> Callable[[Handler], Handler]:
        """Serve a handler here. It is given what the path names, and `query` and `body` where there are models."""

        def serve(handler: Handler) -> Handler:
            name, summary = handler.__name__, (handler.__doc__ or "").strip().splitlines()[0]
            whole = f"{self.blueprint.url_prefix}{path}"
            operation = Operation(name, method, whole, summary, answers, refusals, query, body, headers, cost, budget)

            def checked(**given: Any) -> ResponseReturnValue:
                for guard in self.guards:
                    guard(operation)
                if query:
                    given["query"] = read_query(query)
                if body:
                    given["body"] = read_body(body)
                return handler(**given)

            self.by_endpoint[f"{self.blueprint.name}.{name}"] = operation
            self.blueprint.add_url_rule(path, name, checked, methods=[method])
            return handler

        return serve
