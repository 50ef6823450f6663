"""`python -m contracts pages`: writes the page of each topic, or says which is not as it would be written."""

import sys
from argparse import Namespace
from pathlib import Path

from contracts import TOPICS
from contracts.patience import say
from contracts.topic import DATA
from contracts.topic_page import page


def run(arguments: Namespace) -> int:
    """Write all of them, and take away those of topics that are gone."""
    directory = Path(arguments.directory)
    pages = {directory / f"{stem}.md": page(topic, DATA) for stem, topic in TOPICS.items()}
    old = [path for path in sorted(directory.glob("*.md")) if path not in pages]
    stale = [path for path, text in pages.items() if not path.exists() or path.read_text("utf-8") != text]
    if arguments.check:
        for path in (*stale, *old):
            sys.stderr.write(f"{path} is not what the contracts say: make docs\n")
        return int(bool(stale or old))
    directory.mkdir(parents=True, exist_ok=True)
    for path in stale:
        path.write_text(pages[path], "utf-8")
        say(path)
    for path in old:
        path.unlink()
    return 0
