"""How this process reaches Kafka, and what its topics and groups are called there: one place for every client.

Rule: what does not go together, or would not be used, stops the start with the setting's name. Topics and groups have
the contracts' names everywhere in the code; the prefixes are put before them, and taken off, where Kafka is spoken to.
"""

import logging
import ssl
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Annotated, Any, Literal, Self

from pydantic import SecretStr, StringConstraints, model_validator

from murmuration_runtime.oauth_tokens import MskIamTokens, OidcTokens, TokenError, Tokens
from murmuration_runtime.settings import EnvironmentSettings
from murmuration_runtime.tls_files import Text, TlsFiles

NamePart = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9._-]{0,100}$")]
_log = logging.getLogger(__name__)


class KafkaSettings(EnvironmentSettings):
    """The settings of every client of Kafka."""

    kafka_bootstrap_servers: Text
    kafka_security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    kafka_ssl_ca_file: Text | None = None
    kafka_ssl_certificate_file: Text | None = None
    kafka_ssl_key_file: Text | None = None
    kafka_ssl_key_password: SecretStr | None = None
    kafka_sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] | None = None
    kafka_sasl_username: Text | None = None
    kafka_sasl_password: SecretStr | None = None
    kafka_oauth_provider: Literal["oidc", "msk-iam"] = "oidc"
    kafka_oauth_token_url: Annotated[str, StringConstraints(pattern=r"^https?://[^/@]+(/.*)?$")] | None = None
    kafka_oauth_client_id: Text | None = None
    kafka_oauth_client_secret: SecretStr | None = None
    kafka_oauth_scope: Text | None = None
    kafka_oauth_ca_file: Text | None = None
    kafka_oauth_aws_region: Text | None = None
    kafka_client_id: NamePart = ""
    kafka_topic_prefix: NamePart = ""
    kafka_group_prefix: NamePart | None = None

    def topic_name(self, topic: str) -> str:
        """Return what a topic of the contracts, or its .dlq, is called in this Kafka."""
        return f"{self.kafka_topic_prefix}{topic}"

    def group_name(self, group: str) -> str:
        """Return what a consumer group is called in this Kafka."""
        prefix = self.kafka_topic_prefix if self.kafka_group_prefix is None else self.kafka_group_prefix
        return f"{prefix}{group}"

    def librdkafka(self, **more: Any) -> dict[str, Any]:
        """Return the configuration of a client of librdkafka; more: what is this client's own."""
        named = {
            "bootstrap.servers": self.kafka_bootstrap_servers,
            "client.id": self.kafka_client_id or None,
            "security.protocol": self.kafka_security_protocol,
            "ssl.ca.location": self.kafka_ssl_ca_file,
            "ssl.certificate.location": self.kafka_ssl_certificate_file,
            "ssl.key.location": self.kafka_ssl_key_file,
            "ssl.key.password": _revealed(self.kafka_ssl_key_password),
            "sasl.mechanism": self.kafka_sasl_mechanism,
            "sasl.username": self.kafka_sasl_username,
            "sasl.password": _revealed(self.kafka_sasl_password),
            "oauth_cb": self._token_for_librdkafka if self.kafka_sasl_mechanism == "OAUTHBEARER" else None,
        }
        return {name: value for name, value in named.items() if value is not None} | more

    def ssl_context(self) -> ssl.SSLContext | None:
        """Return what clients of Python's own TLS take; None where the protocol has no TLS."""
        return self._tls_files.context() if self.kafka_security_protocol.endswith("SSL") else None

    def tokens(self) -> Tokens:
        """Return where tokens for OAUTHBEARER come from."""
        if self.kafka_oauth_provider == "msk-iam":
            return MskIamTokens(str(self.kafka_oauth_aws_region))
        return OidcTokens(
            str(self.kafka_oauth_token_url),
            str(self.kafka_oauth_client_id),
            self.kafka_oauth_client_secret or SecretStr(""),
            self.kafka_oauth_scope,
            TlsFiles(self.kafka_oauth_ca_file),
        )

    def fetch_token(self) -> None:
        """Raise TokenError if this process is to log in by a token and gets none."""
        if self.kafka_sasl_mechanism == "OAUTHBEARER":
            self.tokens()()

    @property
    def hint(self) -> str:
        """Name the settings that decide whether Kafka lets us in."""
        protocol = "KAFKA_SECURITY_PROTOCOL"
        tls = ", KAFKA_SSL_CA_FILE" if self.kafka_security_protocol.endswith("SSL") else ""
        tls += ", KAFKA_SSL_CERTIFICATE_FILE" if self.kafka_ssl_certificate_file else ""
        match self.kafka_sasl_mechanism:
            case None:
                return f"check {protocol}{tls}"
            case "OAUTHBEARER":
                return f"check {protocol}{tls} and KAFKA_OAUTH_*"
        return f"check {protocol}{tls}, KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD"

    def _token_for_librdkafka(self, _: str) -> tuple[str, float]:
        try:
            return self.tokens()()
        except TokenError as error:  # librdkafka asks again, and tells its client no reason
            _log.warning("no token for Kafka", extra={"reason": str(error)})
            raise

    @property
    def _tls_files(self) -> TlsFiles:
        return TlsFiles(
            self.kafka_ssl_ca_file,
            self.kafka_ssl_certificate_file,
            self.kafka_ssl_key_file,
            self.kafka_ssl_key_password,
        )

    @model_validator(mode="after")
    def _kafka_settings_go_together(self) -> Self:
        if faults := [*self._kafka_faults()]:
            raise ValueError("\n".join(faults))
        return self

    def _kafka_faults(self) -> Iterator[str]:
        tls, sasl = self.kafka_security_protocol.endswith("SSL"), self.kafka_security_protocol.startswith("SASL")
        oauth = sasl and self.kafka_sasl_mechanism == "OAUTHBEARER"
        password = sasl and self.kafka_sasl_mechanism not in (None, "OAUTHBEARER")
        oidc, msk = oauth and self.kafka_oauth_provider == "oidc", oauth and self.kafka_oauth_provider == "msk-iam"
        why = f"KAFKA_SECURITY_PROTOCOL={self.kafka_security_protocol}"
        why += f" with KAFKA_SASL_MECHANISM={self.kafka_sasl_mechanism}" if self.kafka_sasl_mechanism else ""
        why += f" and KAFKA_OAUTH_PROVIDER={self.kafka_oauth_provider}" if oauth else ""
        for used, needed, names in (
            (tls, False, ("kafka_ssl_ca_file", "kafka_ssl_certificate_file", "kafka_ssl_key_file")),
            (sasl, True, ("kafka_sasl_mechanism",)),
            (password, True, ("kafka_sasl_username", "kafka_sasl_password")),
            (oidc, True, ("kafka_oauth_token_url", "kafka_oauth_client_id", "kafka_oauth_client_secret")),
            (oidc, False, ("kafka_oauth_scope", "kafka_oauth_ca_file")),
            (msk, True, ("kafka_oauth_aws_region",)),
        ):
            for name in names:
                if not used and _given(getattr(self, name)):
                    yield f"{name.upper()} is set, and {why} has no use for it: take it away, or correct the other."
                if used and needed and not _given(getattr(self, name)):
                    yield f"{name.upper()} is not set, and {why} needs it."
        if msk and find_spec("aws_msk_iam_sasl_signer") is None:
            yield "KAFKA_OAUTH_PROVIDER=msk-iam needs a package that is not installed: install the extra msk-iam."
        if tls:
            yield from self._tls_files.faults("KAFKA_SSL")
        if oidc:
            yield from TlsFiles(self.kafka_oauth_ca_file).faults("KAFKA_OAUTH")


def _given(value: str | SecretStr | None) -> bool:
    return bool(value.get_secret_value() if isinstance(value, SecretStr) else value)


def _revealed(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None
