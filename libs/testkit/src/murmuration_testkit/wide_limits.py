"""Limits that nobody reaches: in tests, drills and benches a few people do what else thousands do."""

WIDE = 1_000_000_000
SETTINGS = {
    f"limit_{budget}": WIDE
    for budget in ("calls_a_minute", "calls_burst", "follows_a_day", "follows_burst", "tweets_a_day", "tweets_burst")
}
ENVIRONMENT = {name.upper(): str(value) for name, value in SETTINGS.items()}
