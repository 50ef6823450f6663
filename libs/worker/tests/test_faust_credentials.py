"""How Faust logs in."""

import asyncio

import pytest
from aiokafka.errors import KafkaConnectionError

from murmuration_worker.faust_credentials import credentials


def test_without_a_token_aiokafka_tries_again(no_issuer):
    """An error of another kind would come out of its background tasks and end the worker."""
    with pytest.raises(KafkaConnectionError, match=f"KAFKA_OAUTH_TOKEN_URL {no_issuer.kafka_oauth_token_url} does not"):
        asyncio.run(credentials(no_issuer).oauth_cb.token())
