"""What an operator may ask and order: python -m cdc_bridge shards | release | seek | clear.

Rule: an order changes the row and ends whoever's ownership of it, so it holds at once and no bridge can undo it with
what it had in hand. Whoever takes the shard next goes on as the row says.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from cdc_bridge.gaps import next_steps, owe_repair, repair_of
from cdc_bridge.leases import TOPICS_KEY, Leases, table_key
from cdc_bridge.lineage import Row, State, published_before
from contracts.tables import LEASES


def meaning_of(to: str) -> str:
    """Say what it means to read a shard from there on."""
    match to:
        case "TRIM_HORIZON":
            return "All records that the stream still has are published again; consumers drop the repeats."
        case "LATEST":
            return "Records that are committed by now and not yet published are lost: repair that as a gap."
        case _ if to.isdecimal():
            return f"Records after {to} are published, perhaps again. Unpublished records before {to} are lost."
    raise OrderError(f"{to!r} is neither TRIM_HORIZON nor LATEST nor a sequence number")


class OrderError(Exception):
    """The order cannot be carried out, and why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A row, and where it stands: a shard of a stream, a stream of a table, or a topic."""

    of: str  # the partition of the leases table
    table: str
    row: Row
    is_shard: bool


class Orders:
    """Sees all rows, and changes one."""

    def __init__(self, leases: Leases, tables: Sequence[str]) -> None:
        self._leases = leases
        self._tables = tables

    def shards(self, now: int) -> Iterator[str]:
        """Describe every stream, shard and topic in one line each."""
        for entry in self._entries():
            row = entry.row
            until = f"published until {(now - row.tip_at) / 1000:.1f} s ago" if row.tip_at else "never read to its tip"
            words = [entry.table, row.shard_id, row.state]
            if entry.is_shard:
                words += [f"owner {row.owner or 'nobody'}", f"position {row.position or 'none'}"]
            if entry.of != TOPICS_KEY and row.state is not State.ENDED:
                words.append(until)
            gap = [f"GAP {row.gap}; next: {next_steps(entry.table, row.shard_id)}"] if row.gap else []
            yield "  ".join([*words, *gap])
        for name, row in sorted(self._leases.rows(LEASES.snapshots()).items()):
            done = f"behind {row.position}" if row.position else "from the beginning"
            yield "  ".join(["snapshot", name, *([f"OWED {row.gap}"] if row.gap else [row.state, done])])

    def release(self, shard_id: str) -> str:
        """Take a shard from its owner, for any bridge to take."""
        entry = self._shard(shard_id)
        self._order(entry, entry.row)
        return f"{shard_id} is released. The next bridge with room takes it, perhaps the same one."

    def seek(self, shard_id: str, to: str, now: int) -> str:
        """Set where a shard is read from."""
        meaning = meaning_of(to)
        entry = self._shard(shard_id)
        moved = replace(entry.row, since=now, tip_at=0)
        if to == "TRIM_HORIZON":
            moved = replace(moved, state=State.LEFT, position=None)
        elif to == "LATEST":
            moved = replace(moved, state=State.SKIPPING, position=None)
        else:
            moved = replace(moved, state=State.READING, position=to)
        if to != "TRIM_HORIZON":
            owe_repair(self._leases, entry.table, shard_id, f"moved by an operator to {to}", now)
        self._order(entry, moved)
        return f"{shard_id} is read from {to} on. {meaning}"

    def clear(self, name: str, now: int) -> str:
        """Acknowledge the gap of a shard, a stream or a topic, so that what is left is read."""
        entry = self._entry(name)
        if entry.row.gap is None:
            raise OrderError(f"{name} has no gap")
        cleared = replace(entry.row, gap=None)
        if entry.row.state is State.GAP and entry.is_shard:
            tip_at = published_before(cleared.since, cleared.tip_at)
            cleared = replace(cleared, state=State.LEFT, position=None, since=now, tip_at=tip_at)
        elif entry.row.state is State.GAP:
            cleared = replace(cleared, state=State.READING)
        owe_repair(self._leases, entry.table, name, entry.row.gap, now)  # an older bridge noted none
        self._order(entry, cleared)
        return f"gap of {name} cleared ({entry.row.gap}); next: {repair_of(entry.table, name)}"

    def _order(self, entry: Entry, becomes: Row) -> None:
        if not self._leases.overrule(entry.of, entry.row, becomes):
            raise OrderError(
                f"{entry.row.shard_id} changed meanwhile: see `python -m cdc_bridge shards`, and try again"
            )

    def _shard(self, name: str) -> Entry:
        entry = self._entry(name)
        if not entry.is_shard:
            raise OrderError(f"{name} is not a shard")
        return entry

    def _entry(self, name: str) -> Entry:
        found = [entry for entry in self._entries() if entry.row.shard_id == name]
        if not found:
            raise OrderError(f"no shard, stream or topic is called {name}: see `python -m cdc_bridge shards`")
        return found[0]

    def _entries(self) -> Iterator[Entry]:
        for table in self._tables:
            for stream_arn, stream in sorted(self._leases.rows(table_key(table)).items()):
                yield Entry(table_key(table), table, stream, is_shard=False)
                for _, shard in sorted(self._leases.rows(stream_arn).items()):
                    yield Entry(stream_arn, table, shard, is_shard=True)
        for _, topic in sorted(self._leases.rows(TOPICS_KEY).items()):
            yield Entry(TOPICS_KEY, "topic", topic, is_shard=False)
