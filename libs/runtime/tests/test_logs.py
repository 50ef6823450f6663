"""Whatever a process says is one JSON object a line, with the same fields."""

import json
import subprocess
import sys

PROGRAM = """
import logging, threading, warnings
from murmuration_runtime import logs
logs.write_json("INFO")
log = logging.getLogger("a.b")
log.info("counted", extra={"event_id": "e-1"})
logs.request_id.set("r-1"); logs.trace_id.set("t-1")
log.warning("refused %s", "it")
logging.getLogger("botocore.hooks").info("never seen")
warnings.warn("old")
thread = threading.Thread(target=lambda: 1 / 0)
thread.start(); thread.join()
raise ValueError("unforeseen")
"""


def test_every_line_is_one_json_object_with_the_same_fields():
    """Log lines, warnings and uncaught exceptions, of any thread; libraries only when something is wrong."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=60)  # noqa: S603
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert all({"time", "level", "logger", "message"} <= line.keys() for line in lines)
    assert [line["message"] for line in lines[:2]] == ["counted", "refused it"]
    assert (lines[0]["event_id"], lines[0]["level"], lines[0]["logger"]) == ("e-1", "INFO", "a.b")
    assert "request_id" not in lines[0]
    assert (lines[1]["request_id"], lines[1]["trace_id"]) == ("r-1", "t-1")
    assert "old" in lines[2]["message"]
    assert [("ZeroDivisionError" in line["exc_info"]) for line in lines[3:]] == [True, False]
    assert "ValueError: unforeseen" in lines[4]["exc_info"]
    assert (done.returncode, len(lines)) == (1, 5)
