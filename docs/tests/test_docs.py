"""What the documents name is there: files, functions, links, metrics, exit codes, texts."""

import os
import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs"
NOT_OURS = {".venv", ".stack", ".git", "node_modules"}
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def ours(suffix: str) -> list[Path]:
    """Return our own files whose names end so."""
    found = []
    for folder, folders, files in os.walk(REPOSITORY):
        folders[:] = [each for each in folders if each not in NOT_OURS]
        found += [Path(folder, file) for file in files if file.endswith(suffix)]
    return sorted(found)


def name(path: Path) -> str:
    return str(path.relative_to(REPOSITORY))


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub makes of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", ours(".md"), ids=name)
def test_every_relative_link_leads_somewhere(page):
    """To a file or folder that exists, and to a heading of it where it names one."""
    for link in LINK.findall(page.read_text("utf-8")):
        if "://" in link:
            continue
        target, _, anchor = link.partition("#")
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), f"{name(page)} links to {link}, which does not exist"
        if anchor:
            assert anchor in anchors(file), f"{name(page)} links to {link}: {name(file)} has no such heading"


def test_every_text_that_points_into_the_documents_arrives():
    """A log line or an error may name docs/FILE.md#heading."""
    for source in ours(".py"):
        if source == Path(__file__):
            continue
        for page, anchor in re.findall(r"docs/([\w/-]+\.md)#([\w-]+)", source.read_text("utf-8")):
            assert anchor in anchors(DOCS / page), f"{name(source)} points to docs/{page}#{anchor}, no such heading"
