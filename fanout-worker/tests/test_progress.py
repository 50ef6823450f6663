"""Ready is a statement about the work."""

import json
import urllib.error
import urllib.request

import pytest

from fanout_worker.health import serving
from fanout_worker.progress import LONGEST_MESSAGE, Progress


def test_the_start_waits_for_its_parts_and_says_so_once(caplog):
    """Whatever is away is waited for, with one log line for each reason."""
    progress = Progress()
    seen = []
    answers = iter([OSError("no route"), OSError("no route"), OSError("refused")])

    def attempt():
        seen.append(progress.waiting_for())
        for error in answers:
            raise error
        return "there"

    assert progress.wait("kafka", attempt, (OSError,), pause=0) == "there"
    assert seen[1:] == [["kafka: no route"], ["kafka: no route"], ["kafka: refused"]]
    assert [record.waiting_for for record in caplog.records] == ["kafka: no route", "kafka: refused"]


def test_a_message_that_takes_too_long_is_not_ready():
    """Up is not enough: work must go on."""
    now = [0.0]
    progress = Progress(lambda: now[0])
    progress.partitions_came()
    with progress.busy():
        assert progress.waiting_for() == []
        now[0] = LONGEST_MESSAGE + 1
        assert progress.waiting_for() == ["a message, for 31 s"]
    assert progress.waiting_for() == []


def test_a_kafka_that_went_away_is_not_ready_until_it_is_back(caplog):
    """It is told once, however often it is asked."""
    progress = Progress()
    progress.partitions_came()
    for _ in range(3):
        progress.kafka_is("no route")
        assert progress.waiting_for() == ["no route"]
    assert [record.waiting_for for record in caplog.records if record.levelname == "WARNING"] == ["no route"]
    progress.kafka_is(None)
    assert progress.waiting_for() == []


def test_probes_and_scrapers_are_answered():
    """Alive at once; ready when partitions came; measured always."""
    progress = Progress()
    with serving("127.0.0.1", 0, progress.waiting_for) as port:

        def get(path):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
                return answer.read().decode()

        assert json.loads(get("/healthz")) == {"status": "alive"}
        with pytest.raises(urllib.error.HTTPError) as refused:
            get("/readyz")
        with refused.value as answer:
            assert answer.code == 503
            assert json.load(answer)["waiting_for"] == ["start"]
        progress.await_partitions()
        progress.partitions_came()
        assert json.loads(get("/readyz"))["status"] == "ready"
        assert "fanout_worker_events_delivered" in get("/metrics")
