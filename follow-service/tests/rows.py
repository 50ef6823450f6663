"""What the tables of a DynamoDB in memory have, as pairs of who and whom."""

from contracts.tables import FOLLOWERS


def follow(followee_id, follower_id, at):
    """Return the row of a follow."""
    part = FOLLOWERS.part_of(followee_id, follower_id)
    ends = {"followee_id": {"S": followee_id}, "follower_id": {"S": follower_id}}
    return {**ends, "followed_at": {"N": str(at)}, "part": {"S": part}}


def profile(user_id, **counts):
    """Return the row of an account."""
    name = {"user_id": {"S": user_id}, "display_name": {"S": user_id}, "is_private": {"BOOL": False}}
    return {**name, "created_at": {"N": "1"}, **{each: {"N": str(number)} for each, number in counts.items()}}


def follows(aws):
    return {(row["follower_id"]["S"], row["followee_id"]["S"]) for row in aws.items("followers")}


def requests(aws):
    """Those that are open."""
    rows = [row for row in aws.items("follow_requests") if "accepted_at" not in row]
    return {(row["follower_id"]["S"], row["followee_id"]["S"]) for row in rows}


def blocks(aws):
    return {tuple(row["pair"]["S"].split("#")) for row in aws.items("blocks")}


def mutes(aws):
    return {(row["muter_id"]["S"], row["muted_id"]["S"]) for row in aws.items("mutes")}
