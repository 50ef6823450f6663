"""Where an author's tweets that are not deleted are listed. Pure.

Rule: until the migration live-tweets is switched, in by_author, which has the deleted ones, too; from then on in
by_live_author. Whoever asks leaves out rows with deleted_at in both: in the new index a row has it for as long as
nobody has run backfill again after an older release deleted it.
"""

from typing import NamedTuple

from contracts.tables import TWEETS


class Listing(NamedTuple):
    """An index, and the attribute under which it has the author."""

    index_name: str
    author: str


def listing(*, is_switched: bool) -> Listing:
    """Return where to ask: it costs a query for each thousand deleted tweets before the switch, none after it."""
    if is_switched:
        return Listing(TWEETS.by_live_author, TWEETS.live_author_id)
    return Listing(TWEETS.by_author, TWEETS.author_id)
