"""What the documents name is there: files, functions, links, metrics, exit codes, texts of logs and probes."""

import ast
import os
import re
from functools import cache
from pathlib import Path

import pytest

from follow_service.graph_redis_settings import GraphRedisSettings
from follow_service.settings import GrpcSettings
from murmuration_edge.limit_settings import LimitSettings
from murmuration_runtime.redis_connection import RedisSettings
from murmuration_runtime.registry_connection import RegistrySettings
from murmuration_suggested.settings import SuggestedSettings

REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs"
OPERATIONS = DOCS / "operations.md"
NOT_OURS = {".venv", ".stack", ".git", "node_modules"}
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`]+)`")
FENCED = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
PATH = re.compile(r"[\w.-]+(/[\w.-]+)+\.\w+")
METRIC = re.compile(r"([a-z_]+)(?:\{([a-z_,]+)\})?")
PLACEHOLDER = re.compile(r"…|\b[A-Z]{2,}\b|\bN\b|: ")
STEP = re.compile(r"\d+\. `(?P<path>[^`]+)`(?: `(?P<name>[^`]+)`)?: \S.*")
SUFFIXES = {"Counter": "_total", "Gauge": "", "Histogram": "", "Summary": ""}


def ours(suffix: str) -> list[Path]:
    """Return our own files whose names end so."""
    found = []
    for folder, folders, files in os.walk(REPOSITORY):
        folders[:] = [each for each in folders if each not in NOT_OURS]
        found += [Path(folder, file) for file in files if file.endswith(suffix)]
    return sorted(found)


def label(path: Path) -> str:
    """Return a path as it stands in the documents."""
    return str(path.relative_to(REPOSITORY))


@cache
def sources() -> list[ast.Module]:
    """Return what every process, every library and the tables' command is made of."""
    files = [path for path in ours(".py") if {"src", "migrating"} & {*path.parts} and "testkit" not in label(path)]
    return [ast.parse(path.read_text("utf-8")) for path in files]


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub makes of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def cells(heading: str, column: int) -> list[str]:
    """Return everything in backticks in one column of the tables under a heading of operations.md."""
    section = re.split(r"^## ", OPERATIONS.read_text("utf-8"), flags=re.MULTILINE)
    (rows,) = [part.splitlines() for part in section if part.startswith(f"{heading}\n")]
    tables = [row.split("|")[1 + column] for row in rows if row.startswith("| ")]
    return [text for cell in tables for text in CODE.findall(cell)]


@pytest.mark.parametrize("page", ours(".md"), ids=label)
def test_every_relative_link_leads_somewhere(page):
    """To a file or folder that exists, and to a heading of it where it names one."""
    for link in LINK.findall(page.read_text("utf-8")):
        if "://" in link:
            continue
        target, _, anchor = link.partition("#")
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), f"{label(page)} links to {link}, which does not exist"
        if anchor:
            assert anchor in anchors(file), f"{label(page)} links to {link}: {label(file)} has no such heading"


def test_every_text_that_points_into_the_documents_arrives():
    """A log line, an error or a comment may name docs/FILE.md#heading."""
    for source in ours(".py"):
        if source == Path(__file__):
            continue
        for page, anchor in re.findall(r"docs/([\w/-]+\.md)#([\w-]+)", source.read_text("utf-8")):
            assert anchor in anchors(DOCS / page), f"{label(source)} points to docs/{page}#{anchor}: no such heading"


@pytest.mark.parametrize("page", [*sorted(DOCS.rglob("*.md")), *ours("README.md")], ids=label)
def test_every_file_that_the_documents_name_exists(page):
    """A path in backticks is a path from the root of the repository, or in a README from its own folder."""
    prose = FENCED.sub("", page.read_text("utf-8"))  # three backticks are no pair: behind them all were misread
    named = [text for text in CODE.findall(prose) if PATH.fullmatch(text) and "NAME" not in text]
    roots = [REPOSITORY, page.parent] if page.name == "README.md" else [REPOSITORY]
    kept = [text for text in named if not text.startswith(".stack/")]  # what runs write is there when they have run
    assert [text for text in kept if not any((root / text).exists() for root in roots)] == []


def test_the_walkthrough_names_functions_that_exist():
    """Each step is a file and what to read in it: a function or a class, nested ones with a dot between."""
    steps = [line for line in (DOCS / "walkthrough.md").read_text("utf-8").splitlines() if re.match(r"\d+\.", line)]
    assert steps
    for line in steps:
        step = STEP.fullmatch(line)
        assert step, f"not a step, which is `path` `name`: one sentence. {line}"
        path = REPOSITORY / step["path"]
        assert path.is_file(), f"{step['path']} does not exist"
        if path.suffix == ".py":
            assert step["name"] in names(ast.parse(path.read_text("utf-8"))), f"{step['path']} has no {step['name']}"


def names(node: ast.AST, above: str = "") -> set[str]:
    """Return every function and class below a node, by qualified name."""
    found = set()
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found |= {above + child.name} | names(child, f"{above}{child.name}.")
        else:
            found |= names(child, above)
    return found


def test_operations_names_every_metric_and_no_other():
    """By the name and the labels that a scraper sees; where the code puts a name together, any that fits."""
    documented = {}
    for text in cells("Metrics", 0):
        metric = METRIC.fullmatch(text)
        assert metric, f"not a metric: {text}"
        documented[metric[1]] = metric[2].split(",") if metric[2] else []
    defined = {name: labels for module in sources() for name, labels in metrics(module)}
    unknown = [name for name in documented if not any(re.fullmatch(pattern, name) for pattern in defined)]
    missing = [pattern for pattern in defined if not any(re.fullmatch(pattern, name) for name in documented)]
    assert (unknown, missing) == ([], [])
    for name in documented.keys() & defined.keys():
        assert documented[name] == defined[name], f"labels of {name}"


def metrics(module: ast.Module) -> list[tuple[str, list[str]]]:
    """Return a module's metrics: a pattern of each name, and the labels."""
    found = []
    kinds = {
        alias.name
        for node in ast.walk(module)
        if isinstance(node, ast.ImportFrom) and node.module == "prometheus_client"
        for alias in node.names
    }
    for call in ast.walk(module):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in kinds & SUFFIXES.keys():
            name = call.args[0]
            parts = name.values if isinstance(name, ast.JoinedStr) else [name]
            pattern = "".join(re.escape(part.value) if isinstance(part, ast.Constant) else "[a-z_]+" for part in parts)
            labels = ast.literal_eval(call.args[2]) if len(call.args) > 2 else []
            found.append((pattern + SUFFIXES[call.func.id], list(labels)))
    return found


def test_connections_names_every_setting_and_no_other():
    """In its tables, as variables of the environment."""
    tables = [row for row in (DOCS / "connections.md").read_text("utf-8").splitlines() if row.startswith("| `")]
    documented = {name for row in tables for name in CODE.findall(row.split("|")[1])}
    settings = {name.upper() for each in (RegistrySettings, RedisSettings) for name in each.model_fields}
    settings |= {name.upper() for name in LimitSettings.model_fields if name.startswith("limits_redis_")}
    settings |= {name.upper() for each in (SuggestedSettings, GraphRedisSettings) for name in each.model_fields}
    settings |= {name.upper() for name in GrpcSettings.model_fields if name.startswith("grpc_")}
    assert documented == settings


def test_operations_names_every_exit_code():
    """Those of the workers, and no other from 70 on."""
    exits = ast.parse((REPOSITORY / "libs/worker/src/murmuration_worker/exits.py").read_text("utf-8"))
    codes = {ast.literal_eval(node.value) for node in exits.body if isinstance(node, ast.Assign)}
    rows = re.findall(r"^\| (\d+) \|", OPERATIONS.read_text("utf-8"), re.MULTILINE)
    assert {code for code in map(int, rows) if code >= 70} == codes


@pytest.mark.parametrize("text", cells("Readiness", 1) + cells("Log lines", 0))
def test_texts_in_operations_are_texts_of_the_code(text):
    """What an operator searches for is what a process writes; words in capitals and dots stand for anything."""
    written = [text for module in sources() for text in texts(module)]
    for fragment in (part.strip(" ,:;") for part in PLACEHOLDER.split(text)):
        assert len(fragment) < 4 or any(fragment in each for each in written), f"nobody writes {fragment!r}"


def texts(module: ast.Module) -> list[str]:
    """Return every string of a module, also in pieces where something is put into it."""
    return [node.value for node in ast.walk(module) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
