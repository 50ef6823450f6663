"""What the API takes and gives, besides what the rules have already."""

from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from contracts.profiles import Profile
from murmuration_edge import texts
from murmuration_edge.bodies import Body
from murmuration_edge.queries import Limit, Page, Query
from tweet_service import posting
from tweet_service.tweets import Tweet, Tweets


class NewTweet(Body):
    """The body of POST /v1/tweets."""

    text: str = Field(json_schema_extra=texts.described(posting.LONGEST))


class TweetsQuery(Page):
    """Which part of somebody's tweets."""

    limit: Limit = 20
    expand: Literal["author"] | None = Field(None, description="author: the author's profile, beside the tweets")


class TweetsByIdQuery(Query):
    """Which tweets."""

    id: list[str] = Field(min_length=1, max_length=100, description="The ids of tweets; what is not there is left out")
    expand: Literal["author"] | None = Field(None, description="author: the authors' profiles, beside the tweets")


@dataclass(frozen=True)
class TweetsPage(Tweets):
    """Some tweets, newest first; with expand=author also their author's profile."""

    authors: list[Profile] = field(default_factory=list)


@dataclass(frozen=True)
class TweetsById:
    """Some tweets, each once, in the order asked; with expand=author also their authors' profiles."""

    tweets: list[Tweet]
    authors: list[Profile] = field(default_factory=list)
