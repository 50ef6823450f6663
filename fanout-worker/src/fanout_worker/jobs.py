"""The operators' commands beside the worker."""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from contracts.ids import first_id
from contracts.tables import MIGRATIONS
from fanout_worker.deliveries import Deliveries
from fanout_worker.demotion import StillCelebrityError, demote
from fanout_worker.dynamo_celebrities import DynamoCelebrities
from fanout_worker.dynamo_follows import DynamoFollows
from fanout_worker.dynamo_mutes import DynamoMutes
from fanout_worker.dynamo_tweets import DynamoTweets
from fanout_worker.settings import JobSettings
from fanout_worker.topics import SERVICE, TOPICS_READ
from murmuration_runtime import dynamo, errors, logs
from murmuration_runtime.migration_switch import MigrationSwitch
from murmuration_runtime.settings import read
from murmuration_timelines import reset_timelines
from murmuration_timelines.writer import TimelineWriter, connect
from murmuration_worker import letter_commands
from murmuration_worker.letters import Letter


class Job:
    """Real parts for one run."""

    def __init__(self, settings: JobSettings) -> None:
        self._settings = settings
        self._nodes = connect(settings.redis_url, **settings.redis_options())
        dynamodb = dynamo.client(attempts=1, connect_seconds=2, read_seconds=4)
        self._follows = DynamoFollows(dynamodb, settings.table_prefix)
        switch = MigrationSwitch(dynamodb, settings.table_prefix, MIGRATIONS.LIVE_TWEETS)
        self._tweets = DynamoTweets(dynamodb, settings.table_prefix, switch)
        self._celebrities = DynamoCelebrities(dynamodb, settings.table_prefix)
        self._deliveries = Deliveries(
            TimelineWriter(self._nodes),
            self._follows,
            DynamoMutes(dynamodb, settings.table_prefix),
            self._tweets,
            self._celebrities,
            settings.celebrity_threshold,
            settings.celebrity_ahead,
        )

    def cold(self, user_id: str | None, node: str | None) -> int:
        """Make one user's timelines cold, or all of a node, or all there are."""
        if user_id:
            return _told(reset_timelines.of_user(self._nodes, user_id))
        return _told(reset_timelines.of_everybody(self._nodes, node))

    def demote(self, user_id: str) -> int:
        """Have a celebrity's tweets fanned out again."""
        until = first_id(time.time_ns() // 1_000_000)
        settled = demote(
            user_id,
            self._celebrities,
            self._follows.followers,
            partial(self._deliveries.refresh_followee, user_id),
            threshold=self._settings.celebrity_threshold,
            until=until,
        )
        if settled is None:
            sys.stderr.write(f"{user_id} is no celebrity: nothing to do\n")
        return _told({"followers_settled": settled or 0, "celebrity_threshold": self._settings.celebrity_threshold})

    def celebrities(self) -> int:
        """Print a line of JSON for each celebrity, as far as the index has them."""
        for user_id in sorted(self._celebrities.celebrities()):
            author = self._celebrities.author(user_id)
            _told(
                {
                    "user_id": user_id,
                    "followers_count": author.followers_count,
                    "celebrity_since": author.since,
                    "being_demoted": author.until is not None,
                }
            )
        return 0

    def dead_letters(self, asked: argparse.Namespace) -> int:
        """Do what was asked about the dead letters."""
        return letter_commands.run(asked, self._settings, SERVICE, TOPICS_READ, self.handle_letters)

    def handle_letters(self, letters: Sequence[Letter]) -> Sequence[Letter]:
        """Have each letter's edge or tweet in Redis as the tables have it; a letter that names neither stays open."""
        outcomes = {letter.place: self._handle(letter.ids) for letter in letters}
        done: Counter[str] = Counter(edges=0, mutes=0, tweets=0, gone=0, nameless=0)
        done.update(outcomes.values())
        _told(done)
        nameless = [place for place, outcome in outcomes.items() if outcome == "nameless"]
        if nameless:
            sys.stderr.write(
                f"these letters name no user and no tweet: {' '.join(nameless)}. Run `python -m fanout_worker "
                f"cold --all`, then `python -m fanout_worker dead-letters drop {' '.join(nameless)}`\n"
            )
        return [letter for letter in letters if letter.place not in nameless]

    def _handle(self, ids: dict[str, str]) -> str:
        """Go by the letter's headers and the tables: what could not be decoded is not needed."""
        match ids:
            case {"follower_id": follower_id, "followee_id": followee_id}:
                self._deliveries.refresh_followee(followee_id, [follower_id])
                return "edges"
            case {"muter_id": muter_id, "muted_id": muted_id}:
                self._deliveries.refresh_followee(muted_id, [muter_id])
                return "mutes"
            case {"tweet_id": tweet_id}:
                if author_id := self._tweets.author_of(tweet_id):
                    self._deliveries.fan_out(tweet_id, author_id)
                    return "tweets"
                self._deliveries.set_tombstone(tweet_id)
                return "gone"
        return "nameless"


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Name the commands and what may be asked of them."""
    make_cold = commands.add_parser("cold", help="have home timelines built anew from the tables by their next reads")
    which = make_cold.add_mutually_exclusive_group(required=True)
    which.add_argument("user", nargs="?", metavar="USER", help="one user's timelines")
    which.add_argument("--all", action="store_true", help="all timelines and bodies; tombstones stay")
    which.add_argument("--node", metavar="HOST:PORT", help="those on one master of a Redis Cluster")
    letter_commands.add_to(commands, "bring what dead letters name into Redis, as the tables have it")
    commands.add_parser("celebrities", help="list the celebrities: whose tweets are not fanned out")
    demotion = commands.add_parser(
        "demote", help="fan a celebrity's tweets out again; safe to repeat. Needs the workers' CELEBRITY_THRESHOLD"
    )
    demotion.add_argument("user", metavar="USER")


def run(asked: argparse.Namespace) -> int:
    """Do what was asked; 1 if not everything could be done, with the reason and what to do."""
    settings = read(JobSettings)
    logs.write_json(settings.log_level)
    job = Job(settings)
    try:
        match asked.command:
            case "cold":
                return job.cold(asked.user, asked.node)
            case "demote":
                return job.demote(asked.user)
            case "celebrities":
                return job.celebrities()
            case _:
                return job.dead_letters(asked)
    except (reset_timelines.NoSuchNodeError, StillCelebrityError) as error:
        sys.stderr.write(f"{error}\n")
    except errors.StoreAwayError as error:
        sys.stderr.write(f"{error}; run it again when that is mended, it is safe to repeat\n")
    return 1


def _told(done: Mapping[str, object]) -> int:
    print(json.dumps(done), flush=True)  # noqa: T201
    return 0
