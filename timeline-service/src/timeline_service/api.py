"""HTTP to domain and back. This service only reads."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal, Protocol

from flask import Blueprint, Response, jsonify
from flask.typing import ResponseReturnValue
from pydantic import Field

from contracts.ids import PATTERNS
from contracts.profiles import Profile
from murmuration_edge.auth import caller
from murmuration_edge.operations import Answer, Operations
from murmuration_edge.paging import link_next
from murmuration_edge.problems import UNAVAILABLE, Problems
from murmuration_edge.queries import Limit, Page, Query
from murmuration_timelines.merge import TOP
from murmuration_timelines.tweets import Tweet as CachedTweet
from timeline_service.confirming import UnconfirmedError
from timeline_service.cursors import read_cursor
from timeline_service.page import Pages
from timeline_service.rebuild_slots import BusyError
from timeline_service.since_mark import NOTHING, read_mark

MOST_COUNTED = 100
PROBLEMS: Problems = {BusyError: UNAVAILABLE, UnconfirmedError: UNAVAILABLE}
PAGE = '{"tweets":[%(tweets)s],"next_cursor":%(next_cursor)s,"newest":%(newest)s%(authors)s}'  # tweets are JSON already
SINCE = "newest of an earlier page, exactly as it came: only what is new since then"


class TimelineQuery(Page):
    """Which part of the timeline."""

    limit: Limit = 20
    since: str | None = Field(None, description=SINCE)
    expand: Literal["author"] | None = Field(None, description="author: the authors' profiles, beside the tweets")


class CountQuery(Query):
    """Since when."""

    since: str = Field(description=SINCE)


@dataclass(frozen=True)
class Tweet:
    """What somebody said, and when."""

    tweet_id: str
    author_id: str
    text: str
    created_at: int


@dataclass(frozen=True)
class Timeline:
    """Some of a home timeline, newest first; `newest` is for `since`, and null on pages that a cursor led to.

    With expand=author also the profiles of the authors, each once.
    """

    tweets: list[Tweet]
    next_cursor: str | None
    newest: str | None
    authors: list[Profile] = field(default_factory=list)


@dataclass(frozen=True)
class Count:
    """How many tweets are new, up to a hundred, and whether there are more."""

    count: int
    more: bool


class Profiles(Protocol):
    """What is known of authors."""

    def profiles(self, user_ids: Collection[str]) -> Mapping[str, Profile]:
        """Return those of these profiles that there are."""


def operations(pages: Pages, profiles: Profiles) -> Operations:
    """Declare the routes over the caller's own timeline; there is no way to ask for another's."""
    api = Operations(Blueprint("timeline", __name__, url_prefix="/v1"), PATTERNS)

    @api.add("GET", "/timeline", {200: Answer("A page, newest first", Timeline, ["Link"])}, query=TimelineQuery)
    def home_timeline(query: TimelineQuery) -> ResponseReturnValue:
        """Show what the caller and those they follow said, newest first; with since, only what is new."""
        page = pages.home(
            caller(),
            query.limit,
            read_cursor(query.cursor) if query.cursor else TOP,
            read_mark(query.since) if query.since else NOTHING,
        )
        body = PAGE % {
            "tweets": ",".join(tweet.shown for tweet in page.tweets),
            "next_cursor": json.dumps(page.next_cursor),
            "newest": json.dumps(page.newest),
            "authors": f',"authors":{_authors(profiles, page.tweets)}' if query.expand else "",
        }
        return link_next(Response(body, content_type="application/json"), query, page.next_cursor)

    @api.add("GET", "/timeline/count", {200: Answer("The number", Count)}, query=CountQuery)
    def count_new_tweets(query: CountQuery) -> ResponseReturnValue:
        """Count what is new, up to a hundred."""
        page = pages.home(caller(), MOST_COUNTED, since=read_mark(query.since))
        return jsonify(count=len(page.tweets), more=page.next_cursor is not None)

    return api


def _authors(profiles: Profiles, tweets: Iterable[CachedTweet]) -> str:
    """Return the JSON of the profiles of those who wrote these tweets, each once, in the order of the tweets."""
    wrote = dict.fromkeys(tweet.author_id for tweet in tweets)
    found = profiles.profiles(wrote)
    return json.dumps([asdict(found[author_id]) for author_id in wrote if author_id in found], ensure_ascii=False)
