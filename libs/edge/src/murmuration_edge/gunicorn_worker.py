"""gunicorn's worker of threads, whose own refusals are problems, too.

Rule: what gunicorn cannot read never reaches Flask. So it is answered here, in the form that problems.py gives all
others.
"""

import socket
import uuid
from typing import Any

from gunicorn import util
from gunicorn.http import errors
from gunicorn.workers.gthread import ThreadWorker

from murmuration_edge.problems import FAILED, FAILURE, HTTP, Problem, answer
from murmuration_runtime.logs import request_id

TOO_LONG = Problem(414, "uri-too-long"), "A request line may have at most 8 KiB."
TOO_LARGE = Problem(431, "headers-too-large"), "A request may have at most 100 headers, each of at most 8 KiB."
NOT_THIS = Problem(501, "not-implemented"), "The service does not know this Transfer-Encoding."
BAD = HTTP[400], "This is not a request that HTTP allows."
OURS = FAILED, FAILURE
REFUSALS = {
    errors.LimitRequestLine: TOO_LONG,
    errors.LimitRequestHeaders: TOO_LARGE,
    errors.UnsupportedTransferCoding: NOT_THIS,
    errors.InvalidResponseHeader: OURS,
    errors.InvalidResponseHeaderName: OURS,
    errors.ConfigurationProblem: OURS,
    errors.ParseException: BAD,
}


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """The usual worker of threads, but for what it answers by itself."""

    def handle_error(self, _req: Any, client: socket.socket, _addr: Any, error: Exception) -> None:
        """Answer with a problem instead of gunicorn's page, and log why."""
        kept = request_id.set(uuid.uuid4().hex)
        try:
            problem, detail = next((REFUSALS[cls] for cls in type(error).__mro__ if cls in REFUSALS), OURS)
            if problem is FAILED:
                self.log.error("unforeseen error", exc_info=error)
            else:
                self.log.warning("refused what is no request: %s", error)
            response = answer(problem, detail, {"Connection": "close", "X-Request-ID": str(request_id.get())})
            head = f"HTTP/1.1 {response.status}\r\n{response.headers}".encode("latin-1")
            util.write_nonblock(client, head + response.get_data())
        except OSError:
            self.log.debug("the client is gone")
        finally:
            request_id.reset(kept)
