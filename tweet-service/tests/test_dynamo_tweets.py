"""What every store promises: the same tests on the one in memory and on DynamoDB."""

import itertools
import os
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from murmuration_edge.cursors import BadCursorError, encode
from murmuration_runtime import traces
from murmuration_runtime.dynamo import client
from murmuration_runtime.errors import StoreAwayError
from murmuration_testkit.unkind_aws import UnkindAws, Unkindness
from tweet_service.dynamo_tweets import DynamoTweets
from tweet_service.posting import ReusedKeyError, post_once
from tweet_service.tweets import (
    Claim,
    Kept,
    TakenIdError,
    Tweet,
)

from .memory import MemoryStore
from .past import with_a_past

PREFIX = os.environ.get("TABLE_PREFIX", "")


class StorePromises:
    """Subclassed by one class for each store."""

    def left_of(self, tweet):  # noqa: ARG002
        """Return what is left of a deleted tweet's text."""
        return ""

    def test_a_tweet_is_found_as_it_was_written(self, store, say, somebody):
        """Nothing is lost on the way, emoji included."""
        tweet = say(somebody())
        assert store.find(tweet.tweet_id) is None
        store.add(tweet)
        kept = store.find(tweet.tweet_id)
        assert (kept.tweet, kept.deleted) == (tweet, False)

    def test_many_tweets_are_found_as_each_is(self, store, say, somebody):
        """However many; what is not there is left out, and what is deleted says so."""
        said = [say(somebody()) for _ in range(102)]
        for tweet in said[:3]:
            store.add(tweet)
        store.delete(said[0].tweet_id, 1)
        found = store.find_all([tweet.tweet_id for tweet in said])
        assert found == {tweet.tweet_id: store.find(tweet.tweet_id) for tweet in said[:3]}
        assert store.find_all([]) == {}

    def test_an_id_is_written_once(self, store, say, somebody):
        """The second tweet with the same id is refused, the first stays."""
        tweet = say(somebody())
        store.add(tweet)
        with pytest.raises(TakenIdError):
            store.add(Tweet(tweet.tweet_id, "another", "text", 1))
        assert store.find(tweet.tweet_id).tweet == tweet

    def test_a_key_is_claimed_once(self, store, somebody):
        """Whoever comes second is told what stands; withdrawn, the key is free again."""
        author = somebody()
        first, second = Claim("1", 1, "a"), Claim("2", 2, "b")
        assert store.claim(author, "key", first) == first
        assert store.claim(author, "key", second) == first
        assert store.claim(somebody(), "key", second) == second
        store.unclaim(author, "key", "another")
        assert store.claim(author, "key", second) == first
        store.unclaim(author, "key", first.tweet_id)
        assert store.claim(author, "key", second) == second

    def test_a_deleted_tweet_is_marked_and_not_listed(self, store, say, somebody):
        """Deleting twice is deleting once; what was said is gone, and whose it was is not."""
        author = somebody()
        kept, gone = say(author), say(author)
        store.add(kept)
        store.add(gone)
        store.delete(gone.tweet_id, 1)
        store.delete(gone.tweet_id, 2)
        assert store.find(gone.tweet_id) == Kept(replace(gone, text=self.left_of(gone)), deleted=True)
        assert store.find(gone.tweet_id).is_of(gone)
        assert store.by_author(author, 10, None).tweets == [kept]

    def test_pages_are_full_to_the_end_whatever_was_deleted(self, store, say, somebody):
        """Paging gives each undeleted tweet once, newest first; only the last page is short."""
        author = somebody()
        said = [say(author) for _ in range(12)]
        for tweet in said:
            store.add(tweet)
        for tweet in said[3:9]:
            store.delete(tweet.tweet_id, 1)
        expected = [tweet for tweet in reversed(said) if tweet not in said[3:9]]
        pages, cursor = [], None
        while True:
            page = store.by_author(author, 2, cursor)
            pages.append(page.tweets)
            cursor = page.next_cursor
            if cursor is None:
                break
        assert [tweet for page in pages for tweet in page] == expected
        assert [len(page) for page in pages] == [2, 2, 2]

    def test_what_is_not_deleted_is_found_page_by_page(self, store, say, somebody):
        """Going down from the top, each once; marked ones are not in it, and may make a page empty."""
        author = somebody()
        said = [say(author) for _ in range(205)]
        for tweet in (*said, say(somebody())):
            store.add(tweet)
        for tweet in said[::5]:
            store.delete(tweet.tweet_id, 1)
        found, below = store.undeleted(author, None)
        while below:
            page, below = store.undeleted(author, below)
            found += page
        assert found == [tweet.tweet_id for at, tweet in reversed([*enumerate(said)]) if at % 5]

    @pytest.mark.parametrize("text", ["not ours", "", "5", "9" * 20, "9" * 2_500, "\u0661" * 19])
    def test_a_foreign_cursor_is_refused(self, store, somebody, text):
        """A cursor that was not handed out is the client's error."""
        cursor = encode(text) or "="
        with pytest.raises(BadCursorError, match="next_cursor"):
            store.by_author(somebody(), 3, cursor)


class TestMemoryStore(StorePromises):
    """In memory."""

    @pytest.fixture
    def store(self):
        return MemoryStore()


class TestDynamoTweetsOnUnkindAws(StorePromises):
    """On tables in memory, whose pages come short."""

    @pytest.fixture
    def store(self):
        return DynamoTweets(UnkindAws(unkind={Unkindness.SHORT_PAGE: 0.3}).client(), "")


class TestBeforeTheSwitch(StorePromises):
    """On tables with a past, which have no other index by author."""

    @pytest.fixture
    def store(self):
        return DynamoTweets(with_a_past().client(), "", lambda: False)

    def left_of(self, tweet):
        """A release that still runs needs it."""
        return tweet.text


@pytest.mark.stack
class TestDynamoTweets(StorePromises):
    """On the real table."""

    @pytest.fixture
    def store(self):
        return DynamoTweets(client(), PREFIX)

    def test_a_tweet_carries_the_trace_of_whoever_wrote_and_deleted_it(self, store, say, somebody, spans):
        """Each request its own; without a trace the row has no such attribute."""

        def carried():
            item = dynamodb.get_item(TableName=table, Key={"tweet_id": {"S": tweet.tweet_id}}, ConsistentRead=True)
            return item["Item"].get("traceparent", {}).get("S")

        dynamodb, table = client(), f"{PREFIX}tweets"
        tweet = say(somebody())
        store.add(tweet)
        assert carried() is None
        tweet = say(somebody())
        for write in (lambda: store.add(tweet), lambda: store.delete(tweet.tweet_id, 9)):
            with traces.span("POST", "SERVER", [], {}):
                write()
                assert carried() == traces.traceparent()
        assert len(spans()) == 2
        assert store.find(tweet.tweet_id).deleted

    def test_many_retries_at_once_are_one_tweet(self, store, somebody):
        """Sixteen with one key, eight with one text and eight with another: one text wins, and is written once."""
        author, ids = somebody(), itertools.count(random.randrange(10**18, 8 * 10**18))
        everybody = threading.Barrier(16)

        def post(text):
            everybody.wait()
            try:
                return post_once(store, author, text, "key", lambda: (str(next(ids)), 1))
            except ReusedKeyError:
                return None

        with ThreadPoolExecutor(16) as threads:
            answers = list(threads.map(post, ["hello", "goodbye"] * 8))
        assert len(set(answers) - {None}) == 1
        assert answers.count(None) == 8
        assert store.by_author(author, 200, None).tweets == [*(set(answers) - {None})]

    def test_a_mark_never_makes_a_row(self, store, say, somebody):
        """Marking what is not there leaves nothing behind."""
        tweet = say(somebody())
        store.delete(tweet.tweet_id, 1)
        assert store.find(tweet.tweet_id) is None

    @pytest.mark.usefixtures("dynamodb_away")
    def test_a_store_that_is_away_is_named(self):
        """No answer within seconds is an error that invites another try."""
        with pytest.raises(StoreAwayError, match=r"127\.0\.0\.1:9"):
            DynamoTweets(client(), "").find("1")
