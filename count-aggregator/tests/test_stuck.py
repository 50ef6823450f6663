"""A real worker that hangs is ended, and what it held is counted by the others."""

import os
import subprocess
import sys
import threading
import time

import boto3
import pytest

from count_aggregator.watchdog import EXIT_STUCK

HANGING = """
import threading
from count_aggregator import counting
counting.Counting.count = lambda *_: threading.Event().wait()
from count_aggregator.__main__ import main
main()
"""


@pytest.mark.stack
def test_a_worker_that_hangs_is_ended_and_nothing_is_lost(somebody):
    """It joins the group, gets partitions, and does nothing with their events."""
    dynamodb, prefix = boto3.client("dynamodb"), os.environ.get("TABLE_PREFIX", "")
    follower, over, followed = somebody(), threading.Event(), []

    def follow():
        while not over.wait(0.05):
            followed.append(somebody())
            key = {"followee_id": {"S": followed[-1]}, "follower_id": {"S": follower}}
            dynamodb.put_item(TableName=f"{prefix}followers", Item={**key, "followed_at": {"N": "1"}})

    writer = threading.Thread(target=follow)
    writer.start()
    try:
        environment = {**os.environ, "PORT": "0", "STALL_SECONDS": "6"}
        run = subprocess.run(  # noqa: S603 - ours
            [sys.executable, "-c", HANGING], env=environment, capture_output=True, text=True, check=False, timeout=120
        )
    finally:
        over.set()
        writer.join()
    assert run.returncode == EXIT_STUCK, run.stderr
    assert "no progress in spite of lag" in run.stderr
    until, pause, count = time.monotonic() + 60, threading.Event(), ""
    while count != str(len(followed)) and time.monotonic() < until and not pause.wait(0.2):
        key = {"user_id": {"S": follower}}
        item = dynamodb.get_item(TableName=f"{prefix}users", Key=key, ConsistentRead=True).get("Item", {})
        count = item.get("following_count", {"N": "0"})["N"]
    assert count == str(len(followed))
