"""Each unkindness does what it says, when its switch says so, and is counted when it happened."""

import pytest
from botocore.exceptions import BotoCoreError, ClientError, ConnectionClosedError, ReadTimeoutError

from murmuration_testkit.unkind_aws import Actors, UnkindAws, Unkindness

KEY = {"partition_id": {"S": "FollowChanged/0"}, "shard_id": {"S": "place"}}
ADD = {
    "TableName": "ledgers",
    "Key": KEY,
    "UpdateExpression": "ADD version :one",
    "ExpressionAttributeValues": {":one": {"N": "1"}},
}
ONCE = {**ADD, "ConditionExpression": "attribute_not_exists(version)"}


def row(follower, followee="bob"):
    return {"followee_id": {"S": followee}, "follower_id": {"S": follower}, "followed_at": {"N": "1"}}


@pytest.fixture
def aws():
    return UnkindAws(seed=1)


@pytest.fixture
def dynamodb(aws):
    return aws.client(attempts=2, read_seconds=3)


@pytest.fixture
def streams(aws):
    return aws.client("dynamodbstreams")


@pytest.fixture
def version(dynamodb):
    """Return how often the place was written."""

    def version():
        item = dynamodb.get_item(TableName="ledgers", Key=KEY, ConsistentRead=True).get("Item", {})
        return int(item.get("version", {"N": "0"})["N"])

    return version


def count_of(dynamodb, **where):
    query = {"KeyConditionExpression": "follower_id = :me", "ExpressionAttributeValues": {":me": {"S": "alice"}}}
    return dynamodb.query(TableName="followers", IndexName="by_follower", **query, **where)["Count"]


def begin(aws, streams):
    stream = aws.stream("followers")
    (shard,) = stream.open_shards()
    where = {"StreamArn": stream.arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
    return streams.get_shard_iterator(**where)["ShardIterator"]


def test_an_index_lags_by_virtual_time(aws, dynamodb):
    """The table itself knows at once."""
    aws.unkind[Unkindness.INDEX_LAG] = (30, 30)
    dynamodb.put_item(TableName="followers", Item=row("alice"))
    aws.sleep(29)
    assert (count_of(dynamodb), aws.occurred[Unkindness.INDEX_LAG]) == (0, 1)
    assert dynamodb.scan(TableName="followers")["Count"] == 1
    aws.sleep(1)
    assert (count_of(dynamodb), aws.occurred[Unkindness.INDEX_LAG]) == (1, 1)


def test_a_listing_lags_by_virtual_time(aws, streams):
    """Neither the child nor its parent's end is shown before."""
    aws.unkind[Unkindness.LISTING_LAG] = (10, 10)
    stream = aws.stream("followers")
    stream.roll_over()

    def listed():
        shards = streams.describe_stream(StreamArn=stream.arn)["StreamDescription"]["Shards"]
        return ["EndingSequenceNumber" in shard["SequenceNumberRange"] for shard in shards]

    assert (listed(), aws.occurred[Unkindness.LISTING_LAG]) == ([False], 1)
    aws.sleep(10)
    assert (listed(), aws.occurred[Unkindness.LISTING_LAG]) == ([True, False], 1)


def test_a_listing_lacks_a_shard_once(aws, streams):
    """The next has it again."""
    arn = aws.stream("followers").arn
    aws.order(Unkindness.MISSING_SHARD)
    found = [len(streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]) for _ in range(2)]
    assert (found, aws.occurred[Unkindness.MISSING_SHARD]) == ([0, 1], 1)


def test_a_stream_lags_behind_the_commits(aws, dynamodb, streams):
    """An empty page is no tip; nor is one that is empty for no reason."""
    aws.unkind[Unkindness.STREAM_LAG] = (2, 2)
    dynamodb.put_item(TableName="followers", Item=row("alice"))
    iterator = begin(aws, streams)
    assert streams.get_records(ShardIterator=iterator)["Records"] == []
    assert aws.occurred[Unkindness.STREAM_LAG] == 1
    aws.sleep(2)
    aws.order(Unkindness.EMPTY_PAGE)
    answer = streams.get_records(ShardIterator=iterator)
    assert (answer["Records"], aws.occurred[Unkindness.EMPTY_PAGE]) == ([], 1)
    assert len(streams.get_records(ShardIterator=answer["NextShardIterator"])["Records"]) == 1


def test_the_time_of_a_record_is_rounded(aws, dynamodb, streams):
    """Down to the second."""
    aws.unkind[Unkindness.ROUNDED_TIME] = 1
    aws.sleep(0.9)
    dynamodb.put_item(TableName="followers", Item=row("alice"))
    (record,) = streams.get_records(ShardIterator=begin(aws, streams))["Records"]
    assert record["dynamodb"]["ApproximateCreationDateTime"] == aws.now - 0.9
    assert aws.occurred[Unkindness.ROUNDED_TIME] == 1


def test_records_are_trimmed_after_a_day(aws, dynamodb, streams):
    """What was read before them is no place to go on from; the oldest that is left is."""
    stream = aws.stream("followers")
    dynamodb.put_item(TableName="followers", Item=row("alice"))
    (record,) = streams.get_records(ShardIterator=begin(aws, streams))["Records"]
    aws.sleep(24 * 3600)
    dynamodb.put_item(TableName="followers", Item=row("carol"))
    where = {"StreamArn": stream.arn, "ShardId": stream.open_shards()[0]}
    after = {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": record["dynamodb"]["SequenceNumber"]}
    with pytest.raises(streams.exceptions.TrimmedDataAccessException):
        streams.get_shard_iterator(**where, **after)
    assert len(streams.get_records(ShardIterator=begin(aws, streams))["Records"]) == 1


def test_a_read_that_is_not_consistent_lags(aws, dynamodb):
    """One that is consistent does not."""
    aws.unkind[Unkindness.READ_LAG] = (1, 1)
    dynamodb.update_item(**ADD)
    assert "Item" not in dynamodb.get_item(TableName="ledgers", Key=KEY)
    assert "Item" in dynamodb.get_item(TableName="ledgers", Key=KEY, ConsistentRead=True)
    assert aws.occurred[Unkindness.READ_LAG] == 1
    aws.sleep(1)
    assert "Item" in dynamodb.get_item(TableName="ledgers", Key=KEY)


def test_clocks_are_apart(aws):
    """Each process has its own; a second is as long for all."""
    aws.unkind[Unkindness.CLOCKS_APART_LAG] = (5, 5)
    process = aws.process()
    assert abs(process.time() - aws.time()) == 5
    before = process.ms()
    process.sleep(1)
    assert (process.ms() - before, aws.occurred[Unkindness.CLOCKS_APART_LAG]) == (1000, 3)


def test_a_lost_answer_is_a_write_that_was_done(aws, dynamodb, version):
    """However it is lost."""
    lost = set()
    for times in range(1, 10):
        aws.order(Unkindness.LOST_ANSWER)
        with pytest.raises((ReadTimeoutError, ConnectionClosedError, ClientError)) as raised:
            dynamodb.update_item(**ADD)
        lost.add(type(raised.value).__name__)
        assert version() == times == aws.occurred[Unkindness.LOST_ANSWER]
    assert lost == {"ReadTimeoutError", "ConnectionClosedError", "InternalServerError"}


def test_a_repeated_write_meets_its_own_success(aws, dynamodb, version):
    """A condition fails, a sum is added twice, and a transaction is not done again."""
    aws.order(Unkindness.REPEATED_WRITE)
    with pytest.raises(dynamodb.exceptions.ConditionalCheckFailedException):
        dynamodb.update_item(**ONCE)
    aws.order(Unkindness.REPEATED_WRITE)
    dynamodb.update_item(**ADD)
    assert version() == 3
    aws.order(Unkindness.REPEATED_WRITE)
    with pytest.raises(dynamodb.exceptions.TransactionInProgressException):
        dynamodb.transact_write_items(TransactItems=[{"Update": ADD}])
    assert (version(), aws.occurred[Unkindness.REPEATED_WRITE]) == (4, 3)


def test_a_late_write_comes_when_its_caller_has_given_up(aws, dynamodb, version):
    """Unless its condition no longer holds by then."""
    for times in (1, 1):
        aws.order(Unkindness.LATE_WRITE)
        with pytest.raises(ReadTimeoutError):
            dynamodb.update_item(**ONCE)
        aws.sleep(5)
        assert version() == times == aws.occurred[Unkindness.LATE_WRITE]


def test_a_call_hangs_in_virtual_time_and_does_nothing(aws, dynamodb, version):
    """For as long as its client's attempts take."""
    began = aws.now
    aws.order(Unkindness.HANG, "UpdateItem")
    with pytest.raises(ReadTimeoutError):
        dynamodb.update_item(**ADD)
    assert (aws.now - began, version(), aws.occurred[Unkindness.HANG]) == (6, 0, 1)


@pytest.mark.parametrize("unkindness", [Unkindness.THROTTLING, Unkindness.REFUSAL, Unkindness.CONFLICT])
def test_a_call_that_is_refused_does_nothing(aws, dynamodb, version, unkindness):
    """With one of AWS's own codes."""
    codes = set()
    for _ in range(50):
        for write in (
            lambda: dynamodb.update_item(**ADD),
            lambda: dynamodb.transact_write_items(TransactItems=[{"Update": ADD}]),
        ):
            aws.order(unkindness)
            with pytest.raises(ClientError) as raised:
                write()
            codes.add(raised.value.response["Error"]["Code"])
    assert (version(), aws.occurred[unkindness]) == (0, 100)
    assert (
        codes
        == {
            Unkindness.THROTTLING: {
                "ProvisionedThroughputExceededException",
                "ThrottlingException",
                "RequestLimitExceeded",
                "TransactionCanceledException",
            },
            Unkindness.REFUSAL: {"ValidationException", "ResourceNotFoundException"},
            Unkindness.CONFLICT: {"TransactionConflictException", "TransactionCanceledException"},
        }[unkindness]
    )


def test_keys_are_left_unread_and_pages_are_short(aws, dynamodb):
    """Whoever asks again for the rest gets it."""
    for follower in "abcdefgh":
        dynamodb.put_item(TableName="followers", Item=row(follower))
    keys = [{name: row(follower)[name] for name in ("followee_id", "follower_id")} for follower in "abcdefgh"]
    aws.order(Unkindness.UNPROCESSED_KEYS)
    answer = dynamodb.batch_get_item(RequestItems={"followers": {"Keys": keys, "ConsistentRead": True}})
    left = answer["UnprocessedKeys"]["followers"]
    assert len(answer["Responses"]["followers"]) + len(left["Keys"]) == 8 > len(answer["Responses"]["followers"])
    assert dynamodb.batch_get_item(RequestItems={"followers": left})["UnprocessedKeys"] == {}
    aws.order(Unkindness.SHORT_PAGE)
    pages = list(dynamodb.get_paginator("scan").paginate(TableName="followers"))
    assert (len(pages), sum(page["Count"] for page in pages)) == (2, 8)
    assert (aws.occurred[Unkindness.UNPROCESSED_KEYS], aws.occurred[Unkindness.SHORT_PAGE]) == (1, 1)


def test_a_transaction_is_seen_in_the_middle(aws, dynamodb):
    """A reader sees its first item and not its second; a writer of the second is told of the conflict."""
    seen = []

    def others(where):
        seen.append(where)
        seen.extend(
            "Item" in dynamodb.get_item(TableName="users", Key=user(name), ConsistentRead=True) for name in "ab"
        )
        with pytest.raises(dynamodb.exceptions.TransactionConflictException):
            dynamodb.update_item(TableName="users", Key=user("b"))
        with pytest.raises(dynamodb.exceptions.TransactionCanceledException, match="TransactionConflict"):
            dynamodb.transact_write_items(TransactItems=[{"Put": {"TableName": "users", "Item": user("b")}}])
        dynamodb.update_item(TableName="users", Key=user("a"))

    def user(name):
        return {"user_id": {"S": name}}

    aws.meanwhile = others
    aws.order(Unkindness.ITEM_BY_ITEM)
    puts = [{"Put": {"TableName": "users", "Item": user(name)}} for name in "ab"]
    dynamodb.transact_write_items(TransactItems=puts)
    assert seen == ["between two commits of TransactWriteItems", True, False]
    assert dynamodb.scan(TableName="users")["Count"] == 2
    assert (aws.occurred[Unkindness.ITEM_BY_ITEM], aws.occurred[Unkindness.CONFLICT]) == (2, 2)


def test_a_partition_key_of_an_index_takes_so_many_units_a_second(aws, dynamodb):
    """A transaction that finds none left does nothing; other keys have their own, and the next second has new ones."""

    def put(followee, *, follower="alice"):
        item = {**row(follower, followee)}
        dynamodb.transact_write_items(TransactItems=[{"Put": {"TableName": "followers", "Item": item}}])

    aws.units["by_follower"] = 4
    put("bob")
    put("carol")
    with pytest.raises(ClientError, match="ThrottlingError"):
        put("dave")
    assert aws.occurred[Unkindness.THROTTLING] == 1
    assert count_of(dynamodb) == 2
    put("bob")
    put("dave", follower="erin")
    aws.sleep(1)
    put("dave")
    assert count_of(dynamodb) == 3


def test_dynamodb_finishes_what_a_dead_caller_began(aws, dynamodb):
    """All of the transaction is there."""

    def die(_):
        raise SystemExit

    aws.meanwhile = die
    aws.order(Unkindness.ITEM_BY_ITEM)
    puts = [{"Put": {"TableName": "users", "Item": {"user_id": {"S": name}}}} for name in "abc"]
    with pytest.raises(SystemExit):
        dynamodb.transact_write_items(TransactItems=puts)
    assert dynamodb.scan(TableName="users")["Count"] == 3


def test_a_read_of_several_items_is_torn(aws, dynamodb):
    """Others write between its first item and its second; and before it, if they may."""
    wrote = []

    def others(where):
        wrote.append(where)
        dynamodb.put_item(TableName="followers", Item=row("b") | {"followed_at": {"N": str(len(wrote) + 1)}})

    for follower in "ab":
        dynamodb.put_item(TableName="followers", Item=row(follower))
    aws.meanwhile = others
    aws.order(Unkindness.TORN_READ)
    assert [item["followed_at"]["N"] for item in dynamodb.scan(TableName="followers")["Items"]] == ["1", "2"]
    aws.order(Unkindness.INTERLEAVING)
    assert [item["followed_at"]["N"] for item in dynamodb.scan(TableName="followers")["Items"]] == ["1", "3"]
    assert (aws.occurred[Unkindness.TORN_READ], aws.occurred[Unkindness.INTERLEAVING]) == (1, 1)
    assert wrote == ["between two items of Scan on followers", "before Scan on followers"]


def test_all_is_kind_for_a_while(aws, dynamodb):
    """So that a test may look at what has become of it all."""
    aws.unkind[Unkindness.HANG] = 1.0
    with aws.kind():
        dynamodb.update_item(**ADD)
    with pytest.raises(BotoCoreError):
        dynamodb.update_item(**ADD)


def test_the_same_seed_is_the_same_history():
    """So that what hypothesis finds can be seen again."""

    def history(seed):
        aws = UnkindAws(seed, {Unkindness.THROTTLING: 0.5})
        dynamodb = aws.client()
        outcomes = []
        for _ in range(20):
            try:
                outcomes.append(dynamodb.update_item(**ADD)["ResponseMetadata"]["HTTPStatusCode"])
            except ClientError as error:
                outcomes.append(error.response["Error"]["Code"])
        return outcomes

    assert history(3) == history(3) != history(4)


def test_it_says_what_it_does_not_know(dynamodb):
    """Rather than to answer something."""
    with pytest.raises(NotImplementedError, match="ReturnConsumedCapacity"):
        dynamodb.get_item(TableName="ledgers", Key=KEY, ReturnConsumedCapacity="TOTAL")
    with pytest.raises(NotImplementedError, match="only attributes at the top"):
        dynamodb.update_item(TableName="ledgers", Key=KEY, UpdateExpression="REMOVE a.b")


def test_actors_take_turns_as_the_seed_says():
    """Each is ordinary code; the same seed is the same history, and time passes while all sleep."""

    def history(seed):
        aws = UnkindAws(seed, {Unkindness.INTERLEAVING: 0.5})
        dynamodb, actors, seen = aws.client(), Actors(aws), []

        def act(name):
            for _ in range(5):
                dynamodb.update_item(**ADD)
                seen.append(name)
            aws.sleep(60)
            seen.append(f"{name} slept until {aws.now}")

        for name in "ab":
            actors.add(name, lambda name=name: act(name))
        actors.run()
        return seen

    assert history(1) == history(1) != history(2)
    assert "".join(history(1)[:10]) not in ("aaaaabbbbb", "bbbbbaaaaa")
    assert history(1)[10].endswith(f"slept until {UnkindAws().now + 60}")


def test_an_actor_that_is_killed_asks_nothing_more(aws, dynamodb, version):
    """Not even in its last moments; what it raised otherwise ends the run."""
    actors = Actors(aws)

    def victim():
        try:
            aws.sleep(1000)
        finally:
            dynamodb.update_item(**ADD)

    asleep = actors.add("victim", victim)
    actors.add("killer", lambda: (aws.sleep(1), actors.kill(asleep)))
    actors.run()
    assert version() == 0
    actors.add("faulty", lambda: {}["nothing"])
    actors.add("sleeper", victim)
    with pytest.raises(KeyError, match="nothing"):
        actors.run()
    assert version() == 0
