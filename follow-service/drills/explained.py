"""Whether what two people were answered, and what is left between them, can be explained. Pure.

Rule: each act took place at one moment between its last sending and its answer, as the model says. What was sent before
and not answered may have been done as well, once or often, until it must be over. Each of the two does one thing after
the other. A request to an account that is public may be accepted at any time, beside all this.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

LATE_S = 20.0  # after which a request that nobody waits for any more is over, in a process that was paused, too


@dataclass(frozen=True)
class Act:
    """What somebody did to somebody, or to their own account, and what they were answered in the end."""

    who: str
    verb: str
    whom: str
    began: float  # when it was first sent
    sent: float  # when it was sent that time that was answered
    ended: float
    answer: str
    unanswered: float | None = None  # when it was last sent without being answered

    @property
    def late(self) -> float:
        """Until when something that was not answered may still be done."""
        return self.ended if self.unanswered is None else self.unanswered + LATE_S


def ends(beginning: Any, acts: Iterable[Act], pair: Sequence[str]) -> set[Any]:
    """Return each state of the model in which these two can have ended; none if no order of acts gives the answers."""
    ours = [act for act in acts if {act.who, act.whom} <= {*pair}]
    first, second = ([act for act in ours if act.who == who] for who in pair)
    floating = [act for act in ours if act.unanswered is not None]
    at: dict[tuple[int, int], dict[Any, Any]] = {(0, 0): {beginning.state(): beginning}}
    for i in range(len(first) + 1):
        for j in range(len(second) + 1):
            models = at.pop((i, j), {})
            _let_happen(models, [act for act in floating if _may(act, first, i) and _may(act, second, j)])
            if (i, j) == (len(first), len(second)):
                return {*models}
            for mine, theirs, place in ((first[i:], second[j:], (i + 1, j)), (second[j:], first[i:], (i, j + 1))):
                if mine and not (theirs and theirs[0].ended < mine[0].sent):
                    _do(mine[0], models, at.setdefault(place, {}))
    return set()


def _may(act: Act, acts: Sequence[Act], done: int) -> bool:
    """Say whether something unanswered can happen when so many of these acts are done."""
    follows_all_before = done == len(acts) or acts[done].ended >= act.began
    return follows_all_before and (done == 0 or acts[done - 1].sent <= act.late)


def _do(act: Act, models: dict[Any, Any], into: dict[Any, Any]) -> None:
    """Add what becomes of those models that answer so."""
    for model in models.values():
        after = model.copy()
        if after.do(act.verb, act.who, act.whom, 0) == act.answer:
            into.setdefault(after.state(), after)


def _let_happen(models: dict[Any, Any], floating: Sequence[Act]) -> None:
    """Add what becomes of models in which something happens beside the answers, or several things, in any order."""
    looked_at = [*models.values()]
    while looked_at:
        model = looked_at.pop()
        for after in _after(model, floating):
            if after.state() not in models:
                models[after.state()] = after
                looked_at.append(after)


def _after(model: Any, floating: Sequence[Act]) -> Iterable[Any]:
    for act in floating:
        after = model.copy()
        after.do(act.verb, act.who, act.whom, 0)
        yield after
    for who, whom in model.requests:
        if model.private.get(whom) is False:
            after = model.copy()
            after.do("accept", whom, who, 0)
            yield after
