"""What of Kafka settles what is kept: the topics that follow-keeper hears, and the tables behind them. Pure."""

from contracts import TOPICS
from contracts.tables import BLOCKS, FOLLOW_REQUESTS, FOLLOWERS, MUTES, USERS

TABLES = {
    "UserChanged": USERS.name,
    "FollowChanged": FOLLOWERS.name,
    "FollowRequestChanged": FOLLOW_REQUESTS.name,
    "BlockChanged": BLOCKS.name,
    "MuteChanged": MUTES.name,
}
PARTITIONS = frozenset((topic, number) for topic in TABLES for number in range(TOPICS[topic].partitions))
SETTLED = "graph_settled"  # the key of until when they are
