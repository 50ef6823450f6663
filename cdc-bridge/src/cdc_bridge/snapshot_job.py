"""python -m cdc_bridge snapshot users: brings every account's state onto its topic. The wiring, and what it says."""

import logging
import sys
from collections import Counter

from cdc_bridge import dynamo_streams
from cdc_bridge.account_snapshot import TOPIC, Snapshot
from cdc_bridge.app import SERVICE, now_ms
from cdc_bridge.dynamo_accounts import PAGE, Accounts
from cdc_bridge.dynamo_leases import LeaseTable
from cdc_bridge.kafka_publisher import Producers, PublishError
from cdc_bridge.lineage import ShardKey
from cdc_bridge.owed_snapshots import OvertakenError, OwedSnapshots
from cdc_bridge.settings import SnapshotSettings
from contracts import ContractError
from contracts.registry import RegistryAwayError
from contracts.tables import USERS
from murmuration_runtime import logs
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.kafka import WRITE, KafkaTopics
from murmuration_runtime.retries import Pace

TOLD_EVERY = 50  # pages
_log = logging.getLogger(__name__)


class NoStreamError(Exception):
    """What changes behind the snapshot would never be told."""


def snapshot(settings: SnapshotSettings, rate: float, *, only_owed: bool) -> int:
    """Tell every account's state, or nothing if that is not owed; 1 if it came to no end, with the reason."""
    logs.write_json(settings.log_level)
    try:
        _snapshot(settings, rate, only_owed=only_owed)
    except (NoStreamError, OvertakenError, StoreAwayError, PublishError, RegistryAwayError, ContractError) as error:
        sys.stderr.write(f"{SERVICE}: {error}. Run it again when that is mended: it goes on where it was.\n")
        return 1
    return 0


def _snapshot(settings: SnapshotSettings, rate: float, *, only_owed: bool) -> None:
    dynamodb, streams = dynamo_streams.connect(settings.table_prefix)
    run = OwedSnapshots(LeaseTable(dynamodb, settings.table_prefix), USERS.name, now_ms)
    if only_owed and not (run.owed() or run.is_under_way()):
        _log.info("no snapshot is owed")
        return
    if streams.arn(USERS.name) is None:
        raise NoStreamError(
            f"the table {USERS.name} has no stream yet: `python deploy/tables.py status` says what to do"
        )
    KafkaTopics(settings, [TOPIC], rights={TOPIC.name: WRITE}).ids()
    codec, pace = settings.registry().codec(TOPIC), Pace(rate / PAGE)
    shard = ShardKey(USERS.name, "snapshot", "snapshot")
    with Producers(settings) as producers, producers.publisher(shard) as publisher:
        told = Snapshot(Accounts(dynamodb, settings.table_prefix, pace.wait), codec, publisher.publish)
        _log.info("snapshot done", extra=_all_pages(run, told))


def _all_pages(run: OwedSnapshots, told: Snapshot) -> Counter[str]:
    """Tell page after page from where the last run ended; return how many accounts there were."""
    last, pages = run.begin(), 0
    _log.info("snapshot begins", extra={"behind": last})
    done = Counter[str]()
    while True:
        page = told.page(last)
        done.update(accounts=page.told, moving=page.moving, broken=page.broken)
        if page.last is None:
            run.end()
            return done
        run.save(page.last)
        last, pages = page.last, pages + 1
        if pages % TOLD_EVERY == 0:
            _log.info("snapshot under way", extra=done | Counter(pages=pages))
