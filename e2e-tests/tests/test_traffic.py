"""The traffic that drills and the cluster's proof stand on: it counts what it sends, and it sees what is not right."""

from collections import Counter

from murmuration_testkit.traffic import Rates, Traffic
from murmuration_testkit.waiting import eventually, remaining


def test_traffic_has_its_rates_and_sees_each_kind_of_difference():
    """None on a sound system; and what others undo behind the crowd's back is named."""
    traffic = Traffic(Rates(follows=20, tweets=20, pages=40), people=8)
    traffic.start()
    eventually(lambda: sum(traffic.sent.values()) >= 100, within=20)
    traffic.stop()
    assert not traffic.failures
    assert set(traffic.sent) == {"follow", "unfollow", "tweet", "delete", "page"}
    crowd = traffic.crowd
    assert remaining(crowd.differences, within=20) == []
    me = crowd.people[0]
    told = next(other for other in crowd.people[1:] if other.user_id not in me.edges("following"))
    crowd.following[me.user_id][told.user_id] = True
    crowd.tweets[me.user_id].add("1")
    me.tweet("of nobody's asking")
    assert {
        words for said in crowd.differences() for words in ("was told", "without a row", "asked for") if words in said
    } == {
        "was told",
        "without a row",
        "asked for",
    }


def test_a_request_that_failed_is_sent_once_more_and_counted():
    """Mended if the second attempt is answered, failed if it is not; and what was not answered is no difference."""
    nobody, seen = "http://127.0.0.1:9", Counter()

    def place(path):
        seen[path] += 1
        return nobody + path if path == "/v1/tweets" or seen[path] % 2 else path

    traffic = Traffic(Rates(follows=10, tweets=10, pages=10), people=8, place=place)
    traffic.start()
    eventually(traffic.failed, within=20)
    eventually(lambda: traffic.mended() > 0, within=20)
    traffic.stop()
    assert {failure.request for failure in traffic.failed()} >= {"POST /v1/tweets"}
    assert remaining(traffic.crowd.differences, within=20) == []
