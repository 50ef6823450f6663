"""python -m tweet_service erase: deletes the tweets of deleted accounts, beside the service.

python -m tweet_service contracts: what this image reads and writes.
"""

import argparse
import signal
import sys
import time

from contracts.image import own, tell
from contracts.tables import MIGRATIONS
from murmuration_runtime import admin, dynamo, logs
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.metrics import announce_build
from murmuration_runtime.migration_switch import MigrationSwitch
from murmuration_runtime.readiness import Readiness
from murmuration_runtime.retries import Pace
from murmuration_runtime.settings import read
from murmuration_runtime.turns import take_turns
from tweet_service.dynamo_accounts import DynamoAccounts
from tweet_service.dynamo_tweets import DynamoTweets
from tweet_service.eraser import Eraser
from tweet_service.erasure import Erasure
from tweet_service.settings import EraserSettings, ErasureSettings

SERVICE = "tweet-service"


def main() -> int:
    """Erase until SIGTERM, or once; or tell the contracts."""
    parser = argparse.ArgumentParser(prog="python -m tweet_service")
    jobs = parser.add_subparsers(dest="job", required=True, metavar="JOB")
    jobs.add_parser("contracts", help="print which attributes of which tables this version reads and writes")
    erase = jobs.add_parser("erase", help="delete the tweets of deleted accounts, until SIGTERM")
    erase.add_argument("--once", action="store_true", help="look at each deleted account once, then end")
    asked = parser.parse_args()
    if asked.job == "contracts":
        return tell(SERVICE)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # at any moment: the tables hold all there is to know
    return look_once(read(ErasureSettings)) if asked.once else keep_erasing(read(EraserSettings))


def keep_erasing(settings: EraserSettings) -> int:
    """Erase for as long as the process lives."""
    eraser, tweets = build(settings)
    announce_build(SERVICE, settings.build_commit, own(SERVICE).labels())
    readiness = Readiness("dynamodb")
    readiness.keep_looking({"dynamodb": tweets.check})
    admin.start(settings.host, settings.admin_port, readiness.waiting_for)
    take_turns("erasure", eraser.turn)
    return 0


def look_once(settings: ErasureSettings) -> int:
    """Look at each account that is due; 1 if the store is away."""
    eraser, _ = build(settings)
    try:
        while eraser.turn():
            pass
    except StoreAwayError as error:
        sys.stderr.write(f"{error}. Nothing is lost; run it again.\n")
        return 1
    return 0


def build(settings: ErasureSettings) -> tuple[Eraser, DynamoTweets]:
    """Build the eraser on real parts."""
    logs.write_json(settings.log_level)
    dynamodb = dynamo.client()
    switch = MigrationSwitch(dynamodb, settings.table_prefix, MIGRATIONS.LIVE_TWEETS)
    tweets = DynamoTweets(dynamodb, settings.table_prefix, switch)
    erasure = Erasure(
        DynamoAccounts(dynamodb, settings.table_prefix),
        tweets,
        lambda: time.time_ns() // 1_000_000,
        Pace(settings.erasure_rate).wait,
        settings.erasure_settled_seconds * 1000,
    )
    return Eraser(erasure.looks()), tweets


if __name__ == "__main__":
    sys.exit(main())
