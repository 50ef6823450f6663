"""What was lost before it was read: said once in the log and the metrics, and kept in the leases table.

Rule: a gap is never passed in silence. Under the policy `fail` nobody reads on until an operator has cleared it; under
`continue` what is left is read, and the gap is told all the same until it is cleared. Under both, a gap that concerns
follows is first written as a row of its own, which count-aggregator deletes when it has recounted everybody.
"""

import logging
from collections.abc import Iterable
from enum import StrEnum

from cdc_bridge import metrics
from cdc_bridge.leases import Leases
from cdc_bridge.lineage import Row, State
from cdc_bridge.translate import SOURCES
from contracts.tables import BLOCKS, FOLLOW_REQUESTS, FOLLOWERS, LEASES, MUTES, TWEETS, USERS

_COLD = "`python -m fanout_worker cold --all`"
_SNAPSHOT = "the job of snapshots tells every account's state by itself: `python -m cdc_bridge snapshot users`"
_NOBODY = "nothing here: who was to be notified of a request in the meantime was not"
_REPAIRS = {
    FOLLOWERS.name: f"count-reconciler recounts by itself; {_COLD}",
    TWEETS.name: _COLD,
    BLOCKS.name: _COLD,
    MUTES.name: _COLD,
    FOLLOW_REQUESTS.name: _NOBODY,
    USERS.name: _SNAPSHOT,
}
_REPAIRS |= {topic: _REPAIRS[table] for table, topic in SOURCES}
_OWED = {FOLLOWERS.name: LEASES.recounts(), USERS.name: LEASES.snapshots()}
_OWED |= {topic: _OWED[table] for table, topic in SOURCES if table in _OWED}
_log = logging.getLogger(__name__)


class Policy(StrEnum):
    """What a bridge does when something was lost before it was read."""

    FAIL = "fail"
    CONTINUE = "continue"


class Kind(StrEnum):
    """What was lost."""

    UNREADABLE = "unreadable"  # the stream refuses what comes next: trimmed, gone, or no such sequence number
    VANISHED = "vanished"  # a shard left the listing before its end was read
    STREAM = "stream"  # the table has a new stream
    TOPIC = "topic"  # the topic was deleted and made again


def describe(kind: Kind, detail: str, position: str | None) -> str:
    """Say what was lost, for the row and for operators."""
    return f"{kind}: {detail}; published up to {position or 'nothing'}"


def owe_repair(leases: Leases, table: str, name: str, gap: str, now: int, loss: str | int | None = None) -> None:
    """Have a job repair what a gap did, if there is one that does: before the gap is passed or cleared.

    Of follows count-aggregator recounts everybody; of accounts a snapshot tells everybody's state. `loss` tells this
    loss from others of the same name, so that trying again leaves one row; without it, `now` does.
    """
    if owed := _OWED.get(table) or _OWED.get(_topic(name)):
        leases.note(owed, Row(f"{name} at {now if loss is None else loss}", State.GAP, since=now, gap=gap))


def repair_of(table: str, name: str) -> str:
    """Say what repairs what this gap did to others: of a table's shard or stream, or of a topic."""
    return _REPAIRS.get(table) or _REPAIRS.get(_topic(name), _COLD)


def _topic(name: str) -> str:
    """Return the topic of this name, whether it grew or is that of its dead letters."""
    return name.partition(".")[0].partition("-")[0]


def next_steps(table: str, name: str) -> str:
    """Name the commands that end a gap."""
    return f"`python -m cdc_bridge clear {name}`, then {repair_of(table, name)}"


def tell(table: str, stream_arn: str, shard_id: str, position: str | None, kind: Kind, detail: str) -> None:
    """Log and count a gap that was just found."""
    metrics.GAPS.labels(table, kind).inc()
    about = {"table": table, "stream_arn": stream_arn, "shard_id": shard_id, "position": position}
    steps = next_steps(table, shard_id or stream_arn)
    _log.error("gap", extra={**about, "kind": kind, "reason": detail, "next": steps})


def count_open(table: str, *rows: Iterable[Row]) -> None:
    """Measure how many gaps these rows still have: of a table's streams and shards, or of the topics."""
    metrics.GAPS_OPEN.labels(table).set(sum(row.gap is not None for each in rows for row in each))


def measure_owed_snapshot(leases: Leases, now: int) -> None:
    """Measure for how long a snapshot is owed."""
    owed = [now - row.since for row in leases.rows(LEASES.snapshots()).values() if row.gap]
    metrics.SNAPSHOT_OWED.labels(USERS.name).set(max(owed, default=0) / 1000)
