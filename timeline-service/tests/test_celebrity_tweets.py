"""What celebrities said, as one process holds it."""

from murmuration_timelines.merge import Run
from murmuration_timelines.shown import Shown
from timeline_service.celebrity_reads import CelebrityReads
from timeline_service.celebrity_tweets import CelebrityTweets

from .world import World


def celebrity_tweets(world):
    reads = CelebrityReads(world.database, lambda: world.now)
    return CelebrityTweets(world.famous, world.cache.authors, world.builder, reads, 9, lambda: world.now)


def test_what_one_read_found_no_later_read_misses():
    """However many ids each asks for: else a page would lack what the mark above it names as seen."""
    world, star = World(), Shown.of(["star"])
    world.promote("star")
    tweets = celebrity_tweets(world)
    tweets.runs(star, None)
    said = world.say("star").tweet_id
    world.deliver(0)
    found = set()
    for count in (60, None, 9, 90):
        (run,) = tweets.runs(star, count)
        assert found <= {*run.ids}
        found = {*run.ids}
    world.wait()
    assert [run.ids for run in tweets.runs(star, 60)] == [[said]]


def test_a_celebrity_whose_newest_tweets_are_all_deleted_is_warm():
    """The database has nothing above a floor, and more below; that is known after one query."""
    world, shown = World(), Shown.of(["star"])
    world.promote("star")
    world.database.ids = lambda below, _: world.asked.append(below) or {each: Run([], "5" * 19) for each in below}
    world.asked = []
    tweets = celebrity_tweets(world)
    for _ in range(2):
        (run,) = tweets.runs(shown, 60)
        assert run.floor == "5" * 19
        world.wait()
    assert len(world.asked) == 1
