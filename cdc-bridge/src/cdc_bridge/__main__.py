"""python -m cdc_bridge: bridge; with a command, do what an operator asks."""

import argparse
import ctypes
import logging
import os
import signal
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress

from pythonjsonlogger.json import JsonFormatter

from cdc_bridge import stream
from cdc_bridge.admin import SEEKING, Operator, OrderError
from cdc_bridge.app import App, now_ms
from cdc_bridge.lease_table import LeasesAwayError, LeaseTable
from cdc_bridge.settings import SettingError, Settings
from cdc_bridge.translate import TABLES

M_ARENA_MAX = -8  # of glibc's malloc.h


def main() -> None:
    """Bridge until SIGTERM or SIGINT, or carry out one command."""
    command = _arguments(sys.argv[1:])
    try:
        settings = Settings.from_env(os.environ)
    except SettingError as error:
        sys.exit(f"cdc-bridge cannot start: {error}")
    if command.name is None:
        _bridge(settings)
        return
    try:
        for line in _obey(command, settings):
            sys.stdout.write(f"{line}\n")
    except (OrderError, LeasesAwayError) as error:
        sys.exit(f"cdc-bridge: {error}")


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m cdc_bridge", description="Without a command: bridge.")
    commands = parser.add_subparsers(dest="name", metavar="command")
    commands.add_parser("shards", help="list streams, shards and topics: state, owner, position, how far behind, gap")
    commands.add_parser("release", help="take a shard from its owner").add_argument("shard")
    clear = commands.add_parser("clear", help="acknowledge a gap, so that what is left is read")
    clear.add_argument("shard", help="the name in the gap's line: a shard, a stream or a topic")
    seek = commands.add_parser("seek", help="set where a shard is read from")
    seek.add_argument("shard")
    seek.add_argument("to", help="TRIM_HORIZON, LATEST or a sequence number")
    seek.add_argument("--yes", action="store_true", help="I know what it means")
    return parser.parse_args(words)


def _obey(command: argparse.Namespace, settings: Settings) -> Iterable[str]:
    dynamodb, _ = stream.connect(settings.table_prefix)
    operator = Operator(LeaseTable(dynamodb, settings.table_prefix, round(settings.lease_seconds * 1000)), TABLES)
    match command.name:
        case "release":
            return [operator.release(command.shard)]
        case "clear":
            return [operator.clear(command.shard, now_ms())]
        case "seek" if not command.yes:
            meaning = SEEKING.get(command.to, SEEKING["POSITION"])
            raise OrderError(f"to read {command.shard} from {command.to} means: {meaning}. If so, say --yes")
        case "seek":
            return [operator.seek(command.shard, command.to, now_ms())]
        case _:
            return operator.shards(now_ms())


def _share_memory() -> None:
    """Let threads share two heaps: each shard has new ones, and glibc would give each its own and keep it."""
    with suppress(AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 2)


def _bridge(settings: Settings) -> None:
    _share_memory()
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter("{asctime}{levelname}{name}{message}", style="{"))
    logging.basicConfig(level=settings.log_level, handlers=[handler])
    logging.getLogger("botocore").setLevel(logging.WARNING)  # it tells where it found its credentials
    app = App(settings)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: app.stop())
    app.run()


if __name__ == "__main__":
    main()
