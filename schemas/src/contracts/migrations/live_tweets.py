"""Tweets: those that are not deleted get their author once more, for an index of them; the others lose text. Pure."""

from contracts.migrations import Row
from contracts.tables import TWEETS


def backfill(row: Row) -> list[Row]:
    """Return the row with live_author_id exactly if it is not deleted; an older release deletes and leaves it there."""
    if TWEETS.deleted_at in row:
        return [_without(row, TWEETS.live_author_id)]
    return [{**row, TWEETS.live_author_id: row[TWEETS.author_id]}]


def contract(row: Row) -> list[Row]:
    """Return a deleted row without what was said; any other as it is."""
    return [_without(row, TWEETS.text) if TWEETS.deleted_at in row else row]


def _without(row: Row, gone: str) -> Row:
    return {name: value for name, value in row.items() if name != gone}
