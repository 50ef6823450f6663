"""python -m tweet_service erase: deletes the tweets of deleted accounts, beside the service."""

import argparse
import logging
import signal
import sys
import threading
import time

from pythonjsonlogger.json import JsonFormatter
from werkzeug.serving import make_server

from tweet_service.app import create_probes
from tweet_service.dynamo_accounts import DynamoAccounts
from tweet_service.dynamo_tweets import DynamoTweets
from tweet_service.eraser import Eraser, Pace
from tweet_service.erasure import Erasure
from tweet_service.settings import ErasureSettings
from tweet_service.tables import client
from tweet_service.tweets import StoreAwayError


def main() -> int:
    """Erase until SIGTERM, or once."""
    parser = argparse.ArgumentParser(prog="python -m tweet_service")
    erase = parser.add_subparsers(required=True, metavar="JOB").add_parser(
        "erase", help="delete the tweets of deleted accounts, until SIGTERM"
    )
    erase.add_argument("--once", action="store_true", help="look at each account that is due once, and end")
    once = parser.parse_args().once
    settings = ErasureSettings.from_environment(serves=not once)
    log_as_json(settings.log_level)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # at any moment: the tables hold all there is to know
    dynamodb = client()
    eraser = Eraser(
        Erasure(
            DynamoAccounts(dynamodb, settings.table_prefix),
            DynamoTweets(dynamodb, settings.table_prefix),
            lambda: time.time_ns() // 1_000_000,
            Pace(settings.rate).wait,
            settings.settled_seconds * 1000,
        )
    )
    if once:
        return look_once(eraser)
    probes = make_server(settings.host, settings.port, create_probes({"erasure": eraser.check}), threaded=True)
    threading.Thread(target=probes.serve_forever, name="probes", daemon=True).start()
    eraser.run()
    return 0


def look_once(eraser: Eraser) -> int:
    """Look at each account that is due; 1 if the store is away."""
    try:
        while eraser.turn():
            pass
    except StoreAwayError as error:
        sys.stderr.write(f"{error}; nothing is lost, run it again\n")
        return 1
    return 0


def log_as_json(level: str) -> None:
    """Write one object a line; the libraries speak up only when something is wrong."""
    names = {"asctime": "time", "levelname": "level", "name": "logger"}
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter("{asctime}{levelname}{name}{message}", style="{", rename_fields=names))
    logging.basicConfig(level=level, handlers=[handler])
    for library in ("botocore", "werkzeug"):
        logging.getLogger(library).setLevel(logging.WARNING)


if __name__ == "__main__":
    sys.exit(main())
