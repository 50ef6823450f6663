"""The server's TLS, from files as Kubernetes mounts them; mutual where there is an authority of clients.

Rule: the files are read again for each connection, so a new certificate needs no restart. While they cannot be read,
the last that could be serve.
"""

import logging
from pathlib import Path
from typing import Any

import grpc

from murmuration_runtime.tls_files import TlsFiles

_log = logging.getLogger(__name__)


class Certificates:
    """What the files have had since a change was last seen."""

    def __init__(self, files: TlsFiles) -> None:
        self._paths = [files.key, files.certificate, files.ca]
        self._last: list[bytes | None] = []

    def read(self) -> grpc.ServerCertificateConfiguration:
        """Return what the files have; raise OSError if one cannot be read."""
        self._last = [Path(path).read_bytes() if path else None for path in self._paths]
        key, certificate, authority = self._last
        return grpc.ssl_server_certificate_configuration([(key or b"", certificate or b"")], authority)

    def read_again(self) -> Any:
        """Return what they have if that is news, else None, as gRPC asks for it, in threads of its own."""
        before = self._last
        try:
            news = self.read()
        except OSError as error:
            _log.warning("the certificates cannot be read; the old ones serve", extra={"reason": str(error)})
            return None
        return news if self._last != before else None


def credentials(files: TlsFiles) -> grpc.ServerCredentials:
    """Return the server's credentials; raise OSError if a file cannot be read."""
    certificates = Certificates(files)
    return grpc.dynamic_ssl_server_credentials(
        certificates.read(), certificates.read_again, require_client_authentication=files.ca is not None
    )
