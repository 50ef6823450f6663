"""The states of all accounts, brought from the table onto their topic: of rows older than its stream, and after a gap.

Rule: of a compacted topic the last message of a key counts, whoever sent it, and the bridge sends too. So a row is read
again when Kafka has its state, and told again unless it still has that state: what changes after that look is the
bridge's to tell, and comes behind ours. A row that never stands still is left to the bridge, which tells of it all the
time. A run that is killed may leave states of one page that are older than the bridge's: the next run begins with that
page. Consumers go by the version, and take no harm; whoever reads the topic from its beginning meanwhile might.
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from cdc_bridge.account_states import snapshot
from cdc_bridge.images import BadRowError, Row
from cdc_bridge.message import Message, message_of
from contracts import TOPICS, Codec, ContractError

TOPIC = TOPICS["UserChanged"]
TRIES = 10
Told = tuple[Message, ...]
_log = logging.getLogger(__name__)


class Accounts(Protocol):
    """The rows of users; dynamo_accounts.Accounts."""

    def page(self, after: str | None) -> tuple[Mapping[str, Row], str | None]:
        """Return the next rows behind this account, by account, and the last account; None instead at the end."""

    def again(self, user_ids: Collection[str]) -> Mapping[str, Row]:
        """Return the rows of these accounts as they are now."""


class Page(NamedTuple):
    """What became of a page."""

    last: str | None  # the next page begins behind this account; None at the end
    told: int  # accounts
    moving: int  # of them, those that never stood still
    broken: int  # rows that break their contract, so that they have no state


@dataclass(frozen=True)
class Snapshot:
    """Tells accounts' states; publish() returns when Kafka has acknowledged all."""

    accounts: Accounts
    codec: Codec
    publish: Callable[[Sequence[Message]], None]

    def page(self, after: str | None) -> Page:
        """Tell the states of the next page of accounts, until they stand still."""
        rows, last = self.accounts.page(after)
        told: dict[str, Told] = {}
        broken: set[str] = set()
        moving: Collection[str] = [*rows]
        for _ in range(TRIES):
            states = {user_id: self._state(user_id, rows.get(user_id), told, broken) for user_id in moving}
            changed = {user_id: state for user_id, state in states.items() if state != told.get(user_id, ())}
            moving = [*changed]
            if not changed:
                break
            told |= changed
            self.publish([message for state in changed.values() for message in state])
            rows = self.accounts.again(moving)
        return Page(last, len(told), len(moving), len(broken))

    def _state(self, user_id: str, row: Row | None, told: Mapping[str, Told], broken: set[str]) -> Told:
        """Return what there is to tell; of a row that is gone, or broken, what goes by what was told before."""
        before = told.get(user_id, ())
        if row is None:
            return tuple(message._replace(value=None) for message in before[-1:])
        try:
            return tuple(message_of(TOPIC, each, self.codec) for each in snapshot(row))
        except (BadRowError, ContractError) as error:
            broken.add(user_id)
            _log.error(
                "account not told: its row breaks the contract", extra={"user_id": user_id, "reason": str(error)}
            )
            return before
