"""A tip is never later than what the stream has shown."""

from collections import Counter
from random import Random

from cdc_bridge.tips import AT_THE_TIP, QUIET_MS, Quiet, Showing, created_ms
from murmuration_testkit.unkind_aws import UnkindAws, Unkindness

NOW = 1_700_000_000_000
RECORD = {"dynamodb": {"ApproximateCreationDateTime": NOW / 1000}}


def test_a_page_with_records_is_published_as_far_as_its_last_record():
    """However few they are: AWS may have cut it."""
    quiet = Quiet()
    assert quiet.tip([RECORD], NOW + 60_000) == created_ms(RECORD) == NOW


def test_empty_pages_say_something_only_when_nothing_came_for_a_while():
    """A record in between begins it anew; so does a new reader."""
    quiet = Quiet()
    assert [quiet.tip([], NOW + ms) for ms in (0, QUIET_MS - 1, QUIET_MS, QUIET_MS + 7)] == [None, None, NOW, NOW + 7]
    assert quiet.tip([RECORD], NOW + QUIET_MS + 8) == NOW
    assert [quiet.tip([], NOW + 9 * QUIET_MS + ms) for ms in (0, QUIET_MS)] == [None, NOW + 9 * QUIET_MS]


def test_on_the_unkind_aws_no_tip_is_later_than_what_was_shown():
    """Records that show late, pages that are empty for no reason, times that are rounded down; and tips do move."""
    occurred = Counter()
    for seed in range(30):
        aws = UnkindAws(seed, {Unkindness.STREAM_LAG: 4.0, Unkindness.EMPTY_PAGE: 0.2, Unkindness.ROUNDED_TIME: 1.0})
        dynamodb, streams, dice = aws.client(), aws.client("dynamodbstreams"), Random(seed)
        shard = next(iter(aws.stream("followers").shards.values()))
        begin = {"StreamArn": aws.stream("followers").arn, "ShardId": shard.shard_id}
        iterator = streams.get_shard_iterator(**begin, ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
        quiet, shown, last = Quiet(), 0, 0
        for number in range(400):
            if dice.random() < (0.5 if number % 100 < 30 else 0.02):
                key = {"followee_id": {"S": f"{number}"}, "follower_id": {"S": "fan"}}
                dynamodb.put_item(TableName="followers", Item={**key, "followed_at": {"N": "1"}})
            asked_at = aws.ms()
            page = streams.get_records(ShardIterator=iterator)
            iterator, shown = page["NextShardIterator"], shown + len(page["Records"])
            records = [{"dynamodb": {"ApproximateCreationDateTime": time}} for time in _times(page)]
            if (tip := quiet.tip(records, asked_at)) is not None:
                last = tip
                assert sum(at * 1000 < tip for at in shard.commits) <= shown
            aws.sleep(0.4)
        assert last > aws.ms() - 60_000
        occurred += aws.occurred
    assert {Unkindness.STREAM_LAG, Unkindness.EMPTY_PAGE, Unkindness.ROUNDED_TIME} <= {*occurred}


def test_three_pages_at_the_tip_show_what_there_was_when_the_first_of_them_was_asked_for():
    """Not before the reader has come to the tip, which takes it a while of such pages; one that is full begins anew."""
    showing = Showing()
    early = [showing.until(NOW + ms, is_tip=True) for ms in range(0, QUIET_MS, 1_000)]
    assert early == [None] * 5
    assert [showing.until(NOW + QUIET_MS + ms, is_tip=True) for ms in (0, 400)] == [NOW + 3_000, NOW + 4_000]
    assert showing.until(NOW + QUIET_MS + 500, is_tip=False) is None
    again = [showing.until(NOW + 2 * QUIET_MS + ms, is_tip=True) for ms in (0, QUIET_MS - 1)]
    assert again == [None, None]
    assert showing.until(NOW + 3 * QUIET_MS, is_tip=True) == NOW + 2 * QUIET_MS


def test_whatever_shows_late_is_read_when_its_showing_is_said_to_be_published():
    """A record that shows long after its commit is behind the moment; one that has shown by then is not missing."""
    said = 0
    for seed in range(20):
        aws = UnkindAws(seed, {Unkindness.STREAM_LAG: 4.0})
        dynamodb, streams, dice = aws.client(), aws.client("dynamodbstreams"), Random(seed)
        shard = next(iter(aws.stream("followers").shards.values()))
        begin = {"StreamArn": aws.stream("followers").arn, "ShardId": shard.shard_id}
        iterator = streams.get_shard_iterator(**begin, ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
        showing, read, asked = Showing(), 0, []
        for number in range(300):
            if dice.random() < 0.3:
                key = {"followee_id": {"S": f"{number}"}, "follower_id": {"S": "fan"}}
                dynamodb.put_item(TableName="followers", Item={**key, "followed_at": {"N": "1"}})
            asked.append(aws.ms())
            page = streams.get_records(ShardIterator=iterator)
            iterator, read = page["NextShardIterator"], read + len(page["Records"])
            if (until := showing.until(asked[-1], is_tip=True)) is not None:
                assert until == asked[-AT_THE_TIP]
                assert shard.visible(until / 1000) <= read
                said += 1
            aws.sleep(0.4)
    assert said


def _times(page):
    return [record["dynamodb"]["ApproximateCreationDateTime"] for record in page["Records"]]
