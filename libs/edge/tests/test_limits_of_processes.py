"""Two real processes of one service, and the Redis in which they count their callers together."""

from contextlib import contextmanager

import pytest
import urllib3

from murmuration_testkit.issuer_door import KEYS, issuer_door
from murmuration_testkit.redis_nodes import redis_node
from murmuration_testkit.tokens import Issuer
from murmuration_testkit.waiting import eventually

from .test_gunicorn import served

ISSUER = Issuer(headers={"kid": "one"})
BURST, BATCH, CALLS = 100, 10, 300
TIGHT = {"LIMIT_CALLS_A_MINUTE": "1", "LIMIT_CALLS_BURST": str(BURST)}  # next to nothing flows in meanwhile


@contextmanager
def two_processes(**environment):
    """Serve the same service twice, once it knows the issuer's keys."""
    quiet = {"AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:9", "LOG_LEVEL": "WARNING"}
    with issuer_door() as door:
        door.publish(ISSUER.published())
        told = TIGHT | quiet | environment | {"JWT_JWKS_URL": door.url + KEYS}
        with served(**told) as one, served(**told) as two:
            for each in (one, two):
                eventually(lambda each=each: "signing keys" in each.probe("readyz")[1], expected=False)
            yield one, two


def let_through(processes, person, calls=CALLS):
    """Ask the processes in turn, as somebody; return how many calls they let through."""
    headers, found = ISSUER.bearer(person), []
    for number in range(calls):
        port = processes[number % len(processes)].port
        answer = urllib3.request("GET", f"http://127.0.0.1:{port}/v1/things/x", headers=headers, retries=False)
        found.append(answer.status)
    assert set(found) <= {200, 429}, set(found)
    return found.count(200)


@pytest.mark.stack(shared=False)
def test_together_they_give_the_burst_and_at_most_a_batch_each_besides():
    """Burst + n * batch; while Redis hangs n * burst, and nobody waits; then they count together again."""
    with redis_node() as node, two_processes(LIMITS_REDIS_URL=node.url) as processes:
        assert BURST <= let_through(processes, "alice") <= BURST + 2 * BATCH
        node.pause()
        try:
            assert let_through(processes, "bob") == 2 * BURST
            assert all("limits_alone 1.0" in each.probe("metrics")[1] for each in processes)
        finally:
            node.resume()
        eventually(lambda: ["limits_alone 0.0" in each.probe("metrics")[1] for each in processes], [True, True])
        assert let_through(processes, "bob", 20) == 0
        assert BURST <= let_through(processes, "carol") <= BURST + 2 * BATCH
