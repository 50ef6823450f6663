"""The settings that every edge has; a service's own extend them."""

from typing import Annotated, Literal, Self

from pydantic import NonNegativeFloat, PositiveFloat, StringConstraints, model_validator

from murmuration_edge.limit_settings import LimitSettings
from murmuration_runtime.traces import TracedSettings

Text = Annotated[str, StringConstraints(pattern=r"\S")]
HttpUrl = Annotated[str, StringConstraints(pattern=r"^https?://.+")]


class EdgeSettings(TracedSettings, LimitSettings):
    """Where clients are answered, and whose tokens are accepted."""

    port: int
    jwt_jwks_url: HttpUrl | None = None
    jwt_issuer: Text
    jwt_audience: Text
    jwt_leeway_seconds: NonNegativeFloat = 30  # by which the issuer's clock may differ from ours
    jwt_typ: Literal["at+jwt"] | None = None
    request_seconds: PositiveFloat = 2.0  # that a request may take, all its calls of stores together
    stuck_seconds: PositiveFloat = 30.0  # that none of the waiting requests has ended: then /healthz says 503

    @model_validator(mode="after")
    def _keys_can_be_found(self) -> Self:
        if self.jwt_jwks_url is None and not self.jwt_issuer.startswith(("http://", "https://")):
            raise ValueError(
                "JWT_JWKS_URL is not set, and JWT_ISSUER is no URL that could tell where keys are: set one."
            )
        return self
