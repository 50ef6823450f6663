"""The real parts of an audit: which timelines, and when nothing is on its way."""

import random
from collections.abc import Callable, Sequence
from functools import partial

from contracts.tables import FOLLOWERS, MIGRATIONS, MUTES, TWEETS
from fanout_worker.audit import Audit, Summary
from fanout_worker.dynamo_celebrities import DynamoCelebrities
from fanout_worker.dynamo_follows import DynamoFollows
from fanout_worker.dynamo_mutes import DynamoMutes
from fanout_worker.dynamo_tweets import DynamoTweets
from fanout_worker.settings import JobSettings
from fanout_worker.topics import SERVICE, TOPICS_READ
from murmuration_runtime import dynamo
from murmuration_runtime.kafka import KafkaTopics
from murmuration_runtime.migration_switch import MigrationSwitch
from murmuration_runtime.retries import Pace
from murmuration_timelines import reset_timelines
from murmuration_timelines.reader import TimelineReader
from murmuration_timelines.sampled_timelines import Owner, sample
from murmuration_timelines.writer import connect
from murmuration_worker.dynamo_published import DynamoPublished
from murmuration_worker.zero_lag import ZeroLag

PUSHED_FROM = [FOLLOWERS.name, MUTES.name, TWEETS.name]


class AuditParts:
    """What audits are made of, one or many."""

    def __init__(self, settings: JobSettings, rate: float, patience_seconds: float, apart_seconds: float) -> None:
        """Take how many queries may be asked a second, how long to wait for events, and how far apart two looks are."""
        self._nodes = connect(settings.redis_url, **settings.redis_options())
        self._topics = KafkaTopics(settings, TOPICS_READ)
        dynamodb = dynamo.client(attempts=10, connect_seconds=2, read_seconds=10)
        switch = MigrationSwitch(dynamodb, settings.table_prefix, MIGRATIONS.LIVE_TWEETS)
        tweets = DynamoTweets(dynamodb, settings.table_prefix, switch)
        published = DynamoPublished(dynamodb, settings.table_prefix, PUSHED_FROM)
        zero_lag = ZeroLag(
            published.until, self._ends, self._handled, "fanout-worker to deliver", patience_seconds, apart_seconds
        )
        timelines = TimelineReader(self._nodes)
        self._audit = Audit(
            timelines,
            DynamoFollows(dynamodb, settings.table_prefix),
            DynamoMutes(dynamodb, settings.table_prefix),
            tweets,
            DynamoCelebrities(dynamodb, settings.table_prefix),
            wait=zero_lag.wait,
            make_cold=partial(reset_timelines.of_user, self._nodes),
            before_query=Pace(rate).wait,
        )
        self.checks: dict[str, Callable[[], object]] = {
            "dynamodb": tweets.check,
            "kafka": self._topics.ids,
            "redis": timelines.check,
        }

    def some(self, count: int) -> Summary:
        """Compare so many of all warm timelines, chosen by chance."""
        return self._audit.run(sample(self._nodes, count, random.Random()))

    def users(self, user_ids: Sequence[str]) -> Summary:
        """Compare what these users read and what they said, as far as it is warm."""
        return self._audit.run([Owner(user_id, kind) for user_id in user_ids for kind in (False, True)])

    def _ends(self) -> dict[tuple[str, int], int]:
        ids, ends = self._topics.ids(), self._topics.ends(self._topics.partitions)
        return {(ids[name], number): offset for (name, number), offset in ends.items()}

    def _handled(self) -> dict[tuple[str, int], int]:
        """Return how far the worker has come; one that finds a topic made again ends, so its offsets are this one's."""
        ids, committed = self._topics.ids(), self._topics.committed(SERVICE)
        return {(ids[name], number): offset for (name, number), offset in committed.items()}
