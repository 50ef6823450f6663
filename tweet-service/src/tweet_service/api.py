"""HTTP to domain and back. Nothing is published here: the table's stream is the outbox."""

from collections.abc import Callable
from dataclasses import asdict

from flask import Blueprint, jsonify, request, url_for
from flask.typing import ResponseReturnValue

from contracts.ids import PATTERNS
from murmuration_edge import texts
from murmuration_edge.auth import caller
from murmuration_edge.bodies import Body
from murmuration_edge.operations import Answer, Operations
from murmuration_edge.paging import link_next
from murmuration_edge.problems import UNAVAILABLE, Problem, Problems
from murmuration_edge.queries import Limit, Page
from tweet_service import posting, tweets
from tweet_service.audience import Accounts
from tweet_service.members import DeletedAccountError, Members, NoProfileError
from tweet_service.snowflake import NoWorkerIdError
from tweet_service.tweets import Store, Tweet, Tweets

PROBLEMS: Problems = {
    posting.BadKeyError: Problem(400, "bad-idempotency-key"),
    DeletedAccountError: Problem(403, "account-deleted"),
    NoProfileError: Problem(403, "no-profile"),
    tweets.NotYoursError: Problem(403, "not-your-tweet"),
    tweets.PrivateAuthorError: Problem(403, "private-account"),
    tweets.UnknownTweetError: Problem(404, "no-tweet"),
    texts.UnfitTextError: Problem(422, "bad-text"),
    posting.ReusedKeyError: Problem(422, "idempotency-key-reused"),
    NoWorkerIdError: UNAVAILABLE,
}


class NewTweet(Body):
    """The body of POST /v1/tweets."""

    text: str


class TweetsQuery(Page):
    """Which part of somebody's tweets."""

    limit: Limit = 20


def operations(
    store: Store,
    accounts: Accounts,
    members: Members,
    next_id: Callable[[], tuple[str, int]],
    now: Callable[[], int],
) -> Operations:
    """Declare the routes over one store of tweets, and what is known of their authors."""
    api = Operations(Blueprint("tweets", __name__, url_prefix="/v1"), PATTERNS)

    @api.add(
        "POST",
        "/tweets",
        {201: Answer("The tweet", Tweet, ["Location"])},
        posting.BadKeyError,
        DeletedAccountError,
        NoProfileError,
        texts.UnfitTextError,
        posting.ReusedKeyError,
        body=NewTweet,
        headers=["Idempotency-Key"],
        budget="tweets",
    )
    def post_tweet(body: NewTweet) -> ResponseReturnValue:
        """Say something. With an Idempotency-Key, a repeat is the same tweet."""
        members.check(caller())
        key = request.headers.get("Idempotency-Key")
        if key is None:
            tweet = posting.post(store, caller(), body.text, next_id)
        else:
            tweet = posting.post_once(store, caller(), body.text, key, next_id)
        return jsonify(asdict(tweet)), 201, {"Location": url_for(".get_tweet", tweet_id=tweet.tweet_id)}

    @api.add("GET", "/tweets/<tweet_id>", {200: Answer("The tweet", Tweet)}, tweets.UnknownTweetError)
    def get_tweet(tweet_id: str) -> ResponseReturnValue:
        """Read a tweet."""
        return jsonify(asdict(tweets.read(store, accounts, tweet_id, caller())))

    @api.add(
        "DELETE",
        "/tweets/<tweet_id>",
        {204: Answer("The tweet is deleted")},
        tweets.UnknownTweetError,
        tweets.NotYoursError,
    )
    def delete_tweet(tweet_id: str) -> ResponseReturnValue:
        """Delete one's own tweet. Safe to repeat."""
        tweets.delete(store, accounts, tweet_id, caller(), now())
        return "", 204

    @api.add(
        "GET",
        "/users/<user_id>/tweets",
        {200: Answer("A page, newest first; of nobody, and of a deleted account, an empty one", Tweets, ["Link"])},
        tweets.PrivateAuthorError,
        query=TweetsQuery,
        cost=2,
    )
    def tweets_of_user(user_id: str, query: TweetsQuery) -> ResponseReturnValue:
        """List what this user said, newest first."""
        page = tweets.said_by(store, accounts, user_id, caller(), query.limit, query.cursor)
        return link_next(jsonify(asdict(page)), query, page.next_cursor)

    return api
