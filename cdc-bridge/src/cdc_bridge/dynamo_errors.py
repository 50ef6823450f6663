"""DynamoDB's errors, with the table or shard that they concern.

Rule: what botocore raises and nobody has named is a store that is away, too: one table's error ends no other's reading.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import ClientError

from murmuration_runtime.dynamo import errors_named
from murmuration_runtime.errors import StoreAwayError


@contextmanager
def errors_about(what: str) -> Iterator[None]:
    """Raise StoreAwayError or StoreRefusedError, with what it concerns, for every error of botocore's."""
    try:
        with errors_named():
            yield
    except StoreAwayError as error:
        raise type(error)(f"{what}: {error}") from error
    except ClientError as error:
        raise StoreAwayError(f"{what}: {error}") from error
