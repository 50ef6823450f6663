"""Messages as they lie in Kafka."""

import pytest

from contracts import TOPICS
from murmuration_worker.messages import Message

NAMED = [("followee_id", b"bob"), ("follower_id", b"alice"), ("odd", None)]


@pytest.fixture
def message():
    """Make a message of FollowChanged; its ids stand in its headers."""

    def make(value, *, offset=7, headers=NAMED):
        return Message("FollowChanged", 3, offset, b"bob", value, [*headers])

    return make


@pytest.fixture
def topic():
    return TOPICS["FollowChanged"]
