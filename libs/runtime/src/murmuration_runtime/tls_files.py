"""Certificates in files, as Kubernetes mounts them: what settings say about them, and Python's TLS made of them."""

import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import SecretStr, StringConstraints

Text = Annotated[str, StringConstraints(min_length=1)]


class TlsFiles(NamedTuple):
    """Whom to trust, and who we are: paths of PEM files."""

    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    key_password: SecretStr | None = None

    def context(self) -> ssl.SSLContext:
        """Read the files, and return what clients of Python's own TLS take; it checks the server's name."""
        context = ssl.create_default_context(cafile=self.ca)
        if self.certificate:
            password = self.key_password.get_secret_value() if self.key_password else None
            context.load_cert_chain(self.certificate, self.key, password)
        return context

    def faults(self, prefix: str) -> Iterator[str]:
        """Say what is wrong with these files; the settings' names begin with the prefix."""
        named = {"CA": self.ca, "CERTIFICATE": self.certificate, "KEY": self.key}
        unread = False
        for what, path in named.items():
            if path is not None and (reason := _unreadable(path)):
                unread = True
                yield f"{prefix}_{what}_FILE names {path!r}, which cannot be read: {reason}."
        if (self.certificate is None) != (self.key is None):
            missing, given = ("KEY", "CERTIFICATE") if self.certificate else ("CERTIFICATE", "KEY")
            yield f"{prefix}_{given}_FILE is set, and {prefix}_{missing}_FILE is not: set both, or none."
        elif not unread:
            yield from self._unusable(prefix)

    def _unusable(self, prefix: str) -> Iterator[str]:
        try:
            TlsFiles(self.ca).context()
        except (ssl.SSLError, ValueError) as error:
            yield f"{prefix}_CA_FILE names {self.ca!r}, which holds no certificates in PEM: {error}."
            return
        try:
            self.context()
        except (ssl.SSLError, ValueError) as error:
            yield (
                f"{prefix}_CERTIFICATE_FILE and {prefix}_KEY_FILE name {self.certificate!r} and {self.key!r}, which "
                f"hold no certificate and its key in PEM, or {prefix}_KEY_PASSWORD is not the key's: {error}."
            )


def _unreadable(path: str) -> str:
    try:
        Path(path).read_bytes()
    except OSError as error:
        return error.strerror or str(error)
    return ""
