"""The progress of a pass over a table's rows, for a textfile collector."""

from prometheus_client import CollectorRegistry, Gauge

from migrating.dynamo_record import Pass

OF_THE_PASS = CollectorRegistry()
ROWS = Gauge(
    "tables_migration_rows",
    "rows of the pass that is under way or was the last: seen, changed, left; and how many the table has, about",
    ["migration", "rows"],
    registry=OF_THE_PASS,
)


def measure(migration: str, so_far: Pass, estimated: int) -> None:
    """Show how far a pass has come."""
    figures = {"seen": so_far.seen, "changed": so_far.changed, "left": so_far.left, "estimated": estimated}
    for rows, number in figures.items():
        ROWS.labels(migration, rows).set(number)
