"""Start the gateway: write nginx's configuration where a read-only root lets us, and become nginx."""

import os
import resource
import sys
import tempfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from murmuration_gateway import door
from murmuration_gateway.configuration import AddressError, admin, complete, edges, fill, resolver, tls
from murmuration_gateway.door import DoorError

RESOLV_CONF = Path("/etc/resolv.conf")


def main() -> None:
    """Become nginx, or name the settings that are wrong."""
    wrong = _wrong(os.environ)
    if not wrong:
        directory = tempfile.mkdtemp(prefix="gateway-")
        try:
            text = _configuration(os.environ, directory)
        except AddressError as error:
            wrong = [str(error)]
    if wrong:
        sys.exit("\n".join([*wrong, "The gateway's README lists its environment variables."]))
    file = Path(directory, "nginx.conf")
    file.write_text(text, "utf-8")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a connection is a file; the usual limit is a thousand
    os.execvp("nginx", ["nginx", "-e", "stderr", "-c", str(file)])  # noqa: S606 - the image's own


def _wrong(settings: Mapping[str, str]) -> list[str]:
    said = [
        f"The environment variable {name} is not set to a port."
        for name in ("PORT", "ADMIN_PORT")
        if not settings.get(name, "").isdecimal()
    ]
    files = [settings.get(name) for name in ("TLS_CERTIFICATE_FILE", "TLS_KEY_FILE")]
    if files.count(None) == 1:
        said.append("Of TLS_CERTIFICATE_FILE and TLS_KEY_FILE only one is set: set both, or neither for HTTP.")
    if settings.get("HTTP_PORT"):
        if not settings["HTTP_PORT"].isdecimal():
            said.append("The environment variable HTTP_PORT is not a port.")
        if settings.get("HTTPS_ONLY") != "true" or not files[0]:
            said.append("HTTP_PORT only redirects: it needs a certificate, and HTTPS_ONLY=true.")
    try:
        door.read(settings)
    except DoorError as error:
        said.append(str(error))
    said += [f"There is no file {path!r}, which TLS_… names." for path in files if path and not Path(path).is_file()]
    return said


def _configuration(settings: Mapping[str, str], directory: str) -> str:
    port, certificate = int(settings["PORT"]), settings.get("TLS_CERTIFICATE_FILE")
    servers, search = resolver(RESOLV_CONF.read_text("utf-8") if RESOLV_CONF.exists() else "")
    known: dict[str, str] = {}
    for edge in edges():
        name = edge.replace("-", "_").upper()
        try:
            known[edge] = complete(settings.get(name, edge), search)
        except AddressError as error:
            raise AddressError(f"{name}: {error}") from None
    listen = tls(port, certificate, settings["TLS_KEY_FILE"]) if certificate else f"listen {port};"
    if "HTTP_PORT" in settings:
        listen += f"\n    listen {int(settings['HTTP_PORT'])};"
    return fill(
        directory,
        "worker_processes 2;",
        listen,
        known.__getitem__,
        door.read(settings),
        http=servers
        + admin(int(settings["ADMIN_PORT"]), version("murmuration-gateway"), settings.get("BUILD_COMMIT", "unknown")),
    )


if __name__ == "__main__":
    main()
