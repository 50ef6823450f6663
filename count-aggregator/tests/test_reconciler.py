"""The hourly reconciliation as a process of its own."""

import json
import os
import subprocess
import sys

import pytest
import urllib3

from murmuration_testkit.ports import free_port
from murmuration_testkit.waiting import eventually

LAST_RUN = "count_aggregator_reconcile_last_run_timestamp_seconds "


@pytest.mark.stack
def test_it_runs_at_once_and_measures_what_it_found(tmp_path):
    """Ready when the stores answer; the metrics say when the last run ended; the log has a line of JSON for it."""
    port, log = free_port(), tmp_path / "log"

    def get(path):
        try:
            return urllib3.request("GET", f"http://127.0.0.1:{port}{path}", retries=False, timeout=5).data.decode()
        except urllib3.exceptions.HTTPError as error:
            return str(error)

    def last_run():
        return max([float(line.split()[1]) for line in get("/metrics").splitlines() if line.startswith(LAST_RUN)] + [0])

    words = "reconcile --every 3600 --rate 1000 --apart 1"
    command = [sys.executable, "-m", "count_aggregator", *words.split()]
    with (
        log.open("wb") as out,
        subprocess.Popen(command, env={**os.environ, "ADMIN_PORT": str(port)}, stderr=out) as process,  # noqa: S603 - ours
    ):
        try:
            eventually(last_run, within=120)
            assert json.loads(get("/readyz"))["status"] == "ready"
        finally:
            process.terminate()
        assert process.wait(20) == 0
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["busy"] for line in lines if line["message"] == "reconciled"] == [0]


@pytest.mark.parametrize("words", [["reconcile", "--every", "3600"], []], ids=" ".join)
def test_what_keeps_running_needs_a_port_to_say_how_it_is(words):
    """The variable is named, and all others that are missing."""
    run = subprocess.run(  # noqa: S603 - ours
        [sys.executable, "-m", "count_aggregator", *words],
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert run.returncode == 1
    assert "ADMIN_PORT is not set" in run.stderr
    assert "KAFKA_BOOTSTRAP_SERVERS is not set" in run.stderr
