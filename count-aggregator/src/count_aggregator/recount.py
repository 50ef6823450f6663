"""Which accounts are compared with their rows: some, the top, everybody, or whom dead letters name."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from tqdm import tqdm

from count_aggregator.bridge_progress import BridgeProgress
from count_aggregator.dynamo_accounts import Accounts
from count_aggregator.dynamo_top_accounts import TopAccounts
from count_aggregator.ledger import Ledger
from count_aggregator.reconcile import NOTICED, Reconciliation, Summary
from count_aggregator.settings import JobSettings
from count_aggregator.topic import PARTITION_IDS, SERVICE, TOPIC, partition_id
from murmuration_runtime import dynamo
from murmuration_runtime.kafka import KafkaTopics
from murmuration_runtime.retries import Pace
from murmuration_worker.letters import Letter

TOP = 10_000


class Recount:
    """Who is recounted, in one run or many."""

    def __init__(
        self,
        accounts: Accounts,
        top: TopAccounts,
        ledger: Ledger,
        bridge: BridgeProgress,
        reconciliation: Reconciliation,
        tell: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._accounts = accounts
        self._top = top
        self._ledger = ledger
        self._bridge = bridge
        self._reconciliation = reconciliation
        self._tell = tell
        self._unproved: tuple[set[str], list[str]] = set(), []  # which gaps, and whom no run has proved right since

    def users(self, users: Sequence[str]) -> Summary:
        """Check these accounts exactly."""
        return self._reconciliation.run(dict.fromkeys(users))

    def top(self, count: int) -> Summary:
        """Check the accounts with the most followers."""
        self._tell(f"finding the top {count} accounts")
        return self._reconciliation.run(self._top.find(count), NOTICED)

    def gaps(self) -> set[str]:
        """Return what vanished, of the bridge's streams and of Kafka's partitions, and was not recounted since."""
        return _names(self._ledger.open_gaps(PARTITION_IDS), self._bridge.owed())

    def everybody(self) -> Summary:
        """Check all accounts exactly; if all are proved to be right, close the gaps that were open before.

        After a run that could not prove some, the next one about the same gaps checks only those.
        """
        ledger, bridge = self._ledger.open_gaps(PARTITION_IDS), self._bridge.owed()
        gaps = _names(ledger, bridge)
        about, unproved = self._unproved
        if gaps and gaps <= about:
            checked, suspects = len(unproved), unproved
        else:
            self._tell("counting everybody's rows")
            checked, suspects = self._accounts.suspects(self._reconciliation.until_counted)
        summary = self._reconciliation.run(suspects, prove=True)
        summary.checked = checked
        self._unproved = gaps, [*summary.busy]
        if not summary.busy:
            for partition_id, known in ledger.items():
                self._ledger.close_gaps(partition_id, known)
            self._bridge.settle(bridge)
        return summary

    def hourly(self) -> Summary:
        """Check the top accounts, or everybody if events vanished since that was last done."""
        return self.everybody() if self.gaps() else self.top(TOP)

    def whom_letters_name(self, letters: Sequence[Letter]) -> Summary:
        """Check the users whom the dead letters name, or everybody if a letter does not name both of its users."""
        ids = [letter.ids for letter in letters]
        if all(each.keys() >= {"followee_id", "follower_id"} for each in ids):
            return self.users([user for each in ids for user in (each["followee_id"], each["follower_id"])])
        return self.everybody()


class RealParts:
    """What a recount is made of, and a bar for whoever watches it."""

    def __init__(self, settings: JobSettings, rate: float, patience_seconds: float, apart_seconds: float) -> None:
        """Take how many pages may be read a second, how long to wait for events, and how far apart two looks are."""
        dynamodb = dynamo.client(attempts=10, connect_seconds=2, read_seconds=10)
        pace = Pace(rate)
        self._bar = tqdm(unit=" pages", disable=None, leave=False)  # None: nothing where nobody watches

        def before_page() -> None:
            pace.wait()
            self._bar.update()

        self._topics = KafkaTopics(settings, [TOPIC])
        self._ledger = Ledger(dynamodb, settings.table_prefix, kept_seconds=0)
        accounts = Accounts(dynamodb, settings.table_prefix, before_page)
        bridge = BridgeProgress(dynamodb, settings.table_prefix)
        reconciliation = Reconciliation(
            accounts,
            published_until=bridge.published_until,
            ends=self._ends,
            counted=self._counted,
            patience_seconds=patience_seconds,
            apart_seconds=apart_seconds,
            tell=self._tell,
        )
        top = TopAccounts(dynamodb, settings.table_prefix, before_page)
        self.recount = Recount(accounts, top, self._ledger, bridge, reconciliation, self._tell)
        self.checks: dict[str, Callable[[], object]] = {"dynamodb": self._ledger.check, "kafka": self._topics.ids}

    def close(self) -> None:
        """Leave the line of the bar to whoever writes next."""
        self._bar.close()

    def _ends(self) -> dict[tuple[str, int], int]:
        """Return where each partition ends."""
        id_now, ends = self._topics.ids()[TOPIC.name], self._topics.ends(self._topics.partitions)
        return {(id_now, number): offset for (_, number), offset in ends.items()}

    def _counted(self) -> dict[tuple[str, int], int]:
        """Return how far each partition is counted; a topic that was made again is not, whatever the group says."""
        id_now, committed = self._topics.ids()[TOPIC.name], self._topics.committed(SERVICE)
        known = {number: self._ledger.load(partition_id(number)).topic_id for _, number in committed}
        return {
            (id_now, number): offset if known[number] in (None, id_now) else 0
            for (_, number), offset in committed.items()
        }

    def _tell(self, what: str) -> None:
        self._bar.set_description_str(what, refresh=False)


def _names(of_ledger: Mapping[str, Iterable[str]], of_bridge: Iterable[str]) -> set[str]:
    return {*of_bridge, *(f"{partition_id}: {gap}" for partition_id, gaps in of_ledger.items() for gap in gaps)}
