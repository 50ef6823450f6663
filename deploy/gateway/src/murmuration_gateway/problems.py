"""What the gateway refuses or cannot do by itself, as problem details. Pure.

Rule: a client learns the same from a problem whoever answers it: a code that edges have, too, means the same there.
Each has its heading in docs/problems.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One kind of problem: its status and code, what it says, and after how many seconds another try makes sense."""

    status: int
    code: str
    detail: str
    retry_after: int | None = None


PROBLEMS = (
    Problem(400, "bad-request", "HTTP does not allow this request: send a path in visible ASCII, and one valid Host."),
    Problem(404, "no-route", "No route has this path."),
    Problem(405, "method-not-allowed", "This path does not have this method; Allow names those that it has."),
    Problem(412, "precondition-failed", "This page has another version than If-Match or If-Unmodified-Since names."),
    Problem(413, "body-too-large", "A body may have at most 64 KiB."),
    Problem(414, "uri-too-long", "A request line may have at most 8 KiB."),
    Problem(421, "wrong-host", "This gateway does not answer for the host that was asked for."),
    Problem(429, "too-many-requests", "This address sends too much at once. Try again in 1 s.", retry_after=1),
    Problem(431, "headers-too-large", "A header may have at most 8 KiB, and all headers together at most 32 KiB."),
    Problem(500, "failed", "The gateway failed. Try again later; if it fails again, report the request_id."),
    Problem(501, "not-implemented", "The gateway does not know this Transfer-Encoding."),
    Problem(503, "unavailable", "The service behind this path does not answer. Try again in 1 s.", retry_after=1),
    Problem(505, "not-implemented", "The gateway speaks HTTP/1.0, HTTP/1.1 and HTTP/2."),
)
INSTEAD = {494: 431, 502: 503, 504: 503}  # nginx's number, and what the client is told: 494 is nobody's but nginx's


def pages() -> str:
    """Return nginx's lines for all that it would else answer with a page of its own."""
    usual = " ".join(str(each.status) for each in PROBLEMS)
    others = "".join(f"    error_page {number} ={status} /problem;\n" for number, status in INSTEAD.items())
    return f"    error_page {usual} /problem;\n{others}"


def maps() -> str:
    """Return nginx's maps from the status to what a problem says."""
    return "".join(
        (
            _map("code", {each.status: each.code for each in PROBLEMS}),
            _map("title", {each.status: each.code.replace("-", " ").capitalize() for each in PROBLEMS}),
            _map("detail", {each.status: each.detail for each in PROBLEMS}),
            _map("seconds", {each.status: each.retry_after for each in PROBLEMS if each.retry_after}),
        )
    )


def _map(name: str, values: Mapping[int, object]) -> str:
    inner = "".join(f'    {status} "{value}";\n' for status, value in values.items())
    return f"  map $status $problem_{name} {{\n{inner}  }}\n"
