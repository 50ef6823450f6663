"""Messages as they lie in Kafka."""

import pytest

from contracts import TOPICS
from murmuration_worker.messages import Message

WRITTEN_MS = 1_763_478_000_000.0
NAMED = [("followee_id", b"bob"), ("follower_id", b"alice"), ("odd", None)]


@pytest.fixture
def message():
    """Make a message of FollowChanged; its ids stand in its headers."""

    def make(value, *, offset=7, headers=NAMED):
        return Message("FollowChanged", 3, offset, b"bob", value, [*headers], WRITTEN_MS)

    return make


@pytest.fixture
def topic():
    return TOPICS["FollowChanged"]
