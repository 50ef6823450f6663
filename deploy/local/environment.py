"""The environment of one stack: its directory, its ports, and the variables that its services read."""

import json
import os
import random
import socket
from dataclasses import dataclass
from pathlib import Path

from murmuration_testkit import wide_limits
from murmuration_testkit.services import PROCESSES

REPO = Path(__file__).resolve().parents[2]
LOOPBACK = "127.0.0.1"
HOST = os.environ.get("STACK_HOST") or LOOPBACK  # where other machines reach Kafka, Redis and the doors of nginx
NAMES = os.environ.get("STACK_NAMES", "").split()  # what they call it, besides
# Each broker is a controller, too. KAFKA_NODES goes with every command on such a stack; reset before changing it.
KAFKAS = ("kafka", *(f"kafka-{number}" for number in range(2, int(os.environ.get("KAFKA_NODES") or 1) + 1)))
PORTS = {
    "GATEWAY_PORT": 8080,
    "KAFKA_PORT": 9092,
    "KAFKA_CONTROLLER_PORT": 9093,
    "DYNAMODB_PORT": 8000,
    "REGISTRY_PORT": 8081,
    "REDIS_PORT": 6379,
    "LIMITS_REDIS_PORT": 6380,
    "SUGGESTIONS_REDIS_PORT": 6381,
    "GRAPH_REDIS_PORT": 6382,
    **{
        f"KAFKA_{number + 1}_{kind}": 9092 + 2 * number + offset
        for number in range(1, len(KAFKAS))
        for offset, kind in enumerate(("PORT", "CONTROLLER_PORT"))
    },
    "SECURE_PORT": 8443,
    **{process.port_variable(name): port for process in PROCESSES.values() for name, port in process.ports.items()},
}
REDISES = ("REDIS_", "LIMITS_REDIS_", "SUGGESTIONS_REDIS_", "GRAPH_REDIS_")
MODES = ("scram", "oauthbearer")
MODE = "secure"  # the file in a stack's directory that remembers its mode
TLS = "tls"  # and the one that remembers whether its gateway speaks HTTPS
ISSUER = "http://murmuration.local"
AUDIENCE = "murmuration"


class StackError(Exception):
    """What keeps the stack from doing as it was told, and what to do about it."""


@dataclass(frozen=True)
class Stack:
    """One stack: a name, the directory with all that it keeps, and its ports by variable."""

    name: str
    directory: Path
    ports: dict[str, int]
    secure: str = ""  # or how the services log in to Kafka: scram, oauthbearer; see secure.py
    tls: bool = False  # whether the gateway speaks HTTPS; see gateway_tls.py

    def address(self, port: str) -> str:
        """Give the address of the process that listens on this port variable."""
        scheme = "" if port.startswith(("KAFKA_", *REDISES)) else "http://"
        if port == "GATEWAY_PORT" and self.tls:
            scheme = "https://"
        return f"{scheme}{listening(port)}:{self.ports[port]}"

    def environment(self) -> dict[str, str]:
        """Give what every process of the stack and every command run against it finds in its environment."""
        stack = {
            "STACK_NAME": self.name,
            "STACK_DIR": str(self.directory),
            "STACK_SUPERVISOR_CONF": str(self.directory / "supervisord.conf"),
            "GATEWAY_URL": self.address("GATEWAY_PORT"),
            "HOST": LOOPBACK,
            "KAFKA_BOOTSTRAP_SERVERS": ",".join(self.address(kafka_port(name)) for name in KAFKAS),
            "TOPIC_REPLICATION_FACTOR": str(len(KAFKAS)),
            **self.kafka("kafka"),
            "SCHEMA_REGISTRY_URL": f"{self.address('REGISTRY_PORT')}/apis/ccompat/v7",
            "REDIS_URL": f"redis://{self.address('REDIS_PORT')}/0",
            "LIMITS_REDIS_URL": f"redis://{self.address('LIMITS_REDIS_PORT')}/0",
            "SUGGESTIONS_REDIS_URL": f"redis://{self.address('SUGGESTIONS_REDIS_PORT')}/0",
            "GRAPH_REDIS_URL": f"redis://{self.address('GRAPH_REDIS_PORT')}/0",
            "SUGGESTIONS_FOLDER": f"file://{self.directory}/suggestions",
            **{name: os.environ.get(name) or wide for name, wide in wide_limits.ENVIRONMENT.items()},
            "JWT_JWKS_URL": f"{self.address('GATEWAY_PORT')}/.well-known/jwks.json",
            "JWT_ISSUER": ISSUER,
            "JWT_AUDIENCE": AUDIENCE,
            "AWS_ENDPOINT_URL_DYNAMODB": self.address("DYNAMODB_PORT"),
            "AWS_ENDPOINT_URL_DYNAMODB_STREAMS": self.address("DYNAMODB_PORT"),
            "AWS_DEFAULT_REGION": "eu-central-1",
            "AWS_ACCESS_KEY_ID": "local",
            "AWS_SECRET_ACCESS_KEY": "local",
            "PYTHONUNBUFFERED": "1",
            "NO_PROXY": f"{HOST},{LOOPBACK}",  # whatever proxy the machine has is for the world outside
            "no_proxy": f"{HOST},{LOOPBACK}",
        }
        if self.tls:
            ca = str(self.directory / "certificates/gateway-ca.pem")
            stack |= {
                "GATEWAY_CA_FILE": ca,
                "SSL_CERT_FILE": ca,
            }  # of people, and of edges that fetch the issuer's keys
        if self.secure:
            from secure import environment  # noqa: PLC0415 - it needs this module

            stack |= environment(self)
        path = f"{REPO / '.venv/bin'}:{os.environ['PATH']}"  # what the READMEs tell to run is found as it stands there
        ports = {name: str(port) for name, port in self.ports.items()}
        return {**os.environ, **stack, **ports, "PATH": path}

    def kafka(self, name: str) -> dict[str, str]:
        """Give what kafka.properties says of one broker."""
        controllers = [f"{HOST}:{self.ports[kafka_port(each, 'CONTROLLER_PORT')]}" for each in KAFKAS]
        return {
            "KAFKA_NODE_ID": str(KAFKAS.index(name) + 1),
            "KAFKA_NODE_ADDRESS": self.address(kafka_port(name)),
            "KAFKA_NODE_CONTROLLER": controllers[KAFKAS.index(name)],
            "KAFKA_VOTERS": ",".join(f"{number}@{where}" for number, where in enumerate(controllers, 1)),
            "KAFKA_MIN_IN_SYNC": str(min(2, len(KAFKAS))),
            "KAFKA_DIR": str(self.directory / name),
        }


def listening(port: str) -> str:
    """Return the address that the process on this port variable listens on."""
    return HOST if port.startswith(("KAFKA_", *REDISES, "GATEWAY_", "SECURE_")) else LOOPBACK


def kafka_port(name: str, kind: str = "PORT") -> str:
    """Name the variable of a broker's port."""
    return f"{name.replace('-', '_').upper()}_{kind}"


def configured(name: str) -> Stack:
    """Give the stack of this name: on the ports it runs on, else on the default ones; a port's variable overrides."""
    directory = _directory(name)
    ports = PORTS | recalled(directory)
    return Stack(
        name, directory, {port: _number(port, ports[port]) for port in PORTS}, _mode(directory), _tls(directory)
    )


def elsewhere(name: str) -> Stack:
    """Give the stack of this name on free ports, below those that the kernel hands to outgoing connections."""
    while True:
        first = random.randrange(20000, 32000, len(PORTS))
        ports = dict(zip(PORTS, range(first, first + len(PORTS)), strict=True))
        if not any(taken(ports[name], listening(name)) for name in ports):
            return Stack(name, _directory(name), ports, _mode(None), _tls(None))


def remember(stack: Stack) -> None:
    """Note the ports that the stack runs on, for whoever asks after it without having chosen them."""
    (stack.directory / "ports.json").write_text(json.dumps(stack.ports))


def recalled(directory: Path) -> dict[str, int]:
    """Give the ports noted in the stack's directory; none if it does not run."""
    note = directory / "ports.json"
    ports: dict[str, int] = json.loads(note.read_text()) if note.exists() else {}
    return ports


def is_elsewhere(stack: Stack) -> bool:
    """Tell whether the stack runs on other ports than these; a process that is new since has none yet."""
    noted = recalled(stack.directory)
    return any(noted[name] != port for name, port in stack.ports.items() if name in noted)


def forget(stack: Stack) -> None:
    """Drop the note, so that the ports are chosen anew."""
    (stack.directory / "ports.json").unlink(missing_ok=True)


def taken(port: int, host: str = LOOPBACK) -> bool:
    """Tell whether something listens on this port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return True
    return False


def _number(port: str, default: int) -> int:
    chosen = os.environ.get(port, "") or str(default)
    if not (chosen.isdecimal() and 0 < int(chosen) < 2**16):
        raise StackError(f"{port}={chosen} is no port number")
    return int(chosen)


def _mode(directory: Path | None) -> str:
    """Return the mode that is asked for, or else the one that the stack in the directory was made in."""
    asked = _made_or_asked(directory, MODE, "SECURE")
    if asked not in ("", *MODES):
        raise StackError(f"SECURE={asked} is no mode: it is {' or '.join(MODES)}, or not set")
    return asked


def _tls(directory: Path | None) -> bool:
    """Tell whether HTTPS is asked for, or else whether the stack in the directory was made with it."""
    asked = _made_or_asked(directory, TLS, "TLS")
    if asked not in ("", "1"):
        raise StackError(f"TLS={asked} is nothing: it is 1, or not set")
    return asked == "1"


def _made_or_asked(directory: Path | None, file: str, variable: str) -> str:
    note = directory / file if directory else None
    made = note.read_text() if note and note.exists() else None
    asked = os.environ.get(variable, made or "")
    if made is not None and asked != made:
        raise StackError(f"this stack was made with {variable}={made}: `make reset` first, or take another --name")
    return asked


def _directory(name: str) -> Path:
    return REPO / ".stack" / name
