"""Looks at what is due: when one is the last, and whose turn it is."""

from murmuration_runtime.looks import AGAIN_MS, Looks

SETTLED_MS = 100


class Pages:
    """Work in which each take does a page of so many, in a clock that only the test moves."""

    def __init__(self, **left):
        self.left, self.now, self.off, self.order = left, 0, [], []

    def due(self):
        return [name for name in self.left if name not in self.off]

    def settled_at(self, _):
        return SETTLED_MS

    def take(self, name, place):
        self.order.append(name)
        done = min(2, self.left[name])
        self.left[name] -= done
        return done, (place or 0) + 1 if self.left[name] else None

    def finish(self, name):
        self.off.append(name)


def looks(work):
    return Looks(work, lambda: work.now, lambda: None)


def test_a_look_that_began_too_early_or_found_something_is_not_the_last():
    """What came while it was under way, or what it could not see yet, is found by another."""
    work = Pages(a=0, b=1)
    each = looks(work)
    assert each.turn().finished == []
    work.now = SETTLED_MS + AGAIN_MS
    work.left["a"] = 1
    assert (each.turn().finished, work.left) == (["b"], {"a": 0, "b": 0})
    work.now += AGAIN_MS
    assert each.turn().finished == ["a"]
    assert each.turn().due == 0


def test_one_with_very_much_keeps_nobody_waiting():
    """A page of each in turn, at once for as long as there is more."""
    work = Pages(a=5, b=3)
    each = looks(work)
    turns = [each.turn() for _ in range(3)]
    assert [turn.done for turn in turns] == [{"a": 2, "b": 2}, {"a": 2, "b": 1}, {"a": 1}]
    assert [turn.unfinished for turn in turns] == [True, True, False]


def test_what_was_looked_at_rests():
    """And is looked at again, until it is off the list; what is due no more is forgotten."""
    work = Pages(a=1)
    each = looks(work)
    for _ in range(3):
        each.turn()
    assert work.order == ["a"]
    work.now += AGAIN_MS
    each.turn()
    assert work.order == ["a", "a"]
    work.off.append("a")
    each.turn()
    work.off.clear()
    assert (each.turn().done, work.order) == ({}, ["a"] * 3)
