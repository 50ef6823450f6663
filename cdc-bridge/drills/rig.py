"""What drills and benches are made of: a DynamoDB of their own, bridges as child processes, and what is on Kafka."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self

import boto3
from botocore.config import Config
from confluent_kafka import Consumer, KafkaException, TopicPartition

from murmuration_testkit.ports import free_port
from murmuration_testkit.waiting import eventually

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PARTS = ROOT / ".stack/parts"
LEASE_SECONDS = 2.0


def _get(url: str) -> tuple[int, str]:
    """Return status and body; status 0 while nobody answers."""
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - our own
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
    except OSError:
        return 0, ""


class DynamoDb:
    """A DynamoDB Local of one's own, whose streams' time can be moved on and whose shards can be closed."""

    def __init__(self, directory: Path, *, in_memory: bool = False) -> None:
        subprocess.run(  # noqa: S603
            ["javac", "--release", "17", "-cp", f"{PARTS}/dynamodb/*", "-d", directory, HERE / "UnderControl.java"],  # noqa: S607
            check=True,
        )
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {"AWS_ENDPOINT_URL_DYNAMODB": self.url, "AWS_ENDPOINT_URL_DYNAMODB_STREAMS": self.url}
        self._command = [
            "setpriv", "--pdeathsig", "KILL", f"{PARTS}/bin/java", "-Xmx1g", "-XX:+UseSerialGC",
            "--enable-native-access=ALL-UNNAMED", f"-Djava.library.path={PARTS}/dynamodb",
            "-cp", f"{PARTS}/dynamodb/*:{directory}", "com.amazonaws.services.dynamodbv2.local.server.UnderControl",
            str(self.port), *([] if in_memory else [str(directory)]),
        ]  # fmt: skip
        self._child: subprocess.Popen[bytes] | None = None

    def start(self) -> Self:
        """Return when it answers."""
        self._child = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603

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


class Bridge:
    """One cdc-bridge, started as the deployment starts it."""

    def __init__(self, log: Path, environment: Mapping[str, str]) -> None:
        self.log = log
        self._environment = {**os.environ, **environment, "HOST": "127.0.0.1"}
        self._child: subprocess.Popen[bytes] | None = None

    def start(self) -> Self:
        """Start it, on another port each time."""
        self.port = free_port()
        with self.log.open("ab") as stderr:
            self._child = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", sys.executable, "-m", "cdc_bridge"],  # noqa: S607
                env=self._environment | {"PORT": str(self.port)},
                stderr=stderr,
            )
        return self

    @property
    def pid(self) -> int:
        """Its pid; it must be running."""
        assert self._child is not None
        assert self._child.poll() is None, f"the bridge has ended:\n{self.log.read_text()[-2000:]}"
        return self._child.pid

    def ready(self) -> bool:
        """Tell whether it says so."""
        return bool(self.pid) and _get(f"http://127.0.0.1:{self.port}/readyz")[0] == HTTPStatus.OK

    def readiness(self) -> str:
        """Return what it says of itself."""
        return _get(f"http://127.0.0.1:{self.port}/readyz")[1]

    def metric(self, name: str) -> float:
        """Add up a metric over its labels; 0 while it does not answer."""
        _, text = _get(f"http://127.0.0.1:{self.port}/metrics")
        return sum(float(value) for value in re.findall(rf"^{name}(?:\{{.*\}})? (\S+)$", text, re.MULTILINE))

    def command(self, *words: str) -> None:
        """Order something, as an operator does."""
        command = [sys.executable, "-m", "cdc_bridge", *words]
        environment = self._environment | {"PORT": str(self.port)}
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)  # noqa: S603

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill -9."""
        if self._child:
            self._child.kill()
            self._child.wait()


class Tap:
    """What comes to topics from now on."""

    def __init__(self, *topics: str) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"],
                "group.id": uuid.uuid4().hex,
                "enable.auto.commit": False,
                "log_level": 2,  # a broker that is away is what we wanted
            }
        )
        known = {topic: self._consumer.list_topics(topic, 10).topics[topic].partitions for topic in topics}
        places = [TopicPartition(topic, number) for topic, numbers in known.items() for number in numbers]
        for place in places:
            place.offset = self._consumer.get_watermark_offsets(place, 10)[1]
        self._consumer.assign(places)

    def read(self, seconds: float, at_most: int = 1000) -> list[Any]:
        """Return what comes, waiting at most so long for it to be so many."""
        messages = self._consumer.consume(at_most, seconds)
        with suppress(KafkaException):  # a broker that is away is met again as silence
            return [message for message in messages if message.error() is None]
        return []

    def close(self) -> None:
        """Leave."""
        self._consumer.close()


@contextmanager
def dynamodb(*, in_memory: bool = False) -> Iterator[DynamoDb]:
    """Have a DynamoDB with the system's tables, gone afterwards."""
    directory = Path(tempfile.mkdtemp(prefix="rig-"))
    store = DynamoDb(directory, in_memory=in_memory)
    try:
        store.start()
        environment = {**os.environ, **store.environment}
        make = [sys.executable, ROOT / "deploy/tables.py"]
        subprocess.run(make, env=environment, stdout=subprocess.DEVNULL, check=True)  # noqa: S603
        yield store
    finally:
        store.kill()
        shutil.rmtree(directory)


@contextmanager
def bridges(store: DynamoDb, count: int, **environment: str) -> Iterator[list[Bridge]]:
    """Have bridges on it, ready, and gone afterwards."""
    logs = Path(tempfile.mkdtemp(prefix="bridges-"))
    settings = {**store.environment, "LEASE_SECONDS": str(LEASE_SECONDS), **environment}
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, logs)
        started = [Bridge(logs / f"{number}.log", settings).start() for number in range(count)]
        for bridge in started:
            stack.callback(bridge.kill)
        eventually(lambda: all(bridge.ready() for bridge in started), within=60)
        yield started
