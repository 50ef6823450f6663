"""Java's own Avro takes the bundle: the one of the registry, a part of the stack. clients/java has the whole test."""

import subprocess
from pathlib import Path

import pytest

from contracts import TOPICS
from contracts.bundle import files
from contracts.topic import DATA
from murmuration_testkit import REPOSITORY

pytestmark = pytest.mark.stack(shared=False)  # it needs no process of it, but a part
READS = Path(__file__).with_name("ReadsBundle.java")
JARS = REPOSITORY / ".stack/parts/registry/lib/main"
NEEDED = ("org.apache.avro.avro-*.jar", "com.fasterxml.jackson.core.*.jar", "org.slf4j.*.jar")


@pytest.fixture
def read(tmp_path):
    """Unpack a bundle, and return what Java says of it."""

    def say(bundle):
        for path, content in bundle.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_bytes(content)
        jars = [str(jar) for pattern in NEEDED for jar in JARS.glob(pattern)]
        assert jars, f"{JARS} has no Avro: make parts fetches it"
        command = ["java", "-cp", ":".join(jars), str(READS), str(tmp_path)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)  # noqa: S603
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return say


def test_java_takes_every_schema_and_every_example(read):
    """With defaults of the right type, and unions that say which type they are."""
    bundle = files(TOPICS, DATA)
    assert sorted(read(bundle)) == sorted(f"read {path}" for path in bundle if path.endswith(".json") and "/" in path)


def test_java_refuses_what_is_no_json_of_avro(read):
    """So the test above can fail: a union that does not say which type it is."""
    path = "examples/FollowChanged/1/a-follow.json"
    bundle = files(TOPICS, DATA)
    assert b'{"long": 1763478000123}' in bundle[path]
    lines = read(bundle | {path: bundle[path].replace(b'{"long": 1763478000123}', b"1763478000123")})
    assert [line for line in lines if line.startswith(f"refused {path}: org.apache.avro.AvroTypeException")]
