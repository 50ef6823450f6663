"""Teams in other languages: a Java project tests against the bundle, and clients in Java and Go read every topic."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import yaml

from contracts import TOPICS
from contracts.bundle import archive, files
from contracts.topic import DATA, load
from murmuration_testkit import REPOSITORY
from murmuration_testkit.people import Person
from murmuration_testkit.readers import Asked, as_read, as_told, shown, values
from murmuration_testkit.waiting import eventually

CLIENTS = REPOSITORY / "schemas/clients"
CLASSPATH = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath"
TIME_LIMIT_S = 3_600
Files = dict[str, bytes]


def contract_test() -> dict[str, Any]:
    """Run the Java project's tests against the bundle, and against bundles that are broken on purpose."""
    good = files(TOPICS, DATA)
    differences = []
    with tempfile.TemporaryDirectory(prefix="proof-") as directory:
        project = _project("java", directory)
        failed = _tested(project, archive(good), _pin(archive(good)))
        differences += [f"the bundle as it is: {line}" for line in failed]
        for what, (broken, named) in BROKEN.items():
            bundle = archive(broken(dict(good)))
            failed = _tested(project, bundle, _pin(archive(good) if what == ANOTHER else bundle))
            if not any(named in line for line in failed):
                differences.append(f"{what}: no test that names {named!r} failed, but {failed}")
    return {
        "name": "a Java project of another team tests against the bundle",
        "faults": ", ".join(BROKEN),
        "compared": "which of its JUnit tests fail, with those that should",
        "differences": differences,
        "counts": f"{len(good)} files in the bundle, {len(BROKEN)} bundles broken on purpose",
    }


def stock_clients() -> list[dict[str, Any]]:
    """Have clients in Java and Go read the topics of the stack, and every example of every version."""
    _live()
    with tempfile.TemporaryDirectory(prefix="proof-") as directory, ExitStack() as stack:
        topics = [*TOPICS.values(), *(stack.enter_context(shown(topic)) for topic in TOPICS.values())]
        asked = [
            Asked(topic, version, Path(directory)) for topic in topics for version in (topic.versions[0], topic.latest)
        ]
        return [_read(name, program, asked) for name, program in (("Java", _java(directory)), ("Go", _go(directory)))]


def _live() -> None:
    """Bring something of every kind onto the topics of the stack."""
    ann, ben = Person("Ann").join(), Person("Ben").join()
    ben.follow(ann)
    ben.unfollow(ann)
    ann.delete(ann.tweet("Starlings over the pier tonight."))
    ben.turn(private=True)
    ann.follow(ben)
    for what in ("mute", "block"):
        ann.ask("PUT", f"/v1/users/{ben.user_id}/{what}")
    for topic in TOPICS.values():
        eventually(lambda name=topic.name: len(values(name)) > 0, True, within=60)  # type: ignore[misc]


def _read(name: str, program: Sequence[str], asked: Sequence[Asked]) -> dict[str, Any]:
    api = os.environ["SCHEMA_REGISTRY_URL"].replace("/ccompat/v7", "/registry/v3")
    told = as_told([*program, *map(str, asked)], {**os.environ, "APICURIO_REGISTRY_URL": api})
    differences, events = [], 0
    for each in asked:
        found, here = told.get(str(each), {}), values(each.topic.name)
        expected = as_read(each.topic, here, each.reader)
        events += len(found)
        differences += [
            f"{each.topic.name} {place}, read with version {each.reader.number}: {found.get(place, 'nothing')}, "
            f"and it is {record}"
            for place, record in expected.items()
            if found.get(place, "nothing") != record
        ]
    return {
        "name": f"a stock client in {name} reads every topic",
        "faults": "reader schemas: the oldest version and the latest",
        "compared": "each record of the running stack, and each example of each version, with what Apache's avro reads",
        "differences": differences,
        "counts": f"{events} records of {len(asked)} readings",
    }


def _java(directory: str) -> list[str]:
    project, jars = _project("java", directory), Path(directory) / "jars"
    _succeed(["mvn", "-B", "-q", "compile", CLASSPATH, f"-Dmdep.outputFile={jars}"], project)
    return ["java", "-cp", f"{project}/target/classes:{jars.read_text()}", "example.ReadTopics"]


def _go(directory: str) -> list[str]:
    program = f"{directory}/read-topics"
    _succeed(["go", "build", "-o", program, "."], CLIENTS / "go")
    return [program]


def _project(name: str, directory: str) -> Path:
    """Return a copy, since a build writes beside its sources."""
    return shutil.copytree(CLIENTS / name, Path(directory) / name, dirs_exist_ok=True)


def _tested(project: Path, bundle: bytes, pin: str) -> list[str]:
    """Run the project's tests against a bundle, and return a line for each that failed."""
    packed = project / "bundle.zip"
    packed.write_bytes(bundle)
    command = ["mvn", "-B", "test", f"-Dcontracts.bundle={packed}", f"-Dcontracts.sha256={pin}"]
    done = subprocess.run(command, cwd=project, check=False, capture_output=True, text=True)
    if not done.returncode:
        return []
    return [line for line in done.stdout.splitlines() if "[ERROR]" in line] or [done.stdout + done.stderr]


def _succeed(command: Sequence[str], directory: Path) -> None:
    if shutil.which(command[0]) is None:
        raise FileNotFoundError(f"this machine has no {command[0]}: install it, since other teams have it")
    done = subprocess.run(command, cwd=directory, check=False, capture_output=True, text=True)
    if done.returncode:
        raise ChildProcessError(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")


def _tampered(bundle: Files) -> Files:
    return bundle | {"examples/FollowChanged/1/a-follow.avro": b"\0"}


def _replaced(bundle: Files, path: str, old: bytes, new: bytes) -> Files:
    """Write something else into a file, and its hash into the manifest."""
    content = bundle[path]
    if old not in content:
        raise ValueError(f"{path} has no {old!r}")
    changed = content.replace(old, new)
    manifest = bundle["manifest.json"].replace(_pin(content).encode(), _pin(changed).encode())
    return bundle | {path: changed, "manifest.json": manifest}


def _pin(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _renamed_field(_: Files) -> Files:
    """Make the bundle of contracts in which FollowChanged says `follows`: whole, and no good to its readers."""
    with tempfile.TemporaryDirectory() as directory:
        data = shutil.copytree(DATA, Path(directory) / "data")
        topic = data / "topics/FollowChanged.yaml"
        entry = yaml.safe_load(topic.read_text("utf-8"))
        for version in entry["versions"]:
            for path in (data / "avro" / version["schema"], data / "examples" / version["examples"]):
                path.write_text(path.read_text("utf-8").replace('"following"', '"follows"'))
            version["sha256"] = _pin((data / "avro" / version["schema"]).read_bytes())
        topic.write_text(yaml.safe_dump(entry))
        return files(load(data), data)


ANOTHER = "another bundle than the pinned one"
BROKEN: Mapping[str, tuple[Callable[[Files], Files], str]] = {
    "a file that is not as the manifest says": (_tampered, "everyFileIsAsTheManifestSays"),
    ANOTHER: (lambda it: it | {"more": b""}, "theBundleIsTheOneThatWePinned"),
    "a field under another name": (_renamed_field, "weTakeEveryFollowChanged"),
    "JSON that is not Avro's": (
        lambda it: _replaced(
            it, "examples/FollowChanged/1/a-follow.json", b'{"long": 1763478000123}', b"1763478000123"
        ),
        "everyFormOfAnExampleIsTheSame",
    ),
    "a schema that its examples are not of": (
        lambda it: _replaced(it, "avro/TweetCreated/1.avsc", b'"name": "text"', b'"name": "words"'),
        "everyFormOfAnExampleIsTheSame",
    ),
    "another partition": (
        lambda it: it | {"manifest.json": it["manifest.json"].replace(b'"partitions": 12', b'"partitions": 24')},
        "everyFormOfAnExampleIsTheSame",
    ),
}
PROOFS = [contract_test, stock_clients]
