"""Every policy, and what a release has against it.

A platform team reads pod_policies.py and release_policies.py instead of the charts: they hold for every workload of
every chart, with every environment's values.
"""

from collections.abc import Callable, Iterator

from murmuration_testkit.charts import pod_policies as pods
from murmuration_testkit.charts import release_policies as releases
from murmuration_testkit.charts.manifests import Release

Policy = Callable[[Release], Iterator[str]]
POLICIES: tuple[Policy, ...] = (
    pods.probed,
    pods.sized,
    pods.restricted,
    pods.shares_nothing_with_its_node,
    pods.has_its_own_account,
    pods.knows_no_neighbours,
    pods.keeps_secrets_in_files,
    pods.names_its_image,
    releases.labelled,
    releases.selects_its_own,
    releases.survives_a_drain,
    releases.rolls_without_a_gap,
    releases.restarts_with_its_config,
    releases.ends_in_peace,
    releases.scales_by_one_hand,
    releases.asks_for_its_lag_as_it_connects,
    releases.is_scraped_under_its_own_labels,
    releases.names_whom_it_talks_to,
    releases.is_reached_inside,
    releases.ends_in_time,
    releases.compares_its_contracts,
    releases.deletes_nothing,
    releases.stays_in_its_namespace,
    releases.can_be_tested,
)


def faults(release: Release) -> list[str]:
    """Say what breaks which policy."""
    return [f"{policy.__name__}: {fault}" for policy in POLICIES for fault in policy(release)]
