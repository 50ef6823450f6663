"""What a reader has seen of the top of a timeline, for asking later what is new. Pure: time is an argument.

Rule: ids are in the order of time, but tweets become visible a little out of it: fan-out takes a moment, and longer for
one than for another. So a mark is not the newest id. It is the newest id old enough for all below it to have arrived,
and those above that were there. What is new is the rest: nothing is shown again, and no late tweet slips past, unless
it is later than that, or more than MOST others have come since.
"""

import re
from dataclasses import dataclass
from itertools import takewhile

from contracts.ids import TWEET_ID, first_id
from murmuration_edge.cursors import BadCursorError, decode, encode
from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.merge import Run

SETTLING = 10.0  # seconds after which a tweet has arrived, or is so late that something is broken
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


def write_mark(run: Run, now: float) -> str:
    """Note what is there now, read from the top."""
    settled = settled_id(now)
    above = [*takewhile(lambda tweet_id: tweet_id > settled, run.ids)][:MOST]
    floor = run.ids[len(above)] if len(above) < len(run.ids) else run.floor
    return encode(".".join([floor, *above]))


def read_mark(mark: str) -> SinceMark:
    """Return what a mark notes."""
    if (text := decode(mark)) and _MARK.fullmatch(text):
        floor, *above = text.split(".")
        return SinceMark(floor, frozenset(above))
    raise BadCursorError("since", "newest")
