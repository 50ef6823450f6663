"""docs/problems.md explains every code that a client can meet, and no other."""

import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
SOURCES = ["*-service/src", "libs/*/src", "deploy/gateway/src"]
CODE = re.compile(
    r"""Problem\((?:\d{3}|status), ["']([a-z-]+)["']|/problems/([a-z-]+)|["']code["']: ?["']([a-z-]+)["']"""
)
SUFFIXES = {".py", ".in", ".conf"}
HEADING = re.compile(r"^## (.+)\n([^#]+)", re.MULTILINE)


def codes():
    """Return the codes that stand in the code, each with the files that have it."""
    found = {}
    for pattern in SOURCES:
        for file in (each for folder in REPOSITORY.glob(pattern) for each in folder.rglob("*")):
            if file.suffix in SUFFIXES:
                for code in {"".join(match) for match in CODE.findall(file.read_text("utf-8"))}:
                    found.setdefault(code, []).append(str(file.relative_to(REPOSITORY)))
    return found


def headings():
    """Return what the page says of each code."""
    return dict(HEADING.findall((REPOSITORY / "docs" / "problems.md").read_text("utf-8")))


def test_every_code_has_a_heading_and_every_heading_a_code():
    """Whoever reads `type` finds its page; nobody handles what never comes."""
    assert codes().keys() - headings().keys() == set()
    assert headings().keys() - codes().keys() == set()


def test_headings_are_in_order_and_say_something():
    """A page of so many is looked up, not read."""
    found = headings()
    assert [*found] == sorted(found)
    assert all(len(text.strip()) > 20 for text in found.values())
