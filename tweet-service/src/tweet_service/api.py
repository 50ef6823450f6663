"""HTTP to domain and back. Nothing is published here: the table's stream is the outbox."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict

from flask import Blueprint, jsonify, request
from flask.typing import ResponseReturnValue

from contracts.ids import PATTERNS
from contracts.profiles import DeletedAccountError, NoProfileError
from murmuration_edge import texts
from murmuration_edge.auth import caller
from murmuration_edge.caching import NOT_CHANGED
from murmuration_edge.operations import Answer, Operations
from murmuration_edge.paging import link_next
from murmuration_edge.problems import UNAVAILABLE, Problem, Problems
from tweet_service import members, posting, tweets
from tweet_service.audience import Accounts, Author, profiles
from tweet_service.models import NewTweet, TweetsById, TweetsByIdQuery, TweetsPage, TweetsQuery
from tweet_service.snowflake import NoWorkerIdError
from tweet_service.tweets import Store, Tweet

PROBLEMS: Problems = {
    posting.BadKeyError: Problem(400, "bad-idempotency-key"),
    DeletedAccountError: Problem(403, "account-deleted"),
    NoProfileError: Problem(403, "no-profile"),
    tweets.NotYoursError: Problem(403, "not-your-tweet"),
    tweets.BlockedAuthorError: Problem(403, "blocking"),
    tweets.PrivateAuthorError: Problem(403, "private-account"),
    tweets.UnknownTweetError: Problem(404, "no-tweet"),
    tweets.UnknownAuthorError: Problem(404, "no-user"),
    texts.UnfitTextError: Problem(422, "bad-text"),
    posting.DeletedTweetError: Problem(409, "tweet-deleted"),
    posting.ReusedKeyError: Problem(422, "idempotency-key-reused"),
    NoWorkerIdError: UNAVAILABLE,
}


def operations(
    store: Store,
    accounts: Accounts,
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
        posting.DeletedTweetError,
        posting.ReusedKeyError,
        body=NewTweet,
        headers=["Idempotency-Key"],
        budget="tweets",
    )
    def post_tweet(body: NewTweet) -> ResponseReturnValue:
        """Say something. With an Idempotency-Key, a repeat is the same tweet."""
        members.check(accounts, caller())
        key = request.headers.get("Idempotency-Key")
        if key is None:
            tweet = posting.post(store, caller(), body.text, next_id)
        else:
            tweet = posting.post_once(store, caller(), body.text, key, next_id)
        return jsonify(asdict(tweet)), 201, {"Location": f"/v1/tweets/{tweet.tweet_id}"}

    @api.add("GET", "/tweets", {200: Answer("The tweets", TweetsById)}, query=TweetsByIdQuery, cost=5)
    def get_tweets(query: TweetsByIdQuery) -> ResponseReturnValue:
        """Read up to a hundred tweets, in the order asked; what the caller may not read is left out."""
        found, authors = tweets.read_all(store, accounts, query.id, caller())
        return jsonify({"tweets": [asdict(tweet) for tweet in found], **_expanded(query, authors, found)})

    @api.add(
        "GET",
        "/tweets/<tweet_id>",
        {200: Answer("The tweet", Tweet, ["ETag"]), 304: NOT_CHANGED},
        tweets.UnknownTweetError,
        tweets.BlockedAuthorError,
    )
    def get_tweet(tweet_id: str) -> ResponseReturnValue:
        """Read a tweet."""
        return jsonify(asdict(tweets.read(store, accounts, tweet_id, caller())))

    @api.add(
        "DELETE",
        "/tweets/<tweet_id>",
        {204: Answer("The tweet is deleted")},
        tweets.UnknownTweetError,
        tweets.BlockedAuthorError,
        tweets.NotYoursError,
    )
    def delete_tweet(tweet_id: str) -> ResponseReturnValue:
        """Delete one's own tweet. Safe to repeat."""
        tweets.delete(store, accounts, tweet_id, caller(), now())
        return "", 204

    @api.add(
        "GET",
        "/users/<user_id>/tweets",
        {200: Answer("A page, newest first", TweetsPage, ["Link"])},
        tweets.UnknownAuthorError,
        tweets.BlockedAuthorError,
        tweets.PrivateAuthorError,
        query=TweetsQuery,
        cost=2,
    )
    def tweets_of_user(user_id: str, query: TweetsQuery) -> ResponseReturnValue:
        """List what this user said, newest first."""
        page, author = tweets.said_by(store, accounts, user_id, caller(), query.limit, query.cursor)
        shown = asdict(page) | _expanded(query, {user_id: author}, page.tweets)
        return link_next(jsonify(shown), query, page.next_cursor)

    return api


def _expanded(
    query: TweetsQuery | TweetsByIdQuery, authors: Mapping[str, Author], shown: Iterable[Tweet]
) -> dict[str, object]:
    """Return what expand asks for."""
    if not query.expand:
        return {}
    return {"authors": [asdict(profile) for profile in profiles(authors, (tweet.author_id for tweet in shown))]}
