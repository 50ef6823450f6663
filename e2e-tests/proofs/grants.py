"""IAM policies against what services really do: every service, every job, behind a proxy that knows who asks.

DynamoDB Local enforces no policy. So it moves behind a proxy that notes each request by the access key of its service;
then people live, and operators run each command. What a policy of deploy/aws lacks is a difference, and so is a right
that nobody used.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError
from confluent_kafka import TopicPartition

from contracts.ids import first_id
from contracts.table_files import load
from contracts.tables import BLOCKS, FOLLOW_REQUESTS, FOLLOWERS, LEASES, MUTES, TWEETS, USERS
from contracts.topic import DATA
from murmuration_testkit import REPOSITORY
from murmuration_testkit.iam import SUGGESTIONS_JOB, TABLES_JOB, refusal, unused
from murmuration_testkit.people import Person
from murmuration_testkit.ports import free_port
from murmuration_testkit.processes import all_ready, caught_up, control
from murmuration_testkit.recording_proxy import recording
from murmuration_testkit.services import PROCESSES, SERVICES
from murmuration_testkit.topics import admin, ends
from murmuration_testkit.waiting import eventually
from murmuration_testkit.worker import Worker
from murmuration_timelines.layout import home_shown, home_timeline
from murmuration_timelines.writer import connect

TIME_LIMIT_S = 3_000
OURS = {"local"}  # this file's own access key
TESTS = ["test_story.py", "test_accounts.py", "test_screens.py"]
CELEBRITIES = {"CELEBRITY_THRESHOLD": "2", "CELEBRITY_AHEAD": "2"}
ARN = "arn:aws:dynamodb:ddblocal:000000000000:table/tweets/stream/2020-01-01T00:00:00.000"
TRACED = r"(\[program:(?:follow|tweet)-service\]\n(?:.+\n)*?environment=)"
TAKEN = "somebody has this id"


class Meddler:
    """Writes to the store just before a service does, so that the service meets what is rare."""

    def __init__(self, behind: int) -> None:
        self.dynamodb = boto3.client("dynamodb", endpoint_url=f"http://127.0.0.1:{behind}")
        self.done: set[str] = set()

    def __call__(self, service: str, operation: str, request: dict[str, Any]) -> None:
        """Take a tweet's id, and change a row that a migration has read."""
        if request.get("Item", {}).get("text", {}).get("S") == TAKEN and "id" not in self.done:
            self.done.add("id")
            somebody = {"S": "somebody"}
            other = {**request["Item"], TWEETS.author_id: somebody, TWEETS.live_author_id: somebody}
            self.dynamodb.put_item(TableName=TWEETS.name, Item=other)
        if service != TABLES_JOB:
            return
        if operation == "TransactWriteItems" and "row" not in self.done:
            self.done.add("row")
            self.dynamodb.put_item(TableName=LEASES.name, Item=_old_row("2"))
        changed = {FOLLOWERS.name: FOLLOWERS.part, TWEETS.name: TWEETS.text}.get(request.get("TableName", ""))
        if operation == "UpdateItem" and changed and changed not in self.done:
            self.done.add(changed)
            self.dynamodb.update_item(
                TableName=request["TableName"],
                Key=request["Key"],
                UpdateExpression="SET #c = :c",
                ExpressionAttributeNames={"#c": changed},
                ExpressionAttributeValues={":c": {"S": "another"}},
            )


def grants() -> dict[str, Any]:
    """Put the proxy there, have everything done that there is to do, and compare."""
    behind = free_port()
    _move_the_store(behind)
    meddler = Meddler(behind)
    failed: list[str] = []
    with recording(int(os.environ["DYNAMODB_PORT"]), behind, meddler) as proxy:
        control("start", *PROCESSES)
        all_ready()
        for step in (_people, _rare, _graph, _celebrities, _operators, _lost_events, _tables, _ends):
            began = time.monotonic()
            try:
                failed += step()
            except Exception as error:  # noqa: BLE001 - it is told, and the others show what they can
                failed.append(f"{step.__name__}: {type(error).__name__}: {error}")
            print(f"  {step.__name__.strip('_')}: {time.monotonic() - began:.0f} s", flush=True)
        asked = {service: set(found) for service, found in proxy.asked.items()}
        strangers = proxy.strangers - OURS
    lacks = sorted({refused for service, found in asked.items() for ask in found if (refused := refusal(service, ask))})
    spare = unused(asked)
    return {
        "name": "policies against what services do",
        "faults": f"a tweet's id that is taken, rows changed under three migrations: {len(meddler.done)} of 4",
        "compared": "each request of each service and job with its policy, and each right with the requests",
        "differences": [
            *failed,
            *lacks,
            *spare,
            *(f"somebody asks DynamoDB under the access key {key!r}" for key in sorted(strangers)),
        ],
        "counts": ", ".join(f"{service}: {len(found)} kinds of requests" for service, found in sorted(asked.items())),
    }


def _move_the_store(behind: int) -> None:
    """Have DynamoDB listen elsewhere; its old port is the proxy's."""
    control("stop", *PROCESSES)
    conf = Path(os.environ["STACK_SUPERVISOR_CONF"])
    text = conf.read_text()
    moved = text.replace("-port %(ENV_DYNAMODB_PORT)s", f"-port {behind}")
    conf.write_text(re.sub(TRACED, r'\1OTEL_TRACES_EXPORTER="console",', moved))  # rows then carry a traceparent
    assert text != moved != conf.read_text()
    control("reread")
    control("update", "dynamodb", "follow-service", "tweet-service")
    control("start", "dynamodb")
    store = boto3.client("dynamodb", endpoint_url=f"http://127.0.0.1:{behind}")

    def has_its_tables() -> bool:
        with suppress(BotoCoreError):
            return len(store.list_tables()["TableNames"]) >= len(load(DATA))
        return False

    eventually(has_its_tables, expected=True, within=60, every=0.5)
    for row in store.scan(TableName=LEASES.name, ConsistentRead=True)["Items"]:  # as at a bridge's very first start
        store.delete_item(TableName=LEASES.name, Key={name: row[name] for name in load(DATA)[LEASES.name].key})


def _people() -> list[str]:
    """Tell the demo's story, and run the tests of accounts and of screens: private, deleted, erased, many at once."""
    tests = [str(REPOSITORY / "e2e-tests/tests" / name) for name in TESTS]
    return [
        *_run("", sys.executable, "e2e-tests/demo.py"),
        *_run("", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests),
    ]


def _rare() -> list[str]:
    """Send a key twice, take an id before, delete a tweet, rebuild a timeline just after a follow."""
    alice, bob = Person("Alice").join(), Person("Bob").join()
    for _ in range(2):
        bob.ask("POST", "/v1/tweets", json={"text": "once"}, headers={"Idempotency-Key": "once"})
    said = bob.ask("POST", "/v1/tweets", json={"text": TAKEN}, headers={"Idempotency-Key": "taken"})["tweet_id"]
    alice.timeline()
    alice.follow(bob)
    caught_up("fanout-worker")
    told = _python("fanout-worker", "fanout_worker", "cold", alice.user_id)
    shown = alice.whole_timeline()
    bob.delete(said)
    return [*told, *([] if said in shown else ["a timeline that was rebuilt lacks a tweet"])]


def _graph() -> list[str]:
    """Block, mute, hide and dismiss, and take back what can be; then leave with such rows, and compute suggestions."""
    alice, bob, carol = (Person(name).join() for name in ("Alice", "Bob", "Carol"))
    for method, path in (
        ("PUT", f"users/{bob.user_id}/block"),
        ("GET", "users/me/blocks"),
        ("DELETE", f"users/{bob.user_id}/block"),
        ("PUT", f"users/{bob.user_id}/mute"),
        ("GET", "users/me/mutes"),
        ("DELETE", f"users/{bob.user_id}/mute"),
        ("PUT", f"users/{bob.user_id}/mute"),
        ("DELETE", f"suggestions/{bob.user_id}"),
        ("PUT", f"users/{carol.user_id}/block"),
    ):
        alice.ask(method, f"/v1/{path}")
    alice.ask("PUT", "/v1/users/me", json={"display_name": "Alice", "discoverable": False})
    alice.leave()
    python = str(REPOSITORY / "suggestions/.venv/bin/python")
    with tempfile.TemporaryDirectory(prefix="proof-") as folder:
        settings = {"SUGGESTIONS_FOLDER": Path(folder, "kept").as_uri(), "SUGGESTIONS_SCRATCH": f"{folder}/scratch"}
        return _run(SUGGESTIONS_JOB, python, "-m", "murmuration_suggestions", "run", "--force", settings=settings)


def _celebrities() -> list[str]:
    """One is promoted, named and demoted."""
    control("stop", "fanout-worker")
    key = SERVICES["fanout-worker"].access_key
    port = int(os.environ["FANOUT_WORKER_ADMIN_PORT"])
    worker = Worker("fanout_worker", port, "fanout-worker-of-proof", AWS_ACCESS_KEY_ID=key, **CELEBRITIES)
    worker.start()
    try:
        all_ready()
        star, *fans = (Person(name).join() for name in ("Star", "Ann", "Ben", "Cem"))
        for fan in fans:
            fan.follow(star)
        eventually(lambda: star.counts()[0], 3)
        users = boto3.client("dynamodb")

        def promoted() -> bool:
            star.tweet("hello")
            found = users.get_item(TableName=USERS.name, Key={USERS.user_id: {"S": star.user_id}})
            return USERS.celebrity_since in found["Item"]

        eventually(promoted, expected=True, within=60, every=1)
        since = first_id(time.time_ns() // 1_000_000)
        for fan in fans[1:]:
            fan.unfollow(star)
        eventually(lambda: star.counts()[0], 1)
        eventually(lambda: star.tweet("more") > since, expected=True, within=60)
        return [
            *_python("fanout-worker", "fanout_worker", "celebrities"),
            *_python("fanout-worker", "fanout_worker", "demote", star.user_id, settings=CELEBRITIES),
        ]
    finally:
        worker.end()
        control("start", "fanout-worker")
        all_ready()


def _operators() -> list[str]:
    """Every command that reads or repairs."""
    bridge, counts, fanout = "cdc-bridge", "count-aggregator", "fanout-worker"
    someone = Person("Someone").join()
    listed = _ask(bridge, "cdc_bridge", "shards").splitlines()
    shard = next(line.split()[1] for line in listed if line.startswith(FOLLOWERS.name) and "owner" in line)
    quick = ("--apart", "5", "--rate", "500")
    row = {"followee_id": {"S": someone.user_id}, "follower_id": {"S": "x"}, "followed_at": {"N": "1.5"}}
    said = first_id(time.time_ns() // 1_000_000)
    tweet = {
        "tweet_id": {"S": said},
        "author_id": {"S": someone.user_id},
        "text": {"S": "t"},
        "created_at": {"N": "1.5"},
    }
    for table, item in ((FOLLOWERS.name, row), (TWEETS.name, tweet)):  # both break their contract: dead letters
        boto3.client("dynamodb").put_item(TableName=table, Item=item)
    reader = Person("Reader").join()
    reader.follow(someone)
    lost = someone.tweet("lost")
    caught_up(fanout)
    reader.whole_timeline()
    with closing(connect(os.environ["REDIS_URL"])) as nodes:  # the audit looks again at what differs
        nodes.command("LREM", home_timeline(reader.user_id), 0, lost)
        for key in (home_timeline(reader.user_id), home_shown(reader.user_id)):
            nodes.command("EXPIRE", key, 3_600)  # what is built right after a start lives for some seconds
    audited = _python(fanout, "fanout_worker", "audit", "--user", reader.user_id, "--apart", "1")
    with tempfile.TemporaryDirectory(prefix="proof-") as directory:
        exported = _python(bridge, "cdc_bridge", "export", directory)
    return [
        *audited,  # before the seek: that leaves a gap, and a gap makes all timelines cold
        *exported,
        *_python(bridge, "cdc_bridge", "release", shard, again=True),
        *_python(bridge, "cdc_bridge", "seek", shard, "TRIM_HORIZON", "--yes", again=True),
        *_python(bridge, "cdc_bridge", "seek", shard, "LATEST", "--yes", again=True),
        *_python(bridge, "cdc_bridge", "snapshot", "users"),
        *_python(counts, "count_aggregator", "reconcile", "--user", someone.user_id, *quick),
        *_python(counts, "count_aggregator", "reconcile", "--top", "10", *quick),
        *_python(counts, "count_aggregator", "reconcile", *quick, again=True),
        *_python(counts, "count_aggregator", "dead-letters", "list"),
        *_python(counts, "count_aggregator", "dead-letters", "handle", *quick),
        *_python(fanout, "fanout_worker", "dead-letters", "handle"),
        *_python("tweet-service", "tweet_service", "erase", "--once", settings={"ERASURE_SETTLED_SECONDS": "1"}),
        *_python("follow-service", "follow_service", "finish", "--once", settings={"FINISHING_SETTLED_SECONDS": "1"}),
    ]


def _lost_events() -> list[str]:
    """Kafka deletes what was not counted yet, and everybody is recounted; a stream is switched off and on."""
    alice, bob, carol, dave = (Person(name).join() for name in ("Alice", "Bob", "Carol", "Dave"))
    dave.follow(bob)
    eventually(lambda: bob.counts()[0], 1)
    control("stop", "count-aggregator")
    kafka = admin()
    before = sum(ends(kafka, "FollowChanged").values())
    alice.follow(bob)
    eventually(lambda: sum(ends(kafka, "FollowChanged").values()) > before, expected=True)
    caught_up("fanout-worker")
    gone = [TopicPartition("FollowChanged", number, offset) for number, offset in ends(kafka, "FollowChanged").items()]
    for future in kafka.delete_records(gone).values():
        future.result(10)
    control("start", "count-aggregator")
    all_ready()
    carol.follow(bob)  # what comes after a hole in its partition shows it
    eventually(lambda: bob.counts()[0] > 1, expected=True)
    for on in (False, True):
        stream: Any = {"StreamEnabled": on, **({"StreamViewType": "NEW_AND_OLD_IMAGES"} if on else {})}
        boto3.client("dynamodb").update_table(TableName=FOLLOWERS.name, StreamSpecification=stream)
    arn = boto3.client("dynamodb").describe_table(TableName=FOLLOWERS.name)["Table"]["LatestStreamArn"]

    def told() -> bool:
        return any(arn in line and "GAP" in line for line in _ask("cdc-bridge", "cdc_bridge", "shards").splitlines())

    eventually(told, expected=True, within=120, every=2)
    cleared = _python("cdc-bridge", "cdc_bridge", "clear", arn)
    eventually(lambda: bob.counts()[0], 3, within=300, every=2)  # count-reconciler, or nobody, has added it
    return cleared


def _tables() -> list[str]:
    """Tables made, indexes and streams added, a migration's steps, a start on tables with rows."""
    dynamodb = boto3.client("dynamodb")
    files = load(DATA)
    without_stream = (FOLLOWERS, TWEETS, BLOCKS, MUTES)
    bare = {**{each.name: "stream" for each in without_stream}, USERS.name: "index", FOLLOW_REQUESTS.name: "index"}
    failed = _tables_job("expand", prefix="new-")
    for name, lacks in bare.items():
        shape = files[name].create
        if lacks == "stream":
            shape.pop("StreamSpecification")
        else:
            index = shape["GlobalSecondaryIndexes"].pop()
            shape = _without(shape, index)
        dynamodb.create_table(TableName=f"old-{name}", BillingMode="PAY_PER_REQUEST", **shape)
    failed += _tables_job("expand", prefix="old-")
    for prefix in ("new-", "old-"):
        for name in files:
            dynamodb.delete_table(TableName=prefix + name)
    dynamodb.put_item(TableName=LEASES.name, Item=_old_row("1"))
    _make_old(dynamodb, FOLLOWERS.name, FOLLOWERS.part)
    _make_old(dynamodb, TWEETS.name, TWEETS.live_author_id)
    for step in ("plan", "expand", "backfill spread-leases --yes", "switch spread-leases --yes"):
        failed += _tables_job(*step.split())
    failed += _tables_job(*["contract", "spread-leases", "--yes"])
    for migration in ("spread-followers", "live-tweets"):
        for step in ("backfill", "switch", "contract"):
            failed += _tables_job(step, migration, "--yes")
    own = {
        f"--{job}": shlex.join(["env", f"AWS_ACCESS_KEY_ID={SERVICES[service].access_key}", sys.executable, *words])
        for job, service, words in (
            ("bridge", "cdc-bridge", ["-m", "cdc_bridge", "shards"]),
            ("counts", "count-aggregator", ["-m", "count_aggregator", "reconcile", "--all", "--rate", "500"]),
            ("states", "cdc-bridge", ["-m", "cdc_bridge", "snapshot", "users"]),
            ("timelines", "fanout-worker", ["-m", "fanout_worker", "cold", "--all"]),
        )
    }
    return [*failed, *_tables_job("adopt", *(word for pair in own.items() for word in pair))]


def _ends() -> list[str]:
    """Everybody ends and begins again, as in a rolling restart."""
    control("restart", *PROCESSES)
    all_ready()
    return []


def _make_old(dynamodb: Any, table: str, attribute: str) -> None:
    """Take from a row what its migration gives it."""
    holds = {"FilterExpression": "attribute_exists(#a)", "ExpressionAttributeNames": {"#a": attribute}}
    row = dynamodb.scan(TableName=table, ConsistentRead=True, **holds)["Items"][0]
    key = {name: row[name] for name in load(DATA)[table].key}
    names = {"#a": attribute}
    dynamodb.update_item(TableName=table, Key=key, UpdateExpression="REMOVE #a", ExpressionAttributeNames=names)


def _old_row(tip_at: str) -> dict[str, Any]:
    """Return a row of a shard as bridges up to 0.2.0 leave it."""
    numbers = {LEASES.tip_at: tip_at, LEASES.epoch: "1", LEASES.since: "0"}
    texts = {LEASES.stream_arn: ARN, LEASES.shard_id: "shardId-1", LEASES.state: LEASES.ENDED, LEASES.position: "1"}
    return {name: {"N": it} for name, it in numbers.items()} | {name: {"S": it} for name, it in texts.items()}


def _without(shape: dict[str, Any], index: dict[str, Any]) -> dict[str, Any]:
    """Return the table without an index, and without the attributes that only it knew."""
    keyed = [shape["KeySchema"], *(each["KeySchema"] for each in shape["GlobalSecondaryIndexes"])]
    del index
    names = {each["AttributeName"] for keys in keyed for each in keys}
    shape["AttributeDefinitions"] = [it for it in shape["AttributeDefinitions"] if it["AttributeName"] in names]
    if not shape["GlobalSecondaryIndexes"]:
        del shape["GlobalSecondaryIndexes"]
    return shape


def _tables_job(*words: str, prefix: str = "") -> list[str]:
    return _run(TABLES_JOB, sys.executable, "deploy/tables.py", *words, settings={"TABLE_PREFIX": prefix})


def _python(
    service: str, module: str, *words: str, again: bool = False, settings: Mapping[str, str] = MappingProxyType({})
) -> list[str]:
    key = SERVICES[service].access_key
    return _run(key, sys.executable, "-m", module, *words, again=again, settings=settings)


def _ask(service: str, module: str, *words: str) -> str:
    environment = {**os.environ, "AWS_ACCESS_KEY_ID": SERVICES[service].access_key}
    return subprocess.check_output([sys.executable, "-m", module, *words], env=environment, text=True)


def _run(key: str, *command: str, again: bool = False, settings: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """Run a command under an access key; say if it fails, the second time if it may be asked to come again."""
    environment = {**os.environ, **settings, **({"AWS_ACCESS_KEY_ID": key} if key else {})}
    for left in range(1 + 2 * again, 0, -1):
        done = subprocess.run(
            command,
            cwd=REPOSITORY,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if not done.returncode or left == 1:
            break
    words = shlex.join(command[1:])
    print(f"    {done.returncode} {words[-100:]}", flush=True)
    return [f"{words} ended with {done.returncode}: {done.stdout[-1500:]}"] if done.returncode else []


PROOFS = [grants]
