"""python -m follow_service finish: what a deletion or going public began is finished, beside the service.

python -m follow_service grpc: other services of the platform are answered by gRPC.

python -m follow_service keep: what is cached of profiles and lists is kept right (kafka_keeper.py).

python -m follow_service contracts: what this image reads and writes.
"""

import argparse
import signal
import sys
import time

from contracts.image import own, tell
from follow_service.departures import Departures
from follow_service.dynamo_follows import DynamoFollows
from follow_service.dynamo_openings import DynamoOpenings
from follow_service.dynamo_remains import DynamoRemains
from follow_service.finisher import Finisher
from follow_service.openings import Openings
from follow_service.settings import FinisherSettings, FinishingSettings, GrpcSettings
from murmuration_runtime import admin, dynamo, logs
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.metrics import announce_build
from murmuration_runtime.readiness import Readiness
from murmuration_runtime.retries import Pace
from murmuration_runtime.settings import read
from murmuration_runtime.turns import take_turns

SERVICE = "follow-service"


def main() -> int:
    """Finish until SIGTERM, or once; or tell the contracts."""
    parser = argparse.ArgumentParser(prog="python -m follow_service")
    jobs = parser.add_subparsers(dest="job", required=True, metavar="JOB")
    jobs.add_parser("contracts", help="print which attributes of which tables this version reads and writes")
    jobs.add_parser("grpc", help="answer other services of the platform by gRPC")
    finish = jobs.add_parser(
        "finish", help="delete what is left of deleted accounts, accept what public ones had pending"
    )
    finish.add_argument("--once", action="store_true", help="look at each account that is due once, then end")
    jobs.add_parser("keep", help="keep cached profiles and lists right, from Kafka's events")
    asked = parser.parse_args()
    if asked.job == "contracts":
        return tell(SERVICE)
    if asked.job == "grpc":
        from follow_service.grpc_app import keep_answering  # noqa: PLC0415  the finisher needs no Flask and no gRPC

        return keep_answering(read(GrpcSettings))
    if asked.job == "keep":
        from follow_service.kafka_keeper import keep  # noqa: PLC0415 - the extra `keeper` brings what it needs

        keep()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # at any moment: the tables hold all there is to know
    return look_once(read(FinishingSettings)) if asked.once else keep_finishing(read(FinisherSettings))


def keep_finishing(settings: FinisherSettings) -> int:
    """Finish for as long as the process lives."""
    finisher, remains = build(settings)
    announce_build(SERVICE, settings.build_commit, own(SERVICE).labels())
    readiness = Readiness("dynamodb")
    readiness.keep_looking({"dynamodb": remains.check})
    admin.start(settings.host, settings.admin_port, readiness.waiting_for)
    take_turns("finishing", finisher.turn)
    return 0


def look_once(settings: FinishingSettings) -> int:
    """Look at each account that is due; 1 if the store is away."""
    finisher, _ = build(settings)
    try:
        while finisher.turn():
            pass
    except StoreAwayError as error:
        sys.stderr.write(f"{error}. Nothing is lost; run it again.\n")
        return 1
    return 0


def build(settings: FinishingSettings) -> tuple[Finisher, DynamoRemains]:
    """Build the finisher on real parts."""
    logs.write_json(settings.log_level)
    dynamodb, prefix = dynamo.client(), settings.table_prefix
    pace, settled_ms = Pace(settings.finishing_rate).wait, settings.finishing_settled_seconds * 1000
    remains = DynamoRemains(dynamodb, prefix)
    departures = Departures(remains, _now, pace, settled_ms)
    pending, follows = DynamoOpenings(dynamodb, prefix), DynamoFollows(dynamodb, prefix)
    openings = Openings(pending, follows, _now, pace, settled_ms, settings.following_cap)
    return Finisher({"departures": departures.looks(), "openings": openings.looks()}), remains


def _now() -> int:
    return time.time_ns() // 1_000_000


if __name__ == "__main__":
    sys.exit(main())
