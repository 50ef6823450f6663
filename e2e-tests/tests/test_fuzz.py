"""Whatever is asked, the API answers as its document says. With random seeds and for longer: drills/fuzz.py."""

from murmuration_testkit.fuzz import fuzz

SECONDS = 60
SEED = 14
MAY_NEVER_SUCCEED = {  # on a slow machine: each is asked a few times, and half of these name nobody, or are blocked
    "GET /v1/users/{user_id}/mutual-followers/{other_id}",
    "POST /v1/users/me/follow-requests/{follower_id}",
    "POST /v1/users/{user_id}/follow",
}


def test_nothing_that_can_be_asked_is_answered_otherwise_than_described(tmp_path):
    """No 5xx, no status, header or field that is not described; what fits is taken, what does not fit is refused."""
    outcome = fuzz(tmp_path, SECONDS, SEED)
    assert not outcome.failures, outcome.said
    assert outcome.asked > 200
    assert {*outcome.never_accepted} <= MAY_NEVER_SUCCEED
