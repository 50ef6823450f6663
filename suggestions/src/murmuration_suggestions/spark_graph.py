"""From rows to numbers: everybody gets one, and who follows whom becomes pairs of them, sorted from either end.

Rule: people are numbered in the order of their ids, so everybody's number is the same whoever computes it.
A pair whose ends are not both people is left out: who deleted their account, or never made a profile, is nobody.
"""

from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from contracts.tables import BLOCKS, DISMISSALS, FOLLOW_REQUESTS, FOLLOWERS, MUTES, USERS
from murmuration_suggestions.folders import Folder
from murmuration_suggestions.local_graph import LISTS
from murmuration_suggestions.spark_tables import Export

PLACE_BITS = 33  # monotonically_increasing_id: the partition above, the place in it below


def write_people(export: Export, run: Folder, partitions: int) -> int:
    """Write everybody, by number: id, whether they may be suggested, the seed of their walks. Return how many."""
    living = f.col(USERS.created_at).isNotNull() & f.col(USERS.deleted_at).isNull()
    ordered = (
        export.rows(USERS)
        .where(living)
        .select(USERS.user_id, f.coalesce(USERS.discoverable, f.lit(True)).alias("suggestible"))
        .repartitionByRange(partitions, USERS.user_id)
        .sortWithinPartitions(USERS.user_id)
        .select("*", f.monotonically_increasing_id().alias("place"))
    )
    unnumbered = run / "unnumbered"
    ordered.write.parquet(unnumbered.for_spark)
    there = export.spark.read.parquet(unnumbered.for_spark).withColumn("part", f.shiftright("place", PLACE_BITS))
    counts = {row["part"]: row["count"] for row in there.groupBy("part").count().collect()}
    starts, total = [], 0
    for part in sorted(counts):
        starts.append((part, total))
        total += counts[part]
    if not total:
        return 0
    first = f.broadcast(export.spark.createDataFrame(starts, "part bigint, first bigint"))
    number = f.col("first") + f.col("place").bitwiseAND((1 << PLACE_BITS) - 1)
    people = there.join(first, "part").select(
        number.cast("int").alias("person"), USERS.user_id, "suggestible", f.xxhash64(USERS.user_id).alias("seed")
    )
    _sorted(people, partitions, "person").write.parquet((run / "people").for_spark)
    unnumbered.delete()
    return total


def write_pairs(export: Export, run: Folder, partitions: int) -> None:
    """Write who follows whom, by either, and whom not to suggest to whom."""
    following, followers, unwanted = ((run / name).for_spark for name in LISTS)
    people = export.spark.read.parquet((run / "people").for_spark).select("person", USERS.user_id)
    follows = _numbered(export.rows(FOLLOWERS), FOLLOWERS.follower_id, FOLLOWERS.followee_id, people)
    _sorted(follows, partitions, "row", "person").write.parquet(following)
    again = export.spark.read.parquet(following)
    back = again.select(f.col("person").alias("row"), f.col("row").alias("person"))
    _sorted(back, partitions, "row", "person").write.parquet(followers)
    against = _numbered(_unwanted(export), "one", "other", people).distinct()
    _sorted(against, partitions, "row", "person").write.parquet(unwanted)


def _unwanted(export: Export) -> DataFrame:
    """Return who is not to be shown whom, besides themselves and whom they follow: asked, blocked, muted, dismissed."""
    asked = export.rows(FOLLOW_REQUESTS).where(f.col(FOLLOW_REQUESTS.accepted_at).isNull())
    blocks, mutes = export.rows(BLOCKS), export.rows(MUTES)
    pairs = [
        asked.select(FOLLOW_REQUESTS.follower_id, FOLLOW_REQUESTS.followee_id),
        export.rows(DISMISSALS).select(DISMISSALS.user_id, DISMISSALS.dismissed_id),
        blocks.select(BLOCKS.blocker_id, BLOCKS.blocked_id),
        blocks.select(BLOCKS.blocked_id, BLOCKS.blocker_id),
        mutes.select(MUTES.muter_id, MUTES.muted_id),
        mutes.select(MUTES.muted_id, MUTES.muter_id),
    ]
    return reduce(DataFrame.union, (each.toDF("one", "other") for each in pairs))


def _numbered(pairs: DataFrame, one: str, other: str, people: DataFrame) -> DataFrame:
    """Return the numbers of pairs of ids."""
    rows = people.toDF("row", one)
    others = people.toDF("person", other)
    return pairs.join(rows, one).join(others, other).where("row != person").select("row", "person")


def _sorted(rows: DataFrame, partitions: int, *columns: str) -> DataFrame:
    """Sort over all partitions: one celebrity's rows may lie in many of them."""
    return rows.repartitionByRange(partitions, *columns).sortWithinPartitions(*columns)
