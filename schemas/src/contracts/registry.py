"""The schema registry, by its Confluent API.

Four calls of plain HTTP: confluent_kafka's client would bring half a second of imports and seven packages into every
service, two of which speak to Kafka by aiokafka alone.
"""

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable
from http import HTTPStatus
from http.client import HTTPException
from typing import Any

from contracts.codec import Codec
from contracts.errors import ContractError, UnknownSchemaError
from contracts.topic import Topic, Version

TIMEOUT_S = 5.0


class RegistryAwayError(Exception):
    """The registry did not answer, or not sensibly. Try again later."""


class NotRegisteredError(ContractError):
    """The registry answers, and has no such thing."""


class Registry:
    """A registry at a URL, such as http://127.0.0.1:8081/apis/ccompat/v7."""

    def __init__(
        self,
        url: str,
        timeout_s: float = TIMEOUT_S,
        *,
        authorization: str | None = None,
        tls: Callable[[], ssl.SSLContext] | None = None,
        subject_prefix: str = "",
    ) -> None:
        """Take the base of the Confluent API, the header that names us, and whom to trust; nothing is asked yet."""
        self._url = url.rstrip("/")
        self._timeout_s = timeout_s
        self._headers = {"Content-Type": "application/vnd.schemaregistry.v1+json"}
        if authorization is not None:
            self._headers["Authorization"] = authorization
        self._tls = tls
        self._subject_prefix = subject_prefix

    def subject(self, topic: Topic) -> str:
        """Return what a topic's subject is called in this registry."""
        return f"{self._subject_prefix}{topic.subject}"

    def codec(self, topic: Topic) -> Codec:
        """Build the codec of a topic whose versions are all registered.

        RegistryAwayError: try again later. ContractError: run `python -m contracts apply` first.
        """
        try:
            ids = {version.number: self.id_of(topic, version) for version in topic.versions}
        except NotRegisteredError as error:
            raise ContractError(
                f"{self.subject(topic)} is not registered, run `python -m contracts apply`: {error}"
            ) from error
        return Codec(topic, ids, self.schema)

    def schema(self, schema_id: int) -> str:
        """Return the text of a schema, of any subject."""
        try:
            text: str = self._ask("GET", f"/schemas/ids/{schema_id}", "schema")["schema"]
        except NotRegisteredError as error:
            raise UnknownSchemaError(str(error)) from error
        return text

    def id_of(self, topic: Topic, version: Version) -> int:
        """Return the id of a released version; a registry that has another schema in its place breaks the contract."""
        found = self._ask("GET", f"/subjects/{self.subject(topic)}/versions/{version.number}", "schema", "id")
        if json.loads(found["schema"]) != json.loads(version.schema):
            raise ContractError(
                f"version {version.number} of {self.subject(topic)} at {self._url} is not {version.schema_file}: "
                "a released schema never changes, add a version"
            )
        schema_id: int = found["id"]
        return schema_id

    def register(self, subject: str, schema: str) -> int:
        """Add a version to a subject, unless the registry finds it incompatible."""
        schema_id: int = self._ask("POST", f"/subjects/{subject}/versions", "id", body={"schema": schema})["id"]
        return schema_id

    def compatibility(self, subject: str) -> str | None:
        """Return the level a subject is held to; None if it has none of its own."""
        try:
            level: str = self._ask("GET", f"/config/{subject}", "compatibilityLevel")["compatibilityLevel"]
        except NotRegisteredError:
            return None
        return level

    def hold_to(self, subject: str, compatibility: str) -> None:
        """Set the level a subject is held to."""
        self._ask("PUT", f"/config/{subject}", body={"compatibility": compatibility})

    def _ask(self, method: str, path: str, *wanted: str, body: dict[str, str] | None = None) -> Any:
        request = urllib.request.Request(  # noqa: S310  the operator's own URL
            self._url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers=self._headers,
        )
        try:
            tls = self._tls() if self._tls else None
            with urllib.request.urlopen(request, timeout=self._timeout_s, context=tls) as answer:  # noqa: S310
                told = json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                said = f"{method} {self._url}{path}: {error.code} {error.read().decode(errors='replace')[:1000]}"
            if error.code == HTTPStatus.NOT_FOUND:
                raise NotRegisteredError(said) from error
            if error.code in (HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY):
                raise ContractError(said) from error
            if error.code in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
                said += "; check SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD, or SCHEMA_REGISTRY_TOKEN"
            raise RegistryAwayError(said) from error
        except (OSError, ValueError, HTTPException) as error:  # no connection, no answer in time, or not JSON
            check = "; check SCHEMA_REGISTRY_CA_FILE" if "CERTIFICATE_VERIFY_FAILED" in str(error) else ""
            raise RegistryAwayError(f"{method} {self._url}{path}: {error}{check}") from error
        if not isinstance(told, dict) or not told.keys() >= set(wanted):
            raise RegistryAwayError(f"{method} {self._url}{path}: no {' and '.join(wanted)} in {told!r:.200}")
        return told


def codec_for(topic: Topic, url: str) -> Codec:
    """Build the codec of a topic by a registry that asks for no credentials; see Registry.codec."""
    return Registry(url).codec(topic)
