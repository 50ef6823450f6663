"""Faults that are known: each test is a promise that does not hold yet, and leaves this list when it does."""

import pytest

from contracts import TOPICS, ContractError, Source, TweetCreated
from contracts.examples import codec
from murmuration_testkit.promises import StillBrokenError, promised


@pytest.mark.xfail(strict=True, raises=StillBrokenError, reason="issue 16: ids of other lengths")
@pytest.mark.parametrize("tweet_id", ["999", "18446744073709551615"])
def test_e7_a_tweet_id_of_another_length_breaks_the_contract(tweet_id):
    """Ids are compared as texts; one of 3 digits stands above all others in a timeline, and its cursor is refused."""
    event = TweetCreated("e", Source("s", 7), tweet_id, "alice", "hello", 1)
    with promised(pytest.fail.Exception), pytest.raises(ContractError):
        codec(TOPICS["TweetCreated"]).encode(event)
