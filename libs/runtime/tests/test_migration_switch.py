"""Everybody goes the new way soon after the switch, and nobody goes the old one before they know that it still is."""

import pytest

from contracts.tables import MIGRATIONS
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.migration_switch import LOOK_S, MigrationSwitch
from murmuration_testkit.unkind_aws import UnkindAws


@pytest.fixture
def aws():
    return UnkindAws()


@pytest.fixture
def now():
    return [0.0]


@pytest.fixture
def switch(aws, now):
    return MigrationSwitch(aws.client(), "", MIGRATIONS.LIVE_TWEETS, lambda: now[0])


def throw(aws):
    aws.put("migrations", {"migration": {"S": MIGRATIONS.LIVE_TWEETS}, "switched_at": {"N": "1"}})


def test_it_is_looked_up_now_and_then_until_it_is_on(aws, now, switch):
    """Then never again: it is not taken back."""
    for _ in range(5):
        assert not switch()
    assert aws.calls["GetItem", "migrations"] == 1
    throw(aws)
    assert not switch()
    now[0] += LOOK_S
    for _ in range(5):
        assert switch()
        now[0] += LOOK_S
    assert aws.calls["GetItem", "migrations"] == 2


def test_another_migration_is_not_this_one(aws, switch):
    aws.put("migrations", {"migration": {"S": MIGRATIONS.SPREAD_FOLLOWERS}, "switched_at": {"N": "1"}})
    assert not switch()


def test_whoever_knows_nothing_yet_does_not_take_the_old_way(now):
    """It may be gone: the first answer is waited for, whoever else asked in vain; later ones are not."""

    class Away:
        calls = 0

        def get_item(self, **_):
            self.calls += 1
            if self.calls != 3:
                raise StoreAwayError("no route")
            return {}

    switch = MigrationSwitch(Away(), "", MIGRATIONS.LIVE_TWEETS, lambda: now[0])
    for _ in range(2):
        with pytest.raises(StoreAwayError):
            switch()
    assert not switch()
    now[0] += LOOK_S
    with pytest.raises(StoreAwayError):
        switch()
    assert not switch()
