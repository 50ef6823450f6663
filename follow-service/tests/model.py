"""The graph as it should be: sets of pairs in memory, and what each call of a person answers.

Each call is named as a verb, of who does it and to whom. DOINGS says how the service does the same.
"""

from follow_service import api, blocks, follows, profiles
from follow_service.follows import Edge, Outcome

CAP = 1_000
DOINGS = {
    "join": lambda graph, me, _, now: profiles.save(graph.profiles, me, me, None, None, now),
    "turn private": lambda graph, me, _, now: profiles.save(graph.profiles, me, me, True, None, now),
    "turn public": lambda graph, me, _, now: profiles.save(graph.profiles, me, me, False, None, now),
    "leave": lambda graph, me, _, now: graph.profiles.delete(me, now),
    "follow": lambda graph, me, other, now: follows.follow(graph.follows, Edge(me, other), now, CAP),
    "unfollow": lambda graph, me, other, _: follows.unfollow(graph.follows, Edge(me, other)),
    "remove": lambda graph, me, other, _: follows.remove_follower(graph.follows, Edge(other, me)),
    "accept": lambda graph, me, other, now: follows.accept(graph.follows, Edge(other, me), now, CAP),
    "decline": lambda graph, me, other, _: follows.decline(graph.follows, Edge(other, me)),
    "block": lambda graph, me, other, now: blocks.block(graph.blocks, graph.profiles, me, other, now),
    "unblock": lambda graph, me, other, _: blocks.unblock(graph.blocks, me, other),
    "mute": lambda graph, me, other, now: blocks.mute(graph.blocks, graph.profiles, me, other, now),
    "unmute": lambda graph, me, other, _: blocks.unmute(graph.blocks, me, other),
}
DONE, ASKED = "done", "asked"


def do(graph, verb, me, other, now):
    """Do it by the service, and return what it answers: done, asked, or the code of a problem."""
    try:
        outcome = DOINGS[verb](graph, me, other, now)
    except tuple(api.PROBLEMS) as error:
        return api.PROBLEMS[type(error)].code
    return ASKED if outcome is Outcome.REQUESTED else DONE


class Model:
    """Who is there, and what is between them, by pairs of who and whom, with since when."""

    def __init__(self):
        self.private = {}  # by who has a profile
        self.deleted = set()
        self.follows, self.requests, self.blocks, self.mutes = {}, {}, {}, {}

    def copy(self):
        new = Model()
        for name, value in vars(self).items():
            setattr(new, name, value.copy())
        return new

    def state(self):
        """Return all that the tables must have in the end; a request beside a follow is as none."""
        open_requests = self.requests.keys() - self.follows.keys()
        sets = self.follows, open_requests, self.blocks, self.mutes, self.deleted
        return *map(frozenset, sets), frozenset(self.private.items())

    def do(self, verb, me, other, now):
        """Do it, and return what is to be answered."""
        return getattr(self, f"_{verb.replace(' ', '_')}")(me, other, now) or DONE

    def hidden(self, viewer, other):
        """Say whether this is nobody to the viewer."""
        return other not in self.private or (other, viewer) in self.blocks

    def listed(self, pairs, viewer, *, blocked=False):
        """Return whom a list of pairs shows to the viewer, newest first."""
        newest = sorted(pairs, key=pairs.get, reverse=True)
        shown = [each for each in newest if not self.hidden(viewer, each)]
        return [each for each in shown if blocked or (viewer, each) not in self.blocks]

    def _stranger(self, me):
        if me in self.deleted:
            return "account-deleted"
        return None if me in self.private else "no-profile"

    def _join(self, me, _, __, private=None):
        if me in self.deleted:
            return "account-deleted"
        self.private[me] = self.private.get(me, False) if private is None else private
        return None

    def _turn_private(self, me, other, now):
        return self._join(me, other, now, private=True)

    def _turn_public(self, me, other, now):
        return self._join(me, other, now, private=False)

    def _leave(self, me, *_):
        if me in self.private:
            del self.private[me]
            self.deleted.add(me)

    def _follow(self, me, other, now):
        if refused := self._stranger(me):
            return refused
        if self.hidden(me, other):
            return "no-user"
        if (me, other) in self.blocks:
            return "blocking"
        if (me, other) in self.follows:
            return DONE
        if self.private[other]:
            self.requests.setdefault((me, other), now)
            return ASKED
        self.requests.pop((me, other), None)
        self.follows[me, other] = now
        return DONE

    def _unfollow(self, me, other, _):
        self.requests.pop((me, other), None)
        self.follows.pop((me, other), None)

    def _remove(self, me, other, _):
        self.follows.pop((other, me), None)

    def _accept(self, me, other, now):
        if refused := self._stranger(me):
            return refused
        pair = other, me
        if self.hidden(me, other) or (me, other) in self.blocks or pair not in self.follows | self.requests:
            return "no-request"
        if self.requests.pop(pair, None) is not None:
            self.follows.setdefault(pair, now)
        return DONE

    def _decline(self, me, other, _):
        self.requests.pop((other, me), None)

    def _block(self, me, other, now):
        if refused := self._stranger(me):
            return refused
        self.blocks.setdefault((me, other), now)
        for pair in ((me, other), (other, me)):
            self.follows.pop(pair, None)
            self.requests.pop(pair, None)
        return DONE

    def _unblock(self, me, other, _):
        self.blocks.pop((me, other), None)

    def _mute(self, me, other, now):
        if refused := self._stranger(me):
            return refused
        self.mutes.setdefault((me, other), now)
        return DONE

    def _unmute(self, me, other, _):
        self.mutes.pop((me, other), None)
