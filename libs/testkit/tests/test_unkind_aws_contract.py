"""What DynamoDB and its streams promise, as far as we use them: the same tests on the fake, all kind, and on Local."""

import uuid

import pytest
from botocore.exceptions import ClientError, ParamValidationError

from murmuration_testkit.dynamodb_local import dynamodb_local
from murmuration_testkit.unkind_aws import UnkindAws
from murmuration_testkit.waiting import eventually

TABLE = {
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "S"},
        {"AttributeName": "n", "AttributeType": "N"},
    ],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by_n",
            "KeySchema": [{"AttributeName": "sk", "KeyType": "HASH"}, {"AttributeName": "n", "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
}


class Fake:
    """The fake, kind."""

    def __init__(self):
        self.aws = UnkindAws()
        self.dynamodb, self.streams = self.aws.client(), self.aws.client("dynamodbstreams")

    def roll_over(self):
        for stream in self.aws.streams.values():
            stream.roll_over()

    def pass_hours(self, hours):
        self.aws.sleep(hours * 3600)


class Real:
    """DynamoDB Local, whose streams' time is moved on."""

    def __init__(self, local):
        self._local = local
        self.dynamodb, self.streams = local.client(), local.client("dynamodbstreams")
        self.roll_over, self.pass_hours = local.roll_over, local.pass_hours


@pytest.fixture(scope="module")
def local():
    with dynamodb_local(in_memory=True) as local:
        yield local


@pytest.fixture
def store(request):
    return Fake() if request.param == "fake" else Real(request.getfixturevalue("local"))


@pytest.fixture
def dynamodb(store):
    return store.dynamodb


@pytest.fixture
def table(dynamodb):
    name = f"t-{uuid.uuid4().hex}"
    dynamodb.create_table(TableName=name, BillingMode="PAY_PER_REQUEST", **TABLE)
    yield name
    dynamodb.delete_table(TableName=name)


@pytest.fixture
def arn(dynamodb, table):
    return dynamodb.describe_table(TableName=table)["Table"]["LatestStreamArn"]


def item(sk, **more):
    return {"pk": {"S": "p"}, "sk": {"S": sk}, **more}


def n(value):
    return {"N": str(value)}


GAPS = {"L": [{"S": "a gap"}]}


def code_of(raised):
    return raised.value.response["Error"]["Code"]


on_both = pytest.mark.parametrize(
    "store", ["fake", pytest.param("local", marks=pytest.mark.stack(shared=False))], indirect=True
)


@on_both
class TestConditions:
    """Of one write on one item."""

    ITEM = item(
        "a", n=n(10), text={"S": "12345"}, list={"L": [{"S": "x"}]}, set={"SS": ["u", "v"]}, flag={"BOOL": True}
    )

    @pytest.mark.parametrize(
        ("condition", "holds"),
        [
            ("attribute_exists(pk)", True),
            ("attribute_not_exists(pk)", False),
            ("attribute_not_exists(#missing)", True),
            ("n = :ten", True),
            ("n <> :ten", False),
            ("#missing <> :ten", True),
            ("#missing = :ten", False),
            ("#missing < :ten", False),
            ("NOT #missing >= :ten", True),
            ("n < :hundred AND n > :nine", True),
            ("n > :hundred OR n >= :ten", True),
            ("NOT n > :hundred AND n <= :ten", True),
            ("(n = :nine OR n = :ten) AND n = :hundred", False),
            ("n = :nine OR n = :ten AND n = :hundred", False),
            ("n BETWEEN :nine AND :hundred AND attribute_exists(pk)", True),
            ("n IN (:nine, :ten)", True),
            ("NOT n IN (:nine, :hundred)", True),
            ("n = :text", False),
            ("n <> :text", True),
            ("size(#text) = :five", True),
            ("size(#text) < :five", False),
            ("size(#list) = :one", True),
            ("size(#missing) = :one", False),
            ("begins_with(#text, :text)", True),
            ("contains(#set, :u)", True),
            ("contains(#set, :text)", False),
            ("#list = :list", True),
            ("#text < :later", True),
        ],
    )
    def test_a_condition_decides(self, dynamodb, table, condition, holds):
        """It is compared by type; what is absent is equal to nothing."""
        dynamodb.put_item(TableName=table, Item=self.ITEM)
        words = {"#missing": "missing", "#text": "text", "#list": "list", "#set": "set"}
        values = {":ten": n(10), ":nine": n(9), ":hundred": n(100), ":text": {"S": "123"}, ":five": n(5), ":one": n(1)}
        values |= {":u": {"S": "u"}, ":list": {"L": [{"S": "x"}]}, ":later": {"S": "2"}}
        tokens = set(condition.replace("(", " ").replace(")", " ").replace(",", " ").split())
        request = {
            "ExpressionAttributeNames": {word: name for word, name in words.items() if word in tokens},
            "ExpressionAttributeValues": {word: value for word, value in values.items() if word in tokens},
        }
        given = {name: what for name, what in request.items() if what}
        put = {"TableName": table, "Item": self.ITEM, "ConditionExpression": condition, **given}
        if holds:
            dynamodb.put_item(**put)
        else:
            with pytest.raises(dynamodb.exceptions.ConditionalCheckFailedException) as raised:
                dynamodb.put_item(**put)
            assert code_of(raised) == "ConditionalCheckFailedException"

    def test_a_refusal_shows_the_item_if_asked(self, dynamodb, table):
        """So that nobody need read it after."""
        dynamodb.put_item(TableName=table, Item=self.ITEM)
        with pytest.raises(dynamodb.exceptions.ConditionalCheckFailedException) as raised:
            dynamodb.put_item(
                TableName=table,
                Item=item("a"),
                ConditionExpression="attribute_not_exists(pk)",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        assert raised.value.response["Item"]["n"] == n(10)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"ExpressionAttributeValues": {":unused": n(1)}},
            {"ExpressionAttributeNames": {"#unused": "n"}},
            {"ConditionExpression": "n = :one"},
            {"ConditionExpression": "#n = :one", "ExpressionAttributeValues": {":one": n(1)}},
            {"Item": {"pk": {"S": "p"}}},
            {"Item": {"pk": {"S": "p"}, "sk": n(1)}},
            {"Item": {"pk": {"S": "p"}, "sk": {"S": ""}}},
        ],
    )
    def test_what_makes_no_sense_is_refused(self, dynamodb, table, wrong):
        """Names and values must be used and given, and keys be whole."""
        with pytest.raises(ClientError) as raised:
            dynamodb.put_item(**{"TableName": table, "Item": item("a"), "ConditionExpression": "sk = sk"} | wrong)
        assert code_of(raised) == "ValidationException"

    def test_a_table_that_is_not_there_is_not_found(self, dynamodb):
        """Whatever is asked of it."""
        with pytest.raises(dynamodb.exceptions.ResourceNotFoundException):
            dynamodb.get_item(TableName="no-such-table", Key={"pk": {"S": "p"}})


@on_both
class TestUpdates:
    """Of one item."""

    @pytest.mark.parametrize(
        ("update", "values", "becomes"),
        [
            ("SET n = :v", {":v": n(1)}, {"n": n(1)}),
            ("SET n = n + :v, m = n", {":v": n(1)}, {"n": n(11), "m": n(10)}),
            ("SET n = n - :v", {":v": n(20)}, {"n": n(-10)}),
            ("SET n = if_not_exists(n, :v), m = if_not_exists(m, :v)", {":v": n(1)}, {"n": n(10), "m": n(1)}),
            ("SET m = if_not_exists(m, :v) + :w", {":v": n(1), ":w": n(2)}, {"n": n(10), "m": n(3)}),
            ("SET g = list_append(if_not_exists(g, :v), :w)", {":v": {"L": []}, ":w": GAPS}, {"n": n(10), "g": GAPS}),
            ("ADD n :v, m :v", {":v": n(2)}, {"n": n(12), "m": n(2)}),
            ("ADD s :v", {":v": {"SS": ["a"]}}, {"n": n(10), "s": {"SS": ["a"]}}),
            ("REMOVE n, nothing", {}, {}),
            ("SET m = :v REMOVE n ADD o :v", {":v": n(1)}, {"m": n(1), "o": n(1)}),
        ],
    )  # fmt: skip
    def test_an_update_changes_what_it_names(self, dynamodb, table, update, values, becomes):
        """All of it is computed from what was there before."""
        dynamodb.put_item(TableName=table, Item=item("a", n=n(10)))
        given = {"ExpressionAttributeValues": values} if values else {}
        request = {"TableName": table, "Key": item("a"), "UpdateExpression": update, **given}
        assert dynamodb.update_item(**request, ReturnValues="ALL_NEW")["Attributes"] == item("a", **becomes)
        got = dynamodb.get_item(TableName=table, Key=item("a"), ConsistentRead=True)["Item"]
        assert got == item("a", **becomes)

    def test_an_update_makes_the_item(self, dynamodb, table):
        """Unless its condition wants one."""
        update = {"TableName": table, "Key": item("a"), "UpdateExpression": "ADD n :v"}
        update["ExpressionAttributeValues"] = {":v": n(3)}
        with pytest.raises(dynamodb.exceptions.ConditionalCheckFailedException):
            dynamodb.update_item(**update, ConditionExpression="attribute_exists(pk)")
        assert "Item" not in dynamodb.get_item(TableName=table, Key=item("a"))
        dynamodb.update_item(**update)
        assert dynamodb.get_item(TableName=table, Key=item("a"))["Item"] == item("a", n=n(3))

    @pytest.mark.parametrize(
        "update", ["SET n = missing", "SET sk = :v", "SET n = :v, n = :v", "ADD txt :v", "SET n = txt + :v"]
    )
    def test_what_makes_no_sense_is_refused(self, dynamodb, table, update):
        """And nothing is changed."""
        dynamodb.put_item(TableName=table, Item=item("a", txt={"S": "x"}))
        values = {"ExpressionAttributeValues": {":v": n(1)}} if ":v" in update else {}
        with pytest.raises(ClientError) as raised:
            dynamodb.update_item(TableName=table, Key=item("a"), UpdateExpression=update, **values)
        assert code_of(raised) == "ValidationException"
        assert dynamodb.get_item(TableName=table, Key=item("a"))["Item"] == item("a", txt={"S": "x"})

    def test_deleting_shows_what_was_there(self, dynamodb, table):
        """Deleting nothing is no error."""
        dynamodb.put_item(TableName=table, Item=item("a", n=n(1)))
        delete = {"TableName": table, "Key": item("a"), "ReturnValues": "ALL_OLD"}
        assert dynamodb.delete_item(**delete)["Attributes"] == item("a", n=n(1))
        assert "Attributes" not in dynamodb.delete_item(**delete)


@on_both
class TestTransactions:
    """All or nothing."""

    def put(self, table, sk, condition=None):
        return {
            "Put": {"TableName": table, "Item": item(sk)} | ({"ConditionExpression": condition} if condition else {})
        }

    def test_all_is_written(self, dynamodb, table):
        """Each kind of action."""
        dynamodb.put_item(TableName=table, Item=item("gone"))
        update = {"TableName": table, "Key": item("b"), "UpdateExpression": "ADD n :v"}
        update["ExpressionAttributeValues"] = {":v": n(1)}
        check = {"TableName": table, "Key": item("c"), "ConditionExpression": "attribute_not_exists(pk)"}
        actions = [
            self.put(table, "a"),
            {"Update": update},
            {"Delete": {"TableName": table, "Key": item("gone")}},
            {"ConditionCheck": check},
        ]
        dynamodb.transact_write_items(TransactItems=actions)
        assert dynamodb.scan(TableName=table, ConsistentRead=True)["Items"] == [item("a"), item("b", n=n(1))]

    def test_one_refusal_cancels_all(self, dynamodb, table):
        """The reasons stand in the order of the actions."""
        actions = [self.put(table, "a"), self.put(table, "b", "attribute_exists(pk)")]
        with pytest.raises(dynamodb.exceptions.TransactionCanceledException) as raised:
            dynamodb.transact_write_items(TransactItems=actions)
        reasons = [reason["Code"] for reason in raised.value.response["CancellationReasons"]]
        assert reasons == ["None", "ConditionalCheckFailed"]
        assert "[None, ConditionalCheckFailed]" in raised.value.response["Error"]["Message"]
        assert dynamodb.scan(TableName=table)["Count"] == 0

    def test_a_token_is_good_once(self, dynamodb, table):
        """A repeat changes nothing."""
        update = {"TableName": table, "Key": item("b"), "UpdateExpression": "ADD n :v"}
        update["ExpressionAttributeValues"] = {":v": n(1)}
        for _ in range(2):
            dynamodb.transact_write_items(TransactItems=[{"Update": update}], ClientRequestToken=f"token-{table}"[:36])
        assert dynamodb.get_item(TableName=table, Key=item("b"))["Item"]["n"] == n(1)

    def test_what_makes_no_sense_is_refused(self, dynamodb, table):
        """Two actions on one item."""
        with pytest.raises(ClientError) as raised:
            dynamodb.transact_write_items(TransactItems=[self.put(table, "a"), self.put(table, "a")])
        assert code_of(raised) == "ValidationException"


@on_both
class TestReads:
    """Several items at once."""

    def test_a_batch_gives_what_is_there(self, dynamodb, table):
        """In any order."""
        dynamodb.put_item(TableName=table, Item=item("a", n=n(1)))
        keys = [item("a"), item("b")]
        answer = dynamodb.batch_get_item(RequestItems={table: {"Keys": keys, "ConsistentRead": True}})
        assert (answer["Responses"], answer["UnprocessedKeys"]) == ({table: [item("a", n=n(1))]}, {})
        for wrong in ([*keys, item("a")], [item(f"{number}") for number in range(101)]):
            with pytest.raises(ClientError) as raised:
                dynamodb.batch_get_item(RequestItems={table: {"Keys": wrong}})
            assert code_of(raised) == "ValidationException"

    def test_a_batch_writes_and_deletes(self, dynamodb, table):
        """Without conditions."""
        dynamodb.put_item(TableName=table, Item=item("a"))
        writes = [{"PutRequest": {"Item": item("b")}}, {"DeleteRequest": {"Key": item("a")}}]
        assert dynamodb.batch_write_item(RequestItems={table: writes})["UnprocessedItems"] == {}
        assert dynamodb.scan(TableName=table)["Items"] == [item("b")]

    def test_a_query_reads_one_partition_in_order(self, dynamodb, table):
        """Either way, page by page, a part of it, of each item only what was asked for."""
        for sk in ("b", "a", "ab", "c"):
            dynamodb.put_item(TableName=table, Item=item(sk, n=n(len(sk))))
        dynamodb.put_item(TableName=table, Item={"pk": {"S": "q"}, "sk": {"S": "a"}})
        query = {
            "TableName": table,
            "KeyConditionExpression": "pk = :p",
            "ExpressionAttributeValues": {":p": {"S": "p"}},
        }

        def found(**more):
            pages = dynamodb.get_paginator("query").paginate(**query | more)
            return [[row["sk"]["S"] for row in page["Items"]] for page in pages]

        assert found() == [["a", "ab", "b", "c"]]
        assert found(ScanIndexForward=False, Limit=3) == [["c", "b", "ab"], ["a"]]
        assert found(Limit=2) == [["a", "ab"], ["b", "c"], []]
        ranged = {"KeyConditionExpression": "pk = :p AND sk < :b"}
        ranged["ExpressionAttributeValues"] = {":p": {"S": "p"}, ":b": {"S": "b"}}
        assert found(**ranged) == [["a", "ab"]]
        begun = ranged | {"KeyConditionExpression": "pk = :p AND begins_with(sk, :b)"}
        assert found(**begun) == [["b"]]
        between = {"KeyConditionExpression": "pk = :p AND sk BETWEEN :b AND :c"}
        between["ExpressionAttributeValues"] = {":p": {"S": "p"}, ":b": {"S": "aa"}, ":c": {"S": "b"}}
        assert found(**between) == [["ab", "b"]]
        assert dynamodb.query(**query, Select="COUNT")["Count"] == 4
        assert dynamodb.query(**query, ProjectionExpression="n", Limit=1)["Items"] == [{"n": n(1)}]

    def test_a_filter_leaves_holes(self, dynamodb, table):
        """A page may be empty, and more to come."""
        for sk in ("a", "b", "c"):
            dynamodb.put_item(TableName=table, Item=item(sk, n=n(ord(sk))))
        filtered = {"FilterExpression": "n > :n", "ExpressionAttributeValues": {":n": n(ord("b"))}, "Limit": 1}
        pages = list(dynamodb.get_paginator("scan").paginate(TableName=table, **filtered))
        assert [page["Count"] for page in pages] == [0, 0, 1, 0]
        assert [page["ScannedCount"] for page in pages] == [1, 1, 1, 0]

    def test_a_scan_reads_all_partitions(self, dynamodb, table):
        """Page by page, none twice."""
        rows = [{"pk": {"S": f"p{p}"}, "sk": {"S": f"s{s}"}} for p in range(5) for s in range(3)]
        for row in rows:
            dynamodb.put_item(TableName=table, Item=row)
        pages = dynamodb.get_paginator("scan").paginate(TableName=table, Limit=4)
        assert sorted((row["pk"]["S"], row["sk"]["S"]) for page in pages for row in page["Items"]) == [
            (row["pk"]["S"], row["sk"]["S"]) for row in rows
        ]

    def test_an_index_has_whatever_has_its_key(self, dynamodb, table):
        """In the order of numbers, page by page; what loses its key leaves."""
        for number, partition in ((10, "x"), (9, "y"), (9, "z"), (100, "w")):
            dynamodb.put_item(TableName=table, Item={"pk": {"S": partition}, "sk": {"S": "i"}, "n": n(number)})
        dynamodb.put_item(TableName=table, Item={"pk": {"S": "none"}, "sk": {"S": "i"}})
        query = {"TableName": table, "IndexName": "by_n", "KeyConditionExpression": "sk = :i"}
        query["ExpressionAttributeValues"] = {":i": {"S": "i"}}

        def found():
            pages = dynamodb.get_paginator("query").paginate(**query, Limit=1)
            return [row["n"]["N"] for page in pages for row in page["Items"]]

        assert found() == ["9", "9", "10", "100"]
        key = {"pk": {"S": "x"}, "sk": {"S": "i"}}
        dynamodb.update_item(TableName=table, Key=key, UpdateExpression="REMOVE n")
        assert found() == ["9", "9", "100"]
        with pytest.raises(ClientError) as raised:
            dynamodb.query(**query, ConsistentRead=True)
        assert code_of(raised) == "ValidationException"

    @pytest.mark.parametrize("condition", ["sk = :v", "pk < :v", "pk = :v AND n = :v"])
    def test_a_query_without_its_key_is_refused(self, dynamodb, table, condition):
        """As is one by what is no key."""
        request = {"KeyConditionExpression": condition, "ExpressionAttributeValues": {":v": {"S": "a"}}}
        with pytest.raises(ClientError) as raised:
            dynamodb.query(TableName=table, **request)
        assert code_of(raised) == "ValidationException"


@on_both
class TestStreams:
    """Shards and their records."""

    @pytest.fixture
    def streams(self, store):
        return store.streams

    def shards(self, streams, arn):
        return streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]

    def begin(self, streams, arn, shard, after=None):
        where = {"ShardIteratorType": "TRIM_HORIZON"}
        if after is not None:
            where = {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": after}
        return streams.get_shard_iterator(StreamArn=arn, ShardId=shard["ShardId"], **where)["ShardIterator"]

    def read(self, streams, iterator, count):
        """Read until so many records came, or the shard ended."""
        found = []

        def all_came():
            nonlocal iterator
            answer = streams.get_records(ShardIterator=iterator)
            found.extend(answer["Records"])
            iterator = answer.get("NextShardIterator")
            return len(found) >= count or iterator is None

        eventually(all_came, within=10)
        return found, iterator

    def test_each_change_is_a_record(self, dynamodb, streams, table, arn):
        """With what was and what is; what changes nothing leaves none."""
        dynamodb.put_item(TableName=table, Item=item("a", n=n(1)))
        dynamodb.put_item(TableName=table, Item=item("a", n=n(1)))
        dynamodb.put_item(TableName=table, Item=item("a", n=n(2)))
        dynamodb.delete_item(TableName=table, Key=item("a"))
        (shard,) = self.shards(streams, arn)
        records, iterator = self.read(streams, self.begin(streams, arn, shard), 3)
        assert iterator is not None
        assert [record["eventName"] for record in records] == ["INSERT", "MODIFY", "REMOVE"]
        changes = [record["dynamodb"] for record in records]
        assert [change["Keys"] for change in changes] == [item("a")] * 3
        assert [change.get("OldImage", {}).get("n") for change in changes] == [None, n(1), n(2)]
        assert [change.get("NewImage", {}).get("n") for change in changes] == [n(1), n(2), None]
        numbers = [int(change["SequenceNumber"]) for change in changes]
        assert numbers == sorted(set(numbers))
        assert len({record["eventID"] for record in records}) == 3

    def test_reading_goes_on_after_a_sequence_number(self, dynamodb, streams, table, arn):
        """And the same records come again with the same names."""
        for number in range(4):
            dynamodb.put_item(TableName=table, Item=item("a", n=n(number)))
        (shard,) = self.shards(streams, arn)
        records, _ = self.read(streams, self.begin(streams, arn, shard), 4)
        after = records[1]["dynamodb"]["SequenceNumber"]
        again, _ = self.read(streams, self.begin(streams, arn, shard, after), 2)
        assert [record["eventID"] for record in again] == [record["eventID"] for record in records[2:]]

    def test_a_shard_that_rolled_over_ends(self, store, dynamodb, streams, table, arn):
        """Its child has what came after; the last page has no next."""
        dynamodb.put_item(TableName=table, Item=item("a"))
        (parent,) = self.shards(streams, arn)
        store.roll_over()
        dynamodb.put_item(TableName=table, Item=item("b"))
        shards = self.shards(streams, arn)
        (child,) = [shard for shard in shards if shard.get("ParentShardId") == parent["ShardId"]]
        (ended,) = [shard for shard in shards if shard["ShardId"] == parent["ShardId"]]
        assert "EndingSequenceNumber" in ended["SequenceNumberRange"]
        assert "EndingSequenceNumber" not in child["SequenceNumberRange"]
        records, iterator = self.read(streams, self.begin(streams, arn, parent), 2)
        assert (len(records), iterator) == (1, None)
        records, iterator = self.read(streams, self.begin(streams, arn, child), 1)
        assert ([record["dynamodb"]["Keys"] for record in records], iterator is None) == ([item("b")], False)

    def test_a_listing_comes_in_pages(self, store, streams, arn):
        """To the end."""
        store.roll_over()
        store.roll_over()
        found, start = [], {}
        while True:
            answer = streams.describe_stream(StreamArn=arn, Limit=2, **start)["StreamDescription"]
            found += [shard["ShardId"] for shard in answer["Shards"]]
            if "LastEvaluatedShardId" not in answer:
                break
            start = {"ExclusiveStartShardId": answer["LastEvaluatedShardId"]}
        assert len(found) == len({*found}) == 3

    def test_an_iterator_expires(self, store, dynamodb, streams, table, arn):
        """After a quarter of an hour; the records are still there."""
        dynamodb.put_item(TableName=table, Item=item("a"))
        (shard,) = self.shards(streams, arn)
        iterator = self.begin(streams, arn, shard)
        store.pass_hours(1)
        with pytest.raises(streams.exceptions.ExpiredIteratorException):
            streams.get_records(ShardIterator=iterator)

    def test_what_is_unknown_is_not_found(self, streams, arn):
        """A stream, a shard; and boto3 itself knows what is no sequence number."""
        (shard,) = self.shards(streams, arn)
        wrong = [{"StreamArn": arn[:-1] + "x"}, {"ShardId": shard["ShardId"][:-1] + "x"}]
        right = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
        for what in wrong:
            with pytest.raises(streams.exceptions.ResourceNotFoundException):
                streams.get_shard_iterator(**right | what)
        with pytest.raises(ParamValidationError):
            self.begin(streams, arn, shard, "1")
