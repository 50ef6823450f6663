"""Until when all that whole streams have shown is published, for those who must know of the last seconds.

Rule: each open shard's row says it of the shard, whoever reads that; here it is said of the stream. A shard that ended
holds it back while nobody has listed its child. Each bridge that reads such a shard says it, so it needs none in
particular.
"""

from collections.abc import Callable, Collection, Sequence

from cdc_bridge.leases import Leases, table_key
from cdc_bridge.lineage import Shard, State, shown
from contracts.tables import BLOCKS, FOLLOW_REQUESTS, FOLLOWERS, MUTES, USERS

# Whom timelines show, and what is shown of others, rests on these: workers say until when each is settled.
RESTED_ON = tuple(table.name for table in (USERS, FOLLOWERS, FOLLOW_REQUESTS, BLOCKS, MUTES))


class ShownStreams:
    """What is said of some tables' streams."""

    def __init__(
        self,
        leases: Leases,
        listed: Callable[[str], Sequence[Shard]],
        clock: Callable[[], int],
        tables: Collection[str] = RESTED_ON,
    ) -> None:
        """Take what returns the last listing of a stream."""
        self._leases = leases
        self._listed = listed
        self._clock = clock
        self.tables = tables

    def tell(self) -> None:
        """Say it of each stream that is not read to its end yet."""
        for table in self.tables:
            for stream_arn, stream in self._leases.rows(table_key(table)).items():
                listing = self._listed(stream_arn)
                if stream.state is State.READING and not stream.gap and listing:
                    until = shown(listing, self._leases.rows(stream_arn), self._clock())
                    if until > stream.shown_until:
                        self._leases.show(table_key(table), stream_arn, until)
