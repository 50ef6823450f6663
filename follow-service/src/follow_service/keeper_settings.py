"""What `python -m follow_service keep` needs to know of its environment."""

from follow_service.graph_redis_settings import GraphRedisSettings
from murmuration_runtime.redis_connection import RedisUrl
from murmuration_worker.settings import WorkerSettings


class KeeperSettings(GraphRedisSettings, WorkerSettings):
    """What the worker needs."""

    graph_redis_url: RedisUrl
