"""The stack's mode in which stores ask who is there; `make proof ONLY=connections` tries it on the real parts."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from murmuration_edge.redis_buckets import CHARGE
from murmuration_suggested import scripts as suggested
from murmuration_testkit.services import SERVICES
from murmuration_timelines import layout, reset_timelines, scripts

LINES = (Path(__file__).parents[1] / "redis.acl").read_text("utf-8").splitlines()
USERS = {line.split()[1]: line.split()[2:] for line in LINES}
KEYS = (*reset_timelines.OF_A_USER, layout.noted, layout.recent, layout.body)


@pytest.mark.parametrize(
    ("user", "runs"),
    [
        (
            "timeline-service",
            (
                *(scripts.LOAD, scripts.BEGIN, scripts.RENEW, scripts.COMMIT, scripts.REPLACE, scripts.DUE),
                *(scripts.RECENT, scripts.BODIES, scripts.FILL),
            ),
        ),
        ("fanout-worker", (scripts.INSERT, scripts.NOTE, scripts.AGREE, scripts.REMEMBER, scripts.RESET, scripts.LOAD)),
    ],
)
def test_a_user_may_do_what_its_scripts_do(user, runs):
    """And touch the keys of the layout, whichever versions of a name there are."""
    called = {command.lower() for script in runs for command in re.findall(r"call\('([A-Z]+)'", script.text)}
    assert called
    assert {f"+{command}" for command in called} - set(USERS[user]) == set()
    assert {f"~{name('').split('{')[0].rstrip(':')}:*" for name in KEYS} - set(USERS[user]) == set()


@pytest.mark.parametrize("user", [each.name for each in SERVICES.values() if each.is_edge])
def test_each_edge_may_count_its_callers_in_the_redis_of_limits_and_nothing_else(user):
    """Its script's commands, on its keys."""
    lines = (Path(__file__).parents[1] / "limits-redis.acl").read_text("utf-8").splitlines()
    users = {line.split()[1]: set(line.split()[4:]) for line in lines}
    called = {f"+{command.lower()}" for command in re.findall(r"call\('([A-Z]+)'", CHARGE.text)}
    assert users[user] == called | {"~limit:*", "-@all", "+ping", "+info", "+eval", "+evalsha"}


@pytest.mark.parametrize(
    ("user", "runs", "more"),
    [
        ("follow-service", (suggested.NOTE, suggested.FIND, suggested.WRITE), set()),
        (
            "suggestions",
            (suggested.NOTE, suggested.BEGIN, suggested.WRITE, suggested.SWITCH, suggested.FORGET),
            {"+scan"},
        ),
    ],
)
def test_who_reads_and_who_writes_suggestions_may_do_that_and_nothing_else(user, runs, more):
    """Their scripts' commands, on their keys."""
    lines = (Path(__file__).parents[1] / "suggestions-redis.acl").read_text("utf-8").splitlines()
    users = {line.split()[1]: set(line.split()[4:]) for line in lines}
    called = {f"+{command.lower()}" for each in runs for command in re.findall(r"call\('([A-Z]+)'", each.text)}
    assert users[user] == called | more | {"~suggested*", "-@all", "+ping", "+info", "+eval", "+evalsha"}


def test_a_mode_that_does_not_exist_is_refused_by_its_name():
    """SECURE=yes would else mean nothing."""
    stack = Path(__file__).parents[1] / "local/stack.py"
    environment = os.environ | {"SECURE": "yes"}
    command = [sys.executable, str(stack), "status", "--name", "nobodys"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert done.stderr == "stack.py: SECURE=yes is no mode: it is scram or oauthbearer, or not set\n"
