"""The services and their processes, as deploy/services.yaml lists them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import yaml

from murmuration_testkit import REPOSITORY

FILE = REPOSITORY / "deploy/services.yaml"


class ServicesError(Exception):
    """What is wrong in the list of services, and where."""


@dataclass(frozen=True)
class Process:
    """One process of a service: how it runs, and its ports by the name of their variable."""

    name: str
    command: str
    ports: Mapping[str, int]
    local: Mapping[str, object] = field(default_factory=dict)

    @property
    def stem(self) -> str:
        """The beginning of its variables' names in the stack's environment."""
        return self.name.replace("-", "_").upper()

    def port_variable(self, port: str) -> str:
        """Return the variable of the stack's environment that holds one of its ports."""
        return f"{self.stem}_{port}"

    def variables(self, stack: Mapping[str, str]) -> dict[str, str]:
        """Return what this process finds in its environment besides that of the whole stack."""
        ports = {port: stack[self.port_variable(port)] for port in self.ports}
        return {**ports, **{name: str(value) for name, value in self.local.items()}}


@dataclass(frozen=True)
class Service:
    """One service: a folder, its processes, and the paths that the gateway sends to it."""

    name: str
    processes: tuple[Process, ...]
    routes: tuple[str, ...] = ()

    @property
    def package(self) -> str:
        """The name that it is imported by."""
        return self.name.replace("-", "_")

    @property
    def access_key(self) -> str:
        """Whom DynamoDB Local takes it for: letters and digits are all that it takes."""
        return self.name.replace("-", "")

    @property
    def is_edge(self) -> bool:
        """Tell whether clients reach it through the gateway."""
        return bool(self.routes)


def load(file: Path = FILE) -> Mapping[str, Service]:
    """Read the list, or say what is wrong in it."""
    services = {}
    for name, entry in yaml.safe_load(file.read_text("utf-8")).items():
        if not (file.parents[1] / name / "pyproject.toml").exists():
            raise ServicesError(f"{file.name}: {name}: there is no {name}/pyproject.toml")
        try:
            processes = tuple(Process(each, **rest) for each, rest in entry.pop("processes").items())
            service = Service(name, processes, tuple(entry.pop("routes", ())))
        except (KeyError, TypeError, AttributeError) as error:
            raise ServicesError(f"{file.name}: {name}: {error}") from error
        for process in processes:
            if set(process.ports) not in ({"ADMIN_PORT"}, {"PORT", "ADMIN_PORT"}):
                raise ServicesError(
                    f"{file.name}: {name}: process {process.name} needs an ADMIN_PORT, an API also a PORT"
                )
        if entry:
            raise ServicesError(f"{file.name}: {name}: nothing reads {', '.join(entry)}")
        services[name] = service
    _refuse_shared_ports(file, [process for service in services.values() for process in service.processes])
    return services


def _refuse_shared_ports(file: Path, processes: Sequence[Process]) -> None:
    owners: dict[int, str] = {}
    for process in processes:
        for port in process.ports.values():
            if port in owners:
                free = next(number for number in count(port) if all(number not in p.ports.values() for p in processes))
                raise ServicesError(
                    f"{file.name}: {owners[port]} and {process.name} both have port {port}; {free} is free"
                )
            owners[port] = process.name


SERVICES = load()
OWNERS = {process.name: service for service in SERVICES.values() for process in service.processes}
PROCESSES = {process.name: process for service in SERVICES.values() for process in service.processes}
