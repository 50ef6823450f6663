"""Our share of the shards: which leases to take, which to give back, and who else is alive.

Rule: what is nobody's or a dead owner's is taken until we hold our share. Whether an owner lives is judged by its own
writes and our steady clock: expiry.py. A shard is shared among the bridges that can take it, and no others: one that
does not read its table has no share of it, and one up to 0.2.0 none once rows move, but keeps what it holds.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from cdc_bridge.balance import moves
from cdc_bridge.expiry import Expiry
from cdc_bridge.held_lease import HeldLease
from cdc_bridge.leases import Leases
from cdc_bridge.lineage import Row, ShardKey
from contracts.tables import FOLLOWERS, TWEETS

UP_TO_0_3 = frozenset({FOLLOWERS.name, TWEETS.name})  # what a bridge reads that does not say so
MOVED_AT_ONCE = 20  # given back in a round, for their rows to move when they are taken again


@dataclass(frozen=True, slots=True)
class Moves:
    """What to do, and in how many milliseconds the next lease may run out."""

    take: Mapping[ShardKey, Row]
    give: Collection[ShardKey]
    due_ms: int


class Sharing:
    """Takes leases for this process; a lease holds for lease_ms without a renewal."""

    def __init__(
        self,
        leases: Leases,
        owner: str,
        tables: Collection[str],
        lease_ms: int,
        wall: Callable[[], int],
        steady: Callable[[], int],
    ) -> None:
        """Take our name, and the tables whose streams we read."""
        self._leases = leases
        self._owner = owner
        self._tables = tables
        self._lease_ms = lease_ms
        self._wall = wall
        self._steady = steady
        self.bridges = 1
        self._shards = Expiry(lease_ms)
        self._bridges = Expiry(lease_ms)

    def moves(self, rows: Mapping[ShardKey, Row], held: Mapping[ShardKey, HeldLease]) -> Moves:
        """Say which of the shards that may be read to take, and which of ours are too many or to move."""
        bridges = self._leases.live(self._owner, self._tables, self._wall() + self._lease_ms)
        now = self._steady()
        until = self._bridges.look(bridges, now)
        alive = {name for name in bridges if until[name] > now}
        self.bridges = len(alive | {self._owner})
        for name in bridges.keys() - alive - {self._owner}:
            self._leases.leave(name)
        ends = self._shards.look(rows, now)
        owners: dict[ShardKey, str | None] = dict.fromkeys(held, self._owner)
        for shard, row in rows.items():
            if shard not in owners:  # one of our own name that we do not hold was lost
                owners[shard] = row.owner if row.owner != self._owner and ends[shard] > now else None
        take, give = self._shared({name: bridges[name] for name in alive}, owners)
        moving = [shard for shard, held_lease in held.items() if self._leases.must_move(held_lease.lease.part)]
        give += [shard for shard in moving[:MOVED_AT_ONCE] if shard not in give]
        waits = [until[name] for name in alive - {self._owner}]
        waits += [ends[shard] for shard, owner in owners.items() if owner not in (None, self._owner)]
        return Moves({shard: rows[shard] for shard in take}, give, min(waits, default=now + self._lease_ms) - now)

    def _shared(
        self, alive: Mapping[str, Row], owners: Mapping[ShardKey, str | None]
    ) -> tuple[list[ShardKey], list[ShardKey]]:
        """Share what the same bridges can take evenly among these."""
        is_moving = any(self._leases.must_move(shard.stream_arn) for shard in owners)
        groups: dict[frozenset[str], dict[ShardKey, str | None]] = {}
        for table in {shard.table for shard in owners}:
            of_table = {shard: owner for shard, owner in owners.items() if shard.table == table}
            groups.setdefault(_readers(table, alive, is_moving), {}).update(of_table)
        shared = [moves(self._owner, sharers, group) for sharers, group in groups.items()]
        return [shard for take, _ in shared for shard in take], [shard for _, give in shared for shard in give]

    def take(self, shard: ShardKey, row: Row) -> HeldLease | None:
        """Take a shard, unless its row has changed since we saw it."""
        sent_at = self._steady()
        lease = self._leases.take(shard.stream_arn, row, self._owner, self._wall() + self._lease_ms)
        if lease is None:
            return None
        return HeldLease(self._leases, lease, self._lease_ms, sent_at, self._wall, self._steady)

    def leave(self) -> None:
        """Say that we are gone."""
        self._leases.leave(self._owner)


def _readers(table: str, alive: Mapping[str, Row], is_moving: bool) -> frozenset[str]:
    """Return the bridges that can take a table's shards; one up to 0.2.0 counts no renewals."""
    return frozenset(
        name for name, row in alive.items() if table in (row.tables or UP_TO_0_3) and (row.renewals or not is_moving)
    )
