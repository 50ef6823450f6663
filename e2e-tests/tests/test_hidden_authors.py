"""Whom one has muted or blocked, or who has blocked one, is in no timeline within two seconds: pushed or pulled."""

import os
import time

import boto3
import pytest

from contracts.ids import first_id
from murmuration_testkit.people import Person
from murmuration_testkit.waiting import eventually

SOON_S = 2
AHEAD_MS = 5_000  # longer than readers take to hear of a celebrity


@pytest.fixture(params=[False, True], ids=["pushed", "a celebrity's, pulled"])
def pair(request):
    """A reader with a warm timeline, and whom they follow; what that one says last."""
    alice, bob = Person("Alice").join(), Person("Bob").join()
    alice.follow(bob)
    said = [bob.tweet("first")]
    if request.param:
        since = first_id(time.time_ns() // 1_000_000 + AHEAD_MS)
        boto3.resource("dynamodb").Table(f"{os.environ.get('TABLE_PREFIX', '')}users").update_item(
            Key={"user_id": bob.user_id},
            UpdateExpression="SET celebrity_since = :since ADD version :one",
            ExpressionAttributeValues={":since": since, ":one": 1},
        )

        def pulled():
            said.append(bob.tweet("more"))
            return said[-1] > since

        eventually(pulled, expected=True, within=60, every=1)
    eventually(alice.whole_timeline, said[::-1])
    return alice, bob


def test_who_is_muted_shows_no_more_and_comes_back(pair):
    """The follow stays; the end of a mute brings back all they said, without a rebuild."""
    alice, bob = pair
    before = alice.whole_timeline()
    alice.ask("PUT", f"/v1/users/{bob.user_id}/mute")
    eventually(alice.whole_timeline, [], within=SOON_S)
    said = bob.tweet("said while muted")
    alice.ask("DELETE", f"/v1/users/{bob.user_id}/mute")
    eventually(alice.whole_timeline, [said, *before], within=SOON_S)
    assert alice.edges("following") == {bob.user_id}


@pytest.mark.parametrize("blocker", [0, 1], ids=["blocking", "blocked"])
def test_behind_a_block_nobody_shows(pair, blocker):
    """Either way; and its end brings no follow back."""
    who, whom = pair[blocker], pair[1 - blocker]
    who.ask("PUT", f"/v1/users/{whom.user_id}/block")
    alice = pair[0]
    eventually(alice.whole_timeline, [], within=SOON_S)
    who.ask("DELETE", f"/v1/users/{whom.user_id}/block")
    pair[1].tweet("said after the block")
    assert alice.whole_timeline() == []
