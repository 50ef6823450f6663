"""The system as people use it: verbs over HTTP through the gateway, and nothing else."""

import json
import os
import time
import uuid
from collections.abc import Callable
from typing import Any

import urllib3

from murmuration_testkit import tokens

# A gateway with a certificate of its own is trusted by GATEWAY_CA_FILE, and is called GATEWAY_NAME wherever it listens.
_variables = {"ca_certs": "GATEWAY_CA_FILE", "server_hostname": "GATEWAY_NAME"}
_tls: dict[str, Any] = {name: os.environ[variable] for name, variable in _variables.items() if variable in os.environ}
_http = urllib3.PoolManager(maxsize=64, timeout=10, retries=False, **_tls)
listeners: list[
    Callable[[str, str, urllib3.BaseHTTPResponse], object]
] = []  # are told of each answer: method, path, answer


class RefusedError(Exception):
    """The gateway or a service answered with a problem."""

    def __init__(self, status: int, problem: dict[str, Any], retry_after: float | None = None) -> None:
        super().__init__(f"{status}: {problem.get('detail', problem)}")
        self.status = status
        self.problem = problem
        self.retry_after = retry_after


class Person:
    """Somebody with a token, under an id that nobody had before unless one is given."""

    def __init__(self, name: str = "somebody", user_id: str = "") -> None:
        self.name = name
        self.user_id = user_id or f"{name.lower().replace(' ', '-')}-{uuid.uuid4().hex[:12]}"
        self.slowest = 0.0  # seconds that a request took, also one that was not answered
        self.headers = tokens.of_stack().bearer(self.user_id, lifetime_s=tokens.DAY_S)

    def join(self) -> "Person":
        """Create the profile."""
        self.ask("PUT", "/v1/users/me", json={"display_name": self.name})
        return self

    def follow(self, other: "Person") -> None:
        """Begin to follow somebody."""
        self.ask("POST", f"/v1/users/{other.user_id}/follow")

    def unfollow(self, other: "Person") -> None:
        """Cease to follow somebody."""
        self.ask("DELETE", f"/v1/users/{other.user_id}/follow")

    def turn(self, *, private: bool) -> None:
        """Let nobody follow unasked any more, or everybody again."""
        self.ask("PUT", "/v1/users/me", json={"display_name": self.name, "is_private": private})

    def requests(self) -> set[str]:
        """Return who asks to follow."""
        return {row["user_id"] for row in self.all_of("/v1/users/me/follow-requests", "users")}

    def accept(self, other: "Person") -> None:
        """Let somebody follow who asked."""
        self.ask("POST", f"/v1/users/me/follow-requests/{other.user_id}")

    def decline(self, other: "Person") -> None:
        """Drop somebody's request."""
        self.ask("DELETE", f"/v1/users/me/follow-requests/{other.user_id}")

    def leave(self) -> None:
        """Delete the account."""
        self.ask("DELETE", "/v1/users/me")

    def tweet(self, text: str) -> str:
        """Say something; return the tweet's id."""
        tweet_id: str = self.ask("POST", "/v1/tweets", json={"text": text})["tweet_id"]
        return tweet_id

    def delete(self, tweet_id: str) -> None:
        """Take it back."""
        self.ask("DELETE", f"/v1/tweets/{tweet_id}")

    def counts(self) -> tuple[int, int]:
        """Return how many follow this person, and how many they follow."""
        profile = self.ask("GET", f"/v1/users/{self.user_id}")
        return profile["followers_count"], profile["following_count"]

    def timeline(self, limit: int = 20) -> list[str]:
        """Return the texts at the top of the home timeline."""
        return [tweet["text"] for tweet in self.ask("GET", f"/v1/timeline?limit={limit}")["tweets"]]

    def whole_timeline(self) -> list[str]:
        """Page from the top to the end; return the ids."""
        return [tweet["tweet_id"] for tweet in self.all_of("/v1/timeline", "tweets")]

    def said(self) -> dict[str, str]:
        """Return this person's tweets by id, as the table has them."""
        return {t["tweet_id"]: t["text"] for t in self.all_of(f"/v1/users/{self.user_id}/tweets", "tweets")}

    def edges(self, kind: str) -> set[str]:
        """Return the followers, or the following, as the table has them."""
        return {edge["user_id"] for edge in self.all_of(f"/v1/users/{self.user_id}/{kind}", "users")}

    def ask(self, method: str, path: str, **more: Any) -> Any:
        """Send one request as this person, to the gateway unless an address is given; a problem raises RefusedError."""
        url = path if path.startswith("http") else gateway() + path
        began = time.monotonic()
        try:
            response = _request(method, url, headers={**self.headers, **more.pop("headers", {})}, **more)
        finally:
            self.slowest = max(self.slowest, time.monotonic() - began)
        if response.status >= 400:  # noqa: PLR2004
            wait = response.headers.get("Retry-After", "")
            raise RefusedError(response.status, _problem(response.data), float(wait) if wait.isdecimal() else None)
        return json.loads(response.data) if response.data else None

    def insist(self, method: str, path: str, **more: Any) -> Any:
        """Send a request that is safe to repeat until it is answered, whatever is down meanwhile."""
        while True:
            try:
                return self.ask(method, path, **more)
            except (urllib3.exceptions.HTTPError, RefusedError) as error:
                if isinstance(error, RefusedError) and error.status < 500:  # noqa: PLR2004
                    raise
                time.sleep(0.1)

    def all_of(self, path: str, of: str) -> list[dict[str, Any]]:
        """Page through a list to its end, whatever is down meanwhile."""
        rows, cursor = [], ""
        while cursor is not None:
            page = self.insist("GET", f"{path}?limit=200{cursor and '&cursor=' + cursor}")
            rows += page[of]
            cursor = page["next_cursor"]
        return rows


def gateway() -> str:
    """Return the gateway's address."""
    return os.environ["GATEWAY_URL"]


def get(path: str, headers: dict[str, str] | None = None) -> tuple[int, Any]:
    """Ask the gateway as nobody in particular; return the status and the JSON."""
    response = _request("GET", gateway() + path, headers=headers or {})
    return response.status, _problem(response.data)


def send(method: str, path: str, **more: Any) -> urllib3.BaseHTTPResponse:
    """Send anything at all, and return the answer as it is."""
    return _request(method, gateway() + path, **more)


def _request(method: str, url: str, **more: Any) -> urllib3.BaseHTTPResponse:
    answer = _http.request(method, url, **more)
    for listener in listeners:
        listener(method, urllib3.util.parse_url(url).path or "/", answer)
    return answer


def _problem(data: bytes) -> dict[str, Any]:
    try:
        problem: dict[str, Any] = json.loads(data)
    except ValueError:
        return {"detail": data.decode(errors="replace")}
    return problem
