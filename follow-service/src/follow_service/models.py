"""What the API takes and gives, besides what the rules have already."""

from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field
from pydantic.config import JsonDict

from contracts.profiles import Profile
from follow_service.follows import Follows, Requests
from follow_service.profiles import LONGEST_NAME
from murmuration_edge import texts
from murmuration_edge.bodies import Body
from murmuration_edge.queries import Limit, Page, Query


def _without_default(schema: JsonDict) -> None:
    del schema["default"]  # what is left out stays as it is; only at first it is false


class NewProfile(Body):
    """The body of PUT /v1/users/me; privacy that is left out stays as it is."""

    display_name: str = Field(json_schema_extra=texts.described(LONGEST_NAME))
    is_private: bool = Field(default=False, json_schema_extra=_without_default)

    @property
    def privacy_if_sent(self) -> bool | None:
        """Return what was sent; None if it was left out."""
        return self.is_private if "is_private" in self.model_fields_set else None


class PageQuery(Page):
    """Which part of a list."""

    limit: Limit = 50
    expand: Literal["author"] | None = Field(None, description="author: the profiles of the users, beside the rows")


class UsersQuery(Query):
    """Whose profiles."""

    id: list[str] = Field(min_length=1, max_length=100, description="The ids of users; unknown ones are left out")


@dataclass(frozen=True)
class Users:
    """Some profiles, each once, in the order asked."""

    users: list[Profile]


@dataclass(frozen=True)
class FollowsPage(Follows):
    """Some of a list of followers or followees, newest first; with expand=author also their profiles."""

    authors: list[Profile] = field(default_factory=list)


@dataclass(frozen=True)
class RequestsPage(Requests):
    """Some of a list of requests, newest first; with expand=author also the profiles of those who ask."""

    authors: list[Profile] = field(default_factory=list)
