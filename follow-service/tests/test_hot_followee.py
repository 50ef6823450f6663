"""Many follow one account at once: how many a second fit into an index, and what happens to more."""

import random
import threading
import time
from collections import Counter
from itertools import count

import pytest

from contracts.tables import FOLLOWERS
from murmuration_testkit.waiting import eventually

from . import rows

UNITS = 1_000  # that one partition takes in a second
A_FOLLOW = 2  # units of a write in a transaction, if AWS counts it twice for an index, too
SECOND = 10_000  # follows


def test_ten_thousand_follows_a_second_of_one_account_fit():
    """Into each part, in each of these seconds; by chance one in thousands has a part that is over by a follow."""
    drawn = random.Random(1)
    for _ in range(20):
        parts = Counter(FOLLOWERS.part_of("star", f"{drawn.getrandbits(128):032x}") for _ in range(SECOND))
        assert parts.most_common(1)[0][1] * A_FOLLOW <= UNITS


def test_in_one_part_they_do_not():
    """That is how it was before the migration."""
    assert SECOND * A_FOLLOW > UNITS


@pytest.fixture
def fans(aws, join):
    """Three who lie in one part of the star's list, of which each second takes two."""
    part = FOLLOWERS.number_of("fan0")
    same = [name for name in (f"fan{n}" for n in range(200)) if FOLLOWERS.number_of(name) == part][:3]
    join("star", *same)
    aws.units[FOLLOWERS.by_part] = 2 * A_FOLLOW
    return same


def test_above_them_a_follow_waits_and_is_then_told_to_come_again(aws, call, fans):
    """Nothing is half done, and the next second takes it."""
    for fan in fans[:2]:
        assert call(fan, "POST /users/star/follow").status_code == 204
    began = time.monotonic()
    refused = call(fans[2], "POST /users/star/follow")
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
    assert 0.5 < time.monotonic() - began < 3
    assert rows.follows(aws) == {(fan, "star") for fan in fans[:2]}
    assert rows.requests(aws) == rows.blocks(aws) == set()
    assert call(fans[0], "POST /users/star/follow").status_code == 204  # a repeat writes nothing
    aws.sleep(1)
    assert call(fans[2], "POST /users/star/follow").status_code == 204


def test_who_waits_is_let_in_as_soon_as_there_is_room(aws, call, fans):
    """Within the same request."""
    for fan in fans[:2]:
        call(fan, "POST /users/star/follow")
    answers = []
    late = threading.Thread(target=lambda: answers.append(call(fans[2], "POST /users/star/follow").status_code))
    tried = aws.calls["TransactWriteItems", "blocks,followers"]
    late.start()
    eventually(lambda: aws.calls["TransactWriteItems", "blocks,followers"] > tried)
    aws.sleep(1)
    late.join()
    assert answers == [204]


def test_others_are_not_held_up(call, join, fans):
    """An account beside it has parts of its own, and so has whoever lies in another part of this one."""
    join("rival", "other")
    for fan in fans[:2]:
        call(fan, "POST /users/star/follow")
    assert call(fans[2], "POST /users/rival/follow").status_code == 204
    other = next(
        name for name in (f"more{n}" for n in count()) if FOLLOWERS.number_of(name) != FOLLOWERS.number_of(fans[0])
    )
    join(other)
    assert call(other, "POST /users/star/follow").status_code == 204
