"""What this image or environment brings: the contracts of a service, by the files that are installed beside it."""

import argparse
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


def main(service: str) -> int:
    """Be the command of a service that has no other: `contracts`; the service itself runs under gunicorn."""
    parser = argparse.ArgumentParser(prog=f"python -m {service.replace('-', '_')}")
    parser.add_subparsers(required=True, metavar="COMMAND").add_parser(
        "contracts", help="print which attributes of which tables this version reads and writes"
    )
    parser.parse_args()
    return tell(service)
