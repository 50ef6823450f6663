"""A second process over the stores of a world."""

from timeline_service.bodies import Bodies
from timeline_service.confirming import Confirming
from timeline_service.page import Pages


def ignore(*_):
    """Look at nothing."""


def replica(world):
    """Return a second process over the stores of this world."""
    celebrity_tweets = world.celebrity_tweets(world.cache, world.builder)
    bodies = Bodies(world.cache, world.database)
    parts = world.cache, world.authors, world.database, world.builder, celebrity_tweets, bodies, ignore
    confirming = Confirming(world.edges_mark, world.database, float, ignore)
    return Pages(*parts, world.sources.append, lambda: world.now, confirming, 1)
