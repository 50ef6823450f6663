"""What a running service says of its contracts: its metric build_info, at its admin port."""

import re
import socket
from http.client import HTTPException
from urllib.request import urlopen

from contracts.errors import ContractError
from contracts.service_contracts import ServiceContracts, from_text

TIMEOUT_S = 5.0
_BUILD = re.compile(r"^build_info\{(.*)\} ", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"\\]*)"')


class SilentError(ContractError):
    """The service does not say what it reads and writes: it is away, or from before 0.3.0."""


class AwayError(SilentError):
    """It cannot be asked just now."""


class NotInstalledError(ContractError):
    """Its name does not resolve: a service that is installed has one, whether its pods run or not."""


def ask(address: str) -> ServiceContracts:
    """Read what the service at this address (its admin port's) reads and writes."""
    address = address.rstrip("/")
    try:
        with urlopen(f"{address}/metrics", timeout=TIMEOUT_S) as answer:  # noqa: S310 - an operator's address
            text = answer.read().decode()
    except (OSError, HTTPException, ValueError) as error:
        cause = getattr(error, "reason", error)
        if isinstance(cause, socket.gaierror) and cause.errno == socket.EAI_NONAME:  # others: the name server is away
            raise NotInstalledError(f"{address} is not installed: no such name ({cause})") from error
        raise AwayError(f"{address}/metrics cannot be read: {error}") from error
    return read_build_info(address, text)


def read_build_info(address: str, metrics: str) -> ServiceContracts:
    """Read it in the text of /metrics."""
    found = _BUILD.search(metrics)
    labels = dict(_LABEL.findall(found[1])) if found else {}
    try:
        service, its_version = labels["service"], labels["version"]
    except KeyError:
        raise SilentError(f"{address} is no service of Murmuration: its metrics have no build_info") from None
    if "topics" not in labels or "tables" not in labels:
        raise SilentError(f"{service} {its_version} at {address} is from before services told their contracts")
    try:
        return ServiceContracts(service, its_version, from_text(labels["topics"]), from_text(labels["tables"]))
    except ContractError as error:
        raise SilentError(f"{service} {its_version} at {address} tells what is not understood here: {error}") from error
