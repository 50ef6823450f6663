"""What there is to read, and what was lost: the streams of a table, oldest first, their shards, and the topics.

Rule: whatever is found is written to the leases table before anything of it is read, and whatever is lost is written
there before anything goes on. So every bridge, the next one too, sees the same.
- A stream's shards are noted before the stream itself, so that a first listing that was cut short is done again.
- A stream that follows another waits until that one is drained, and is a gap: what was written between left no trace.
- Rows are read before the listing, so that a shard somebody has just found is never taken for a lost one.
- A listing may leave out an open shard: nothing is lost, finished or drained before several looks agree (absences.py),
  and whatever shows itself to whoever noted the stream, so soon after that, is a shard of the first listing.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from cdc_bridge import gaps, metrics
from cdc_bridge.absences import APART_MS, Absences
from cdc_bridge.leases import TOPICS_KEY, Leases, table_key
from cdc_bridge.lineage import (
    Row,
    Shard,
    ShardKey,
    State,
    drained,
    exhausted,
    lost,
    prunable,
    published_before,
    readable,
    strangers,
    tip,
)
from cdc_bridge.listings import Listings
from cdc_bridge.pages import GapError
from murmuration_runtime.errors import StoreAwayError

_VANISHED = "the shard left the stream before it was read to its end"
_NEVER_SEEN = "the shard came and went while no bridge looked, and so may have some before it"
_ALL = ""  # the name of "all shards" among those that are gone
_log = logging.getLogger(__name__)


class Streams(Protocol):
    """What is asked about the streams; dynamo_streams.Streams."""

    def arn(self, table: str) -> str | None:
        """Return the table's stream; None while it is still to come."""

    def shards(self, stream_arn: str) -> Sequence[Shard]:
        """List all its shards."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a stream has."""

    listing: Sequence[Shard]
    rows: Mapping[str, Row]
    tip_at: int
    is_drained: bool
    gone: Collection[Hashable]  # parents that no listing names any more


class Discovery:
    """Looks at tables and topics."""

    def __init__(
        self,
        streams: Streams,
        leases: Leases,
        topic_ids: Callable[[], Mapping[str, str]],
        policy: gaps.Policy,
        first: State,
        older_rows: Callable[[str, str], bool],
        clock: Callable[[], int],
        steady: Callable[[], int],
        bridges: Callable[[], int] = lambda: 1,
    ) -> None:
        self._streams = streams
        self._leases = leases
        self._topic_ids = topic_ids
        self._holds_up = policy is gaps.Policy.FAIL
        self._first = first
        self._older_rows = older_rows
        self._clock = clock
        self._steady = steady
        self.listings = Listings(self._shards, bridges, clock, steady)
        self.rows_read: dict[str, int] = {}  # by table, in its last look
        self.away: dict[str, StoreAwayError | None] = {}  # why a table did not name its stream in its last look
        self._absences: defaultdict[str, Absences] = defaultdict(Absences)  # by stream
        self._strangers: defaultdict[str, Absences] = defaultdict(Absences)  # parents that nobody knows, by stream
        self._begun_at: dict[str, int] = {}  # when we noted a stream, by our steady clock

    def table(self, table: str) -> Mapping[ShardKey, Row]:
        """Look at a table's streams and return the shards that may be read; a drained stream makes way for the next."""
        current, self.away[table] = self._current(table)
        if current is not None:
            self._begin(table, current)
        streams = self._leases.rows(table_key(table))
        found: dict[ShardKey, Row] = {}
        shards: list[Row] = []
        tips: list[int] = []
        for stream_arn in sorted(streams):  # their labels are the times when they were made
            row = streams[stream_arn]
            if row.state is State.ENDED:
                continue
            if row.state is State.GAP:
                tips.append(row.tip_at)
                break
            look = self._look(table, row, State.LEFT if len(streams) > 1 else self._first)
            shards += look.rows.values()
            tips.append(look.tip_at)
            found |= {
                ShardKey(table, stream_arn, shard.shard_id): self._row(shard, look.rows, row.tip_at)
                for shard in readable(look.listing, look.rows, look.gone)
            }
            if not look.is_drained:
                break
            if current not in (None, stream_arn):
                self._leases.overrule(table_key(table), row, replace(row, state=State.ENDED))
        self.rows_read[table] = len(shards)
        states = Counter(known.state for known in shards)
        for state in State:
            metrics.SHARDS.labels(table, state).set(states[state])
        if tips:
            metrics.PUBLISHED_UNTIL.labels(table).set(min(tips))
        gaps.count_open(table, streams.values(), shards)
        return found

    def topics(self) -> bool:
        """Compare the topics with those that were published to before; say whether a gap of theirs holds all up."""
        ids, rows = self._topic_ids(), self._leases.rows(TOPICS_KEY)
        for name, topic_id in ids.items():
            row = rows.get(name)
            if row is None:
                self._leases.note(TOPICS_KEY, Row(name, State.READING, position=topic_id))
            elif row.position != topic_id:
                detail = f"its id is now {topic_id}, so what was published to it before is gone"
                passed = replace(row, position=topic_id)
                rows[name] = self._lose(TOPICS_KEY, TOPICS_KEY, row, gaps.Kind.TOPIC, detail, passed)
        gaps.count_open(TOPICS_KEY, rows.values())
        gaps.measure_owed_snapshot(self._leases, self._clock())
        return any(row.state is State.GAP for row in rows.values())

    def _current(self, table: str) -> tuple[str | None, StoreAwayError | None]:
        """Ask for the table's stream; while there is no answer, the streams that are known can still be read."""
        try:
            return self._streams.arn(table), None
        except StoreAwayError as error:
            return None, error

    def _begin(self, table: str, stream_arn: str) -> None:
        """Note a stream that is new to us."""
        key = table_key(table)
        known = self._leases.rows(key)
        if stream_arn in known:
            return
        listing = self.listings.of(stream_arn).shards
        if not listing:  # it is being made
            return
        noted = self._leases.rows(stream_arn)  # by whoever was cut short: go on where they ended
        first = State.LEFT if known else self._first
        for shard in (shard for shard in listing if shard.shard_id not in noted):
            self._leases.note(stream_arn, Row(shard.shard_id, first, since=self._clock()))
        if not known:
            about = {"table": table, "stream_arn": stream_arn, "start": self._first}
            if self._older_rows(table, stream_arn):
                next_ = gaps.repair_of(table, stream_arn)
                warning = "the table may have rows older than its stream: no events tell of them"
                gaps.owe_repair(self._leases, table, stream_arn, warning, self._clock())
                _log.warning(warning, extra={**about, "next": next_})
            if self._leases.note(key, Row(stream_arn, State.READING, since=self._clock())):
                self._begun_at[stream_arn] = self._steady()
            _log.info("table seen for the first time", extra=about)
            return
        detail = f"it follows {max(known)}, and what was written between the two left no trace"
        state = State.GAP if self._holds_up else State.READING
        kind = gaps.Kind.STREAM
        gap = gaps.describe(kind, detail, None)
        gaps.owe_repair(self._leases, table, stream_arn, gap, self._clock())
        if self._leases.note(key, Row(stream_arn, state, since=self._clock(), gap=gap)):
            self._begun_at[stream_arn] = self._steady()
            gaps.tell(table, stream_arn, "", None, kind, detail)

    def _look(self, table: str, stream: Row, first: State) -> Look:
        """List a stream's shards, and write down what has become of those that it no longer names."""
        stream_arn = stream.shard_id
        rows = self._leases.rows(stream_arn)
        found = self.listings.of(stream_arn)
        listing, listed_at = found.shards, found.listed_at
        if self._steady() - self._begun_at.get(stream_arn, -APART_MS) < APART_MS:
            for shard in (shard for shard in listing if shard.shard_id not in rows):
                row = Row(shard.shard_id, first, since=stream.since)
                if self._leases.note(stream_arn, row):
                    rows[shard.shard_id] = row
        names_lost, names_exhausted = lost(listing, rows, listed_at), exhausted(listing, rows, listed_at)
        absent = names_lost | names_exhausted | ({_ALL} if drained(listing, rows) else set())
        gone = self._absences[stream_arn].look(absent, self._steady()) if found.is_new else set()
        for name in names_lost & gone:
            unseen = Row(name, State.OPENED, since=max(stream.since, stream.tip_at))
            if name not in rows:
                self._leases.note(stream_arn, unseen)
            row = rows.get(name, unseen)
            detail = _VANISHED if name in rows else _NEVER_SEEN
            ended = replace(row, state=State.ENDED, since=listed_at, tip_at=published_before(row.since, row.tip_at))
            rows[name] = self._lose(table, stream_arn, row, gaps.Kind.VANISHED, detail, ended)
        for name in names_exhausted & gone:
            ended = replace(rows[name], state=State.ENDED)
            if self._leases.overrule(stream_arn, rows[name], ended):
                rows[name] = ended
        for name in prunable(listing, rows, listed_at):
            self._leases.prune(stream_arn, rows.pop(name))
        if found.is_new:
            self._strangers[stream_arn].look(strangers(listing, rows), self._steady())
        tip_at, parents_gone = tip(listing, rows, listed_at), self._strangers[stream_arn].gone
        look = Look(listing, rows, tip_at, is_drained=_ALL in gone, gone=parents_gone)
        self._leases.advance(table_key(table), stream_arn, look.tip_at)
        return look

    def _shards(self, stream_arn: str) -> Sequence[Shard]:
        try:
            return self._streams.shards(stream_arn)
        except GapError:  # the stream is gone with all its shards
            return []

    def _lose(self, table: str, stream_arn: str, row: Row, kind: gaps.Kind, detail: str, passed: Row) -> Row:
        """Write down a gap, once; return the row: `passed` is what it becomes if nobody need clear the gap first.

        A row that has changed since it was read is judged again in the next look, and nothing goes on before.
        """
        becomes = replace(passed, gap=gaps.describe(kind, detail, row.position))
        if self._holds_up:
            becomes = replace(becomes, state=State.GAP, since=row.since)
        loss = passed.position if kind is gaps.Kind.TOPIC else row.since  # as often as it is tried
        gaps.owe_repair(self._leases, table, row.shard_id, str(becomes.gap), self._clock(), loss)
        if self._leases.overrule(stream_arn, row, becomes):
            gaps.tell(table, stream_arn, row.shard_id, row.position, kind, detail)
            return becomes
        return becomes if self._holds_up else row

    def _row(self, shard: Shard, rows: Mapping[str, Row], tip_at: int) -> Row:
        """Return a shard's row, or the one it will have: nothing in it is older than its parent's tip."""
        if shard.shard_id in rows:
            return rows[shard.shard_id]
        parent = rows.get(shard.parent_id or "")
        since = published_before(parent.since, parent.tip_at) if parent else tip_at or self._clock()
        return Row(shard.shard_id, State.OPENED, since=since)
