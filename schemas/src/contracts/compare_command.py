"""`python -m contracts compare`: asks what is deployed, compares it with this commit, and says who is in the way."""

import sys
import time
from argparse import Namespace
from functools import partial

from contracts import TOPICS, ContractError
from contracts.comparison import compare
from contracts.deployed import AwayError, NotInstalledError, SilentError, ask
from contracts.image import own
from contracts.patience import say, until
from contracts.service_contracts import ServiceContracts, services

BREAKS, OTHERS_FIRST, UNKNOWN = 1, 3, 4  # exit codes; 2 is argparse's
BY_HAND = "compare by hand, then pass it over with --allow-unknown (contracts.allowUnknown=true in its chart's values)"


def run(arguments: Namespace) -> int:
    """Compare; the exit code says who is in the way."""
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
    addresses: list[str], its_own: str | None, deadline: float
) -> tuple[list[ServiceContracts], list[str], list[str]]:
    """Return what the services at these addresses tell, who need not tell, and who does not; ask the own one last."""
    deployed: list[ServiceContracts] = []
    passed_over: list[str] = []
    silent: list[str] = []
    for address in [*(it for it in addresses if it != its_own), *([its_own] if its_own else [])]:
        try:
            deployed.append(until(deadline, address, (AwayError,), partial(ask, address)))
        except NotInstalledError as error:
            passed_over.append(str(error))
        except TimeoutError as error:
            (passed_over if address == its_own else silent).append(str(error))
        except SilentError as error:
            silent.append(str(error))
    return deployed, passed_over, silent
