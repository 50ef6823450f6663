"""How much a caller may do: each operation costs so much of one budget, and each answer says what is left of it.

Rule: nobody is counted before their token is verified; who comes without one is the gateway's to limit.
"""

import math
from collections.abc import Mapping, Sequence

from flask import Flask, Response, g, request

from murmuration_edge.auth import caller
from murmuration_edge.leases import Leases
from murmuration_edge.metrics import REFUSED
from murmuration_edge.operations import Guard, Operation, Operations
from murmuration_edge.token_buckets import Budget

EXTRA_COSTS = {"cursor": 2, "expand": 2}  # what a parameter costs besides: a page further down, more rows beside it


class TooManyCallsError(Exception):
    """The caller's budget is spent."""

    def __init__(self, budget: str, wait: float) -> None:
        seconds = math.ceil(wait)
        super().__init__(f"You have spent your budget of {budget}. Try again in {seconds} s.")
        self.headers = {"Retry-After": str(seconds)}


def extra_costs(operation: Operation) -> Mapping[str, int]:
    """Return which parameters of an operation cost something besides, and how much."""
    return {name: EXTRA_COSTS[name] for name in EXTRA_COSTS if operation.query and name in operation.query.model_fields}


def install(app: Flask, operations: Operations, budgets: Sequence[Budget], leases: Leases) -> Guard:
    """Say on each answer what is left; return the guard that refuses who has spent too much."""
    by_name = {each.name: each for each in budgets}
    if unknown := {each.budget for each in operations.by_endpoint.values()} - {*by_name}:
        raise ValueError(f"operations have budgets that no setting has: {', '.join(sorted(unknown))}")
    policies = {each.name: f'"{each.name}";q={each.burst};w={math.ceil(each.burst / each.rate)}' for each in budgets}
    extra = {each.name: extra_costs(each) for each in operations.by_endpoint.values()}

    def guard(operation: Operation) -> None:
        args = request.args
        cost = operation.cost + sum(more for name, more in extra[operation.name].items() if name in args)
        standing = leases.take(by_name[operation.budget], caller(), cost)
        g.counted = operation.budget, standing
        if standing.wait > 0:
            REFUSED.labels(operation.budget).inc()
            raise TooManyCallsError(operation.budget, standing.wait)

    @app.after_request
    def tell(response: Response) -> Response:
        if counted := g.get("counted"):
            name, standing = counted
            response.headers["RateLimit-Policy"] = policies[name]
            response.headers["RateLimit"] = f'"{name}";r={standing.left};t={math.ceil(standing.full_in)}'
        return response

    return guard
