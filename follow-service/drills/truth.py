"""What the tables have between people, and whether all that anybody is shown agrees with it."""

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import boto3

from contracts.tables import BLOCKS, FOLLOW_REQUESTS, FOLLOWERS, MUTES, USERS
from murmuration_testkit.people import Person, RefusedError

PREFIX = os.environ.get("TABLE_PREFIX", "")
CLOSED = (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)
Pairs = Collection[tuple[str, str]]
NONE = dict.fromkeys(("following", "followed_by", "requested", "requested_by", "blocking", "muting", "mutual"), False)


@dataclass(frozen=True)
class Truth:
    """The rows, as pairs of who and whom, and who is private."""

    follows: Pairs
    requests: Pairs
    blocks: Pairs
    mutes: Pairs
    private: Mapping[str, bool]  # by who is there

    @classmethod
    def read(cls) -> "Truth":
        """Read all tables."""
        users = [item for item in _rows(USERS.name) if USERS.created_at in item and USERS.deleted_at not in item]
        follows = {_pair(item, FOLLOWERS.follower_id, FOLLOWERS.followee_id) for item in _rows(FOLLOWERS.name)}
        asking = [item for item in _rows(FOLLOW_REQUESTS.name) if FOLLOW_REQUESTS.accepted_at not in item]
        return cls(
            follows,
            {_pair(item, FOLLOW_REQUESTS.follower_id, FOLLOW_REQUESTS.followee_id) for item in asking} - follows,
            {_pair(item, BLOCKS.blocker_id, BLOCKS.blocked_id) for item in _rows(BLOCKS.name)},
            {_pair(item, MUTES.muter_id, MUTES.muted_id) for item in _rows(MUTES.name)},
            {item[USERS.user_id]["S"]: item[USERS.is_private]["BOOL"] for item in users},
        )

    def between(self, pair: Collection[str]) -> Any:
        """Return what there is between two people, as the model has the state of two who did not leave."""
        sets = (
            {each for each in pairs if {*each} <= {*pair}}
            for pairs in (self.follows, self.requests, self.blocks, self.mutes)
        )
        private = {(user_id, self.private[user_id]) for user_id in pair}
        return *map(frozenset, sets), frozenset(), frozenset(private)

    def leftovers(self, gone: Collection[str]) -> Iterator[str]:
        """Tell what is left of people who left, and who still waits for an account that is public."""
        for name in ("follows", "requests", "blocks", "mutes"):
            for pair in sorted(getattr(self, name)):
                if {*pair} & {*gone}:
                    yield f"{name} of somebody who left: {pair}"
        for who, whom in sorted(self.requests):
            if self.private.get(whom) is False:
                yield f"{who} still asks {whom}, who is public"

    def ties(self, me: str, other: str) -> dict[str, bool]:
        """Return what somebody is to be told of another."""
        if other not in self.private or (other, me) in self.blocks:
            return NONE
        there, back = (me, other), (other, me)
        return {
            "following": there in self.follows,
            "followed_by": back in self.follows,
            "requested": there in self.requests,
            "requested_by": back in self.requests,
            "blocking": there in self.blocks,
            "muting": there in self.mutes,
            "mutual": there in self.follows and back in self.follows,
        }

    def listed(self, kind: str, whose: str, me: str) -> set[str]:
        """Return whom a list of somebody's shows to another."""
        found = {pair[0] for pair in self.follows if pair[1] == whose}
        if kind == "following":
            found = {pair[1] for pair in self.follows if pair[0] == whose}
        return {each for each in found if not {(me, each), (each, me)} & {*self.blocks}}

    def open_to(self, whose: str, me: str) -> bool:
        """Say whether somebody's lists are shown to another."""
        apart = {(me, whose), (whose, me)} & {*self.blocks}
        return whose in self.private and not apart and (not self.private[whose] or (me, whose) in self.follows)


def differences(truth: Truth, people: Mapping[str, Person]) -> Iterator[str]:
    """Tell where relationships, counts, lists and timelines are not as the rows are."""
    ids = sorted(truth.private)
    said = {user_id: people[user_id].said().keys() for user_id in ids}
    every = "&".join(f"id={user_id}" for user_id in ids)
    for me in ids:
        person = people[me]
        told = {
            each.pop("user_id"): each for each in person.insist("GET", f"/v1/relationships?{every}")["relationships"]
        }
        for other in ids:
            if other != me and told[other] != (ties := truth.ties(me, other)):
                yield f"{me}: relationship with {other} {told[other]}, rows {ties}"
        yield from _lists(truth, person)
        follows = truth.listed("following", me, me)
        counted = len(truth.listed("followers", me, me)), len(follows)
        if person.counts() != counted:
            yield f"{me}: counts {person.counts()}, rows {counted}"
        muted = {whom for who, whom in truth.mutes if who == me}
        shown = person.whole_timeline()
        wanted = sorted({each for author in (follows - muted) | {me} for each in said[author]}, reverse=True)
        if shown != wanted:
            lacks, extra = {*wanted} - {*shown}, {*shown} - {*wanted}
            yield f"{me}: timeline misses {len(lacks)}, has {len(extra)} too many, of {len(wanted)}"


def _lists(truth: Truth, person: Person) -> Iterator[str]:
    """Compare the lists of everybody that somebody may read; counts of others are those that they see themselves."""
    me = person.user_id
    for whose in truth.private:
        for kind in ("followers", "following"):
            if not truth.open_to(whose, me) and whose != me:
                if (status := _status(person, f"/v1/users/{whose}/{kind}")) not in CLOSED:
                    yield f"{me} reads {kind} of {whose}, which are closed to them: {status}"
                continue
            shown = {row["user_id"] for row in person.all_of(f"/v1/users/{whose}/{kind}", "users")}
            if shown != (wanted := truth.listed(kind, whose, me)):
                yield f"{me} sees {kind} of {whose}: misses {wanted - shown}, too many {shown - wanted}"


def _status(person: Person, path: str) -> int:
    try:
        person.insist("GET", path)
    except RefusedError as refused:
        return refused.status
    return HTTPStatus.OK


def _rows(table: str) -> Iterator[dict[str, Any]]:
    pages = boto3.client("dynamodb").get_paginator("scan").paginate(TableName=PREFIX + table, ConsistentRead=True)
    for page in pages:
        yield from page["Items"]


def _pair(item: dict[str, Any], who: str, whom: str) -> tuple[str, str]:
    return item[who]["S"], item[whom]["S"]
