"""What every call of gRPC has: a caller, a budget, a deadline, errors that say what to do, a log line, a measurement.

Rule: a call waits on the loop, and works in one of a few threads, in a copy of its context. What it may spend and how
long it may take is counted for each piece of work, which a call is, and each page of a stream. The errors are HTTP's:
the same exceptions, codes and sentences, under gRPC's statuses.
"""

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

import grpc
from prometheus_client import Histogram

from murmuration_edge.auth import Tokens, bearer
from murmuration_edge.leases import Leases
from murmuration_edge.limits import TooManyCallsError
from murmuration_edge.metrics import REFUSED
from murmuration_edge.problems import (
    EVERYWHERE,
    FAILED,
    FAILURE,
    RETRY_AFTER_SECONDS,
    UNAVAILABLE,
    WITH_CURSOR,
    WITH_QUERY,
    Problems,
)
from murmuration_edge.telemetry import own_or_new_id
from murmuration_edge.token_buckets import Budget
from murmuration_runtime import deadlines, traces
from murmuration_runtime.logs import request_id, trace_id
from murmuration_runtime.metrics import METRICS
from murmuration_runtime.requests_in_flight import RequestsInFlight

SECONDS = Histogram(
    "grpc_request_seconds", "How long calls took; of a stream, until its end.", ["method", "code"], registry=METRICS
)
STATUSES = {
    400: grpc.StatusCode.INVALID_ARGUMENT,
    401: grpc.StatusCode.UNAUTHENTICATED,
    403: grpc.StatusCode.PERMISSION_DENIED,
    404: grpc.StatusCode.NOT_FOUND,
    409: grpc.StatusCode.FAILED_PRECONDITION,
    422: grpc.StatusCode.INVALID_ARGUMENT,
    429: grpc.StatusCode.RESOURCE_EXHAUSTED,
    500: grpc.StatusCode.INTERNAL,
    503: grpc.StatusCode.UNAVAILABLE,
}
OURS = {grpc.StatusCode.INTERNAL, grpc.StatusCode.UNAVAILABLE}
TOO_LATE = "The time that the call had is over."
_log = logging.getLogger(__name__)
Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
Answer = TypeVar("Answer")


class DrainingError(Exception):
    """This process is about to end: whoever asks again is answered by another."""


@dataclass(frozen=True)
class Refusal:
    """What a client is told of an error."""

    status: grpc.StatusCode
    code: str
    detail: str
    retry_after: str = ""


@dataclass
class Calls:
    """The calls of one process."""

    tokens: Tokens
    leases: Leases
    budget: Budget
    request_seconds: float  # that a piece of work may take, all its calls of stores together
    problems: Problems
    threads: Executor
    in_flight: RequestsInFlight = field(default_factory=RequestsInFlight)
    is_draining: bool = False

    @asynccontextmanager
    async def call(self, method: str, context: Context) -> AsyncIterator["Call"]:
        """Begin a call; it ends with a log line, a measurement, and gRPC's status for what it raised."""
        call, began, status, reason = Call(self, context), time.monotonic(), grpc.StatusCode.OK, None
        sent = call.sent
        request_id.set(own_or_new_id(sent.get("x-request-id", "")))
        trace = traces.trace_of(sent.get(traces.HEADER, ""))
        trace_id.set(trace)
        context.set_trailing_metadata((("x-request-id", str(request_id.get())),))
        try:
            with traces.span(method, "SERVER", [sent[traces.HEADER]] if trace else [], {"rpc.method": method}):
                yield call
        except asyncio.CancelledError:
            is_late = context.time_remaining() is not None and call.time_left() <= 0
            status = grpc.StatusCode.DEADLINE_EXCEEDED if is_late else grpc.StatusCode.CANCELLED
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the client gets a status and the log the reason
            refusal, reason = self._refusal(error, call), str(error)
            status = refusal.status
            told = {"x-request-id": request_id.get(), "problem": refusal.code, "retry-after": refusal.retry_after}
            await context.abort(status, refusal.detail, tuple((name, str(it)) for name, it in told.items() if it))
        finally:
            seconds = time.monotonic() - began
            SECONDS.labels(method, status.name).observe(seconds)
            about = {"caller": call.caller, "method": method, "status": status.name, "ms": round(seconds * 1000, 1)}
            if status in OURS:
                _log.warning("request", extra=about | {"reason": reason})
            else:
                _log.info("request", extra=about)

    def _refusal(self, error: Exception, call: "Call") -> Refusal:
        if isinstance(error, deadlines.DeadlineError) and call.time_left() <= 0:
            return Refusal(grpc.StatusCode.DEADLINE_EXCEEDED, "", TOO_LATE)
        known = {**EVERYWHERE, **WITH_QUERY, **WITH_CURSOR, DrainingError: UNAVAILABLE, **self.problems}
        problem = next((known[cls] for cls in type(error).__mro__ if cls in known), FAILED)
        if problem is FAILED:
            _log.error("unforeseen error", exc_info=error)
            return Refusal(STATUSES[FAILED.status], FAILED.code, FAILURE)
        if problem is UNAVAILABLE:
            seconds = str(getattr(error, "retry_after_seconds", RETRY_AFTER_SECONDS))
            detail = f"The service cannot do this now. Try again in {seconds} s."
            return Refusal(STATUSES[problem.status], problem.code, detail, seconds)
        headers: Mapping[str, str] = getattr(error, "headers", {})
        return Refusal(STATUSES[problem.status], problem.code, str(error), headers.get("Retry-After", ""))


class Call:
    """One call, while it lasts."""

    def __init__(self, calls: Calls, context: Context) -> None:
        self.sent = {name: value for name, value in context.invocation_metadata() or () if isinstance(value, str)}
        self.caller: str | None = None
        self._calls = calls
        self._context = context

    def time_left(self) -> float:
        """Return how many seconds the client waits for more; infinite if it has set no deadline."""
        left = self._context.time_remaining()
        return math.inf if left is None else left

    async def work(self, cost: int, answer: Callable[[str], Answer]) -> Answer:
        """Let a thread verify the token, take what this costs, and answer the caller."""
        if self._calls.is_draining:
            raise DrainingError("this process ends")
        calls, seconds = self._calls, min(self._calls.request_seconds, self.time_left())
        with deadlines.within(seconds) as deadline:
            calls.in_flight.begin(deadline, time.monotonic())
            try:
                run = copy_context().run
                loop = asyncio.get_running_loop()
                return await loop.run_in_executor(calls.threads, run, self._answered, cost, answer)
            finally:
                calls.in_flight.end(deadline, time.monotonic())

    def _answered(self, cost: int, answer: Callable[[str], Answer]) -> Answer:
        calls = self._calls
        self.caller = calls.tokens.caller_of(bearer(self.sent.get("authorization", "")), time.time())
        deadlines.remaining(math.inf)  # it may have waited for a thread until now
        standing = calls.leases.take(calls.budget, self.caller, cost)
        if standing.wait > 0:
            REFUSED.labels(calls.budget.name).inc()
            raise TooManyCallsError(calls.budget.name, standing.wait)
        return answer(self.caller)
