"""Stream records as DynamoDB writes them, from the rows before and after a change."""


def row(**attributes):
    """Write a row in DynamoDB's JSON; what is None is absent."""
    return {name: _typed(value) for name, value in attributes.items() if value is not None}


def _typed(value):
    if isinstance(value, bool):
        return {"BOOL": value}
    return {"N": str(value)} if isinstance(value, int) else {"S": value}


def edge(followee="ann", follower="bob", followed_at=1_700_000_000_000):
    return row(followee_id=followee, follower_id=follower, followed_at=followed_at)


def tweet(tweet_id="1" * 19, author="ann", text="hello", created_at=1_700_000_000_000, **more):
    return row(tweet_id=tweet_id, author_id=author, text=text, created_at=created_at, **more)


def block(blocker="ann", blocked="bob", blocked_at=1_700_000_000_000, **more):
    return row(pair=f"{blocker}#{blocked}", blocker_id=blocker, blocked_id=blocked, blocked_at=blocked_at, **more)


def mute(muter="ann", muted="bob", muted_at=1_700_000_000_000):
    return row(muter_id=muter, muted_id=muted, muted_at=muted_at)


def request(followee="ann", follower="bob", requested_at=1_700_000_000_000, **more):
    return row(followee_id=followee, follower_id=follower, requested_at=requested_at, **more)


def user(user_id="ann", display_name="Ann", created_at=1_700_000_000_000, **more):
    return row(user_id=user_id, display_name=display_name, created_at=created_at, **more)


KEYS = ("followee_id", "follower_id", "muted_id", "muter_id", "pair", "tweet_id", "user_id")


def record(old, new, sequence=1):
    """Say that a row that was old is new now; None is no row."""
    images = {name: image for name, image in (("OldImage", old), ("NewImage", new)) if image is not None}
    return {
        "eventID": f"event-{sequence}",
        "eventName": "INSERT" if old is None else "REMOVE" if new is None else "MODIFY",
        "dynamodb": {
            "Keys": {name: value for name, value in (new or old).items() if name in KEYS},
            "SequenceNumber": f"{sequence:021}",
            **images,
        },
    }


def history(rows):
    """Write the records of a row that was each of these in turn; None is no row. What does not change leaves none."""
    steps = zip([None, *rows], rows, strict=False)
    return [record(old, new, n) for n, (old, new) in enumerate(steps, 1) if old != new]
