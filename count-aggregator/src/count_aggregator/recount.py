"""Which accounts are compared with their rows: some, the top, everybody, or whom dead letters name."""

from collections.abc import Callable, Sequence

from tqdm import tqdm

from count_aggregator.bridge_progress import BridgeProgress, streams_client
from count_aggregator.dynamo_accounts import Accounts
from count_aggregator.ledger import Ledger
from count_aggregator.reconcile import Reconciliation, Summary
from count_aggregator.settings import JobSettings
from count_aggregator.topic import PARTITION_IDS, SERVICE, TOPIC
from murmuration_runtime import dynamo
from murmuration_runtime.kafka import KafkaTopics
from murmuration_runtime.retries import Pace
from murmuration_worker.letters import Letter

TOP = 10_000
TOLERANCE = 0.001  # of the top accounts: the hourly look is for what anybody would notice


class Recount:
    """Who is recounted, on real parts, in one run or many."""

    def __init__(self, settings: JobSettings, rate: float, patience_seconds: float) -> None:
        """Take how many pages may be read a second, and how long to wait for events on their way."""
        dynamodb = dynamo.client(attempts=10, connect_seconds=2, read_seconds=10)
        pace = Pace(rate)
        self._bar = tqdm(unit=" pages", disable=None, leave=False)  # None: nothing where nobody watches

        def before_page() -> None:
            pace.wait()
            self._bar.update()

        self._topics = KafkaTopics(settings.kafka_bootstrap_servers, [TOPIC])
        self._accounts = Accounts(dynamodb, settings.table_prefix, before_page)
        self._ledger = Ledger(dynamodb, settings.table_prefix, kept_seconds=0)
        self._reconciliation = Reconciliation(
            self._accounts,
            published_until=BridgeProgress(dynamodb, streams_client(), settings.table_prefix).published_until,
            ends=lambda: self._topics.ends(self._topics.partitions),
            counted=lambda: self._topics.committed(SERVICE),
            patience_seconds=patience_seconds,
            tell=self._tell,
        )
        self.checks: dict[str, Callable[[], object]] = {"dynamodb": self._ledger.check, "kafka": self._topics.ids}

    def users(self, users: Sequence[str]) -> Summary:
        """Check these accounts exactly."""
        return self._reconciliation.run(dict.fromkeys(users))

    def top(self, count: int) -> Summary:
        """Check the accounts with the most followers."""
        self._tell(f"finding the top {count} accounts")
        return self._reconciliation.run(self._accounts.most_followed(count), TOLERANCE)

    def everybody(self) -> Summary:
        """Check all accounts exactly, and with that close the gaps that were open before."""
        gaps = self._ledger.open_gaps(PARTITION_IDS)
        self._tell("counting everybody's rows")
        checked, suspects = self._accounts.suspects()
        summary = self._reconciliation.run(suspects)
        summary.checked = checked
        if not summary.busy:
            for partition_id, known in gaps.items():
                self._ledger.close_gaps(partition_id, known)
        return summary

    def hourly(self) -> Summary:
        """Check the top accounts, or everybody if events vanished since that was last done."""
        gaps = self._ledger.open_gaps(PARTITION_IDS)
        return self.everybody() if gaps else self.top(TOP)

    def whom_letters_name(self, letters: Sequence[Letter]) -> Summary:
        """Check the users whom the dead letters name, or everybody if a letter does not name both of its users."""
        ids = [letter.ids for letter in letters]
        if all(each.keys() >= {"followee_id", "follower_id"} for each in ids):
            return self.users([user for each in ids for user in (each["followee_id"], each["follower_id"])])
        return self.everybody()

    def close(self) -> None:
        """Leave the line of the bar to whoever writes next."""
        self._bar.close()

    def _tell(self, what: str) -> None:
        self._bar.set_description_str(what, refresh=False)
