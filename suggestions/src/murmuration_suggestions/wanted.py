"""Which tables the job reads, and which of their attributes. Pure."""

from collections.abc import Mapping

from contracts.tables import BLOCKS, DISMISSALS, FOLLOW_REQUESTS, FOLLOWERS, MUTES, USERS, Table

WANTED: Mapping[type[Table], Mapping[str, str]] = {  # of each table these attributes, and of which type they are
    USERS: {USERS.user_id: "S", USERS.created_at: "N", USERS.deleted_at: "N", USERS.discoverable: "BOOL"},
    FOLLOWERS: {FOLLOWERS.follower_id: "S", FOLLOWERS.followee_id: "S"},
    FOLLOW_REQUESTS: {
        FOLLOW_REQUESTS.follower_id: "S",
        FOLLOW_REQUESTS.followee_id: "S",
        FOLLOW_REQUESTS.accepted_at: "N",
    },
    BLOCKS: {BLOCKS.blocker_id: "S", BLOCKS.blocked_id: "S"},
    MUTES: {MUTES.muter_id: "S", MUTES.muted_id: "S"},
    DISMISSALS: {DISMISSALS.user_id: "S", DISMISSALS.dismissed_id: "S"},
}
