"""`python -m contracts apply` makes broker and registry follow the files; `check` asks whether the files agree.

`acls` tells what each service must be allowed to do in Kafka, or allows it. `compare` tells whether this commit gets
along with the services that are deployed.
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from contracts import TOPICS, ContractError, kafka_settings, table_files
from contracts.acls import Grant, grants, services
from contracts.tables import TABLES
from contracts.topic import DATA

if TYPE_CHECKING:
    from contracts.service_contracts import ServiceContracts
    from murmuration_runtime.kafka_connection import KafkaSettings

T = TypeVar("T")
PAUSE_S = 1.0
BREAKS, OTHERS_FIRST, UNKNOWN = 1, 3, 4  # exit codes of `compare`; 2 is argparse's
BY_HAND = "compare by hand, then pass it over with --allow-unknown (contracts.allowUnknown=true in its chart's values)"
say = partial(print, flush=True)


def main() -> int:
    """Run one command; 1 and a line on stderr if the contract is broken or somebody is away."""
    parser = argparse.ArgumentParser(prog="python -m contracts", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check", help="check topics, schemas, examples and tables; needs nothing but the files")
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
    arguments = parser.parse_args()
    try:
        match arguments.command:
            case "check":
                _check()
            case "acls":
                _acls(arguments.principal, apply=arguments.apply)
            case "compare":
                return _compare(arguments)
            case _:
                return _apply(arguments.wait, arguments.dry_run)
    except (ContractError, TimeoutError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _check() -> None:
    from contracts.check import check  # noqa: PLC0415  each command has an extra of its own

    check(TOPICS, DATA, say)
    say(f"settings: {kafka_settings.check(TOPICS, DATA)} of the topics and their dead letters, as they were released")
    tables = table_files.load(DATA)
    table_files.check(tables, TABLES)
    say(f"tables: {', '.join(tables)}: {sum(len(it.attributes) for it in tables.values())} attributes, all named")


def _apply(wait_s: float, dry_run: bool) -> int:
    from confluent_kafka import KafkaException  # noqa: PLC0415
    from confluent_kafka.admin import AdminClient  # noqa: PLC0415

    from contracts.apply import METADATA_TIMEOUT_S, apply_subject, apply_topics, wanted  # noqa: PLC0415
    from contracts.apply_settings import ApplySettings  # noqa: PLC0415
    from contracts.registry import RegistryAwayError  # noqa: PLC0415
    from murmuration_runtime.errors import StoreAwayError  # noqa: PLC0415
    from murmuration_runtime.kafka import KafkaTopics  # noqa: PLC0415
    from murmuration_runtime.settings import read  # noqa: PLC0415

    settings = read(ApplySettings)
    called = [replace(topic, name=settings.topic_name(topic.name)) for topic in TOPICS.values()]
    factor = settings.topic_replication_factor
    topics = [each for topic in called for each in wanted(topic, factor or topic.replication_factor)]
    admin = AdminClient(settings.librdkafka(log_level=0))  # in a variable, or its futures die with it
    registry = settings.registry()

    def kafka_differs() -> bool:
        KafkaTopics(settings, [], METADATA_TIMEOUT_S).check()  # its errors say more
        return apply_topics(admin, topics, say, dry_run=dry_run)

    def registry_differs() -> bool:
        return sum(apply_subject(registry, topic, say, dry_run=dry_run) for topic in TOPICS.values()) > 0

    deadline = time.monotonic() + wait_s
    away = f"Kafka at {settings.kafka_bootstrap_servers}"
    differ = _until(deadline, away, (KafkaException, StoreAwayError), kafka_differs)
    differ |= _until(
        deadline, f"the registry at {settings.schema_registry_url}", (RegistryAwayError,), registry_differs
    )
    return int(dry_run and differ)


def _acls(principals: list[str], *, apply: bool) -> None:
    from murmuration_runtime.kafka_connection import KafkaSettings  # noqa: PLC0415
    from murmuration_runtime.settings import read  # noqa: PLC0415

    settings = read(KafkaSettings)
    needed = grants(TOPICS, settings.topic_name, settings.group_name)
    named = {service: f"User:{service}" for service in services(needed)}
    for text in principals:
        service, _, principal = text.partition("=")
        if service not in named or not principal.startswith("User:"):
            raise ContractError(f"--principal {text}: not SERVICE=User:NAME with a service of {', '.join(named)}")
        named[service] = principal
    if apply:
        _allow(settings, needed, named)
    for grant in needed:
        say(grant.command(named[grant.service]))


def _allow(settings: "KafkaSettings", needed: list[Grant], principals: dict[str, str]) -> None:
    from confluent_kafka import KafkaException  # noqa: PLC0415
    from confluent_kafka.admin import AdminClient  # noqa: PLC0415

    from contracts.apply import METADATA_TIMEOUT_S, allow  # noqa: PLC0415
    from murmuration_runtime.errors import StoreAwayError  # noqa: PLC0415
    from murmuration_runtime.kafka import KafkaTopics  # noqa: PLC0415

    def kafka_allows() -> bool:
        KafkaTopics(settings, [], METADATA_TIMEOUT_S).check()
        allow(admin, ((principals[grant.service], grant) for grant in needed))
        return True

    admin = AdminClient(settings.librdkafka(log_level=0))
    where = f"Kafka at {settings.kafka_bootstrap_servers}"
    _until(time.monotonic(), where, (KafkaException, StoreAwayError), kafka_allows)


def _compare(arguments: argparse.Namespace) -> int:
    from contracts.comparison import compare  # noqa: PLC0415
    from contracts.image import own  # noqa: PLC0415
    from contracts.service_contracts import services  # noqa: PLC0415

    names, service = services(), arguments.service
    if service and service not in names:
        raise ContractError(f"--service {service}: none of {', '.join(names)}")
    new = [own(name) for name in ([service] if service else names)]
    deployed, passed_over, silent = _ask(arguments.deployed, arguments.own, time.monotonic() + arguments.wait)
    found = compare(new, TOPICS, deployed)
    for sentence in (*found.breaks, *found.must_go_first):
        sys.stderr.write(f"{sentence}\n")
    for sentence in passed_over:
        sys.stderr.write(f"{sentence}: passed over\n")
    for sentence in silent:
        more = "passed over" if arguments.allow_unknown else BY_HAND
        sys.stderr.write(f"{sentence}: {more}\n")
    say(f"compared with {', '.join(map(str, deployed)) or 'nobody'}")
    if found.breaks:
        return BREAKS
    if silent and not arguments.allow_unknown:
        return UNKNOWN
    return OTHERS_FIRST if found.must_go_first else 0


def _ask(
    addresses: list[str], own: str | None, deadline: float
) -> "tuple[list[ServiceContracts], list[str], list[str]]":
    """Return what the services at these addresses tell, who need not tell, and who does not; ask the own one last."""
    from contracts.deployed import AwayError, NotInstalledError, SilentError, ask  # noqa: PLC0415

    deployed: list[ServiceContracts] = []
    passed_over: list[str] = []
    silent: list[str] = []
    for address in [*(it for it in addresses if it != own), *([own] if own else [])]:
        try:
            deployed.append(_until(deadline, address, (AwayError,), partial(ask, address)))
        except NotInstalledError as error:
            passed_over.append(str(error))
        except TimeoutError as error:
            (passed_over if address == own else silent).append(str(error))
        except SilentError as error:
            silent.append(str(error))
    return deployed, passed_over, silent


def _until(deadline: float, whom: str, away: tuple[type[Exception], ...], act: Callable[[], T]) -> T:
    """Act, again and again while they are away, until the deadline. What was done before is done once more, idly."""
    while True:
        try:
            return act()
        except away as error:
            if time.monotonic() >= deadline:
                raise TimeoutError(f"{whom} is away: {error}") from error
            say(f"waiting for {whom}: {error}")
            time.sleep(PAUSE_S)


if __name__ == "__main__":
    sys.exit(main())
