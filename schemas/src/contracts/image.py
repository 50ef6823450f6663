"""What this image or environment brings: the contracts of a service, by the files that are installed beside it."""

import json
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from contracts.service_contracts import ServiceContracts, contracts_of


@cache
def own(service: str) -> ServiceContracts:
    """Return what a service reads and writes; one that is not installed here has no version."""
    try:
        return contracts_of(service, version(service))
    except PackageNotFoundError:
        return contracts_of(service, "of this change")


def tell(service: str) -> int:
    """Print it as JSON: `python -m SERVICE contracts`; return the exit code."""
    sys.stdout.write(json.dumps(own(service).document(), indent=2) + "\n")
    return 0
