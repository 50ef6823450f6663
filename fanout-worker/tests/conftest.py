"""Events to deliver."""

import itertools

from contracts import FollowChanged, MuteChanged, Source, TweetCreated

_sequence = itertools.count(1)


def follow(sequence, follower="alice", followee="bob", *, following=True):
    return FollowChanged(f"e-{sequence}", Source("shard-1", sequence), follower, followee, following, None)


def mute(muter="alice", muted="bob", *, muting=True):
    sequence = next(_sequence)
    return MuteChanged(f"m-{sequence}", Source("shard-2", sequence), muter, muted, muting, None)


def tweet(tweet_id, author="bob", at=1_700_000_000_000):
    sequence = next(_sequence)
    return TweetCreated(f"t-{sequence}", Source("shard-1", sequence), tweet_id, author, "hello 👋", at)
