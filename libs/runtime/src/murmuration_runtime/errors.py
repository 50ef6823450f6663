"""What a store does to its callers. Pure.

Rule: an error is named by what the caller should do. StoreAwayError: the same call may succeed later, so try again, or
say 503. StoreRefusedError: it will not, until somebody corrects this process's credentials, certificates or rights.
"""


class StoreAwayError(Exception):
    """A store did not answer, or said that it is too busy: the same call may succeed later."""


class StoreBusyError(StoreAwayError):
    """A store answered that it cannot do this now: it does other things for others meanwhile."""


class StoreRefusedError(StoreAwayError):
    """A store does not accept this process: its credentials, its certificate or its rights are wrong."""


class RedisAwayError(StoreAwayError):
    """Redis did not answer: it is a cache, so the database may serve instead."""


class RedisRefusedError(RedisAwayError, StoreRefusedError):
    """Redis does not accept this process."""
