"""The parts of the graph that requests are answered from, each by the Protocol of the rules that use it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from follow_service import blocks, follows, mutuals, suggestions
from follow_service.lists import Lists
from follow_service.mutual_searches import KeptSearches
from follow_service.people import People
from follow_service.profiles import Profiles


class Suggestible(suggestions.Known, suggestions.Dismissals, Protocol):
    """Who may be suggested, and who was dismissed."""


@dataclass(frozen=True)
class Others:
    """What is shown of others, and may be as it was a moment ago."""

    people: People
    lists: Lists


@dataclass(frozen=True)
class Graph:
    """Who people are, who follows and who blocks whom, what one sees of another, and lists."""

    profiles: Profiles
    follows: follows.Store
    blocks: blocks.Store
    people: People
    lists: mutuals.Follows
    searches: KeptSearches
    others: Others
    suggestible: Suggestible
    check: Callable[[], object]  # raises StoreAwayError unless all tables answer
