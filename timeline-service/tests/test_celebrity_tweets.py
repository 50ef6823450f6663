"""What celebrities said, as one process holds it."""

from timeline_service.celebrity_tweets import CelebrityTweets

from .world import World


def test_what_one_read_found_no_later_read_misses():
    """However many ids each asks for: else a page would lack what the mark above it names as seen."""
    world, star = World(), frozenset({"star"})
    world.promote("star")
    tweets = CelebrityTweets(world.famous, world.cache.authors, world.builder, 9, lambda: world.now)
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
