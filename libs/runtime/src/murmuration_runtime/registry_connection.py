"""How this process reaches the schema registry, and what its subjects are called there."""

import base64
from typing import Annotated, Self

from pydantic import SecretStr, StringConstraints, model_validator

from contracts.registry import Registry
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_runtime.tls_files import Text, TlsFiles


class RegistrySettings(KafkaSettings):
    """The settings of every client of the registry: a subject has its topic's name in Kafka."""

    schema_registry_url: Annotated[str, StringConstraints(pattern=r"^https?://[^@]+$")]
    schema_registry_username: Text | None = None
    schema_registry_password: SecretStr | None = None
    schema_registry_token: SecretStr | None = None
    schema_registry_ca_file: Text | None = None
    schema_registry_certificate_file: Text | None = None
    schema_registry_key_file: Text | None = None

    def registry(self) -> Registry:
        """Return a client of the registry; it reads the certificates' files for each connection."""
        tls = self._registry_files.context if self.schema_registry_url.startswith("https:") else None
        return Registry(
            self.schema_registry_url,
            authorization=self._authorization(),
            tls=tls,
            subject_prefix=self.kafka_topic_prefix,
        )

    def _authorization(self) -> str | None:
        if self.schema_registry_token:
            return f"Bearer {self.schema_registry_token.get_secret_value()}"
        if self.schema_registry_username and self.schema_registry_password:
            pair = f"{self.schema_registry_username}:{self.schema_registry_password.get_secret_value()}"
            return f"Basic {base64.b64encode(pair.encode()).decode()}"
        return None

    @property
    def _registry_files(self) -> TlsFiles:
        return TlsFiles(
            self.schema_registry_ca_file, self.schema_registry_certificate_file, self.schema_registry_key_file
        )

    @model_validator(mode="after")
    def _registry_settings_go_together(self) -> Self:
        faults = []
        user, password, token = (
            self.schema_registry_username,
            self.schema_registry_password,
            self.schema_registry_token,
        )
        if (user is None) != (password is None):
            given, missing = ("USERNAME", "PASSWORD") if user else ("PASSWORD", "USERNAME")
            faults.append(f"SCHEMA_REGISTRY_{given} is set, and SCHEMA_REGISTRY_{missing} is not: set both, or none.")
        if token and user:
            faults.append("SCHEMA_REGISTRY_TOKEN and SCHEMA_REGISTRY_USERNAME are both set: keep one of them.")
        if self.schema_registry_url.startswith("https:"):
            faults += self._registry_files.faults("SCHEMA_REGISTRY")
        elif any(self._registry_files):
            faults.append("SCHEMA_REGISTRY_*_FILE is set, and SCHEMA_REGISTRY_URL is not https: correct one of them.")
        if faults:
            raise ValueError("\n".join(faults))
        return self
