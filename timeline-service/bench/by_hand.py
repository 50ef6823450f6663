"""The page that one would write by hand: a list of ids, the tweets by these, and json."""

import json
import os
from functools import partial
from itertools import chain
from typing import Any

from flask import Flask, Response
from redis import Redis

from contracts.ids import is_user_id
from murmuration_edge.app import AT_START
from murmuration_edge.auth import Keys, authenticate, caller
from murmuration_edge.settings import EdgeSettings
from murmuration_runtime import admin
from murmuration_runtime.readiness import Readiness
from murmuration_runtime.settings import read

CELEBRITIES = os.environ.get("BY_HAND_CELEBRITIES", "").split()
LIMIT = 20


def app_by_hand(keys: Keys) -> Flask:
    """Build it, behind the same check of tokens."""
    app = Flask("by-hand")
    settings = read(EdgeSettings)
    app.extensions[AT_START] = [partial(admin.start, settings.host, settings.admin_port, Readiness().waiting_for)]
    app.before_request(authenticate(settings, is_user_id, keys))
    redis: Any = Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)

    @app.get("/v1/timeline")
    def page() -> Response:
        ids = redis.lrange(f"by-hand:home:{caller()}", 0, LIMIT - 1)
        if CELEBRITIES:
            pipeline = redis.pipeline(transaction=False)
            for name in CELEBRITIES:
                pipeline.lrange(f"by-hand:said:{name}", 0, LIMIT - 1)
            ids = sorted(chain(ids, *pipeline.execute()), reverse=True)[:LIMIT]
        bodies = redis.mget([f"by-hand:tweet:{tweet_id}" for tweet_id in ids])
        tweets = [json.loads(body) for body in bodies if body]
        return Response(json.dumps({"tweets": tweets}), content_type="application/json")

    return app
