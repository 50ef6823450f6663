"""What is where in Redis, for how long, and in which version. Pure.

| key | type | content | lives |
|---|---|---|---|
| `home_timeline:{USER}` | list | tweet ids, newest first, down to a LAST element | 7 days after the last read |
| `followees:{USER}` | string | PREFIX, a space, the ids of USER and all followees, a space behind each | as the list |
| `author_timeline:{USER}` | list | the same of a celebrity's own tweets alone | 7 days after the last read |
| `author_followees:{USER}` | string | the same, with the one id of USER | as the list |
| `noted:{USER}` | set | followees whose edge changed lately | 10 minutes |
| `recent:{USER}` | sorted set | USER's newest 100 tweet ids, all with the score 0 | 1 hour |
| `tweet:{ID}` | string | PREFIX, the author's id, a space, the JSON that clients get | 7 days |
| `tweet:{ID}` | string | nothing: a tombstone, the tweet is deleted | 8 days |

    PREFIX   "!", the version of the layout, and the history of the node: the first 8 digits of its replication id.
             history.lua makes it.
             Version 1 is written as nothing, each later one as its number and ":". So "!0123abcd", "!2:0123abcd".
    LAST     of a list is "0": it is complete down to the beginning of time;
             or a tweet id: it is complete down to that tweet;
             or a marker of a rebuild in progress: PREFIX, a token, and a "~" for each follow that changed meanwhile.

A timeline is warm if its list is there and does not end in a marker, and its `followees` begins with this node's
PREFIX; else it is cold. To an absent list nobody writes but the reader who rebuilds it. `followees` is a text, and no
set or hash, because to read a text costs Redis a microsecond, and 500 fields 150 of them.

Rule of histories: under another history than the node's own a text is as good as absent, but for a tombstone: a restart
from disk, or a replica that lagged and was promoted, may have holes.

Rule of versions: VERSION rises when a text or its meaning changes. A reader takes what has another version's PREFIX for
absent: the timeline is cold, the body unknown. Two versions may run on one Redis, in any order and back again, because
all else is the same in every version: a list, a set, a tombstone, and what follows the first space of `followees`. So
each worker pushes every tweet into a list, and brings every changed follow into its followees, whichever version's
reader built it; and a marker or a tombstone counts for all. What it costs is a rebuild each time that a user's reads go
from one version to the other. A change of a list, a set or a tombstone itself needs other key names; then a worker that
knows only the old ones leaves holes in the new ones. So first all workers write both, then readers come that use the
new ones; and if that was taken back, `reset_timelines` goes before a second try.
"""

VERSION = 1
NOBODY = " "  # no user's id: whose timeline is read to see whether Redis lets us

CAP = 800  # tweets that a timeline keeps
SLACK = 64  # it is cut in bulk, when it is this much over
RECENT = 100  # tweets that are kept of each author
BEGINNING = "0"  # the last element of a list that is complete
MARKER = "!"  # how each PREFIX begins, and so each marker

TIMELINE_SECONDS = 7 * 86_400  # since the last read
PROVISIONAL_SECONDS = 30  # that a timeline lives at most which was built right after a node lost its data
SETTLING_SECONDS = 10  # far longer than an index of DynamoDB lags behind its table
REBUILD_SECONDS = 10  # a builder that died is forgotten after this long
RECENT_SECONDS = 3_600
NOTE_SECONDS = 600  # far longer than an index of DynamoDB lags behind its table
BODY_SECONDS = 7 * 86_400
TOMBSTONE_SECONDS = 8 * 86_400  # outlives every body


def version_text(version: int) -> str:
    """Write a version as it stands in a PREFIX: the first one was written as nothing."""
    return "" if version == 1 else f"{version}:"


def home_timeline(user_id: str) -> str:
    """Name the list of a user's home timeline."""
    return f"home_timeline:{{{user_id}}}"


def followees(user_id: str) -> str:
    """Name the text of whom the user follows, which goes with the home timeline."""
    return f"followees:{{{user_id}}}"


def author_timeline(author_id: str) -> str:
    """Name the list of a celebrity's own tweets: a timeline like any other, of somebody who follows only themselves."""
    return f"author_timeline:{{{author_id}}}"


def author_followees(author_id: str) -> str:
    """Name the text that goes with it."""
    return f"author_followees:{{{author_id}}}"


def noted(user_id: str) -> str:
    """Name the set of followees whose edge changed lately: a rebuild reads those edges from the table itself."""
    return f"noted:{{{user_id}}}"


def recent(author_id: str) -> str:
    """Name the sorted set of an author's latest tweets: an index may not have them yet."""
    return f"recent:{{{author_id}}}"


def body(tweet_id: str) -> str:
    """Name the body of a tweet, or its tombstone."""
    return f"tweet:{{{tweet_id}}}"
