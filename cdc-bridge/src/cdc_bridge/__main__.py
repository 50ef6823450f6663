"""python -m cdc_bridge: bridge; with a command, do what an operator asks."""

import argparse
import ctypes
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from cdc_bridge import dynamo_streams
from cdc_bridge.app import SERVICE, bridge, now_ms
from cdc_bridge.dynamo_leases import LeaseTable
from cdc_bridge.dynamo_rows import PAGE, Rows
from cdc_bridge.export_files import ExportFiles
from cdc_bridge.export_job import ExportError, export
from cdc_bridge.kafka_ends import ends
from cdc_bridge.orders import OrderError, Orders, meaning_of
from cdc_bridge.settings import ExportSettings, Settings, SnapshotSettings
from cdc_bridge.snapshot_job import snapshot
from cdc_bridge.translate import TABLES
from contracts.image import tell
from contracts.tables import USERS
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.retries import Pace
from murmuration_runtime.settings import JobSettings, read

M_ARENA_MAX = -8  # of glibc's malloc.h


def main() -> None:
    """Bridge until SIGTERM or SIGINT, or carry out one command."""
    command = _arguments(sys.argv[1:])
    if command.name is None:
        settings = read(Settings)
        _share_memory()
        bridge(settings)
        return
    if command.name == "contracts":
        tell(SERVICE)
        return
    if command.name == "snapshot":
        sys.exit(snapshot(read(SnapshotSettings), command.rate, only_owed=command.owed))
    try:
        for line in _export(command) if command.name == "export" else _obey(command, read(JobSettings).table_prefix):
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
    except (ExportError, OrderError, StoreAwayError) as error:
        sys.exit(f"cdc-bridge: {error}")
    except BrokenPipeError:  # `| head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m cdc_bridge", description="Without a command: bridge.")
    commands = parser.add_subparsers(dest="name", metavar="command")

    def add(name: str, does: str, more: str = "") -> argparse.ArgumentParser:
        return commands.add_parser(name, help=does, description=f"{does[0].upper()}{does[1:]}. {more}")

    add("contracts", "print which topics and tables this version reads and writes")
    add("shards", "list streams, shards and topics: state, owner, position, until when published, gap")
    release = add("release", "take a shard from its owner", "The next bridge with room takes it, perhaps the same one.")
    release.add_argument("shard", help="a shard's name, as `shards` lists it")
    clear = add("clear", "acknowledge a gap, so that what is left is read", "Its answer names what to recount.")
    clear.add_argument("shard", metavar="name", help="the name in the gap's line: a shard, a stream or a topic")
    seek = add("seek", "set where a shard is read from", "Without --yes it only says what that would mean.")
    seek.add_argument("shard", help="a shard's name, as `shards` lists it")
    seek.add_argument("to", help="TRIM_HORIZON, LATEST or a sequence number")
    seek.add_argument("--yes", action="store_true", help="do it")
    told = add("snapshot", "tell every row's state on its topic", "Safe to repeat; killed, it goes on where it was.")
    told.add_argument("table", choices=[USERS.name])
    told.add_argument("--owed", action="store_true", help="only if a gap, or rows older than the stream, call for it")
    told.add_argument("--rate", type=float, default=500, metavar="N", help="rows a second (default: %(default)s)")
    export = add("export", "write followers, tweets and users as Avro files, with the place from which to read on")
    export.add_argument("directory", type=Path, help="where to; one in which an export was interrupted goes on")
    export.add_argument("--rate", type=float, default=2_000, help="rows a second at most; 2000 unless said")
    return parser.parse_args(words)


def _obey(command: argparse.Namespace, table_prefix: str) -> Iterable[str]:
    dynamodb, _ = dynamo_streams.connect(table_prefix)
    orders = Orders(LeaseTable(dynamodb, table_prefix), TABLES)
    match command.name:
        case "release":
            return [orders.release(command.shard)]
        case "clear":
            return [orders.clear(command.shard, now_ms())]
        case "seek" if not command.yes:
            raise OrderError(f"nothing was changed. {meaning_of(command.to)} If you want that, repeat it with --yes.")
        case "seek":
            return [orders.seek(command.shard, command.to, now_ms())]
        case _:
            return orders.shards(now_ms())


def _export(command: argparse.Namespace) -> Iterable[str]:
    settings = read(ExportSettings)
    dynamodb, _ = dynamo_streams.connect(settings.table_prefix)
    rows = Rows(dynamodb, settings.table_prefix, Pace(command.rate / PAGE).wait)
    return export(ExportFiles(command.directory), rows, partial(ends, settings), now_ms())


def _share_memory() -> None:
    """Let threads share two heaps: each shard has new ones, and glibc would give each its own and keep it."""
    with suppress(AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 2)


if __name__ == "__main__":
    main()
