"""Bring a stack of real parts up on this machine, look after it, and take it down again."""

import argparse
import contextlib
import hashlib
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator
from functools import partial
from types import FrameType
from typing import NoReturn

import secure
from environment import REPO, Stack, StackError, configured, elsewhere, forget, is_elsewhere
from issuer import publish_keys, token
from ready import ports_of, waiting_for
from startup import TAIL_LINES, log_of, say, take_over, until_ready, up
from supervision import EVERYTHING, Process, Supervisor

from murmuration_testkit.services import PROCESSES

Act = Callable[[Stack, argparse.Namespace], int | None]
LAST_WORDS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def down(stack: Stack) -> None:
    """Stop the stack; what it stored stays."""
    say(f"stack {stack.name} is down" if Supervisor(stack).shut_down() else f"stack {stack.name} was not up")
    forget(stack)


def reset(stack: Stack) -> None:
    """Stop the stack and delete all that it kept."""
    down(stack)
    shutil.rmtree(stack.directory, ignore_errors=True)


def status(stack: Stack) -> int:
    """Print one line for each process; 1 unless all are ready."""
    known = Supervisor(stack).processes()
    lines = []
    healthy = True
    for name in EVERYTHING:
        process = known.get(name, Process(name, 0, "stopped"))
        reason = waiting_for(name, stack) if process.pid else process.state
        healthy = healthy and not reason
        state = f"not ready: {reason}" if reason and process.pid else reason or "ready"
        lines.append(f"{name:18}{process.pid or '-':>8}  {state:9}  {stack.address(ports_of(name)[0])}")
    say("\n".join(lines))
    return 0 if healthy else 1


def logs(stack: Stack, name: str | None) -> NoReturn:
    """Show the end of one log or of all, and on a terminal what is added to it."""
    files = sorted(log_of(stack, "x").parent.glob(f"{name or '*'}.log"))
    if not files:
        raise StackError(f"stack {stack.name} has no log of {name or 'anything'}")
    follow = ["-F"] if sys.stdout.isatty() else []
    os.execvp("tail", ["tail", "-n", str(TAIL_LINES), *follow, *map(str, files)])  # noqa: S606


def bearer(stack: Stack, user: str) -> None:
    """Print a bearer token that the stack's services take for this user's."""
    publish_keys(stack.directory / "issuer")
    say(token(stack.directory / "issuer", user))


def run(stack: Stack, wanted: Collection[str], command: list[str]) -> int:
    """Run a command against a stack that lives only as long, and give the command's exit code."""
    if not shutil.which(command[0], path=stack.environment()["PATH"]):
        raise StackError(f"there is no command {command[0]}")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
    reset_quietly(stack)
    try:
        up(stack, wanted, tied=True)
        with subprocess.Popen(command, env=stack.environment()) as child:
            try:
                return child.wait()
            finally:
                child.terminate()
    finally:
        for number in LAST_WORDS:
            signal.signal(number, signal.SIG_IGN)
        reset_quietly(stack)


def restart(stack: Stack, process: str) -> None:
    """Stop one process, start it with the code and the configuration as they are now, and wait until it is ready."""
    supervisor = running(stack)
    supervisor.stop(process)
    take_over(stack, supervisor)
    supervisor.start(process)
    until_ready(stack, [process], time.monotonic())


def foreground(stack: Stack, process: str) -> int:
    """Run one service's process in this terminal, in place of the supervised one, until it ends or Ctrl-C."""
    supervisor = running(stack)
    supervisor.stop(process)
    take_over(stack, supervisor)
    service, environment = PROCESSES[process], stack.environment()
    environment |= service.variables(environment) | (secure.of_process(stack, service) if stack.secure else {})
    say(f"{process} runs here; its supervised one is stopped meanwhile, and comes back when this one ends")
    try:
        with subprocess.Popen(shlex.split(service.command), cwd=REPO, env=environment) as child:
            for number in LAST_WORDS:
                signal.signal(number, lambda *_: child.terminate())
            return child.wait()
    finally:
        supervisor.start(process)


def running(stack: Stack) -> Supervisor:
    """Return the stack's supervisor, or say that there is none here."""
    supervisor = Supervisor(stack)
    if not supervisor.running():
        raise StackError(f"stack {stack.name} is not up: run `make up` first")
    if is_elsewhere(stack):
        raise StackError(f"stack {stack.name} runs on other ports than this shell's variables say: unset *_PORT")
    return supervisor


def execute(stack: Stack, command: list[str]) -> NoReturn:
    """Become the command, in the environment that the stack's services have."""
    if not shutil.which(command[0], path=stack.environment()["PATH"]):
        raise StackError(f"there is no command {command[0]}")
    os.execvpe(command[0], command, stack.environment())  # noqa: S606


def reset_quietly(stack: Stack) -> None:
    """Stop and delete the stack, so that the last word is the command's own."""
    Supervisor(stack).shut_down()
    shutil.rmtree(stack.directory, ignore_errors=True)


def leave(number: int, _frame: FrameType | None) -> NoReturn:
    """End as a signal asks to, but through every finally on the way."""
    raise SystemExit(128 + number)


@contextlib.contextmanager
def alone(stack: Stack) -> Iterator[None]:
    """Keep others from changing the stack meanwhile; an abstract socket is a lock that no crash leaves behind."""
    with socket.socket(socket.AF_UNIX) as claim:
        try:
            claim.bind(b"\0" + hashlib.sha256(os.fsencode(stack.directory)).digest())
        except OSError:
            raise StackError(f"another command is at work on stack {stack.name}; wait for it to end") from None
        yield


def names(text: str) -> list[str]:
    """Read process names, parted by commas."""
    chosen = text.split(",")
    if unknown := set(chosen) - set(EVERYTHING):
        raise argparse.ArgumentTypeError(f"no process {', '.join(sorted(unknown))}; there are {', '.join(EVERYTHING)}")
    return chosen


def main() -> int:
    """Do what the command line asks."""
    parser = argparse.ArgumentParser(prog="stack.py", description=__doc__)
    verbs = parser.add_subparsers(required=True, metavar="VERB")

    def verb(name: str, act: Act, *, changes: bool) -> argparse.ArgumentParser:
        arguments = verbs.add_parser(name)
        arguments.add_argument("--name", default="dev", help="which stack (default: %(default)s)")
        arguments.set_defaults(act=act, changes=changes, place=configured)
        return arguments

    for arguments in (
        verb("up", lambda stack, asked: up(stack, asked.only), changes=True),
        running := verb("run", lambda stack, asked: run(stack, asked.only, asked.command), changes=True),
    ):
        arguments.add_argument("--only", type=names, default=EVERYTHING, metavar="NAME,…", help="these processes alone")
    running.add_argument("command", nargs="+")
    running.set_defaults(place=elsewhere)
    within = verb("exec", lambda stack, asked: execute(stack, asked.command), changes=False)
    within.add_argument("command", nargs="+")
    for name, act, changes in (("restart", restart, True), ("foreground", foreground, False)):
        one = verb(name, partial(lambda act, stack, asked: act(stack, asked.process), act), changes=changes)
        one.add_argument("process", choices=PROCESSES, metavar="PROCESS", help=", ".join(PROCESSES))
    verb("down", lambda stack, _: down(stack), changes=True)
    verb("reset", lambda stack, _: reset(stack), changes=True)
    verb("status", lambda stack, _: status(stack), changes=False)
    verb("logs", lambda stack, asked: logs(stack, asked.process), changes=False).add_argument("process", nargs="?")
    verb("token", lambda stack, asked: bearer(stack, asked.user), changes=False).add_argument("user")

    asked = parser.parse_args()
    try:
        stack = asked.place(asked.name)
        with alone(stack) if asked.changes else contextlib.nullcontext():
            return asked.act(stack, asked) or 0
    except StackError as error:
        print(f"stack.py: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
