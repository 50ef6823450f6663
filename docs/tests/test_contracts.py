"""What the page for other teams shows is in the files that run, and its names are real."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from contracts import TOPICS
from contracts.testing import examples_of

PAGE = (Path(__file__).parents[1] / "contracts.md").read_text("utf-8")
CLIENTS = Path(__file__).parents[2] / "schemas/clients"
SOURCES = {"python": "python/read_topic.py", "java": "java/src/main/java/example/ReadTopics.java", "go": "go/main.go"}
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
READING = PAGE.partition("## Read a topic")[2].partition("\n## ")[0]


@pytest.mark.parametrize("language", SOURCES)
def test_each_snippet_is_of_a_client_that_runs(language):
    """Line by line, whatever its indentation."""
    lines = {line.strip() for line in (CLIENTS / SOURCES[language]).read_text("utf-8").splitlines()}
    shown = [text for found, text in BLOCKS if found == language and text in READING]
    assert shown
    assert [line for text in shown for line in text.splitlines() if line.strip() not in lines] == []


def test_the_examples_in_python_run_with_the_names_of_our_topics():
    """As whoever copies them would: the handler is a name of the reader's."""
    (one_call, one_by_one) = [text for found, text in BLOCKS if found == "python" and text not in READING]
    names = {"handle": lambda _: None, "what_we_send": lambda: [examples_of("FollowChanged")[0].event]}
    exec(compile(one_call, "contracts.md", "exec"), names)  # noqa: S102  it is our own page
    assert {*re.findall(r'"([A-Z]\w+)"', one_call + one_by_one)} <= TOPICS.keys()
    compile(one_by_one, "contracts.md", "exec")


def test_the_page_of_each_topic_is_current():
    """As `make docs` would write it."""
    pages = [sys.executable, "-m", "contracts", "pages", str(Path(__file__).parents[1] / "topics"), "--check"]
    checked = subprocess.run(pages, capture_output=True, text=True, check=False)  # noqa: S603  our own command
    assert checked.returncode == 0, checked.stderr
