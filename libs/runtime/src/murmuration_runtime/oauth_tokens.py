"""Tokens for Kafka's OAUTHBEARER: from an OIDC endpoint by client credentials, or from AWS for MSK with IAM.

Rule: a token is fetched when a client asks for one and used until its client asks again, shortly before its end.
"""

import base64
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from typing import NamedTuple

from pydantic import SecretStr

from murmuration_runtime.tls_files import TlsFiles

TIMEOUT_SECONDS = 5.0
ASSUMED_SECONDS = 300  # of a token whose issuer does not say how long it lives


class TokenError(Exception):
    """No token was to be had, and why; the text holds no secret."""


class Token(NamedTuple):
    """A token and the moment of its end, in seconds since 1970."""

    value: str
    expires_at: float


Tokens = Callable[[], Token]


@dataclass(frozen=True)
class OidcTokens:
    """The client credentials grant (RFC 6749, 4.4)."""

    url: str
    client_id: str
    client_secret: SecretStr
    scope: str | None
    tls: TlsFiles

    def __call__(self) -> Token:
        """Ask the endpoint for a token."""
        form = {"grant_type": "client_credentials"} | ({"scope": self.scope} if self.scope else {})
        pair = (
            f"{urllib.parse.quote(self.client_id, '')}:{urllib.parse.quote(self.client_secret.get_secret_value(), '')}"
        )
        request = urllib.request.Request(  # noqa: S310 - the operator's own URL, http or https by the settings
            self.url,
            data=urllib.parse.urlencode(form).encode(),
            headers={"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"},
        )
        context = self.tls.context() if self.url.startswith("https:") else None
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS, context=context) as answer:  # noqa: S310
                told = json.load(answer)
            return Token(told["access_token"], time.time() + float(told.get("expires_in", ASSUMED_SECONDS)))
        except urllib.error.HTTPError as error:
            with error:
                raise TokenError(
                    f"KAFKA_OAUTH_TOKEN_URL {self.url} answered {error.code}: check KAFKA_OAUTH_CLIENT_ID, "
                    "KAFKA_OAUTH_CLIENT_SECRET and KAFKA_OAUTH_SCOPE"
                ) from None
        except (OSError, HTTPException) as error:
            raise TokenError(f"KAFKA_OAUTH_TOKEN_URL {self.url} does not answer: {error}") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise TokenError(f"KAFKA_OAUTH_TOKEN_URL {self.url} answered without an access_token in JSON") from None


@dataclass(frozen=True)
class MskIamTokens:
    """A presigned request as a token, by boto3's credentials: for Amazon MSK with IAM."""

    region: str

    def __call__(self) -> Token:
        """Sign one; nobody but boto3's source of credentials is asked."""
        from aws_msk_iam_sasl_signer import MSKAuthTokenProvider  # noqa: PLC0415 - the extra msk-iam has it

        try:
            value, expires_ms = MSKAuthTokenProvider.generate_auth_token(self.region)
        except Exception as error:  # noqa: BLE001 - botocore's errors, and the library's own bare ones
            raise TokenError(f"AWS gave no credentials to sign a token for MSK with: {type(error).__name__}") from None
        return Token(value, expires_ms / 1000)
