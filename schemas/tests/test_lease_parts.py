"""Where the rows of a stream's shards lie, before, during and after they are spread."""

from contracts.tables import LEASES


def item(shard, owner=None):
    return {LEASES.shard_id: {"S": shard}} | ({LEASES.owner: {"S": owner}} if owner else {})


def test_a_row_lies_in_one_of_the_parts_and_the_old_one_is_read_first():
    """2,000 shards lie evenly: no part has twice its share."""
    parts = LEASES.parts_of("arn")
    assert (parts[0], len(set(parts))) == ("arn", 17)
    places = [LEASES.part_of("arn", f"shardId-{n:020}") for n in range(2000)]
    assert set(places) == set(parts[1:])
    assert max(map(places.count, parts[1:])) < 2 * 2000 / 16


def test_what_was_left_behind_is_no_row():
    """Whether the moved row was seen, too, or not yet."""
    old, new = item("a", LEASES.moved_to("arn#01")), item("a", "me")
    assert LEASES.shards([old, item("b"), new]) == {"a": new, "b": item("b")}
    assert LEASES.shards([old]) == {}
    assert LEASES.shards([item("a"), new]) == {"a": new}
