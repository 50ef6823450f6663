"""nginx's configuration, made of the template and the list of services. Pure, but for reading its own two files.

Rule: the local stack and the image fill the same template; what only one of them has is handed in.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import yaml

from murmuration_gateway import pages, problems
from murmuration_gateway.door import Door

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
_TLS = """listen {address} ssl http2;
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
    directory: str,
    process: str,
    listen: str,
    address: Callable[[str], str],
    door: Door,
    *,
    https_port: str = "",
    server: str = "",
    http: str = "",
) -> str:
    """Fill the template: where nginx may write, how it runs, where it listens, and an edge's address by its name.

    https_port: what a redirect to HTTPS puts behind the host.
    """
    routes = [
        f"    location ~ {route} {{ set $edge {address(edge)}; proxy_pass http://$edge; }}"
        for edge, its_routes in edges().items()
        for route in its_routes
    ]
    filled = {
        "DIRECTORY": directory,
        "PROCESS": process,
        "LISTEN": listen,
        "DOOR": door.lines(),
        "LIMITS": door.limits(),
        "PROBLEMS": problems.maps(),
        "PAGES": problems.pages(),
        "ALLOWED": _allowed(),
        "HTTPS_PORT": https_port,
        "ROUTES": "\n".join(routes),
        "DOCUMENTS": pages.locations(),
        "POLICY": pages.POLICY,
        "SERVER": server,
        "HTTP": http,
    }
    template = (_HERE / "nginx.conf.in").read_text("utf-8")
    return re.sub("@([A-Z_]+)@", lambda name: filled[name[1]], template)


def _allowed() -> str:
    """Return the map from a path to its methods, as the document of the API has them."""
    paths = json.loads((_HERE / "openapi.json").read_text("utf-8"))["paths"]
    patterns = {path: re.sub(r"\{[a-z_]+\}", "[^/]+", path) for path in sorted(paths, key=lambda each: each.count("{"))}
    lines = []
    for path, pattern in patterns.items():
        methods = {method for other, each in patterns.items() if re.fullmatch(each, path) for method in paths[other]}
        names = {"OPTIONS", *map(str.upper, methods), *(["HEAD"] if "get" in methods else [])}
        lines.append(f'    "~^{pattern}$" "{", ".join(sorted(names))}";\n')
    return f'  map $asked $allowed_here {{\n    default "GET, HEAD";\n{"".join(lines)}  }}\n'


def tls(address: object, certificate: str, key: str) -> str:
    """Return the lines of a server that answers by HTTPS on this port, or at this address."""
    return _TLS.format(address=address, certificate=certificate, key=key)


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
