"""A real service, and an issuer of tokens that is slow, hangs or is gone."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import urllib3

from murmuration_testkit.issuer_door import DISCOVERY, KEYS, issuer_door
from murmuration_testkit.tokens import Issuer
from murmuration_testkit.waiting import eventually, steadily

from .test_gunicorn import served

ISSUER = Issuer(headers={"kid": "one"})
FORGER = Issuer()
AT_ONCE = 0.5


def ask(service, headers):
    """Return the status, and whether it came at once."""
    began = time.monotonic()
    url = f"http://127.0.0.1:{service.port}/v1/things/x"
    answer = urllib3.request("GET", url, headers=headers, timeout=30, retries=False)
    return answer.status, time.monotonic() - began < AT_ONCE


def forged(number):
    return FORGER.saying(kid=f"forged-{number}").bearer("mallory")


def test_forged_key_ids_and_an_issuer_that_hangs_keep_nobody_waiting():
    """Keys are fetched beside the requests: an id that nobody knows is refused, and those that are known serve."""
    with (
        issuer_door() as door,
        served(JWT_JWKS_URL=f"{door.url}/keys", AWS_ENDPOINT_URL_DYNAMODB="http://127.0.0.1:9") as service,
        ThreadPoolExecutor(4) as forgers,
    ):
        door.publish(ISSUER.published())
        eventually(lambda: ask(service, ISSUER.bearer("alice"))[0], 200)
        door.hang()
        attacks = [forgers.submit(ask, service, forged(number)) for number in range(4)]
        # Longer than a fetch may take; each token is one that was not seen before.
        steadily(lambda: ask(service, ISSUER.bearer("bob")), (200, True), during=4)
        assert {attack.result() for attack in attacks} == {(401, True)}


def test_a_slow_issuer_keeps_nobody_waiting_at_the_start():
    """Four forged tokens once made a valid one wait for 11.9 s, while each of the five had the keys fetched in turn."""
    with (
        issuer_door() as door,
        served(JWT_JWKS_URL=f"{door.url}/keys", AWS_ENDPOINT_URL_DYNAMODB="http://127.0.0.1:9") as service,
        ThreadPoolExecutor(5) as callers,
    ):
        door.wait_s = 2.8
        door.publish(ISSUER.published())
        attacks = [callers.submit(ask, service, forged(number)) for number in range(4)]
        valid = callers.submit(ask, service, ISSUER.bearer("alice"))
        assert {attack.result() for attack in attacks} <= {(401, True), (503, True)}
        assert valid.result() in [(200, True), (503, True)]
        eventually(lambda: ask(service, ISSUER.bearer("alice")), (200, True))


def test_without_any_keys_a_service_is_not_ready_and_says_why():
    """Nobody is told that a good token is bad; it is ready as soon as the issuer answers."""
    with (
        issuer_door() as door,
        served(JWT_JWKS_URL=None, JWT_ISSUER=door.url, AWS_ENDPOINT_URL_DYNAMODB="http://127.0.0.1:9") as service,
    ):
        issuer = Issuer(door.url, headers={"kid": "one"})
        assert ask(service, issuer.bearer("alice")) == (503, True)
        assert "signing keys: " in service.probe("readyz")[1]
        door.publish(issuer.published())
        door.pages[DISCOVERY] = json.dumps({"issuer": door.url, "jwks_uri": f"{door.url}{KEYS}"}).encode()
        eventually(lambda: ask(service, issuer.bearer("alice")), (200, True))
        assert "signing keys: " not in service.probe("readyz")[1]
        assert "signing_keys 1.0" in service.probe("metrics")[1]
