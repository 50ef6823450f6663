"""Who follows whom, written straight into the rows, and what the counts must be in the end."""

import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

ORDINARY = 150
TOGGLERS = 8
WRITERS = 4
PAUSE_S = 0.02


def client(attempts: int = 1) -> Any:
    """Build a client that gives up soon, so that the one who uses it can insist."""
    retries: Any = {"mode": "standard", "total_max_attempts": attempts}
    return boto3.client("dynamodb", config=Config(connect_timeout=1, read_timeout=5, retries=retries))


class Crowd:
    """Ordinary users, one viral account and people who toggle; each writer has followers of its own."""

    def __init__(self, pause_s: float = PAUSE_S) -> None:
        self.mark = f"drill-{uuid.uuid4().hex[:8]}"
        self.star = f"{self.mark}-star"
        self.writes = self.people = 0
        self._ordinary = [f"{self.mark}-{number}" for number in range(ORDINARY)]
        self._pause_s = pause_s
        self._over = threading.Event()
        self._threads = ThreadPoolExecutor(WRITERS)
        self._writers: list[Future[None]] = []

    def __enter__(self) -> Self:
        """Follow and unfollow for as long as the context lasts."""
        self._writers = [self._threads.submit(self._write, number) for number in range(WRITERS)]
        return self

    def __exit__(self, *_: object) -> None:
        """Let each writer finish what it is doing; fail if one failed."""
        self._over.set()
        for writer in self._writers:
            writer.result()
        self._threads.shutdown()

    def _write(self, number: int) -> None:
        dynamodb = client()
        mine = self._ordinary[number::WRITERS]
        toggler, fan = f"{self.mark}-toggler-{number}", 0
        while not self._over.wait(self._pause_s):
            match random.randrange(4):
                case 0 | 1:
                    follower, followee = random.choice(mine), random.choice(self._ordinary)
                    if follower != followee:
                        self._insist(dynamodb, followee, follower, following=random.random() < 0.6)
                case 2:
                    fan += 1
                    self._insist(dynamodb, self.star, f"{self.mark}-fan-{number}-{fan}", following=True)
                case _:
                    for following in (True, False, True, False, random.random() < 0.5):
                        self._insist(dynamodb, self._ordinary[0], toggler, following=following)

    def _insist(self, dynamodb: Any, followee: str, follower: str, *, following: bool) -> None:
        """Write the row, or delete it, until that is answered."""
        key = {"followee_id": {"S": followee}, "follower_id": {"S": follower}}
        while True:
            try:
                if following:
                    item = {**key, "followed_at": {"N": str(time.time_ns() // 1_000_000)}}
                    dynamodb.put_item(
                        TableName="followers", Item=item, ConditionExpression="attribute_not_exists(followee_id)"
                    )
                else:
                    dynamodb.delete_item(TableName="followers", Key=key)
            except dynamodb.exceptions.ConditionalCheckFailedException:
                return
            except (BotoCoreError, ClientError):
                time.sleep(0.1)
            else:
                self.writes += 1
                return

    def differences(self) -> list[str]:
        """Name everybody of this crowd whose counts are not their rows."""
        followers: Counter[str] = Counter()
        following: Counter[str] = Counter()
        for row in self._scan("followers", "followee_id"):
            followers[row["followee_id"]["S"]] += 1
            following[row["follower_id"]["S"]] += 1
        found = []
        counts = {item["user_id"]["S"]: item for item in self._scan("users", "user_id")}
        for user in sorted(followers.keys() | following.keys() | counts.keys()):
            names = ("followers_count", "following_count")
            have = tuple(int(counts.get(user, {}).get(name, {"N": "0"})["N"]) for name in names)
            if have != (followers[user], following[user]):
                found.append(f"{user}: counts {have}, rows {(followers[user], following[user])}")
        self.people = len(counts)
        return found

    def some(self, count: int) -> list[str]:
        """Name so many who have counts."""
        everybody = [item["user_id"]["S"] for item in self._scan("users", "user_id")]
        return random.sample(everybody, min(count, len(everybody)))

    def _scan(self, table: str, key: str) -> Iterator[Any]:
        pages = (
            client(attempts=5)
            .get_paginator("scan")
            .paginate(
                TableName=table,
                ConsistentRead=True,
                FilterExpression="begins_with(#key, :mark)",
                ExpressionAttributeNames={"#key": key},
                ExpressionAttributeValues={":mark": {"S": self.mark}},
            )
        )
        for page in pages:
            yield from page["Items"]
