"""Write a service's start, /app/bin/start: the first process that deploy/services.yaml lists for it.

It runs in the builder, by the service's own Python: /app/bin/python start.py SERVICES.YAML SERVICE /app/bin/start
"""

import shlex
import sys
from pathlib import Path

import yaml

NONE = "python -c 'exit(\"This image has no command of its own: name one.\")'"
START = """#!/app/bin/python
import os

COMMAND = {words!r}
os.execvp(COMMAND[0], COMMAND)
"""


def write(services: Path, service: str, start: Path) -> None:
    """Write the start; a project that is not in the list has none, and says so when it is started."""
    listed = yaml.safe_load(services.read_text()).get(service, {}).get("processes", {})
    command = next((process["command"] for process in listed.values()), NONE)
    start.write_text(START.format(words=shlex.split(command)))
    start.chmod(0o755)


if __name__ == "__main__":
    write(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
