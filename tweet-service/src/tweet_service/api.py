"""HTTP to domain and back. Nothing is published here: the table's stream is the outbox."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from flask import Blueprint, jsonify, request, url_for
from flask.typing import ResponseReturnValue
from pydantic import BaseModel, ConfigDict

from tweet_service import posting, tweets
from tweet_service.audience import Accounts
from tweet_service.auth import KeysAwayError, UnauthorizedError, caller
from tweet_service.problems import read_body, read_limit
from tweet_service.snowflake import NoWorkerIdError
from tweet_service.tweets import Store

STATUSES = {
    tweets.BadCursorError: (400, {}),
    posting.BadKeyError: (400, {}),
    UnauthorizedError: (401, {"WWW-Authenticate": 'Bearer error="invalid_token"'}),
    tweets.NotYoursError: (403, {}),
    tweets.PrivateAuthorError: (403, {}),
    tweets.UnknownTweetError: (404, {}),
    posting.BadTextError: (422, {}),
    posting.ReusedKeyError: (422, {}),
    NoWorkerIdError: (503, {"Retry-After": "1"}),
    tweets.StoreAwayError: (503, {"Retry-After": "1"}),
    KeysAwayError: (503, {"Retry-After": "1"}),
}


class NewTweet(BaseModel):
    """The body of POST /v1/tweets."""

    model_config = ConfigDict(extra="forbid", strict=True)
    text: str


def blueprint(
    store: Store,
    accounts: Accounts,
    authenticate: Callable[[], None],
    next_id: Callable[[], tuple[str, int]],
    now: Callable[[], int],
) -> Blueprint:
    """Routes over one store of tweets, and what is known of their authors."""
    bp = Blueprint("tweets", __name__, url_prefix="/v1")
    bp.before_request(authenticate)

    @bp.post("/tweets")
    def post() -> ResponseReturnValue:
        """Say something: one row, and the answer. With a key, one claim before it."""
        text, key = read_body(NewTweet).text, request.headers.get("Idempotency-Key")
        if key is None:
            tweet = posting.post(store, caller(), text, next_id)
        else:
            tweet = posting.post_once(store, caller(), text, key, next_id)
        return jsonify(asdict(tweet)), 201, {"Location": url_for(".get", tweet_id=tweet.tweet_id)}

    @bp.get("/tweets/<tweet_id>")
    def get(tweet_id: str) -> ResponseReturnValue:
        """Read a tweet."""
        return jsonify(asdict(tweets.read(store, accounts, tweet_id, caller())))

    @bp.delete("/tweets/<tweet_id>")
    def delete(tweet_id: str) -> ResponseReturnValue:
        """Delete one's own tweet. Safe to repeat."""
        tweets.delete(store, accounts, tweet_id, caller(), now())
        return "", 204

    @bp.get("/users/<user_id>/tweets")
    def by_author(user_id: str) -> ResponseReturnValue:
        """List what this user said, newest first."""
        limit, cursor = read_limit(20, 200), request.args.get("cursor")
        page = tweets.said_by(store, accounts, user_id, caller(), limit, cursor)
        response = jsonify(asdict(page))
        if page.next_cursor:
            following_page: dict[str, Any] = {**request.args, "cursor": page.next_cursor}
            response.headers["Link"] = f'<{url_for(".by_author", user_id=user_id, **following_page)}>; rel="next"'
        return response

    return bp
