"""What `make bench` and `make drill` find to run: a folder a service, a list a file."""

from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[1]


def listed(folder: str, name: str, wanted: str) -> Iterator[Callable[[], Any]]:
    """Give what the files of every such folder list under a name, where the file's own name contains what is wanted."""
    for path in sorted(REPOSITORY.glob(f"*/{folder}/*.py")):
        spec = spec_from_file_location(f"{folder}_{path.stem}", path)
        if wanted not in path.stem or spec is None or spec.loader is None:
            continue
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        if functions := getattr(module, name, []):
            print(f"\n{path.relative_to(REPOSITORY)}", flush=True)
        yield from functions
