"""Is a process of the stack ready, and if not, why not? One cheap question each."""

import json
import socket
import ssl
import struct
import urllib.error
import urllib.request
from collections.abc import Callable

from environment import KAFKAS, Stack, kafka_port, listening

from murmuration_testkit.services import PROCESSES

TIMEOUT_S = 2.0


def waiting_for(process: str, stack: Stack) -> str | None:
    """Say what the process still waits for; None when it is ready."""
    try:
        return PROBES.get(process, _service)(stack, port_of(process))
    except OSError as error:
        cause = getattr(error, "reason", error)
        return getattr(cause, "strerror", None) or str(cause)


def port_of(process: str) -> str:
    """Name the variable that holds the port on which the process answers probes."""
    if process in PROCESSES:
        return PROCESSES[process].port_variable("ADMIN_PORT")
    return f"{process.upper().replace('-', '_')}_PORT"


def ports_of(process: str) -> list[str]:
    """Name the variables of all ports that the process takes."""
    if process in PROCESSES:
        return [PROCESSES[process].port_variable(port) for port in PROCESSES[process].ports]
    return [port_of(process), *([kafka_port(process, "CONTROLLER_PORT")] if process in KAFKAS else [])]


def _kafka(stack: Stack, port: str) -> str | None:
    """Ask for the API versions, as every client does first."""
    request = struct.pack(">hhih", 18, 0, 0, -1)
    return None if _ask(stack, port, struct.pack(">i", len(request)) + request) else "no answer yet"


def _redis(stack: Stack, port: str) -> str | None:
    answers = (b"+PONG", b"-NOAUTH")
    return None if _ask(stack, port, b"PING\r\n").startswith(answers) else "no answer yet"


def _dynamodb(stack: Stack, port: str) -> str | None:
    """Any answer will do: without a signature it can only be a refusal."""
    _get(stack, port, "/")
    return None


def _registry(stack: Stack, port: str) -> str | None:
    status, _body = _get(stack, port, "/apis/ccompat/v7/subjects")
    return None if status == 200 else f"HTTP {status}"  # noqa: PLR2004


def _gateway(stack: Stack, port: str) -> str | None:
    status, _body = _get(stack, port, "/.well-known/jwks.json")
    return None if status == 200 else f"HTTP {status}"  # noqa: PLR2004


def _service(stack: Stack, port: str) -> str | None:
    status, body = _get(stack, port, "/readyz")
    if status == 200:  # noqa: PLR2004
        return None
    try:
        return ", ".join(json.loads(body)["waiting_for"]) or f"HTTP {status}"
    except (ValueError, KeyError, TypeError):
        return f"HTTP {status}"


def _ask(stack: Stack, port: str, request: bytes) -> bytes:
    host = listening(port)
    with socket.create_connection((host, stack.ports[port]), TIMEOUT_S) as plain:
        connection = plain
        if stack.secure:
            trusted = ssl.create_default_context(cafile=stack.directory / "certificates/ca.pem")
            connection = trusted.wrap_socket(plain, server_hostname=host)
        connection.sendall(request)
        return connection.recv(64)


def _get(stack: Stack, port: str, path: str) -> tuple[int, bytes]:
    try:
        with _direct(stack).open(f"{stack.address(port)}{path}", timeout=TIMEOUT_S) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read()


def _direct(stack: Stack) -> urllib.request.OpenerDirector:
    """Ask past any proxy, and believe the stack's own certificate."""
    handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({})]
    if stack.tls:
        trusted = ssl.create_default_context(cafile=stack.directory / "certificates/gateway-ca.pem")
        handlers.append(urllib.request.HTTPSHandler(context=trusted))
    return urllib.request.build_opener(*handlers)


PROBES: dict[str, Callable[[Stack, str], str | None]] = {
    **dict.fromkeys(KAFKAS, _kafka),
    "dynamodb": _dynamodb,
    **dict.fromkeys(("redis", "limits-redis", "suggestions-redis", "graph-redis"), _redis),
    "registry": _registry,
    "gateway": _gateway,
}
