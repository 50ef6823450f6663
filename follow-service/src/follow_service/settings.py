"""The environment, read once."""

from typing import Self

from pydantic import NonNegativeInt, PositiveInt, model_validator

from follow_service.graph_redis_settings import GraphRedisSettings
from murmuration_edge.limit_settings import DAY_S
from murmuration_edge.settings import EdgeSettings
from murmuration_edge.token_buckets import Budget
from murmuration_runtime.settings import JobSettings, ServiceSettings
from murmuration_runtime.tls_files import Text, TlsFiles
from murmuration_suggested.settings import SuggestedSettings


class RuleSettings(EdgeSettings):
    """What whoever answers has, by HTTP or by gRPC."""

    following_cap: NonNegativeInt = 5000
    limit_follows_a_day: PositiveInt = 400
    limit_follows_burst: PositiveInt = 50

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """The budgets that this service's operations are counted in."""
        return *super().budgets, Budget("follows", self.limit_follows_a_day, DAY_S, self.limit_follows_burst)


class Settings(RuleSettings, GraphRedisSettings, SuggestedSettings):
    """What changes between a laptop and a cluster."""


class GrpcSettings(RuleSettings):
    """What `python -m follow_service grpc` needs, with its certificate if it is to have one."""

    grpc_ca_file: Text | None = None  # of the authority of clients: only who has its certificate comes in
    grpc_certificate_file: Text | None = None
    grpc_key_file: Text | None = None

    @property
    def tls(self) -> TlsFiles:
        """Who we are, and whose clients come in."""
        return TlsFiles(self.grpc_ca_file, self.grpc_certificate_file, self.grpc_key_file)

    @model_validator(mode="after")
    def _certificates_go_together(self) -> Self:
        faults = [*self.tls.faults("GRPC")]
        if self.grpc_ca_file and not self.grpc_certificate_file:
            faults += [
                "GRPC_CA_FILE is set, and GRPC_CERTIFICATE_FILE is not: clients show theirs only to a server with one."
            ]
        if faults:
            raise ValueError("\n".join(faults))
        return self


class FinishingSettings(JobSettings):
    """What `python -m follow_service finish --once` needs."""

    finishing_rate: PositiveInt = 100
    finishing_settled_seconds: PositiveInt = 600
    following_cap: NonNegativeInt = 5000


class FinisherSettings(FinishingSettings, ServiceSettings):
    """What `python -m follow_service finish` needs beside that, since it keeps running."""
