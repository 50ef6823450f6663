"""One call of a client: what may happen before, instead of and after what was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from botocore.exceptions import ConnectionClosedError, ReadTimeoutError

from murmuration_testkit.unkind_aws.aws import UnkindAws, error, errors_of
from murmuration_testkit.unkind_aws.expressions import InvalidError
from murmuration_testkit.unkind_aws.unkindness import Unkindness

if TYPE_CHECKING:
    from collections.abc import Callable

Answer = TypeVar("Answer")
LATE_SECONDS = 5.0


class Client:
    """What the clients of both services have in common."""

    service = ""
    throttled: tuple[str, ...] = ()

    def __init__(self, aws: UnkindAws, patience: float) -> None:
        self._aws = aws
        self._dice = aws.dice
        self._patience = patience
        self._endpoint = f"https://{self.service}.eu-central-1.amazonaws.com"
        self.exceptions = errors_of(self.service)

    def _call(self, operation: str, table: str, act: Callable[[], Answer], *, writes: bool = False) -> Answer:
        """Do what was asked, or something unkind."""
        aws, dice = self._aws, self._dice
        with aws.lock:
            if aws.actors:
                aws.actors.check()
            aws.calls[operation, table] += 1
            if aws.call_seconds:
                aws.sleep(aws.call_seconds)
            try:
                if dice.idle:
                    return act()
                if dice.falls(Unkindness.INTERLEAVING, operation, table):
                    dice.occurred[Unkindness.INTERLEAVING] += 1
                    aws.let_others_act(f"before {operation} on {table}")
                self._instead(operation, table, act, writes=writes)
                answer = act()
                return self._after(operation, table, act, answer) if writes else answer
            except InvalidError as invalid:
                raise self._error(operation, "ValidationException", str(invalid)) from invalid

    def _instead(self, operation: str, table: str, act: Callable[[], object], *, writes: bool) -> None:
        """Raise what AWS answers instead of doing what was asked."""
        aws, dice = self._aws, self._dice
        if dice.falls(Unkindness.HANG, operation, table):
            dice.occurred[Unkindness.HANG] += 1
            aws.sleep(self._patience)
            raise ReadTimeoutError(endpoint_url=self._endpoint)
        if dice.falls(Unkindness.THROTTLING, operation, table):
            dice.occurred[Unkindness.THROTTLING] += 1
            raise self._throttled(operation)
        if dice.falls(Unkindness.REFUSAL, operation, table):
            dice.occurred[Unkindness.REFUSAL] += 1
            code = aws.random.choice(("ValidationException", "ResourceNotFoundException"))
            raise self._error(operation, code, f"{table} was refused for no reason, once")
        if not writes:
            return
        if dice.falls(Unkindness.CONFLICT, operation, table):
            dice.occurred[Unkindness.CONFLICT] += 1
            raise self._conflict(operation)
        if dice.falls(Unkindness.LATE_WRITE, operation, table):
            aws.later(self._patience + aws.random.uniform(0, LATE_SECONDS), lambda: self._do_late(act))
            aws.sleep(self._patience)
            raise ReadTimeoutError(endpoint_url=self._endpoint)

    def _do_late(self, act: Callable[[], object]) -> None:
        try:
            act()
        except (InvalidError, self.exceptions.ClientError):
            return
        self._dice.occurred[Unkindness.LATE_WRITE] += 1

    def _after(self, operation: str, table: str, act: Callable[[], Answer], answer: Answer) -> Answer:
        """Lose the answer to what was done, or do it again."""
        aws, dice = self._aws, self._dice
        if dice.falls(Unkindness.LOST_ANSWER, operation, table):
            dice.occurred[Unkindness.LOST_ANSWER] += 1
            how = aws.random.randrange(3)
            if how == 0:
                raise self._error(operation, "InternalServerError", "Internal server error", 500)
            if how == 1:
                raise ConnectionClosedError(endpoint_url=self._endpoint)
            aws.sleep(self._patience)
            raise ReadTimeoutError(endpoint_url=self._endpoint)
        if dice.falls(Unkindness.REPEATED_WRITE, operation, table):
            dice.occurred[Unkindness.REPEATED_WRITE] += 1
            aws.let_others_act(f"before {operation} on {table} is repeated")
            return self._repeat(operation, act)
        return answer

    def _repeat(self, _operation: str, act: Callable[[], Answer]) -> Answer:
        return act()

    def _throttled(self, operation: str) -> Exception:
        code = self._aws.random.choice(self.throttled)
        return self._error(operation, code, "The level of configured provisioned throughput was exceeded")

    def _conflict(self, operation: str) -> Exception:
        raise NotImplementedError(operation)

    def _error(self, operation: str, code: str, message: str, status: int = 400, **more: Any) -> Exception:
        return error(self.service, operation, code, message, status, **more)

    def _unknown(self, operation: str, request: dict[str, Any]) -> None:
        if request:
            raise NotImplementedError(f"the fake does not know {', '.join(request)} of {operation}: teach it")
