"""`python -m contracts bundle`: writes the bundle for teams in other languages, and its sha256 beside it."""

from argparse import Namespace
from hashlib import sha256
from pathlib import Path

from contracts import TOPICS, releases
from contracts.bundle import archive, files
from contracts.patience import say
from contracts.topic import DATA


def run(arguments: Namespace) -> int:
    """Write both files."""
    directory = Path(arguments.directory)
    bundle = directory / f"event-contracts-{releases.version(DATA)}.zip"
    packed = archive(files(TOPICS, DATA))
    directory.mkdir(parents=True, exist_ok=True)
    bundle.write_bytes(packed)
    bundle.with_name(f"{bundle.name}.sha256").write_text(f"{sha256(packed).hexdigest()}  {bundle.name}\n")
    say(bundle)
    return 0
