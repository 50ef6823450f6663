"""Who may be suggested, and who was dismissed, in DynamoDB: eight rows a person, a request for each hundred rows."""

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from contracts.profiles import read_profile
from contracts.tables import DISMISSALS, USERS
from follow_service.dynamo_facts import Reader, dismissal_key
from follow_service.people import Seen
from follow_service.suggestions import Looked
from murmuration_runtime.dynamo import retry_conflicts

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoSuggestible:
    """The Known and the Dismissals of suggestions, strongly consistent."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str) -> None:
        self._dynamodb = dynamodb
        self._dismissals = f"{table_prefix}{DISMISSALS.name}"
        self._reader = Reader(dynamodb, table_prefix)

    def look(self, user_id: str, people: Sequence[str], friends: Sequence[str]) -> Looked:
        """Where a friend has blocked the user, no follow is left."""
        there = [(user_id, each) for each in people]
        back = [(each, user_id) for each in people]
        befriended = [(user_id, each) for each in friends]
        found = self._reader.read(
            users=[*people, *friends],
            follows=[*there, *befriended],
            requests=there,
            blocks=[*there, *back],
            mutes=[*there, *back],
            dismissals=there,
        )
        unwanted = found.follows | found.requests | found.blocks | found.mutes | found.dismissals
        profiles = {each: read_profile(row) for each, row in found.users.items()}
        return Looked(
            {
                each: Seen(profile, blocking=False)
                for each in people
                if (profile := profiles.get(each))
                and found.users[each].get(USERS.discoverable, {"BOOL": True})["BOOL"]
                and unwanted.isdisjoint(((user_id, each), (each, user_id)))
            },
            {each: profile for each in friends if (user_id, each) in found.follows and (profile := profiles.get(each))},
        )

    def dismiss(self, user_id: str, dismissed_id: str, now: int) -> None:
        row: Any = {**dismissal_key(user_id, dismissed_id), DISMISSALS.dismissed_at: {"N": str(now)}}
        with suppress(self._dynamodb.exceptions.ConditionalCheckFailedException):
            retry_conflicts(
                lambda: self._dynamodb.put_item(
                    TableName=self._dismissals, Item=row, ConditionExpression="attribute_not_exists(user_id)"
                )
            )
