"""The one list of services is complete, and a mistake in it is named."""

import pytest

from murmuration_testkit import REPOSITORY
from murmuration_testkit.services import SERVICES, ServicesError, load

ENTRY = "a-service:\n  processes:\n    a-service: {command: python -m a_service, ports: {ADMIN_PORT: 9000}}\n"


@pytest.fixture
def file(tmp_path):
    """A repository with one service's folder."""
    (tmp_path / "a-service").mkdir()
    (tmp_path / "a-service/pyproject.toml").touch()
    (tmp_path / "deploy").mkdir()
    file = tmp_path / "deploy/services.yaml"
    file.write_text(ENTRY)
    return file


def test_every_folder_of_a_service_is_in_the_list():
    """Whoever adds a folder and forgets the list hears of it here, and not by silence."""
    folders = {path.parent.name for path in REPOSITORY.glob("*/pyproject.toml")} - {"schemas", "suggestions"}
    assert folders == set(SERVICES)


def test_a_service_is_its_folder_its_processes_and_its_routes(file):
    """What is left out has its default."""
    service = load(file)["a-service"]
    assert (service.package, service.is_edge) == ("a_service", False)
    assert service.processes[0].port_variable("ADMIN_PORT") == "A_SERVICE_ADMIN_PORT"


@pytest.mark.parametrize(
    ("entry", "named"),
    [
        (ENTRY.replace("a-service:", "b-service:"), "no b-service/pyproject.toml"),
        (ENTRY.replace("command", "comand"), "comand"),
        (ENTRY.replace("ADMIN_PORT", "PROT"), "needs an ADMIN_PORT"),
        (ENTRY + "  rotes: [x]\n", "nothing reads rotes"),
        ("a-service: {}\n", "processes"),
        (ENTRY + "    b: {command: python -m b, ports: {ADMIN_PORT: 9000}}\n", "a-service and b both .* 9001 is free"),
    ],
)
def test_a_mistake_is_named(file, entry, named):
    """With the service it is in."""
    file.write_text(entry)
    with pytest.raises(ServicesError, match=named):
        load(file)
