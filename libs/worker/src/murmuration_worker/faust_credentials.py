"""How Faust, and aiokafka below it, log in to Kafka: made of the settings that every client of Kafka has."""

import asyncio

import faust
from aiokafka.abc import AbstractTokenProvider
from aiokafka.errors import KafkaConnectionError

from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_runtime.oauth_tokens import TokenError, Tokens


class _TokenProvider(AbstractTokenProvider):  # type: ignore[misc]  # it has no types
    """Tokens as aiokafka takes them: it asks for one whenever it connects."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    async def token(self) -> str:
        """Fetch a token, while the loop does other things; without one it is as if Kafka were away: it is tried again.

        Any other error would end the process, whose connection to Kafka a broker ends when its token does.
        """
        try:
            return (await asyncio.to_thread(self._tokens)).value
        except TokenError as error:
            raise KafkaConnectionError(str(error)) from error


def credentials(kafka: KafkaSettings) -> "faust.types.auth.CredentialsT | None":
    """Return Faust's credentials; None where neither TLS nor SASL is asked for."""
    tls = kafka.ssl_context()
    if kafka.kafka_sasl_mechanism == "OAUTHBEARER":
        return faust.OAuthCredentials(oauth_cb=_TokenProvider(kafka.tokens()), ssl_context=tls)
    if kafka.kafka_sasl_mechanism and kafka.kafka_sasl_password:
        return faust.SASLCredentials(
            username=kafka.kafka_sasl_username,
            password=kafka.kafka_sasl_password.get_secret_value(),
            ssl_context=tls,
            mechanism=kafka.kafka_sasl_mechanism,
        )
    return faust.SSLCredentials(tls) if tls else None
