"""What two places must say alike, although nothing ties them."""

import ast
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def test_writer_and_reader_of_timelines_agree_on_what_is_where():
    """Every name that both layouts define means the same key, the same lifetime."""
    writer, reader = (_definitions(f"{name}/layout.py") for name in WRITER_AND_READER)
    shared = writer.keys() & reader.keys()
    assert {
        "home_timeline",
        "following",
        "noted",
        "recent",
        "body",
        "author_timeline",
        "author_following",
        "TOMBSTONE_SECONDS",
    } <= shared
    assert {name: writer[name] for name in shared} == {name: reader[name] for name in shared}


def test_writer_and_reader_of_timelines_agree_on_how_long_one_is():
    """A reader that builds longer ones than the writer keeps would cut them at once."""
    assert (
        _definitions(f"{WRITER_AND_READER[0]}/layout.py")["CAP"]
        == _definitions(f"{WRITER_AND_READER[1]}/timeline.py")["CAP"]
    )


def test_writer_and_reader_of_timelines_speak_to_redis_alike():
    """One Redis or a cluster, slots that move, clients that begin anew: solved once, and copied."""
    writer, reader = ((REPOSITORY / name / "nodes.py").read_text("utf-8") for name in WRITER_AND_READER)
    assert writer == reader


def test_no_released_schema_was_ever_changed():
    """Not even together with its fingerprint: the history shows it."""
    history = ["git", "log", "--diff-filter=MDR", "--format=%h %s", "--", "schemas/avro"]
    changed = subprocess.run(history, cwd=REPOSITORY, check=True, capture_output=True, text=True)
    assert changed.stdout == ""


WRITER_AND_READER = ("fanout-worker/src/fanout_worker", "timeline-service/src/timeline_service")


def _definitions(path):
    """Return every function and constant of a module, as its source says, by name."""
    found = {}
    for node in ast.parse((REPOSITORY / path).read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = [ast.unparse(line) for line in node.body[1:]]
        elif isinstance(node, ast.Assign):
            found[ast.unparse(node.targets[0])] = ast.unparse(node.value)
    return found
