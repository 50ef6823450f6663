"""A small town: who lives there, as rows of all tables, and whom each is to be suggested, by the pure cores alone."""

import gzip
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from contracts.tables import BLOCKS, DISMISSALS, FOLLOW_REQUESTS, FOLLOWERS, MUTES, USERS, Table
from murmuration_suggested.layout import Suggestion
from murmuration_suggestions.adjacency import Adjacency
from murmuration_suggestions.blend import blend
from murmuration_suggestions.global_rank import page_rank
from murmuration_suggestions.graph import Graph
from murmuration_suggestions.suggest import suggest
from murmuration_suggestions.wanted import WANTED

Pair = tuple[str, str]
Lists = dict[str, list[Suggestion]]
MANIFEST = "manifest-summary.json"


@dataclass(frozen=True)
class Town:
    """People by their ids, and pairs of them: who does it, then to whom."""

    people: tuple[str, ...]
    follows: frozenset[Pair]
    hidden: frozenset[str] = frozenset()
    deleted: frozenset[str] = frozenset()
    asked: frozenset[Pair] = frozenset()
    accepted: frozenset[Pair] = frozenset()  # what is left of requests that were accepted: they count for nothing
    blocks: frozenset[Pair] = frozenset()
    mutes: frozenset[Pair] = frozenset()
    dismissed: frozenset[Pair] = field(default=frozenset())

    @classmethod
    def drawn(cls, size: int, follows: int, seed: int) -> "Town":
        """Draw one, in which a tenth of all people are followed by most."""
        random = np.random.default_rng(seed)
        people = tuple(f"person-{number:05}" for number in random.permutation(size))

        def pairs(count: int) -> frozenset[Pair]:
            ends = zip(random.integers(0, size, count), (random.random(count) ** 3 * size).astype(int), strict=True)
            return frozenset((people[a], people[b]) for a, b in ends if a != b)

        few = [pairs(size // 2) for _ in range(5)]
        some = [frozenset(random.permutation(people)[: size // 20].tolist()) for _ in range(2)]
        return cls(people, pairs(size * follows), *some, *few)

    @property
    def unwanted(self) -> frozenset[Pair]:
        """Whom nobody may suggest to whom."""
        either = self.blocks | self.mutes
        return self.asked | self.dismissed | either | {(b, a) for a, b in either}

    def rows(self) -> Mapping[type[Table], list[dict[str, Any]]]:
        """Return the rows of all tables."""
        return {
            USERS: [
                {
                    USERS.user_id: person,
                    USERS.created_at: 1,
                    **({USERS.deleted_at: 2} if person in self.deleted else {}),
                    **({USERS.discoverable: False} if person in self.hidden else {}),
                }
                for person in self.people
            ]
            + [{USERS.user_id: "only-counted"}],
            FOLLOWERS: _pairs(self.follows, FOLLOWERS.follower_id, FOLLOWERS.followee_id),
            FOLLOW_REQUESTS: [
                *_pairs(self.asked, FOLLOW_REQUESTS.follower_id, FOLLOW_REQUESTS.followee_id),
                *(
                    {**row, FOLLOW_REQUESTS.accepted_at: 3}
                    for row in _pairs(
                        self.accepted - self.asked, FOLLOW_REQUESTS.follower_id, FOLLOW_REQUESTS.followee_id
                    )
                ),
            ],
            BLOCKS: _pairs(self.blocks, BLOCKS.blocker_id, BLOCKS.blocked_id),
            MUTES: _pairs(self.mutes, MUTES.muter_id, MUTES.muted_id),
            DISMISSALS: _pairs(self.dismissed, DISMISSALS.user_id, DISMISSALS.dismissed_id),
        }

    def export(self, folder: Path) -> str:
        """Write all tables as DynamoDB exports them to S3, and return the folder's URI."""
        for table, rows in self.rows().items():
            place = folder / table.name / "AWSDynamoDB/01700000000000-a1b2c3d4"
            (place / "data").mkdir(parents=True)
            for part in range(2):
                with gzip.open(place / f"data/part{part}.json.gz", "wt") as out:
                    out.writelines(json.dumps({"Item": _typed(table, row)}) + "\n" for row in rows[part::2])
            (place / MANIFEST).write_text(json.dumps({"itemCount": len(rows), "outputFormat": "DYNAMODB_JSON"}))
        return folder.as_uri()

    def expected(self) -> Lists:
        """Return everybody's list, as the pure cores have it on one machine without Spark."""
        living = sorted(person for person in self.people if person not in self.deleted)
        number = {person: each for each, person in enumerate(living)}
        size = len(living)
        following, followers, unwanted = (
            _adjacency(number, pairs, size)
            for pairs in (self.follows, {(b, a) for a, b in self.follows}, self.unwanted)
        )
        suggestible = np.array([person not in self.hidden for person in living])
        seeds = np.array([xxhash64(person.encode()) for person in living], np.uint64)
        graph = Graph(following, followers, unwanted, suggestible, seeds, page_rank(following, followers))
        lists: Lists = {}
        for chosen in suggest(graph, 0, size, blend()):
            reasons: dict[int, list[str]] = {}
            for place, because in zip(chosen.because_of.tolist(), chosen.because.tolist(), strict=True):
                reasons.setdefault(place, []).append(living[because])
            told = zip(chosen.owners.tolist(), chosen.people.tolist(), chosen.counts.tolist(), strict=True)
            for place, (owner, person, count) in enumerate(told):
                shown = Suggestion(living[person], count, tuple(reasons.get(place, ())))
                lists.setdefault(living[owner], []).append(shown)
        return lists


def xxhash64(text: bytes, seed: int = 42) -> int:
    """Hash fewer than 32 bytes as Spark does (XXH64)."""
    first, second, third, fourth, fifth = (
        0x9E3779B185EBCA87,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0x85EBCA77C2B2AE63,
        0x27D4EB2F165667C5,
    )
    mask = (1 << 64) - 1

    def turned(value: int, bits: int) -> int:
        value &= mask
        return (value << bits | value >> (64 - bits)) & mask

    value = seed + fifth + len(text)
    while len(text) >= 8:
        value ^= turned(int.from_bytes(text[:8], "little") * second, 31) * first & mask
        value, text = turned(value, 27) * first + fourth & mask, text[8:]
    if len(text) >= 4:
        value ^= int.from_bytes(text[:4], "little") * first & mask
        value, text = turned(value, 23) * second + third & mask, text[4:]
    for byte in text:
        value = turned((value ^ byte * fifth) & mask, 11) * first & mask
    for bits, times in ((33, second), (29, third)):
        value = (value ^ value >> bits) * times & mask
    return value ^ value >> 32


def _pairs(pairs: Iterable[Pair], one: str, other: str) -> list[dict[str, Any]]:
    return [{one: a, other: b} for a, b in sorted(pairs)]


def _typed(table: type[Table], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row in DynamoDB's JSON, with an attribute that nobody wants."""
    typed = {
        name: {WANTED[table][name]: value if isinstance(value, bool) else str(value)} for name, value in row.items()
    }
    return {**typed, "unwanted": {"L": [{"S": "x"}]}}


def _adjacency(number: Mapping[str, int], pairs: Iterable[Pair], size: int) -> Adjacency:
    known = [(number[a], number[b]) for a, b in pairs if a in number and b in number]
    rows, people = np.array(known, np.int64).reshape(-1, 2).T
    return Adjacency.of(rows, people, size)
