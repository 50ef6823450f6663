"""HTTPS at the stack's gateway: `TLS=1 make up`, with HTTP/2, HSTS, and plain HTTP sent to HTTPS on the same port.

The authority and the certificate are made when the stack is first brought up; GATEWAY_CA_FILE names the authority.
"""

from environment import HOST, NAMES, TLS, Stack
from murmuration_gateway.configuration import tls

from murmuration_testkit.certificates import Authority

HSTS_SECONDS = 60  # a browser keeps it for every port of localhost


def prepare(stack: Stack) -> None:
    """Make the certificate, unless it is there."""
    directory = stack.directory / "certificates"
    if not (directory / "gateway.crt").exists():
        Authority(directory, "gateway-ca").certify("gateway", HOST, *NAMES)
    (stack.directory / TLS).write_text("1")


def listen(stack: Stack, address: str) -> str:
    """Return the lines of nginx's server that answers there by HTTPS."""
    directory = stack.directory / "certificates"
    return tls(address, f"{directory}/gateway.crt", f"{directory}/gateway.key")
