"""Who was unfollowed, muted or has blocked is not seen, whatever stands still between the tables and the timelines."""

import re

import pytest

from murmuration_testkit.people import Person
from murmuration_testkit.processes import caught_up, page, stopped
from murmuration_testkit.waiting import eventually, steadily

LATE_S = 5  # murmuration_runtime.settled.LATE_SECONDS: then pages confirm their authors


@pytest.mark.parametrize("process", ["fanout-worker", "cdc-bridge"])
def test_who_left_is_hidden_at_once_while_nobody_brings_it_to_the_timelines(process):
    """The next page is without them, and full; and it stays so when all goes on."""
    alice, bob, carol, dave, erin = (Person(name).join() for name in ("Alice", "Bob", "Carol", "Dave", "Erin"))
    others = (bob, carol, dave, erin)
    for other in others:
        alice.follow(other)
        other.tweet(other.name)
    caught_up("fanout-worker")
    eventually(alice.timeline, ["Erin", "Dave", "Carol", "Bob"])
    with stopped(process):
        eventually(lambda: edges_age() > LATE_S)
        before = confirmed("left")
        alice.unfollow(bob)
        assert alice.timeline(limit=3) == ["Erin", "Dave", "Carol"]
        carol.ask("PUT", f"/v1/users/{alice.user_id}/block")
        assert alice.timeline() == ["Erin", "Dave"]
        alice.ask("PUT", f"/v1/users/{dave.user_id}/mute")
        assert alice.timeline() == ["Erin"]
        assert confirmed("left") >= before + 2
    eventually(lambda: edges_age() < LATE_S, within=60)
    steadily(alice.timeline, ["Erin"], during=2)


def test_plain_pages_ask_no_table_while_all_goes_on():
    """What is known of edges is younger than five seconds, idle partitions included, and pages rest on it."""
    alice, bob = Person("Alice").join(), Person("Bob").join()
    alice.follow(bob)
    bob.tweet("hello")
    eventually(alice.timeline, ["hello"])
    eventually(lambda: rests_on_redis(alice), True, within=90)


def rests_on_redis(reader):
    """Tell whether somebody reads for a while and none of these pages is confirmed; a busy machine may be late."""
    before = confirmed()
    try:
        steadily(lambda: (reader.timeline(), edges_age() < LATE_S), (["hello"], True), during=3)
    except AssertionError:
        return False
    return confirmed() == before


def edges_age():
    """Since when timeline-service does not know that edges are settled, in seconds."""
    return sum(_values("timeline_edges_age_seconds"))


def confirmed(outcome=""):
    """How many of its pages were confirmed, with this outcome or any."""
    return sum(_values(rf'timeline_confirmed_pages_total\{{outcome="{outcome or "[a-z]+"}"\}}'))


def _values(series):
    _, told = page("timeline-service", "/metrics")
    return [float(value) for value in re.findall(rf"^{series} (\S+)$", told, re.MULTILINE)]
