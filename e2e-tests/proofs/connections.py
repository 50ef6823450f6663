"""Connections that production has: the whole story on stores that ask who is there, and what a refusal looks like.

Each proof brings a stack up in a mode of deploy/local/secure.py, with HTTPS at its gateway, and tells the demo's story
in it. A consumer outside reads what it may, and is refused all else. Then processes are started with a wrong password,
an authority that nobody knows, or too few rights: each must say so in /readyz and in its log, and stay.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)

from murmuration_testkit import REPOSITORY
from murmuration_testkit.certificates import Authority
from murmuration_testkit.ports import free_port
from murmuration_testkit.processes import pid
from murmuration_testkit.services import PROCESSES
from murmuration_testkit.topics import admin
from murmuration_testkit.waiting import eventually

STACK = ""
READER, READS = "reader", "FollowChanged,TweetCreated,TweetDeleted,UserChanged"  # as deploy/local/secure.py has them
SAID_WITHIN_S = 60.0
STAYS_S = 6.0  # for longer than it takes to end, if it would
NO_RIGHTS = "tweet-service"  # has a password everywhere, and no rights in Kafka or Redis
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Refusal(NamedTuple):
    """A process, what is wrong in its environment, and what it must say."""

    process: str
    what: str
    changes: dict[str, str]
    says: tuple[str, ...]


def scram() -> dict[str, Any]:
    """With passwords for Kafka."""
    return _proof("scram")


def oauthbearer() -> dict[str, Any]:
    """With tokens for Kafka."""
    return _proof("oauthbearer")


def _proof(mode: str) -> dict[str, Any]:
    stack = [sys.executable, str(REPOSITORY / "deploy/local/stack.py"), "run", "--name", f"secure-{mode}", "--"]
    with tempfile.TemporaryDirectory(prefix="proof-") as directory:
        report = Path(directory) / "report.json"
        code = subprocess.call(
            [*stack, sys.executable, __file__, str(report)], env={**os.environ, "SECURE": mode, "TLS": "1"}
        )
        told = json.loads(report.read_text()) if report.exists() else {"differences": ["no report"], "said": []}
    return {
        "name": f"the story over TLS, {mode}",
        "faults": "wrong passwords, unknown authorities, missing rights, for each kind of client",
        "compared": "the story's exit code with 0; each refusal with /readyz and the log of a process that stays",
        "differences": [*told["differences"], *([f"the stack's command ended with {code}"] if code else [])],
        "counts": f"{len(told['said'])} refusals",
    }


def refusals(stranger: Path) -> Iterator[Refusal]:
    """Name every refusal that is tried in this stack."""
    oauth = "KAFKA_OAUTH_CLIENT_ID" in os.environ
    user, word = ("OAUTH_CLIENT_ID", "OAUTH_CLIENT_SECRET") if oauth else ("SASL_USERNAME", "SASL_PASSWORD")
    no_rights = {f"KAFKA_{user}": NO_RIGHTS, f"KAFKA_{word}_FILE": _secret(NO_RIGHTS)}
    for process in ("cdc-bridge", "count-aggregator"):
        kafka = ("kafka: ", "refuses this process", "KAFKA_OAUTH_*" if oauth else "KAFKA_SASL_PASSWORD")
        yield Refusal(process, "a wrong password", {f"KAFKA_{word}_FILE": "", f"KAFKA_{word}": "wrong"}, kafka)
        yield Refusal(
            process,
            "an unknown CA",
            {"KAFKA_SSL_CA_FILE": str(stranger)},
            ("kafka: ", "certificate", "KAFKA_SSL_CA_FILE"),
        )
        yield Refusal(process, "no ACL", no_rights, ("kafka: ", "the topic secure.", "contracts acls"))
        yield Refusal(
            process,
            "a wrong password of the registry",
            {"SCHEMA_REGISTRY_PASSWORD_FILE": "", "SCHEMA_REGISTRY_PASSWORD": "wrong"},
            ("registry: ", "401", "SCHEMA_REGISTRY_PASSWORD"),
        )
        yield Refusal(
            process,
            "an unknown CA of the registry",
            {"SCHEMA_REGISTRY_CA_FILE": str(stranger)},
            ("registry: ", "CERTIFICATE_VERIFY_FAILED", "SCHEMA_REGISTRY_CA_FILE"),
        )
    other = {f"KAFKA_{user}": "fanout-worker", f"KAFKA_{word}_FILE": _secret("fanout-worker")}
    yield Refusal(
        "count-aggregator", "no ACL of its group", other, ("kafka: ", "secure.count-aggregator", "contracts acls")
    )
    for process in ("timeline-service", "fanout-worker"):
        yield Refusal(
            process,
            "a wrong password of Redis",
            {"REDIS_PASSWORD_FILE": "", "REDIS_PASSWORD": "wrong"},
            ("redis: ", "refuses this process", "REDIS_PASSWORD"),
        )
        yield Refusal(
            process,
            "an unknown CA of Redis",
            {"REDIS_CA_FILE": str(stranger)},
            ("redis: ", "not trusted", "REDIS_CA_FILE"),
        )
        yield Refusal(
            process,
            "an ACL of Redis that allows too little",
            {"REDIS_USERNAME": "nobody", "REDIS_PASSWORD_FILE": "", "REDIS_PASSWORD": "nobody"},
            ("redis: ", "refuses this process", "docs/connections.md"),
        )


def outsider() -> list[str]:
    """Try what the consumer outside that deploy/local/secure.py knows may do, and what not."""
    theirs = {name: value.replace("/secrets/admin", f"/secrets/{READER}") for name, value in os.environ.items()}
    theirs = {name: READER if value == "admin" else value for name, value in theirs.items()}
    command = [sys.executable, "-m", "murmuration_testkit.outsider", READER, READS]
    done = subprocess.run(command, env=theirs, capture_output=True, text=True, check=False)
    told = done.stdout.splitlines()
    return (
        told if told or not done.returncode else [f"the consumer outside ended with {done.returncode}: {done.stderr}"]
    )


def difference(refusal: Refusal, directory: Path) -> str | None:
    """Try one; say what was not as it should be."""
    what = f"{refusal.process} with {refusal.what}"
    log = directory / f"{what.replace(' ', '-')}.log"
    with _started(refusal, log) as (process, port):
        try:
            eventually(
                lambda: all(words in " ".join(_lines(port)) for words in refusal.says), within=SAID_WITHIN_S, every=0.2
            )
        except AssertionError:
            return f"{what}: /readyz says {_lines(port)}, and not {refusal.says}; its log: {log.read_text()[-1500:]}"
        with suppress(subprocess.TimeoutExpired):
            return f"{what}: it ended with {process.wait(STAYS_S)}: {log.read_text()[-1500:]}"
    told = [line for line in log.read_text().splitlines() if '"not ready"' in line]
    if not any(all(words in line for words in refusal.says[:2]) for line in told):
        return f"{what}: its log has no such line: {told}"
    secret = Path(_secret(NO_RIGHTS)).read_text()
    return f"{what}: its log has a password" if secret in log.read_text() else None


def taken_away(process: str, *, group: bool) -> str | None:
    """Take an ACL from a process that runs, and give it back; say what was not as it should be."""
    name = "secure.count-aggregator" if group else "secure.FollowChanged"
    resource = ResourceType.GROUP if group else ResourceType.TOPIC
    operation = AclOperation.READ if group else AclOperation.WRITE
    one: Any = (resource, name, ResourcePatternType.LITERAL, f"User:{process}", "*", operation, AclPermissionType.ALLOW)
    port = int(os.environ[f"{PROCESSES[process].stem}_ADMIN_PORT"])
    kafka, before = admin(), pid(process)
    for future in kafka.delete_acls([AclBindingFilter(*one)]).values():
        future.result(10)
    try:
        eventually(lambda: name in " ".join(_lines(port)), within=SAID_WITHIN_S, every=0.2)
        said = _lines(port)
    except AssertionError:
        return f"{process}: its ACL for {name} was taken away, and /readyz says {_lines(port)}"
    finally:
        subprocess.check_call([sys.executable, "-m", "contracts", "acls", "--apply"], stdout=subprocess.DEVNULL)
    eventually(lambda: _lines(port), ["ready"], within=SAID_WITHIN_S, every=0.2)
    print(f"    {'; '.join(said)}")
    if not group and pid(process) != before:  # Faust ends where it may not commit: the next one waits
        return f"{process} ended when its ACL for {name} was taken away"
    return None


@contextmanager
def _started(refusal: Refusal, log: Path) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    process, port = PROCESSES[refusal.process], free_port()
    service = {name: value.replace("/secrets/admin", f"/secrets/{process.name}") for name, value in os.environ.items()}
    service = {name: process.name if value == "admin" else value for name, value in service.items()}
    changed = service | process.variables(os.environ) | refusal.changes | {"ADMIN_PORT": str(port)}
    environment = {name: value for name, value in changed.items() if value} | {"PORT": str(free_port())}
    with log.open("wb") as out:
        child = subprocess.Popen(shlex.split(process.command), env=environment, stdout=out, stderr=out, cwd=REPOSITORY)
        try:
            yield child, port
        finally:
            child.terminate()
            child.wait(40)


def _lines(port: int) -> list[str]:
    try:
        _DIRECT.open(f"http://127.0.0.1:{port}/readyz", timeout=2).close()
    except urllib.error.HTTPError as error:
        with error:
            return [*json.load(error)["waiting_for"]]
    except OSError:
        return []
    return ["ready"]


def _secret(user: str) -> str:
    return f"{os.environ['STACK_DIR']}/secrets/{user}"


def main() -> None:
    """Tell the story in the stack that this runs in, then try every refusal; write what was found."""
    began = time.monotonic()
    differences, said = [], []
    code = subprocess.call([sys.executable, str(REPOSITORY / "e2e-tests/demo.py")])
    if code:
        differences.append(f"the story ended with {code}")
    print(f"  the story took {time.monotonic() - began:.0f} s", flush=True)
    with tempfile.TemporaryDirectory(prefix="proof-") as directory:
        stranger = Authority(Path(directory) / "stranger").file
        for process, group in (("cdc-bridge", False), ("count-aggregator", True)):
            wrong = taken_away(process, group=group)
            said.append(f"{process}: an ACL that is taken away, and given back")
            print(f"  {'!' if wrong else ' '} {said[-1]}", flush=True)
            differences += [wrong] if wrong else []
        found = outsider()
        said.append("a consumer outside, with the topics that it may read and those that it may not")
        print(f"  {'!' if found else ' '} {said[-1]}", flush=True)
        differences += found
        _make_nobody()
        for refusal in refusals(stranger):
            wrong = difference(refusal, Path(directory))
            said.append(f"{refusal.process}: {refusal.what}")
            print(f"  {'!' if wrong else ' '} {refusal.process} with {refusal.what}", flush=True)
            differences += [wrong] if wrong else []
    Path(sys.argv[1]).write_text(json.dumps({"differences": differences, "said": said}))


def _make_nobody() -> None:
    from murmuration_runtime.redis_connection import RedisSettings  # noqa: PLC0415 - only within a stack
    from murmuration_runtime.settings import read  # noqa: PLC0415
    from murmuration_timelines.writer import connect  # noqa: PLC0415

    settings = read(RedisSettings)
    nodes = connect(settings.redis_url, **settings.redis_options())
    nodes.client.execute_command("ACL", "SETUSER", "nobody", "on", ">nobody", "+ping", "+info")
    nodes.close()


PROOFS = [scram, oauthbearer]

if __name__ == "__main__":
    main()
