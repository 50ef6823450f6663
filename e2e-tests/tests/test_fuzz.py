"""Whatever is asked, the API answers as its document says. With random seeds and for longer: drills/fuzz.py."""

import json

from murmuration_testkit.fuzz import DOCUMENT, fuzz

SECONDS = 60
SEED = 14


def test_nothing_that_can_be_asked_is_answered_otherwise_than_described(tmp_path):
    """No 5xx, no status, header or field that is not described; what fits is taken, what does not fit is refused."""
    outcome = fuzz(tmp_path, SECONDS, SEED)
    assert not outcome.failures, outcome.said
    operations = sum(map(len, json.loads(DOCUMENT.read_text())["paths"].values()))
    assert outcome.asked > 200
    assert len(outcome.never_accepted) < operations / 2  # most of them were used, and not only refused
