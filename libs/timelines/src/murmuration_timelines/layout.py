"""What is where in Redis, for how long: what this service and timeline-service agree on. Pure.

Rule: a home timeline is a list of tweet ids, strictly descending, and complete from its head down to its last element.
A last element "0" means down to the beginning of time; one that begins with "!" marks a rebuild in progress, and has a
"~" behind it for each follow that changed meanwhile. An absent key is cold: nobody writes to it but the reader who
rebuilds it. `following` is a text: "!" and the history of the node where both were built, then the ids, a space behind
each: at a node with another history both are cold, because they may have holes. To read a text costs Redis a
microsecond; the fields of a hash, 150 of them for 500 ids.
"""

CAP = 800  # tweets that a timeline keeps
SLACK = 64  # it is cut in bulk, when it is this much over
RECENT = 100  # tweets that are kept of each author
RECENT_SECONDS = 3_600
NOTE_SECONDS = 600  # far longer than an index of DynamoDB lags behind its table
TOMBSTONE_SECONDS = 8 * 86_400  # outlives every body, which the reader fills from the table for seven days


def home_timeline(user_id: str) -> str:
    """Name the list of a user's home timeline."""
    return f"home_timeline:{{{user_id}}}"


def following(user_id: str) -> str:
    """Name the text of whom the user follows, themselves included; it comes and goes with the timeline."""
    return f"followees:{{{user_id}}}"


def author_timeline(author_id: str) -> str:
    """Name the list of a celebrity's own tweets: a timeline like any other, of somebody who follows only themselves."""
    return f"author_timeline:{{{author_id}}}"


def author_following(author_id: str) -> str:
    """Name the text that goes with it, as `following` goes with a home timeline."""
    return f"author_followees:{{{author_id}}}"


def noted(user_id: str) -> str:
    """Name the set of followees whose edge changed lately: a rebuild looks at those edges themselves."""
    return f"noted:{{{user_id}}}"


def recent(author_id: str) -> str:
    """Name the sorted set of an author's latest tweets."""
    return f"recent:{{{author_id}}}"


def body(tweet_id: str) -> str:
    """Name the body of a tweet: a history, its author, the JSON that clients get; an empty text is a tombstone."""
    return f"tweet:{{{tweet_id}}}"
