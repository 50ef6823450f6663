"""Every topic as another team reads it: Confluent's own client, in an environment that has nothing of ours.

`make proof ONLY=other_languages` has the clients in Java and Go read the same.
"""

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from contracts import TOPICS
from murmuration_testkit.readers import Asked, as_read, as_told, shown, stock_python, values

pytestmark = pytest.mark.stack
CLIENT = Path(__file__).parents[1] / "clients/python"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The client, in an environment that has what it asks for."""
    python = stock_python(CLIENT / "requirements.txt", tmp_path_factory.mktemp("client"))
    return [*python, str(CLIENT / "read_topic.py")]


def test_every_version_is_read_with_the_oldest_schema_and_the_latest(program, tmp_path):
    """To the values that Apache's avro package reads."""
    with ExitStack() as stack:
        topics = [stack.enter_context(shown(topic)) for topic in TOPICS.values()]
        asked = [Asked(topic, version, tmp_path) for topic in topics for version in (topic.versions[0], topic.latest)]
        told = as_told([*program, *map(str, asked)], os.environ)
        there = {topic.name: values(topic.name) for topic in topics}
        for each in asked:
            assert told[str(each)] == as_read(each.topic, there[each.topic.name], each.reader)
            assert len(there[each.topic.name]) >= len(each.topic.versions)


def test_what_is_on_the_running_stack_is_read(program, tmp_path):
    """Whatever other tests have brought there, but for what was broken on purpose."""
    asked = [Asked(topic, topic.versions[0], tmp_path) for topic in TOPICS.values()]
    there = {each.topic.name: values(each.topic.name) for each in asked}
    told = as_told([*program, *map(str, asked)], os.environ)
    for each in asked:
        sound = {place: value for place, value in there[each.topic.name].items() if value is None or value[:1] == b"\0"}
        found = told.get(str(each), {})
        assert {place: found.get(place) for place in sound} == as_read(each.topic, sound, each.reader)
