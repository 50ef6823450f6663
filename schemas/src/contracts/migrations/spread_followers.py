"""Follows, each into its part of its followee's list. Pure."""

from contracts.migrations import Row
from contracts.tables import FOLLOWERS


def backfill(row: Row) -> list[Row]:
    """Return the row with its part; itself, if it has that."""
    part = FOLLOWERS.part_of(row[FOLLOWERS.followee_id]["S"], row[FOLLOWERS.follower_id]["S"])
    return [{**row, FOLLOWERS.part: {"S": part}}]
