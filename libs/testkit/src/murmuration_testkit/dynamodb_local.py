"""A DynamoDB Local of one's own, with the system's tables, whose streams' time can be moved on."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import boto3
from botocore.config import Config

from murmuration_testkit import REPOSITORY
from murmuration_testkit.ports import free_port
from murmuration_testkit.waiting import eventually

PARTS = REPOSITORY / ".stack/parts"
UNDER_CONTROL = Path(__file__).with_name("UnderControl.java")


class DynamoDbLocal:
    """One process, at the same address whenever it runs."""

    def __init__(self, directory: Path, *, in_memory: bool = False) -> None:
        jars = f"{PARTS}/dynamodb/*:{PARTS}/dynamodb/ours"
        subprocess.run(["javac", "--release", "17", "-cp", jars, "-d", directory, UNDER_CONTROL], check=True)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {"AWS_ENDPOINT_URL_DYNAMODB": self.url, "AWS_ENDPOINT_URL_DYNAMODB_STREAMS": self.url}
        self._command = [
            "setpriv", "--pdeathsig", "KILL", f"{PARTS}/bin/java", "-Xmx1g", "-XX:+UseSerialGC",
            "--enable-native-access=ALL-UNNAMED", f"-Djava.library.path={PARTS}/dynamodb",
            "-cp", f"{jars}:{directory}", "com.amazonaws.services.dynamodbv2.local.server.UnderControl",
            str(self.port), *([] if in_memory else [str(directory)]),
        ]  # fmt: skip
        self._child: subprocess.Popen[bytes] | None = None

    def start(self) -> Self:
        """Return when it answers."""
        self._child = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def listening() -> bool:
            with socket.socket() as probe:
                return not probe.connect_ex(("127.0.0.1", self.port))

        eventually(listening, within=60)
        return self

    def kill(self) -> None:
        """Kill -9."""
        if self._child:
            self._child.kill()
            self._child.wait()

    def client(self, service: str = "dynamodb") -> Any:
        """Connect; whoever calls tries again by themselves."""
        config = Config(read_timeout=5, connect_timeout=2, retries={"total_max_attempts": 1})
        return boto3.client(service, endpoint_url=self.url, config=config)  # type: ignore[call-overload]

    def roll_over(self) -> None:
        """Close every open shard; each gets a child."""
        self._control(ACTION="ROLLOVER")

    def pass_hours(self, hours: int) -> None:
        """Let hours pass for the streams: iterators expire after a quarter of one, records after 24."""
        self._control(ACTION="DILATE_TIME", HOURS=str(hours))

    def _control(self, **item: str) -> None:
        self.client().put_item(TableName="[TEST_CONTROL]", Item={name: {"S": value} for name, value in item.items()})


@contextmanager
def dynamodb_local(*, in_memory: bool = False) -> Iterator[DynamoDbLocal]:
    """Have a DynamoDB with the system's tables for as long as the context lasts."""
    directory = Path(tempfile.mkdtemp(prefix="dynamodb-"))
    store = DynamoDbLocal(directory, in_memory=in_memory)
    try:
        store.start()
        environment = {**os.environ, **store.environment}
        make = [sys.executable, str(REPOSITORY / "deploy/tables.py")]
        subprocess.run(make, env=environment, stdout=subprocess.DEVNULL, check=True)
        yield store
    finally:
        store.kill()
        shutil.rmtree(directory)
