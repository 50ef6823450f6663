"""Graphs of known shapes: some to find weights on, others to say what these are worth. Drawn anew by a seed."""

from collections.abc import Callable

import igraph
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Edges = NDArray[np.int64]
PEOPLE = 4_000
BACK = 0.4  # the share of follows that are answered, where a shape says nothing of directions


def forest_fire(random: Generator) -> Edges:
    """Who comes follows one person, and whom they find by going on from there, forward and back (Leskovec 2005)."""
    graph = igraph.Graph.Forest_Fire(PEOPLE, fw_prob=0.37, bw_factor=0.32, ambs=2, directed=True)
    return _shuffled(np.array(graph.get_edgelist()), random)


def stochastic_blocks(random: Generator) -> Edges:
    """Forty circles; people follow mostly inside their own."""
    return _blocks(random, np.arange(PEOPLE) % 40, inside=14, outside=4)


def preferential_attachment_with_triangles(random: Generator) -> Edges:
    """Who comes follows popular people, and then whom these follow (Holme and Kim 2002)."""
    return _grown(random, triangles=0.7, uniform=0.0)


def geometric(random: Generator) -> Edges:
    """People live on a square and follow who lives near."""
    graph = igraph.Graph.GRG(PEOPLE, radius=(14 / PEOPLE / np.pi) ** 0.5 * 1.2, torus=True)
    return _directed(np.array(graph.get_edgelist()), random)


def copying(random: Generator) -> Edges:
    """Who comes takes over half of whom somebody else follows, and adds people at random (Kumar 2000)."""
    lists: list[set[int]] = [{*range(number)} for number in range(6)]
    for number in range(6, PEOPLE):
        models = random.integers(0, number, 2)
        copied = [each for model in models for each in lists[model] if random.random() < 0.5]
        lists.append(({*copied, *random.integers(0, number, 5).tolist(), *models.tolist()}) - {number})
    return _shuffled(np.array([(one, other) for one, those in enumerate(lists) for other in those]), random)


def small_world(random: Generator) -> Edges:
    """People stand in a ring and follow their neighbours, and one in five anybody (Watts and Strogatz 1998)."""
    graph = igraph.Graph.Watts_Strogatz(1, PEOPLE, 7, 0.2)
    return _directed(np.array(graph.get_edgelist()), random)


def two_circles_each(random: Generator) -> Edges:
    """Everybody belongs to two circles of many, such as a family and a trade."""
    one = _blocks(random, random.integers(0, 60, PEOPLE), inside=8, outside=1)
    other = _blocks(random, random.integers(0, 40, PEOPLE), inside=6, outside=2)
    return np.unique(np.concatenate((one, other)), axis=0)


def recursive_matrix(random: Generator) -> Edges:
    """Quarters within quarters, one of them crowded (Chakrabarti 2004, with the parameters of Graph500)."""
    bits = int(np.log2(PEOPLE))
    quarters = random.choice(4, size=(PEOPLE * 16, bits), p=[0.57, 0.19, 0.19, 0.05])
    powers = 1 << np.arange(bits)
    pairs = np.stack(((quarters >> 1) @ powers, (quarters & 1) @ powers), axis=1)
    return np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)


def friends_of_friends(random: Generator) -> Edges:
    """Who knows the same person is introduced; now and then somebody meets a stranger (Davidsen 2002)."""
    friends: list[list[int]] = [
        [(number + 1) % PEOPLE, number - 1 if number else PEOPLE - 1] for number in range(PEOPLE)
    ]
    for _ in range(PEOPLE * 6):
        one = int(random.integers(0, PEOPLE))
        middle = friends[one][int(random.integers(0, len(friends[one])))]
        other = friends[middle][int(random.integers(0, len(friends[middle])))]
        if random.random() < 0.1:
            other = int(random.integers(0, PEOPLE))
        if one != other:
            friends[one].append(other)
            friends[other].append(one)
    return _directed(
        np.array([(one, other) for one, those in enumerate(friends) for other in those if one < other]), random
    )


def popular_neighbours(random: Generator) -> Edges:
    """Who comes follows the popular ones of their own part of the world."""
    return _grown(random, triangles=0.3, uniform=0.2)


Shape = Callable[[Generator], Edges]
REPORTED: tuple[Shape, ...] = (
    *(forest_fire, stochastic_blocks, preferential_attachment_with_triangles, geometric, copying),
)
TO_TUNE_ON: tuple[Shape, ...] = (
    small_world,
    two_circles_each,
    recursive_matrix,
    friends_of_friends,
    popular_neighbours,
)


def drawn(shape: Shape, seed: int) -> Edges:
    """Draw a graph: each pair once, nobody follows themselves."""
    igraph.set_random_number_generator(_Random(seed))
    edges = shape(np.random.default_rng(seed))
    return np.unique(edges[edges[:, 0] != edges[:, 1]], axis=0)


class _Random:
    """What igraph wants of a source of randomness."""

    def __init__(self, seed: int) -> None:
        import random  # noqa: PLC0415

        self._random = random.Random(seed)
        self.randint, self.random, self.gauss = self._random.randint, self._random.random, self._random.gauss


def _blocks(random: Generator, circle: NDArray[np.int64], inside: int, outside: int) -> Edges:
    pairs = []
    for each in np.unique(circle):
        members = np.flatnonzero(circle == each)
        pairs.append(random.choice(members, (len(members) * inside, 2)))
    pairs.append(random.integers(0, PEOPLE, (PEOPLE * outside, 2)))
    edges = np.concatenate(pairs)
    return np.unique(edges[edges[:, 0] != edges[:, 1]], axis=0)


def _grown(random: Generator, triangles: float, uniform: float, each: int = 9) -> Edges:
    friends: list[set[int]] = [{*range(each + 1)} - {number} for number in range(each + 1)]
    ends = [person for number in range(each + 1) for person in friends[number]]
    for number in range(each + 1, PEOPLE):
        new: set[int] = set()
        last = -1
        while len(new) < each:
            if last >= 0 and random.random() < triangles:
                choice = [*friends[last]][int(random.integers(0, len(friends[last])))]
            elif random.random() < uniform:
                choice = int(random.integers(0, number))
            else:
                choice = last = ends[int(random.integers(0, len(ends)))]
            new.add(choice)
        friends.append(new)
        for person in new:
            friends[person].add(number)
            ends += [person, number]
    return _directed(
        np.array([(one, other) for one, those in enumerate(friends) for other in those if other < one]), random
    )


def _directed(pairs: Edges, random: Generator) -> Edges:
    """Have one of each two follow the other, and some of these follow back."""
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    turned = np.where((random.random(len(pairs)) < 0.5)[:, None], pairs, pairs[:, ::-1])
    return np.concatenate((turned, turned[random.random(len(pairs)) < BACK][:, ::-1]))


def _shuffled(edges: Edges, random: Generator) -> Edges:
    """Forget who came first: numbers say nothing."""
    return random.permutation(PEOPLE)[edges]
