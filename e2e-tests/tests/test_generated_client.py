"""A client that a generator made of the OpenAPI document tells the story: the document is enough to build on."""

import importlib
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from murmuration_testkit import REPOSITORY
from murmuration_testkit.people import Person, gateway
from murmuration_testkit.waiting import eventually

DOCUMENT = REPOSITORY / "deploy/gateway/src/murmuration_gateway/openapi.json"
GENERATOR = Path(sys.executable).with_name("openapi-python-client")
NAME = "generated_client"


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """Generate the client; the generator has nothing to complain of, and leaves nothing out."""
    directory = tmp_path_factory.mktemp("generated")
    (directory / "config.yaml").write_text("post_hooks: []")
    options = [f"--path={DOCUMENT}", f"--output-path={directory / NAME}", "--meta=none", "--config=config.yaml"]
    done = subprocess.run([GENERATOR, "generate", *options], cwd=directory, check=True, capture_output=True, text=True)
    assert "arning" not in done.stdout + done.stderr
    sys.path.insert(0, str(directory))
    yield importlib.import_module(NAME)
    sys.path.remove(str(directory))


@pytest.fixture
def say(client):
    """Return what calls an operation by its name, as this person, and gives the whole answer."""
    modules = {path.stem: path for path in Path(client.__file__).parent.glob("api/*/*.py") if path.stem != "__init__"}

    def call(person, operation, *path, **more):
        module = importlib.import_module(f"{NAME}.api.{modules[operation].parent.name}.{operation}")
        token = person.headers["Authorization"].split()[1]
        with client.AuthenticatedClient(base_url=gateway(), token=token) as http:
            return module.sync_detailed(*path, client=http, **more)

    return call


def test_a_generated_client_tells_the_story(client, say):
    """Profile, follow, tweet, timeline, delete; and a problem is an object of its own kind."""
    models = SimpleNamespace(**vars(importlib.import_module(f"{client.__name__}.models")))
    alice, bob = Person("Alice"), Person("Bob")
    for person in (alice, bob):
        profile = say(person, "put_me", body=models.NewProfile(display_name=person.name)).parsed
        assert (profile.user_id, profile.display_name) == (person.user_id, person.name)
    assert say(alice, "follow", bob.user_id).status_code == 204

    said = say(bob, "post_tweet", body=models.NewTweet(text="Hello, generated world")).parsed
    assert say(alice, "get_tweet", said.tweet_id).parsed == said

    def timeline():
        return [tweet.text for tweet in say(alice, "home_timeline", limit=5).parsed.tweets]

    eventually(timeline, ["Hello, generated world"])
    eventually(lambda: say(alice, "get_user", bob.user_id).parsed.followers_count, 1)
    assert [row.user_id for row in say(alice, "list_followers", bob.user_id).parsed.users] == [alice.user_id]

    refusal = say(alice, "delete_tweet", said.tweet_id).parsed
    assert isinstance(refusal, models.NotYourTweetProblem)
    assert say(bob, "delete_tweet", said.tweet_id).status_code == 204
    assert isinstance(say(alice, "get_tweet", said.tweet_id).parsed, models.NoTweetProblem)
    eventually(timeline, [])
    assert say(alice, "unfollow", bob.user_id).status_code == 204
