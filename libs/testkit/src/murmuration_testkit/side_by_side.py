"""Spreads the tests over processes where pytest is started with `-n`; a plugin of pytest, on in every run.

Rule: the tests that share the stack run in one process, one after another, as some of them stop or kill what others
use. All other tests go to whichever process is free, a file at a time, and do not see the stack: its addresses are
taken out of their environment. A test shares the stack if it is marked `stack`, unless a mark says `shared=False`: then
it starts real parts of its own.
"""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from xdist.scheduler.loadscope import LoadScopeScheduling

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xdist.remote import Producer

SHARING = "@stack"  # follows the name of a test that shares it, when a process says which tests it has
ADDRESSES = (
    "AWS_ENDPOINT_URL_DYNAMODB AWS_ENDPOINT_URL_DYNAMODB_STREAMS GATEWAY_URL GRAPH_REDIS_URL JWT_JWKS_URL "
    "KAFKA_BOOTSTRAP_SERVERS LIMITS_REDIS_URL REDIS_URL SCHEMA_REGISTRY_URL STACK_SUPERVISOR_CONF SUGGESTIONS_REDIS_URL"
)
STACK = {name: os.environ[name] for name in ADDRESSES.split() if name in os.environ}


class Spread(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Gives what shares the stack to one process, first of all, and each file's other tests to one."""

    def _split_scope(self, nodeid: str) -> str:
        return SHARING if nodeid.endswith(SHARING) else nodeid.partition("::")[0]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Spread:
    """Decide which process runs what."""
    return Spread(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection_finish(session: pytest.Session) -> Iterator[None]:
    """Say which tests share the stack, when a process tells its tests; in reports they have their own names."""
    if not hasattr(session.config, "workerinput"):
        return (yield)
    items = session.items
    session.items = [_named(item) if shares(item) else item for item in items]
    try:
        return (yield)
    finally:
        session.items = items


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Show the stack to a test that shares it, and hide it from any other."""
    for name, address in STACK.items():
        if shares(item):
            os.environ.setdefault(name, address)
        elif os.environ.get(name) == address:
            del os.environ[name]


def shares(item: pytest.Item) -> bool:
    """Tell whether the test uses the stack that others use, too."""
    marks = [*item.iter_markers("stack")]
    return bool(marks) and all(mark.kwargs.get("shared", True) for mark in marks)


def _named(item: pytest.Item) -> Any:
    return SimpleNamespace(nodeid=item.nodeid + SHARING)
