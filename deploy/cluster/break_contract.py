"""Break the contract that an image brings: a version 3 of FollowChanged lacks a field that the others insist on."""

import hashlib
import json
from pathlib import Path

import contracts

FIELD = "following"
DATA = Path(contracts.__file__).parent / "data"


def main() -> None:
    """Add the version to the topic's file."""
    schema = json.loads((DATA / "avro/follow_changed.v2.avsc").read_text())
    schema["fields"] = [field for field in schema["fields"] if field["name"] != FIELD]
    text = json.dumps(schema, indent=2)
    (DATA / "avro/follow_changed.v3.avsc").write_text(text)
    examples = (DATA / "examples/follow_changed.v2.json").read_text()
    (DATA / "examples/follow_changed.v3.json").write_text(examples)
    with (DATA / "topics/FollowChanged.yaml").open("a") as topic:
        topic.write("  - schema: follow_changed.v3.avsc\n")
        topic.write(f"    sha256: {hashlib.sha256(text.encode()).hexdigest()}\n")
        topic.write("    examples: follow_changed.v3.json\n")


if __name__ == "__main__":
    main()
