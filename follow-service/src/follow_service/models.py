"""What the API takes and gives, besides what the rules have already."""

from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field
from pydantic.config import JsonDict

from contracts.profiles import Profile
from follow_service.people import Ties
from follow_service.profiles import LONGEST_NAME
from murmuration_edge import texts
from murmuration_edge.bodies import Body
from murmuration_edge.queries import Limit, Page, Query


def _without_default(schema: JsonDict) -> None:
    del schema["default"]  # what is left out stays as it is; the default is only that of a new profile


class NewProfile(Body):
    """The body of PUT /v1/users/me; what is left out besides the name stays as it is."""

    display_name: str = Field(json_schema_extra=texts.described(LONGEST_NAME))
    is_private: bool = Field(default=False, json_schema_extra=_without_default)
    discoverable: bool = Field(default=True, json_schema_extra=_without_default)

    @property
    def privacy_if_sent(self) -> bool | None:
        """Return what was sent; None if it was left out."""
        return self.is_private if "is_private" in self.model_fields_set else None

    @property
    def discoverable_if_sent(self) -> bool | None:
        """Return the same of this field."""
        return self.discoverable if "discoverable" in self.model_fields_set else None


VIEWER = "viewer: how the caller stands to them"


class ProfileQuery(Query):
    """What to show of a profile."""

    expand: Literal["viewer"] | None = Field(None, description=f"{VIEWER}, in the profile")


class UsersQuery(ProfileQuery):
    """Whose profiles."""

    id: list[str] = Field(min_length=1, max_length=100, description="The ids of users; unknown ones are left out")


class RelationshipsQuery(Query):
    """With whom."""

    id: list[str] = Field(min_length=1, max_length=100, description="The ids of users")


class PageQuery(Page):
    """Which part of a list."""

    limit: Limit = 50
    expand: Literal["author", "viewer"] | None = Field(
        None, description=f"author: the profiles of the users, beside the rows; {VIEWER}, in these profiles"
    )


class MutualsQuery(PageQuery):
    """Which part of a list that takes more to find."""

    limit: Limit = 20


class SuggestionsQuery(Page):
    """Which part of the suggestions."""

    limit: Limit = 20
    expand: Literal["author", "viewer"] | None = Field(
        None,
        description="author: the profiles of those who are suggested, then of those who are named as reasons; "
        f"{VIEWER}, in these profiles",
    )


@dataclass(frozen=True)
class SeenProfile(Profile):
    """A profile as the caller sees it; with expand=viewer, how they stand to each other."""

    blocking: bool
    viewer: Ties | None = None


@dataclass(frozen=True)
class Users:
    """Some profiles, each once, in the order asked."""

    users: list[SeenProfile]


@dataclass(frozen=True)
class Relationship(Ties):
    """How the caller and a user stand to each other."""

    user_id: str


@dataclass(frozen=True)
class Relationships:
    """How the caller stands to some users, each once, in the order asked."""

    relationships: list[Relationship]


@dataclass(frozen=True)
class Person:
    """One of a list."""

    user_id: str


@dataclass(frozen=True)
class Followed(Person):
    """The other end of a follow, and since when."""

    followed_at: int


@dataclass(frozen=True)
class Requested(Person):
    """The other end of a request, and since when."""

    requested_at: int


@dataclass(frozen=True)
class Blocked(Person):
    """Somebody who is blocked, and since when."""

    blocked_at: int


@dataclass(frozen=True)
class Muted(Person):
    """Somebody who is muted, and since when."""

    muted_at: int


@dataclass(frozen=True)
class _Page:
    next_cursor: str | None
    authors: list[SeenProfile] = field(default_factory=list, kw_only=True)


@dataclass(frozen=True)
class PeoplePage(_Page):
    """Some of a list whose rows have no time; with expand also their profiles."""

    users: list[Person]


@dataclass(frozen=True)
class FollowsPage(_Page):
    """Some of a list of followers or followees, newest first; with expand also their profiles."""

    users: list[Followed]


@dataclass(frozen=True)
class RequestsPage(_Page):
    """Some of a list of requests, newest first; with expand also the profiles of those at the other end."""

    users: list[Requested]


@dataclass(frozen=True)
class BlocksPage(_Page):
    """Some of those whom the caller blocks, newest first; with expand also their profiles."""

    users: list[Blocked]


@dataclass(frozen=True)
class MutesPage(_Page):
    """Some of those whom the caller mutes, newest first; with expand also their profiles."""

    users: list[Muted]


@dataclass(frozen=True)
class Because:
    """Some of those whom the caller follows and who follow somebody, and how many there are."""

    user_ids: list[str]
    count: int


@dataclass(frozen=True)
class Suggested(Person):
    """Somebody whom the caller may like to follow, and why."""

    because: Because


@dataclass(frozen=True)
class SuggestionsPage(_Page):
    """Some suggestions, the best first; with expand also their profiles, and those of the reasons."""

    users: list[Suggested]
