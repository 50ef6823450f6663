"""What the worker measures beside its work."""

from count_aggregator.app import measure_open_gaps
from count_aggregator.topic import PARTITION_IDS
from murmuration_runtime.metrics import METRICS


def test_open_gaps_are_a_metric_and_no_reason_to_be_unready():
    """All workers share them: unready, none could be replaced by one that mends it."""

    class Ledger:
        def open_gaps(self, partition_ids):
            assert partition_ids == PARTITION_IDS
            return {"FollowChanged/3": ["offsets 6 to 7", "offsets 9 to 9"], "FollowChanged/4": ["offsets 0 to 1"]}

    measure_open_gaps(Ledger())
    assert METRICS.get_sample_value("count_aggregator_open_gaps") == 3
