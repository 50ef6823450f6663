"""Sends a request to DynamoDB and brings its answer, by libcurl, which signs it too.

Rule: whatever kept an answer away is raised as botocore would name it. What DynamoDB answered, be it a refusal, is an
answer.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

import pycurl
from botocore.exceptions import (
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ReadTimeoutError,
    SSLError,
)

if TYPE_CHECKING:
    from botocore.credentials import Credentials

USER_AGENT = "murmuration"
_UNREACHABLE = {pycurl.E_COULDNT_CONNECT, pycurl.E_COULDNT_RESOLVE_HOST, pycurl.E_COULDNT_RESOLVE_PROXY}
_UNTRUSTED = {
    pycurl.E_PEER_FAILED_VERIFICATION,
    pycurl.E_SSL_CACERT_BADFILE,
    pycurl.E_SSL_CERTPROBLEM,
    pycurl.E_SSL_CONNECT_ERROR,
}


class Request(NamedTuple):
    """What is sent: the operation's full name, as DynamoDB has it in X-Amz-Target, and its JSON."""

    url: str
    target: str
    body: bytes


class Answer(NamedTuple):
    """What came back."""

    status_code: int
    content: bytes
    headers: dict[str, str] = {}  # noqa: RUF012 - none is read; botocore's listeners expect some


class Wire:
    """Connections that stay open, as many as calls run at once. Safe among threads."""

    def __init__(
        self,
        credentials: Credentials | None,
        region: str,
        ca_file: str,
        connect_seconds: float,
    ) -> None:
        self._credentials = credentials
        self._region = region
        self._ca_file = ca_file
        self._connect_ms = round(connect_seconds * 1000)
        self._idle: deque[pycurl.Curl] = deque()

    def send(self, request: Request, seconds: float) -> Answer:
        """Return the answer, if it comes within so many seconds, the connecting included."""
        if self._credentials is None:
            raise NoCredentialsError
        who = self._credentials.get_frozen_credentials()
        headers = [
            f"X-Amz-Target: {request.target}",
            "Content-Type: application/x-amz-json-1.0",
            "Accept:",  # curl leaves out what has no value
            "Expect:",
        ]
        if who.token:
            headers.append(f"X-Amz-Security-Token: {who.token}")
        try:
            curl = self._idle.pop()
        except IndexError:
            curl = self._connection()
        try:
            curl.setopt(pycurl.URL, request.url)
            curl.setopt(pycurl.USERPWD, f"{who.access_key}:{who.secret_key}")
            curl.setopt(pycurl.HTTPHEADER, headers)
            curl.setopt(pycurl.POSTFIELDS, request.body)
            curl.setopt(pycurl.TIMEOUT_MS, max(1, round(seconds * 1000)))
            content = curl.perform_rb()
            return Answer(curl.getinfo(pycurl.RESPONSE_CODE), content)
        except pycurl.error as error:
            raise _named(error, request.url, connected=curl.getinfo(pycurl.CONNECT_TIME) > 0) from error
        finally:
            self._idle.append(curl)

    def _connection(self) -> pycurl.Curl:
        curl = pycurl.Curl()
        curl.setopt(pycurl.NOSIGNAL, 1)  # else libcurl's timers are the process's
        curl.setopt(pycurl.POST, 1)
        curl.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
        curl.setopt(pycurl.USERAGENT, USER_AGENT)
        curl.setopt(pycurl.AWS_SIGV4, f"aws:amz:{self._region}:dynamodb")
        curl.setopt(pycurl.CAINFO, self._ca_file)
        curl.setopt(pycurl.CONNECTTIMEOUT_MS, self._connect_ms)
        return curl


def _named(error: pycurl.error, url: str, *, connected: bool) -> Exception:
    code = error.args[0]
    if code == pycurl.E_OPERATION_TIMEDOUT:
        return ReadTimeoutError(endpoint_url=url) if connected else ConnectTimeoutError(endpoint_url=url)
    if code in _UNREACHABLE:
        return EndpointConnectionError(endpoint_url=url)
    if code in _UNTRUSTED:
        return SSLError(endpoint_url=url, error=error)
    return ConnectionClosedError(endpoint_url=url)
