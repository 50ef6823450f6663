"""What schemathesis must know of this API: who asks, and which refusals of a request that fits its schema are right.

The process that fuzz.py starts imports this, and nobody else.
"""

import os
import uuid
from http import HTTPStatus
from typing import Any

import schemathesis
from schemathesis import AuthContext, Case, CheckContext, HookContext, Response

from murmuration_testkit.fuzz import CALLER
from murmuration_testkit.people import Person

LEAVE = "DELETE /v1/users/me"
NOT_IN_THE_SCHEMA = {"bad-cursor"}  # which cursors and marks were handed out is in no schema
KEY = "Idempotency-Key"


class AsPerson:
    """A token in the request's header."""

    def set(self, case: Case[Any], data: dict[str, str], _: AuthContext) -> None:
        """Put it there."""
        case.headers.update(data)


@schemathesis.auth(refresh_interval=None).skip_for(name=LEAVE)
class AsCaller(AsPerson):
    """Everything is asked in one person's name."""

    def get(self, _case: Case[Any], _: AuthContext) -> dict[str, str]:
        """Return the caller's token."""
        return Person(user_id=os.environ[CALLER]).headers


@schemathesis.auth(refresh_interval=None).apply_to(name=LEAVE)
class AsLeaver(AsPerson):
    """But nobody can leave twice."""

    def get(self, _case: Case[Any], _: AuthContext) -> dict[str, str]:
        """Return the token of somebody new."""
        return Person("Leaver").join().headers


@schemathesis.hook
def before_call(_: HookContext, case: Case[Any], __: dict[str, object]) -> None:
    """Send a good key once: its repeat is the same tweet, also when that was deleted since."""
    if case.meta and case.meta.generation.mode.is_positive and KEY in case.headers:
        case.headers[KEY] = uuid.uuid4().hex


@schemathesis.check
def only_a_cursor_may_be_made_up(_: CheckContext, response: Response, case: Case[Any]) -> None:
    """Refuse every other 400 to a request that fits its schema."""
    if case.meta and case.meta.generation.mode.is_positive and response.status_code == HTTPStatus.BAD_REQUEST:
        problem = response.json()
        assert problem["code"] in NOT_IN_THE_SCHEMA, problem["detail"]  # noqa: S101 - how a check fails
