"""Keys are fetched beside the requests, and serve for a day."""

import time
from contextlib import suppress
from itertools import pairwise

import pytest

from murmuration_edge.auth import KeysAwayError, UnknownKeyError
from murmuration_edge.bounded_pages import BadPageError
from murmuration_edge.jwks import read_keys
from murmuration_edge.signing_keys import PAUSE_SECONDS, START_SECONDS, SigningKeys
from murmuration_runtime.readiness import Readiness
from murmuration_testkit.tokens import Issuer
from murmuration_testkit.waiting import eventually

from .test_jwks import jwks

DAY_S = 24 * 3600
ONE, TWO = (Issuer(headers={"kid": kid}) for kid in ("one", "two"))
OTHER_ONE = Issuer(headers={"kid": "one"})


class World:
    """An issuer, a clock, and the keys of a process."""

    def __init__(self):
        self.published = []
        self.now = 1000.0
        self.readiness = Readiness()
        self.keys = SigningKeys(self.fetch, self.readiness, lambda: self.now)

    def fetch(self):
        if not self.published:
            raise BadPageError("no route")
        return read_keys(jwks(*(issuer.published() for issuer in self.published)))

    def publishes(self, *issuers):
        self.published = issuers
        return self.keys.refresh()

    def known(self, kid):
        try:
            return self.keys.key(kid) is not None
        except UnknownKeyError:
            return False


@pytest.fixture
def world():
    return World()


def test_before_the_first_keys_nobody_can_know_and_the_process_is_not_ready(world):
    """The issuer is asked again every second, and /readyz says what it answered."""
    assert world.readiness.waiting_for() == ["signing keys: they were not fetched yet"]
    assert world.publishes() == START_SECONDS
    with pytest.raises(KeysAwayError, match="no route"):
        world.keys.key("one")
    assert world.readiness.waiting_for() == ["signing keys: no route"]
    assert world.publishes(ONE) == PAUSE_SECONDS
    assert world.readiness.waiting_for() == []
    assert world.known("one")


def test_an_id_that_is_not_known_is_refused_and_asks_for_a_fetch(world):
    """Keys are changed a while before they are used; who is early is refused, and found at the next try."""
    world.publishes(ONE)
    assert not world.keys.wanted
    assert not world.known("two")
    assert world.keys.wanted
    world.publishes(ONE, TWO)
    assert world.known("two")


def test_a_token_that_names_no_key_asks_for_nothing(world):
    """There is nothing to look for."""
    world.publishes(ONE)
    assert not world.known(None)
    assert not world.known("")
    assert not world.keys.wanted


def test_old_keys_serve_for_a_day_while_the_issuer_is_away(world):
    """And the process stays ready: all its replicas have the same trouble."""
    world.publishes(ONE)
    world.now += DAY_S
    assert world.publishes() == PAUSE_SECONDS
    assert world.known("one")
    assert world.readiness.waiting_for() == []
    world.now += 1
    with pytest.raises(KeysAwayError, match="no route"):
        world.keys.key("one")
    world.publishes(ONE)
    assert world.known("one")


def test_a_key_that_is_withdrawn_is_gone(world):
    """With the next fetch."""
    world.publishes(ONE, TWO)
    world.publishes(TWO)
    assert not world.known("one")
    assert world.known("two")


def test_a_key_that_is_published_again_is_the_same_object_and_another_is_not(world):
    """Tokens that were verified are believed as long as it is the same; another key under the old id verifies anew."""
    world.publishes(ONE)
    first = world.keys.key("one")
    world.publishes(ONE)
    assert world.keys.key("one") is first
    world.publishes(OTHER_ONE)
    assert world.keys.key("one") is not first


def test_an_error_that_nobody_foresaw_ends_nothing(world, caplog):
    """The fetcher's thread goes on, and the log has the traceback."""
    world.publishes(ONE)
    world.published = None, None
    assert world.keys.refresh() == PAUSE_SECONDS
    assert world.known("one")
    assert "signing keys: an unforeseen error" in caplog.messages


def test_however_many_ids_are_forged_keys_are_fetched_once_in_a_pause():
    """Who sends tokens cannot have the issuer asked faster than that; and is the reason that it is asked at all."""
    fetched = []

    def fetch():
        fetched.append(time.monotonic())
        return read_keys(jwks(ONE.published()))

    keys = SigningKeys(fetch, Readiness(), pause=0.2)
    keys.keep_fresh()

    def forge():
        with suppress(UnknownKeyError, KeysAwayError):
            keys.key("forged")
        return len(fetched) >= 4

    eventually(forge, every=0.001)
    assert min(later - earlier for earlier, later in pairwise(fetched)) >= 0.2
