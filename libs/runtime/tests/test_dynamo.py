"""DynamoDB's errors, by what the caller should do; and plain answers."""

import time
from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError, ParamValidationError

from murmuration_runtime import deadlines, dynamo
from murmuration_runtime.errors import StoreAwayError, StoreBusyError, StoreRefusedError

SLACK_S = 0.3  # for a busy machine; the pauses of all attempts come to seconds


def refusal(code, status=400, **more):
    return ClientError({"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}, **more}, "PutItem")


@pytest.mark.parametrize(
    ("error", "named"),
    [
        (ConnectTimeoutError(endpoint_url="x"), StoreAwayError),
        (refusal("ThrottlingException"), StoreBusyError),
        (refusal("ProvisionedThroughputExceededException"), StoreBusyError),
        (refusal("ResourceNotFoundException"), StoreBusyError),
        (refusal("Whatever", 503), StoreBusyError),
        (refusal("AccessDeniedException"), StoreRefusedError),
        (refusal("UnrecognizedClientException"), StoreRefusedError),
        (refusal("AccessDenied", 403), StoreRefusedError),
        (refusal("Throttling"), StoreBusyError),
        (refusal("ConditionalCheckFailedException"), ClientError),
        (refusal("TransactionCanceledException"), ClientError),
        (refusal("ValidationException"), ClientError),
        (ParamValidationError(report="x"), ParamValidationError),
    ],
)
def test_errors_are_named_by_what_to_do(error, named):
    """Try again, correct the credentials, or look at our own mistake."""
    with pytest.raises(named) as raised, dynamo.errors_named():
        raise error
    assert type(raised.value) is named


def test_a_conflict_is_tried_again_until_it_is_over():
    """A lone write, or one within a transaction."""
    conflicts = [refusal("TransactionConflictException")]
    conflicts += [refusal("TransactionCanceledException", CancellationReasons=[{"Code": "TransactionConflict"}])]

    def write():
        if conflicts:
            raise conflicts.pop()
        return "written"

    assert dynamo.retry_conflicts(write) == "written"


def test_a_conflict_that_never_ends_is_a_store_that_is_away():
    """After some tries; the caller may come again."""
    tried = []

    def write():
        tried.append(1)
        raise refusal("TransactionConflictException")

    with pytest.raises(StoreAwayError, match="locked"):
        dynamo.retry_conflicts(write)
    assert len(tried) == dynamo.CONFLICT_ATTEMPTS


def test_a_conflict_is_waited_out_no_longer_than_the_request_may_take():
    """The pause that would be too long is not begun."""

    def write():
        raise refusal("TransactionConflictException")

    began = time.monotonic()
    with deadlines.within(0.05), pytest.raises(StoreAwayError, match="locked"):
        dynamo.retry_conflicts(write)
    assert time.monotonic() - began < 0.05 + SLACK_S


@pytest.mark.parametrize("code", ["ConditionalCheckFailedException", "ThrottlingException"])
def test_any_other_error_is_not_tried_again(code):
    """A condition that failed is an answer; a store that is too busy is the caller's to wait for."""
    tried = []

    def write():
        tried.append(1)
        raise refusal(code)

    with pytest.raises((ClientError, StoreAwayError)):
        dynamo.retry_conflicts(write)
    assert len(tried) == 1


class Throttled:
    """A DynamoDB that leaves all but the first key of each request unread, or all of them."""

    def __init__(self, reads=1):
        self.reads = reads
        self.asked = []

    def batch_get_item(self, RequestItems):  # noqa: N803 - boto3's name
        ((table, request),) = RequestItems.items()
        assert request["ConsistentRead"]
        self.asked.append(len(request["Keys"]))
        read, left = request["Keys"][: self.reads], request["Keys"][self.reads :]
        return {"Responses": {table: read}, "UnprocessedKeys": {table: {"Keys": left}} if left else {}}


def test_items_that_were_left_unread_are_asked_for_again():
    """And never more at once than DynamoDB takes."""
    dynamodb = Throttled(reads=dynamo.BATCH - 1)
    keys = [{"id": {"N": str(n)}} for n in range(2 * dynamo.BATCH)]
    assert sorted(map(str, dynamo.items(dynamodb, "tweets", keys))) == sorted(map(str, keys))
    assert dynamodb.asked == [100, 100, 2]


def test_a_table_that_leaves_keys_unread_again_and_again_is_away():
    """It is named, with how often it was asked."""
    dynamodb = Throttled(reads=0)
    with pytest.raises(StoreBusyError, match="tweets unread 5 times"):
        list(dynamo.items(dynamodb, "tweets", [{"id": {"N": "1"}}]))
    assert len(dynamodb.asked) == dynamo.MOST_THROTTLED


def test_keys_of_several_tables_go_together():
    """Each item comes with its table; keys that were left unread are asked for with what is left of all."""
    asked = []

    def read_first(RequestItems):  # noqa: N803 - boto3's name
        asked.append({table: len(request["Keys"]) for table, request in RequestItems.items()})
        first, *rest = RequestItems.items()
        unread = {table: {"Keys": request["Keys"]} for table, request in rest}
        return {"Responses": {first[0]: first[1]["Keys"]}, "UnprocessedKeys": unread}

    keys = [(table, {"id": {"N": str(n)}}) for table in ("users", "blocks") for n in range(60)]
    assert [*dynamo.items_of_tables(SimpleNamespace(batch_get_item=read_first), keys, {})] == keys
    assert asked == [{"users": 60, "blocks": 40}, {"blocks": 60}]


class Transactions:
    """A DynamoDB that cancels transactions, for these reasons one after the other, and then does one."""

    def __init__(self, *cancelled):
        self.exceptions = SimpleNamespace(TransactionCanceledException=ClientError)
        self.left = [[{"Code": code} for code in codes] for codes in cancelled]
        self.asked = 0

    def transact_write_items(self, TransactItems):  # noqa: N803 - boto3's name
        assert TransactItems == ["action"]
        self.asked += 1
        if self.left:
            raise refusal("TransactionCanceledException", CancellationReasons=self.left.pop(0))


@pytest.mark.parametrize(
    ("cancelled", "refused"),
    [
        ([], []),
        ([["None", "TransactionConflict"], ["TransactionConflict", "ConditionalCheckFailed"]], []),
        ([["ConditionalCheckFailed", "None", "ConditionalCheckFailed"]], [0, 2]),
    ],
)
def test_a_transaction_is_done_or_says_which_conditions_failed(cancelled, refused):
    """A conflict is waited out: whoever held the item may have changed what a condition looks at."""
    dynamodb = Transactions(*cancelled)
    assert dynamo.transact(dynamodb, ["action"]) == refused
    assert dynamodb.asked == (len(cancelled) if refused else len(cancelled) + 1)


@pytest.mark.parametrize("code", ["ThrottlingError", "ProvisionedThroughputExceeded"])
def test_a_transaction_that_is_throttled_is_waited_out(code):
    dynamodb = Transactions(["None", code], [code])
    assert dynamo.transact(dynamodb, ["action"]) == []
    assert dynamodb.asked == 3


def test_a_transaction_that_is_throttled_for_too_long_is_a_store_that_is_away():
    """Any other reason is our own mistake."""
    with deadlines.within(0.2), pytest.raises(StoreAwayError, match="too busy"):
        dynamo.transact(Transactions(*[["None", "ThrottlingError"]] * 9), ["action"])
    with pytest.raises(ClientError):
        dynamo.transact(Transactions(["None", "ValidationError"]), ["action"])
