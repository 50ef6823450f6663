"""nginx's configuration, made of the template and the list of services. Pure, but for reading its own two files.

Rule: the local stack and the image fill the same template; what only one of them has is handed in.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import yaml

_HERE = Path(__file__).parent
_ADDRESS = re.compile(r"(?P<host>[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?)(?P<dot>\.?)(:(?P<port>[0-9]{1,5}))?")
_ADMIN = """
  server {{
    listen {port};
    access_log off;
    default_type text/plain;
    location = /healthz {{ return 200 "ok\\n"; }}
    location = /readyz {{ return 200 "ok\\n"; }}
    location = /metrics {{
      return 200 '# TYPE build_info gauge
build_info{{service="gateway",version="{version}",commit="{commit}"}} 1
# TYPE gateway_connections gauge
gateway_connections{{state="active"}} $connections_active
gateway_connections{{state="reading"}} $connections_reading
gateway_connections{{state="writing"}} $connections_writing
gateway_connections{{state="waiting"}} $connections_waiting
';
    }}
    location / {{ return 404; }}
  }}
"""
_TLS = """listen {port} ssl http2;
    ssl_certificate {certificate};
    ssl_certificate_key {key};
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_session_cache shared:tls:1m;
    ssl_session_tickets off;"""


class AddressError(Exception):
    """An edge's address cannot be used: which, and what it should be."""


def edges() -> Mapping[str, Sequence[str]]:
    """Return the routes of each service that has some."""
    services = yaml.safe_load((_HERE / "services.yaml").read_text("utf-8"))
    return {name: service["routes"] for name, service in services.items() if "routes" in service}


def fill(
    directory: str, process: str, listen: str, address: Callable[[str], str], *, server: str = "", http: str = ""
) -> str:
    """Fill the template: where nginx may write, how it runs, where it listens, and an edge's address by its name."""
    routes = [
        f"    location ~ {route} {{ set $edge {address(edge)}; proxy_pass http://$edge; }}"
        for edge, its_routes in edges().items()
        for route in its_routes
    ]
    filled = {
        "DIRECTORY": directory,
        "PROCESS": process,
        "LISTEN": listen,
        "ROUTES": "\n".join(routes),
        "SERVER": server,
        "HTTP": http,
    }
    template = (_HERE / "nginx.conf.in").read_text("utf-8")
    return re.sub("@([A-Z]+)@", lambda name: filled[name[1]], template)


def tls(port: int, certificate: str, key: str) -> str:
    """Return the lines of a server that answers by HTTPS."""
    return _TLS.format(port=port, certificate=certificate, key=key)


def admin(port: int, version: str, commit: str) -> str:
    """Return the server of probes and metrics."""
    return _ADMIN.format(port=port, version=version, commit=commit)


def complete(address: str, search: Sequence[str]) -> str:
    """Return an address with its port and a name that needs no search domain, which nginx does not know."""
    parts = _ADDRESS.fullmatch(address)
    if parts is None:
        raise AddressError(f"{address!r} is not HOST or HOST:PORT")
    host, port = parts["host"], parts["port"] or "80"
    cluster = next((domain for domain in search if domain.startswith("svc.")), "")
    if "." not in host and not parts["dot"] and search:
        host = f"{host}.{search[0]}"
    elif host.count(".") == 1 and not parts["dot"] and cluster:
        host = f"{host}.{cluster}"
    return f"{host}:{port}"


def resolver(resolv_conf: str) -> tuple[str, list[str]]:
    """Return nginx's line of name servers, empty if there are none, and the search domains."""
    words = [line.split() for line in resolv_conf.splitlines() if line.strip()]
    servers = [rest[0] for first, *rest in words if first == "nameserver" and rest]
    search = [domain.rstrip(".") for first, *rest in words if first == "search" for domain in rest]
    listed = " ".join(f"[{each}]" if ":" in each else each for each in servers)
    return f"  resolver {listed} valid=5s;\n  resolver_timeout 2s;\n" if servers else "", search
