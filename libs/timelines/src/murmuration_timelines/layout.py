"""What is where in Redis, for how long, and in which version. Pure.

| key | type | content | lives |
|---|---|---|---|
| `home_timeline:{USER}` | list | tweet ids, newest first, down to a LAST element | 7 days after the last read |
| `home_shown:{USER}` | string | HEAD, a space, the digests of USER and of all whose tweets show to them | as the list |
| `author_timeline:{USER}` | list | the same of a celebrity's own tweets alone | 7 days after the last read |
| `author_shown:{USER}` | string | the same, with the one digest of USER | as the list |
| `noted:{USER}` | set | followees whose edge changed lately | 10 minutes |
| `recent:{USER}` | sorted set | USER's newest 100 tweet ids, all with the score 0 | 1 hour |
| `read_ahead:{USER}` | string | "!", the version, ":", and what was read below the list (read_ahead.py) | 10 minutes |
| `tweet:{ID}` | string | PREFIX, the author's id, a space, the JSON that clients get | 7 days |
| `tweet:{ID}` | string | nothing: a tombstone, the tweet is deleted | 8 days |
| `edges_settled` | hash | until when each partition of follows and mutes is settled, in ms | 1 day |
| `followees:{USER}`, `author_followees:{USER}` | string | what the first release's readers had for `…_shown` | |

    PREFIX   "!", the version of the layout, ":", and the history of the node, 16 digits of which 8 are another after
             each start, and 8 after each promotion. history.lua makes it. So "!2:0123abcd00000000".
    HEAD     PREFIX, ";", the edition, ";", when the timeline was built, ";", and when it is to be looked at again, both
             in seconds. The edition is another after each write of whom the timeline shows, and never was before.
    DIGEST   6 bytes of a user id's BLAKE2b (shown.py); they ascend.
    LAST     of a list is "0": it is complete down to the beginning of time;
             or a tweet id: it is complete down to that tweet, which need not exist any more;
             or a marker of a rebuild in progress: "!", the version, ":", the first 8 digits of the node's replication
             id, a token, and a "~" for each follow that changed meanwhile.

A timeline is warm if its list is there and does not end in a marker, and its `…_shown` begins with this node's PREFIX;
else it is cold. To an absent list nobody writes but the reader who rebuilds it.

Rule of histories: under another history than the node's own a text is as good as absent, but for a tombstone: a restart
from disk, or a replica that lagged and was promoted, may have holes. What a node wrote before it was a replica of
another counts no more when it is promoted; where it has no replicas for `repl-backlog-ttl` then, Redis forgets that it
was one. So that is to be 0, which means never (deploy/README.md).

Rule of versions: VERSION rises when a text or its meaning changes. A reader takes what has another version's PREFIX for
absent: the timeline is cold, the body unknown. Two versions may run on one Redis, in any order and back again, because
all else is the same in every version: a list, a set, a tombstone, and what follows a PREFIX in `…_shown`. So each
worker pushes every tweet into a list, and brings every changed follow into what its timeline shows, whichever version's
reader built it; and a marker or a tombstone counts for all. What it costs is a rebuild each time that a user's reads go
from one version to the other. A change of a list, a set or a tombstone itself needs other key names; then a worker that
knows only the old ones leaves holes in the new ones. So first all workers write both, then readers come that use the
new ones; and if that was taken back, `reset_timelines` goes before a second try.

The first release, version 1, had ids in the place of digests, under names of their own, and knows no `…_shown`. There a
worker drops a list without `followees` when a follow changes, and so does a worker of today with a list that has them;
a reader of either takes the other's timeline for cold. So the two get along, at the price of rebuilds.
"""

VERSION = 2
NOBODY = " "  # no user's id: whose timeline is read to see whether Redis lets us

CAP = 800  # tweets that a timeline keeps
SLACK = 64  # it is cut in bulk, when it is this much over
RECENT = 100  # tweets that are kept of each author
BEGINNING = "0"  # the last element of a list that is complete
MARKER = "!"  # how each PREFIX begins, and so each marker

TIMELINE_SECONDS = 7 * 86_400  # since the last read
RENEWED_SECONDS = 6 * 86_400  # a read that finds less than this left renews it
PROVISIONAL_SECONDS = 30  # that a timeline lives at most which was built right after a node lost its data
SETTLING_SECONDS = 10  # far longer than an index of DynamoDB lags behind its table
REBUILD_SECONDS = 10  # a builder that died is forgotten after this long
RECENT_SECONDS = 3_600
NOTE_SECONDS = 600  # far longer than an index of DynamoDB lags behind its table
READ_AHEAD_SECONDS = 600  # that somebody may take to read on
BODY_SECONDS = 7 * 86_400
TOMBSTONE_SECONDS = 8 * 86_400  # outlives every body
RIGHT_SECONDS = 5  # that a body may take to be read; a tombstone that is evicted sooner was hardly there


EDGES_SETTLED = "edges_settled"


def version_text(version: int) -> str:
    """Write a version as it stands in a PREFIX."""
    return f"{version}:"


def home_timeline(user_id: str) -> str:
    """Name the list of a user's home timeline."""
    return f"home_timeline:{{{user_id}}}"


def home_shown(user_id: str) -> str:
    """Name the text that says whose tweets the home timeline shows."""
    return f"home_shown:{{{user_id}}}"


def author_timeline(author_id: str) -> str:
    """Name the list of a celebrity's own tweets: a timeline like any other, of somebody who follows only themselves."""
    return f"author_timeline:{{{author_id}}}"


def author_shown(author_id: str) -> str:
    """Name the text that goes with it."""
    return f"author_shown:{{{author_id}}}"


def followees(user_id: str) -> str:
    """Name what the first release's readers had beside a home timeline."""
    return f"followees:{{{user_id}}}"


def author_followees(author_id: str) -> str:
    """Name what they had beside an author's own."""
    return f"author_followees:{{{author_id}}}"


def noted(user_id: str) -> str:
    """Name the set of followees whose edge changed lately: a rebuild reads those edges from the table itself."""
    return f"noted:{{{user_id}}}"


def read_ahead(user_id: str) -> str:
    """Name what was read for a user below their list, and is for the next page."""
    return f"read_ahead:{{{user_id}}}"


def recent(author_id: str) -> str:
    """Name the sorted set of an author's latest tweets: an index may not have them yet."""
    return f"recent:{{{author_id}}}"


def body(tweet_id: str) -> str:
    """Name the body of a tweet, or its tombstone."""
    return f"tweet:{{{tweet_id}}}"
