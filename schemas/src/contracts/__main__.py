"""`python -m contracts apply` makes broker and registry follow the files; `check` asks whether the files agree.

`list` tells which topics and versions there are, `pages` writes a page for each, `bundle` packs them for teams in other
languages. `acls` tells what each service must be allowed to do in Kafka, or allows it. `compare` tells whether this
commit gets along with the services that are deployed.
"""

import argparse
import sys
from importlib import import_module
from pathlib import Path

from contracts.errors import ContractError

EXTRAS = {"acls": "apply", "apply": "apply", "check": "check", "compare": "check"}  # what else is to be installed


def main() -> int:
    """Run one command; 1 and a line on stderr if the contract is broken, somebody is away, or a package is missing."""
    arguments = _parser().parse_args()
    try:
        command = import_module(f"contracts.{arguments.command}_command")  # each imports what it needs, and no more
        code: int = command.run(arguments)
    except (ContractError, TimeoutError) as error:
        sys.stderr.write(f"{error}\n")
    except ModuleNotFoundError as error:
        extra = EXTRAS.get(arguments.command)
        if extra is None or error.name is None or error.name.startswith("contracts"):
            raise
        sys.stderr.write(_missing(arguments.command, extra, error.name))
    else:
        return code
    return 1


def _missing(command: str, extra: str, module: str) -> str:
    told = f"`python -m contracts {command}` needs {module}: pip install 'event-contracts[{extra}]'"
    if extra == "apply":
        told += "; murmuration-runtime, which it needs too, is in no index: install libs/runtime of the same commit"
    return f"{told}\n"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m contracts", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="list topics, their versions and since which release there is each")
    commands.add_parser("check", help="check topics, schemas, examples and tables; needs nothing but the files")
    bundle = commands.add_parser("bundle", help="write schemas and examples as a zip, for teams in other languages")
    bundle.add_argument("directory", type=Path, help="where to")
    pages = commands.add_parser("pages", help="write a page for each topic")
    pages.add_argument("directory", type=Path, help="where to")
    pages.add_argument("--check", action="store_true", help="only say which page is another; then the exit code is 1")
    apply = commands.add_parser("apply", help="make broker and registry follow the files; safe to repeat")
    apply.add_argument("--wait", type=float, default=0, metavar="SECONDS", help="how long they may be away")
    apply.add_argument("--dry-run", action="store_true", help="only say what differs; then the exit code is 1")
    acls = commands.add_parser("acls", help="print for kafka-acls.sh what each service must be allowed to do")
    acls.add_argument("--apply", action="store_true", help="allow it; nothing that is allowed besides is taken away")
    acls.add_argument(
        "--principal",
        action="append",
        default=[],
        metavar="SERVICE=PRINCIPAL",
        help="whom a service logs in as, such as cdc-bridge=User:bridge; User:SERVICE unless said",
    )
    acls.add_argument(
        "--reader",
        action="append",
        default=[],
        metavar="NAME:TOPIC,…=PRINCIPAL",
        help="a consumer outside, such as search:TweetCreated,TweetDeleted=User:search: it may read these topics, "
        "in groups that begin with its name and a dot",
    )
    compare = commands.add_parser(
        "compare",
        help="compare what this commit brings with the services that are deployed",
        epilog="Exit codes: 0 all is well, 1 somebody breaks, 3 others must go first, 4 a service does not tell.",
    )
    compare.add_argument("--deployed", nargs="+", required=True, metavar="URL", help="their admin ports")
    compare.add_argument(
        "--own", metavar="URL", help="the admin port of the service that changes: asked too, and may be wholly down"
    )
    compare.add_argument("--service", help="change only this service; else all of them")
    compare.add_argument("--wait", type=float, default=0, metavar="SECONDS", help="how long a service may be away")
    compare.add_argument(
        "--allow-unknown", action="store_true", help="pass over services that do not tell, such as those up to 0.2.0"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
