"""A change is compared with what runs: each service tells its contracts, and what would break one is named."""

import hashlib
import json
import os
import shutil
import subprocess
import sys

import pytest

from murmuration_testkit import REPOSITORY
from murmuration_testkit.services import PROCESSES, SERVICES


@pytest.fixture
def changed(tmp_path):
    """Return what gives a copy of the contracts in which FollowChanged has one version more."""

    def change(fields):
        copy = shutil.copytree(REPOSITORY / "schemas/src/contracts", tmp_path / "contracts") / "data"
        released = json.loads((copy / "avro/follow_changed.v2.avsc").read_text())
        text = json.dumps(released | {"fields": fields(released["fields"])})
        (copy / "avro/follow_changed.v3.avsc").write_text(text)
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        with (copy / "topics/FollowChanged.yaml").open("a") as file:
            file.write(f"  - {{schema: follow_changed.v3.avsc, sha256: {sha256}, examples: follow_changed.v2.json}}\n")
        return tmp_path

    return change


def compared(*arguments, code=REPOSITORY / "schemas/src", processes=PROCESSES):
    """Compare the contracts there with the processes of the stack."""
    addresses = [f"http://127.0.0.1:{os.environ[PROCESSES[name].port_variable('ADMIN_PORT')]}" for name in processes]
    deployed = ["--deployed", *addresses] if addresses else []
    command = [sys.executable, "-m", "contracts", "compare", *deployed, *arguments]
    environment = os.environ | {"PYTHONPATH": str(code)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_the_services_that_run_get_along_with_this_commit():
    """Each of them is asked, and nothing is in the way."""
    done = compared()
    assert (done.returncode, done.stderr) == (0, "")
    assert {word for word in done.stdout.split() if word in SERVICES} == set(SERVICES)


def test_an_incompatible_schema_is_refused_by_field_and_consumers(changed):
    """The bridge that would write it may not be released: the workers that run could not read it."""
    code = changed(lambda fields: [field for field in fields if field["name"] != "follower_id"])
    done = compared("--service", "cdc-bridge", code=code)
    assert done.returncode == 1
    for worker in ("count-aggregator", "fanout-worker"):
        assert f"the deployed {worker} " in done.stderr
    assert "follower_id is not written, and has no default" in done.stderr


def test_consumers_go_before_the_producer_of_a_compatible_version(changed):
    """The bridge has to wait; the workers need not."""
    code = changed(lambda fields: [*fields, {"name": "why", "type": "string", "default": ""}])
    assert [compared("--service", name, code=code).returncode for name in SERVICES] == [
        3 if name == "cdc-bridge" else 0 for name in SERVICES
    ]


def test_a_service_that_is_wholly_down_can_be_upgraded_to_its_fix():
    """All others are compared; while another is down, nothing is."""
    away = "http://127.0.0.1:1"
    others = [name for name in SERVICES if name != "cdc-bridge"]
    for arguments, code in ((), 4), (("--own", away), 0):
        done = compared(away, "--service", "cdc-bridge", *arguments, processes=others)
        assert (done.returncode, f"{away} is away" in done.stderr) == (code, True)
        assert {word for word in done.stdout.split() if word in SERVICES} == {*others}
