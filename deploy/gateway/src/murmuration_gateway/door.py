"""The settings of the public door, and the lines of nginx that they become. Pure.

Rule: what is not set opens nothing: no origin may read, no proxy is believed. The exception is HOSTS: if it is not
set, every host is answered.
"""

import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_HOST = r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?"
_ORIGIN = rf"https?://{_HOST}(:[0-9]{{1,5}})?"
_NETWORK = r"[0-9A-Fa-f.:]+(/[0-9]{1,3})?"
_NUMBER = "[1-9][0-9]{0,8}"


def _list_of(each: str) -> str:
    return f"^{each}( {each})*$"


SETTINGS: Mapping[str, str] = {  # each name, and the pattern of what it may be
    "HOSTS": _list_of(_HOST),
    "CORS_ORIGINS": _list_of(_ORIGIN),
    "TRUSTED_PROXIES": _list_of(_NETWORK),
    "ADDRESS_RATE": f"^{_NUMBER}$",
    "ADDRESS_BURST": f"^{_NUMBER}$",
    "ADDRESS_CONNECTIONS": f"^{_NUMBER}$",
    "HTTPS_ONLY": "^(true|false)$",
    "HSTS_SECONDS": f"^{_NUMBER}$",
}
NUMBERS = [name for name, pattern in SETTINGS.items() if pattern == f"^{_NUMBER}$"]


class DoorError(Exception):
    """What is wrong with the settings, a line for each."""


@dataclass(frozen=True)
class Door:
    """Who may come in, how often, and what browsers are told."""

    hosts: Sequence[str] = ()
    cors_origins: Sequence[str] = ()
    trusted_proxies: Sequence[str] = ()
    address_rate: int = 100
    address_burst: int = 400
    address_connections: int = 200
    https_only: bool = False
    hsts_seconds: int = 0

    def limits(self) -> str:
        """Return what stands in the block of the public server."""
        lines = [
            f"    limit_req zone=requests burst={self.address_burst} nodelay;",
            f"    limit_conn connections {self.address_connections};",
        ]
        return "\n".join([*lines, *(["    add_header Vary Origin always;"] if self.cors_origins else [])])

    def lines(self) -> str:
        """Return what stands in nginx's block http: maps, whom to believe, and how often an address may ask."""
        real = "".join(f"  set_real_ip_from {each};\n" for each in self.trusted_proxies)
        if real:
            real += "  real_ip_header X-Forwarded-For;\n  real_ip_recursive on;\n"
        return "\n".join(
            (
                real,
                _map("geo", "$realip_remote_addr $trusted", 0, dict.fromkeys(self.trusted_proxies, "1")),
                _map("map", "$host $known_host", int(not self.hosts), {each.lower(): "1" for each in self.hosts}),
                _map("map", "$http_origin $origin", '""', {f'"{each}"': "$http_origin" for each in self.cors_origins}),
                _map("map", "$client_scheme $plain", 0, {"http": "1"} if self.https_only else {}),
                _map("map", "$client_scheme $hsts", '""', self._hsts()),
                f"  limit_req_zone $address zone=requests:10m rate={self.address_rate}r/s;",
                "  limit_conn_zone $address zone=connections:10m;",
                "  map $problem_status $address_policy {",
                f"    429 '\"address\";q={self.address_rate};w=1';",
                '    default "";',
                "  }",
            )
        )

    def _hsts(self) -> dict[str, str]:
        return {"https": f'"max-age={self.hsts_seconds}"'} if self.hsts_seconds else {}


def read(environment: Mapping[str, str]) -> Door:
    """Read the settings, or say all that is wrong with them."""
    given = {name: environment[name] for name in SETTINGS if environment.get(name)}
    wrong = [
        f"The environment variable {name} is {value!r}, which {SETTINGS[name]} does not match."
        for name, value in given.items()
        if not re.fullmatch(SETTINGS[name], value)
    ]
    proxies = given.get("TRUSTED_PROXIES", "").split()
    wrong += [f"TRUSTED_PROXIES: {each} is no network." for each in proxies if not _is_network(each)]
    https_only = given.get("HTTPS_ONLY") == "true"
    if https_only and "HOSTS" not in given:
        wrong.append("HTTPS_ONLY needs HOSTS: else a redirect would lead wherever a request says.")
    if https_only and not proxies and "TLS_CERTIFICATE_FILE" not in environment:
        wrong.append("HTTPS_ONLY needs a certificate, or TRUSTED_PROXIES that have one: else it redirects for ever.")
    if wrong:
        raise DoorError("\n".join(wrong))
    numbers = {name.lower(): int(value) for name, value in given.items() if name in NUMBERS}
    return Door(
        hosts=given.get("HOSTS", "").split(),
        cors_origins=given.get("CORS_ORIGINS", "").split(),
        trusted_proxies=proxies,
        https_only=https_only,
        **numbers,
    )


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _map(kind: str, names: str, default: object, values: Mapping[str, str]) -> str:
    inner = "".join(f"    {name} {value};\n" for name, value in values.items())
    return f"  {kind} {names} {{\n    default {default};\n{inner}  }}\n"
