"""Whom those follow whom somebody follows: suggestions while no run knows them. Pure: no I/O.

Rule: a request reads an index eleven times at most, however many people anybody follows: once for the newest whom the
user follows, and once for the newest whom each of those follows.
"""

from follow_service.lists import Listed, Lists
from murmuration_suggested.layout import Suggestion

FRIENDS = 10
EACH = 50
MOST = 100
REASONS = 3


def two_hops(lists: Lists, user_id: str) -> list[Suggestion]:
    """Return suggestions, those first whom most of the friends follow, each with these friends as its reason."""
    friends = [row.user_id for row in lists.rows(Listed.FOLLOWING, user_id, FRIENDS, None)[0]]
    followed_by: dict[str, list[str]] = {}
    for friend in friends:
        for row in lists.rows(Listed.FOLLOWING, friend, EACH, None)[0]:
            followed_by.setdefault(row.user_id, []).append(friend)
    known = {user_id, *friends}
    found = [(person, by) for person, by in followed_by.items() if person not in known]
    found.sort(key=lambda each: -len(each[1]))
    return [Suggestion(person, len(by), tuple(by[:REASONS])) for person, by in found[:MOST]]
