"""python -m timeline_service contracts: what this image reads and writes. The service itself runs under gunicorn."""

import argparse
import sys

from contracts.image import tell


def main() -> int:
    """Print it."""
    parser = argparse.ArgumentParser(prog="python -m timeline_service")
    parser.add_subparsers(required=True, metavar="COMMAND").add_parser(
        "contracts", help="print which attributes of which tables this version reads and writes"
    )
    parser.parse_args()
    return tell("timeline-service")


if __name__ == "__main__":
    sys.exit(main())
