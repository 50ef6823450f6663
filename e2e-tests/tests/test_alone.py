"""Services deploy alone: each is installed into an empty environment with nothing but what it declares."""

import subprocess
import sys
from pathlib import Path

import pytest

from murmuration_testkit import REPOSITORY
from murmuration_testkit.services import SERVICES

pytestmark = pytest.mark.stack(shared=False)
ENTRIES = {"schemas": "contracts"} | {
    service.name: f"{service.package}.{'app' if service.is_edge else '__main__'}" for service in SERVICES.values()
}


@pytest.mark.parametrize("folder", ENTRIES)
def test_a_service_needs_nothing_but_what_it_declares(folder, tmp_path):
    """It imports whole, and no other service's package is there to lean on."""
    uv = str(Path(sys.executable).with_name("uv"))
    lock = REPOSITORY / "deploy/local/requirements.txt"
    environment = tmp_path / "venv"
    python = environment / "bin/python"
    install = [uv, "pip", "install", "-q", "--python", str(python)]
    for command in (
        [uv, "venv", "-q", "--python", sys.executable, str(environment)],
        [*install, "--constraint", str(lock), str(REPOSITORY / folder)],
        [str(python), "-W", "error::ImportWarning", "-c", f"import {ENTRIES[folder]}"],
    ):
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300, cwd=tmp_path)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"
    ours = {entry.partition(".")[0] for entry in ENTRIES.values()} - {"contracts", ENTRIES[folder].partition(".")[0]}
    probe = f"import importlib.util as u; print([m for m in {sorted(ours)} if u.find_spec(m)])"
    found = subprocess.run([str(python), "-c", probe], check=True, capture_output=True, text=True, cwd=tmp_path)
    assert found.stdout.strip() == "[]"
