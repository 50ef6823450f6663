"""The settings that every edge has; a service's own extend them."""

from typing import Annotated

from pydantic import PositiveFloat, StringConstraints

from murmuration_runtime.traces import TracedSettings

Text = Annotated[str, StringConstraints(min_length=1)]
HttpUrl = Annotated[str, StringConstraints(pattern=r"^https?://.+")]


class EdgeSettings(TracedSettings):
    """Where clients are answered, and whose tokens are accepted."""

    port: int
    jwt_jwks_url: HttpUrl
    jwt_issuer: Text
    jwt_audience: Text
    request_seconds: PositiveFloat = 2.0  # that a request may take, all its calls of stores together
    stuck_seconds: PositiveFloat = 30.0  # that none of the waiting requests has ended: then /healthz says 503
