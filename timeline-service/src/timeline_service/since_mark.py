"""What a reader has seen of the top of a timeline, for asking later what is new. Pure: time is an argument.

Rule: ids are in the order of time, but tweets become visible a little out of it: fan-out takes a moment, and longer for
one than for another. So a mark is not the newest id. It is the newest id old enough for all below it to have arrived,
and those above that were there. What is new is the rest: nothing is shown again, and no late tweet slips past, unless
it is later than that, or more than MOST others have come since. A mark that answers another one names what that named,
too: whoever wrote it may have seen what this process, or its store, does not know yet. What was there and did not show
is not named: a tweet may be there before it is known that its author is followed.
"""

import re
from collections.abc import Container
from dataclasses import dataclass
from itertools import takewhile

from contracts.ids import TWEET_ID, first_id
from murmuration_edge.cursors import BadCursorError, decode, encode
from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.merge import Run

# Seconds after which a tweet has arrived, or is so late that something is broken. When a worker dies, the others have
# its partitions after its session (10 s) and a rebalance: fanout-worker/drills/takeover.py measures it.
SETTLING = 60.0
MOST = 50  # ids that a mark names: it has to fit in a URL
_MARK = re.compile(rf"(0|{TWEET_ID})(\.{TWEET_ID}){{0,{MOST}}}")


@dataclass(frozen=True)
class SinceMark:
    """All that was there: everything down from the floor, and some above it."""

    floor: str
    above: frozenset[str]

    def is_new(self, tweet_id: str) -> bool:
        """Tell whether a tweet was not there."""
        return tweet_id > self.floor and tweet_id not in self.above


NOTHING = SinceMark(BEGINNING, frozenset())


def settled_id(now: float) -> str:
    """Return an id below which every tweet has arrived."""
    return first_id(int((now - SETTLING) * 1000))


def write_mark(run: Run, now: float, since: SinceMark = NOTHING, hidden: Container[str] = ()) -> str:
    """Note what is there now, read from the top, but for what did not show; and what was seen before."""
    settled = settled_id(now)
    young = [*takewhile(lambda tweet_id: tweet_id > settled, run.ids)]
    older = run.ids[len(young)] if len(young) < len(run.ids) else run.floor
    shown = [tweet_id for tweet_id in young if tweet_id not in hidden]
    seen = sorted({*shown, *(tweet_id for tweet_id in since.above if tweet_id > settled)}, reverse=True)
    floor = max(since.floor, seen[MOST] if len(seen) > MOST else older)
    return encode(".".join([floor, *(tweet_id for tweet_id in seen[:MOST] if tweet_id > floor)]))


def read_mark(mark: str) -> SinceMark:
    """Return what a mark notes."""
    if (text := decode(mark)) and _MARK.fullmatch(text):
        floor, *above = text.split(".")
        return SinceMark(floor, frozenset(above))
    raise BadCursorError("since", "newest")
