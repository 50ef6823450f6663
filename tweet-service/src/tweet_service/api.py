"""HTTP to domain and back. Nothing is published here: the table's stream is the outbox."""

from collections.abc import Callable
from dataclasses import asdict

from flask import Blueprint, jsonify, request, url_for
from flask.typing import ResponseReturnValue

from murmuration_edge.auth import caller
from murmuration_edge.bodies import Body, read_body
from murmuration_edge.paging import link_next, read_limit
from murmuration_edge.problems import Statuses
from tweet_service import posting, tweets
from tweet_service.audience import Accounts
from tweet_service.snowflake import NoWorkerIdError
from tweet_service.tweets import Store

STATUSES: Statuses = {
    posting.BadKeyError: 400,
    tweets.NotYoursError: 403,
    tweets.PrivateAuthorError: 403,
    tweets.UnknownTweetError: 404,
    posting.BadTextError: 422,
    posting.ReusedKeyError: 422,
    NoWorkerIdError: 503,
}


class NewTweet(Body):
    """The body of POST /v1/tweets."""

    text: str


def blueprint(
    store: Store,
    accounts: Accounts,
    next_id: Callable[[], tuple[str, int]],
    now: Callable[[], int],
) -> Blueprint:
    """Routes over one store of tweets, and what is known of their authors."""
    bp = Blueprint("tweets", __name__, url_prefix="/v1")

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
        return link_next(jsonify(asdict(page)), page.next_cursor)

    return bp
