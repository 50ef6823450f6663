"""Several processes on one UnkindAws, one step at a time: whose turn it is at each point is drawn from the seed.

Rule: only one actor runs at any moment, and it hands on only where AWS would let others in: before a call, between two
commits, between two items of a read (as often as the switches say), and whenever it sleeps. So the same seed is the
same history, though each actor is ordinary code in a thread of its own.
"""

from __future__ import annotations

import threading
from contextlib import nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from murmuration_testkit.unkind_aws.aws import UnkindAws


class KilledError(BaseException):
    """The process is gone, as by kill -9: whatever it still does, it asks nothing more of AWS."""


class Actor:
    """One process."""

    def __init__(self, name: str, act: Callable[[], object]) -> None:
        self.name = name
        self.act = act
        self.turn = threading.Semaphore(0)
        self.thread: threading.Thread | None = None
        self.wakes_at = 0.0
        self.is_killed = False
        self.is_done = False
        self.error: BaseException | None = None


class Actors:
    """Whoever acts on one UnkindAws. While they run, aws.sleep() lets the others act."""

    def __init__(self, aws: UnkindAws) -> None:
        self._aws = aws
        self._actors: list[Actor] = []
        self._running: Actor | None = None
        self._main = threading.Semaphore(0)
        aws.lock = nullcontext()  # whoever holds it would keep the others out while it waits for its turn
        aws.actors = self

    def add(self, name: str, act: Callable[[], object]) -> Actor:
        """Have another process do this; also while the others run."""
        actor = Actor(name, act)
        actor.wakes_at = self._aws.now
        self._actors.append(actor)
        return actor

    def kill(self, actor: Actor) -> None:
        """Kill -9: it ends at its next step, wherever it is."""
        actor.is_killed = True
        actor.wakes_at = self._aws.now

    def run(self) -> None:
        """Return when all are done; raise what one of them raised, when the others are killed."""
        try:
            while (chosen := self._choose()) is not None:
                self._hand_to(chosen)
                self._main.acquire()
                if chosen.is_done and (failed := [actor for actor in self._actors if actor.error]):
                    raise failed[0].error or AssertionError
        finally:
            for actor in [actor for actor in self._actors if actor.thread and not actor.is_done]:
                actor.is_killed = True
                self._hand_to(actor)
                self._main.acquire()
            self._actors.clear()

    def _choose(self) -> Actor | None:
        """Draw whose turn it is among those awake; if all sleep, let time pass."""
        alive = [actor for actor in self._actors if not actor.is_done]
        if not alive:
            return None
        awake = [actor for actor in alive if actor.wakes_at <= self._aws.now]
        if not awake:
            self._aws.advance_to(min(actor.wakes_at for actor in alive))
            awake = [actor for actor in alive if actor.wakes_at <= self._aws.now]
        return self._aws.random.choice(awake)

    def _hand_to(self, actor: Actor) -> None:
        self._running = actor
        if actor.thread is None:
            actor.thread = threading.Thread(target=self._live, args=(actor,), name=actor.name, daemon=True)
            actor.thread.start()
        else:
            actor.turn.release()

    def _live(self, actor: Actor) -> None:
        try:
            if not actor.is_killed:
                actor.act()
        except KilledError:
            pass
        except BaseException as error:  # noqa: BLE001 - raised by run()
            actor.error = error
        actor.is_done = True
        self._running = None
        self._main.release()

    def let_others_act(self) -> None:
        """Hand on, and return when it is this actor's turn again."""
        me = self._running
        if me is None:
            return
        self._running = None
        self._main.release()
        me.turn.acquire()
        self.check()

    def sleep(self, seconds: float) -> bool:
        """Sleep as an actor; False if it is none who sleeps."""
        if self._running is None:
            return False
        self._running.wakes_at = self._aws.now + seconds
        self.let_others_act()
        return True

    def check(self) -> None:
        """Let nobody act who was killed, or whose turn it is not."""
        me = self._running
        if me is None:
            return
        if me.thread is not threading.current_thread():
            raise RuntimeError(f"{threading.current_thread().name} asks AWS while it is {me.name}'s turn")
        if me.is_killed:
            raise KilledError(me.name)
