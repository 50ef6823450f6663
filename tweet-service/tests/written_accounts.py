"""Accounts as follow-service writes them."""

from tweet_service.dynamo_accounts import DynamoAccounts


class WrittenAccounts(DynamoAccounts):
    """The accounts, and what others write to them."""

    def join(self, user_id):
        item = {"user_id": {"S": user_id}, "display_name": {"S": "Somebody"}, "is_private": {"BOOL": False}}
        self._dynamodb.put_item(TableName=self._users, Item=item | {"created_at": {"N": "1"}})

    def set_private(self, user_id):
        self._set(user_id, "is_private = :value", {"BOOL": True})

    def delete(self, user_id, now):
        self._set(user_id, "erasure = :due, deleted_at = :value", {"N": str(now)}, {":due": {"S": "due"}})

    def add_follow(self, follower_id, followee_id):
        edge = {"followee_id": {"S": followee_id}, "follower_id": {"S": follower_id}, "followed_at": {"N": "1"}}
        self._dynamodb.put_item(TableName=self._followers, Item=edge)

    def add_block(self, blocker_id, blocked_id):
        pair = {"pair": {"S": f"{blocker_id}#{blocked_id}"}}
        ends = {"blocker_id": {"S": blocker_id}, "blocked_id": {"S": blocked_id}, "blocked_at": {"N": "1"}}
        self._dynamodb.put_item(TableName=self._blocks, Item=pair | ends)

    def _set(self, user_id, assignment, value, more=None):
        self._dynamodb.update_item(
            TableName=self._users,
            Key={"user_id": {"S": user_id}},
            UpdateExpression=f"SET {assignment}",
            ExpressionAttributeValues={":value": value} | (more or {}),
        )
