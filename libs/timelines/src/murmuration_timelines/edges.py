"""What of Kafka settles whom timelines show: the topics of follows and mutes, and the tables behind them. Pure."""

from contracts import TOPICS
from contracts.tables import FOLLOWERS, MUTES

TABLES = {"FollowChanged": FOLLOWERS.name, "MuteChanged": MUTES.name}  # a block takes follows away: it needs no topic
PARTITIONS = frozenset((topic, number) for topic in TABLES for number in range(TOPICS[topic].partitions))
