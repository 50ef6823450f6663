"""The commands, as a shell or a Helm hook runs them."""

import os
import subprocess
import sys

import pytest

from contracts import TOPICS, releases
from contracts.topic import DATA

NOBODY = {"KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1", "SCHEMA_REGISTRY_URL": "http://127.0.0.1:1"}


def contracts(*arguments, **environment):
    """Run `python -m contracts`, with nothing of our environment but where this very package is."""
    command = [sys.executable, "-m", "contracts", *arguments]
    environment = {name: os.environ[name] for name in ["PYTHONPATH"] if name in os.environ} | environment
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603


def test_check_needs_nothing_but_the_files():
    """No environment, no network."""
    done = contracts("check")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("all agree") == len(TOPICS)


def test_list_tells_topics_and_versions():
    """And since which release there is each."""
    done = contracts("list")
    assert done.returncode == 0, done.stderr
    for name, topic in TOPICS.items():
        assert f"\n{name}: " in done.stdout
        for version in topic.versions:
            assert (
                f"  version {version.number} since {releases.since(f'{name} {version.number}', DATA)}," in done.stdout
            )


@pytest.mark.parametrize(
    ("command", "missing", "extra"),
    [
        (["check"], "avro", "check"),
        (["apply"], "confluent_kafka", "apply"),
        (["acls"], "confluent_kafka", "apply"),
        (["list"], "avro", None),
    ],
)
def test_a_command_says_which_extra_it_lacks(tmp_path, command, missing, extra):
    """Whoever installed the wheel alone; what needs nothing more runs."""
    (tmp_path / f"{missing}.py").write_text("raise ModuleNotFoundError(f'No module named {__name__!r}', name=__name__)")
    done = contracts(*command, **NOBODY, PYTHONPATH=str(tmp_path))
    assert "Traceback" not in done.stderr
    if extra:
        assert (done.returncode, done.stdout) == (1, "")
        told = f"`python -m contracts {command[0]}` needs {missing}: pip install 'event-contracts[{extra}]'"
        assert done.stderr.startswith(told)
    else:
        assert "pip install" not in done.stderr


@pytest.mark.parametrize("missing", NOBODY)
def test_apply_names_a_missing_variable(missing):
    """And does nothing else."""
    done = contracts("apply", **{name: value for name, value in NOBODY.items() if name != missing})
    assert (done.returncode, done.stdout) == (1, "")
    assert f"The environment variable {missing} is not set." in done.stderr


def test_apply_refuses_a_replication_factor_that_is_no_number():
    """By its name."""
    done = contracts("apply", **NOBODY, TOPIC_REPLICATION_FACTOR="three")
    assert (done.returncode, done.stdout) == (1, "")
    assert "The environment variable TOPIC_REPLICATION_FACTOR is 'three'" in done.stderr


def test_apply_waits_for_a_broker_that_is_away_and_says_so():
    """Then it gives up, with the address."""
    done = contracts("apply", "--wait", "2.5", **NOBODY)
    assert done.returncode == 1
    assert done.stdout.startswith("waiting for Kafka at 127.0.0.1:1: ")
    assert done.stderr.startswith("Kafka at 127.0.0.1:1 is away: ")


def test_acls_lists_what_each_service_needs_and_no_more():
    """By the topics' producers and consumers, under the names that this Kafka has for them."""
    done = contracts("acls", "--principal", "cdc-bridge=User:b", **NOBODY, KAFKA_TOPIC_PREFIX="blue.")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if "'User:b'" in line] == [
        f"--allow-principal 'User:b' --operation Write --topic 'blue.{name}{dlq}'"
        for name in sorted(TOPICS)
        for dlq in ("", ".dlq")
    ]
    assert {line.split("--operation ")[1] for line in lines if "count-aggregator'" in line.split(" --op")[0]} == {
        "Read --topic 'blue.FollowChanged'",
        "DescribeConfigs --topic 'blue.FollowChanged'",
        "Read --topic 'blue.FollowChanged.dlq'",
        "Write --topic 'blue.FollowChanged.dlq'",
        "Read --group 'blue.count-aggregator'",
        "Read --group 'blue.count-aggregator.dead-letters'",
    }


def test_acls_refuses_a_principal_of_nobody():
    """A typing error would leave a service without its rights."""
    done = contracts("acls", "--principal", "cdc_bridge=User:b", **NOBODY)
    assert (done.returncode, done.stdout) == (1, "")
    assert "--principal cdc_bridge=User:b: not SERVICE=User:NAME" in done.stderr


def test_a_reader_outside_may_read_what_is_named_to_it_in_groups_of_its_own_and_nothing_else():
    """No dead letters, no other topic, no writing, and what the services are granted stays the same."""
    services = contracts("acls", **NOBODY, KAFKA_TOPIC_PREFIX="blue.").stdout
    reader = "--reader", "search:TweetCreated,TweetDeleted=User:s"
    done = contracts("acls", *reader, **NOBODY, KAFKA_TOPIC_PREFIX="blue.")
    assert done.returncode == 0, done.stderr
    assert done.stdout.removeprefix(services).splitlines() == [
        "--allow-principal 'User:s' --operation Read --topic 'blue.TweetCreated'",
        "--allow-principal 'User:s' --operation Read --topic 'blue.TweetDeleted'",
        "--allow-principal 'User:s' --operation Read --group 'blue.search.' --resource-pattern-type prefixed",
    ]


@pytest.mark.parametrize(
    "reader",
    [
        "search=User:s",
        "search:Tweets=User:s",
        "search:TweetCreated=s",
        "cdc-bridge:TweetCreated=User:s",
        ":TweetCreated=User:s",
    ],
)
def test_a_reader_without_topics_or_with_a_services_name_is_refused(reader):
    """A service's name would give it the service's groups."""
    done = contracts("acls", "--reader", reader, **NOBODY)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"--reader {reader}: not NAME:TOPIC,…=User:NAME" in done.stderr


AWAY, NO_SUCH_NAME = "http://127.0.0.1:1", "http://[::1%nowhere]:9090"  # a zone of no network: no name server is asked


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--deployed", AWAY], 4, f"{AWAY} is away: .* (contracts.allowUnknown=true in its chart's values)"),
        (["--deployed", AWAY, "--allow-unknown"], 0, f"{AWAY} is away: .*: passed over"),
        (["--deployed", NO_SUCH_NAME, "--wait", "60"], 0, f"{NO_SUCH_NAME} is not installed: .*: passed over"),
        (["--deployed", AWAY, "--own", AWAY], 0, f"{AWAY} is away: .*: passed over"),
        (["--deployed", AWAY, "--own", NO_SUCH_NAME], 4, f"{AWAY} is away: .* compare by hand"),
    ],
)
def test_compare_insists_on_every_other_service_that_is_installed(arguments, code, says):
    """The one that changes may be down, or it could not be repaired; who is passed over is said."""
    done = contracts("compare", "--service", "cdc-bridge", *arguments)
    assert (done.returncode, done.stdout) == (code, "compared with nobody\n")
    begins, ends = says.split(".*")
    assert [line for line in done.stderr.splitlines() if line.startswith(begins) and ends in line]


@pytest.mark.stack
def test_apply_twice_changes_nothing():
    """As the stack does on each start and a Helm hook on each release."""
    environment = {name: os.environ[name] for name in NOBODY} | {"TOPIC_REPLICATION_FACTOR": "1"}
    assert contracts("apply", "--wait", "60", **environment).returncode == 0
    assert contracts("apply", "--dry-run", **environment).returncode == 0
    again = contracts("apply", **environment)
    assert again.returncode == 0, again.stderr
    lines = again.stdout.splitlines()
    assert len(lines) == sum(2 + len(topic.versions) for topic in TOPICS.values())  # it, its dead letters, its schemas
    assert all("already there" in line for line in lines)
