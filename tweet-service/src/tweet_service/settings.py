"""The environment, read once."""

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """What changes between a laptop and a cluster. DynamoDB's address and credentials are boto3's own variables."""

    jwks_url: str
    jwt_issuer: str
    jwt_audience: str
    table_prefix: str

    @classmethod
    def from_environment(cls) -> "Settings":
        """Read the settings; a KeyError names the variable that is missing."""
        return cls(
            jwks_url=os.environ["JWT_JWKS_URL"],
            jwt_issuer=os.environ["JWT_ISSUER"],
            jwt_audience=os.environ["JWT_AUDIENCE"],
            table_prefix=os.environ.get("TABLE_PREFIX", ""),
        )
