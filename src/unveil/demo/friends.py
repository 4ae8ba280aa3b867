"""An invented network of friends: who knows whom, with people replaced by numbers.

Nobody in it exists. It imitates what makes real friendship graphs recognisable even without names:

- *communities* of different sizes (schools, clubs, workplaces), with few friendships between them;
- *popularity* is skewed: most people have a handful of friends, a few have very many;
- *triadic closure*: friends of a friend become friends, so there are many more triangles than by chance;
- nobody is alone: everyone was introduced by someone who joined earlier.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unveil.arrays import Bools, Floats, Ints
from unveil.errors import UnveilError

if TYPE_CHECKING:
    pass

__all__ = ["make_friendships"]

_COMMUNITY_SIZE = 40  # people in an average community
_STRANGER_FACTOR = 0.02  # how much less likely a friendship is between communities
_MEAN_FRIENDS = 5.0  # mean number of friends made without an introduction
_CLOSURE_CHANCE = 0.06  # chance that one common friend introduces two people to each other


def make_friendships(rng: np.random.Generator, people: int = 600) -> Ints:
    """Friendships among ``people`` people, numbered from 0: one row (a, b) with a < b for each, sorted, connected.

    Numbers are assigned at random, so they reveal neither community nor popularity. Time and memory grow with the
    square of ``people``: this is meant for thousands, not millions.
    """
    if people < 1:
        raise UnveilError("friends: the number of people must be at least 1")

    groups = max(1, people // _COMMUNITY_SIZE)
    community = rng.choice(groups, people, p=rng.dirichlet(np.full(groups, 4.0)))
    charm = 1 + rng.pareto(2.5, people)
    closeness = np.where(community[:, None] == community, 1.0, _STRANGER_FACTOR)

    met = _draw_introductions(rng, charm, closeness) | _draw_acquaintances(rng, charm, closeness)
    known = _close_triangles(rng, _close_triangles(rng, met))

    number = rng.permutation(people)
    edges = np.sort(number[np.argwhere(np.triu(known, 1))], axis=1)
    return edges[np.lexsort((edges[:, 1], edges[:, 0]))]


def _draw_introductions(rng: np.random.Generator, charm: Floats, closeness: Floats) -> Bools:
    """A tree: each person is tied to an earlier one, preferably a charming one from the same community."""
    people = charm.size
    wish = np.log(charm * closeness) + rng.gumbel(size=closeness.shape)  # the largest is one draw by weight
    host = np.argmax(np.where(np.tri(people, k=-1, dtype=bool), wish, -np.inf), axis=1)
    tie = np.zeros(closeness.shape, dtype=bool)
    tie[np.arange(1, people), host[1:]] = True
    return tie | tie.T


def _draw_acquaintances(rng: np.random.Generator, charm: Floats, closeness: Floats) -> Bools:
    """Pairs who met on their own, with probability proportional to both charms and closeness (Chung and Lu 2002)."""
    chance = np.triu(np.outer(charm, charm) * closeness, 1)
    chance *= _MEAN_FRIENDS * charm.size / 2 / max(chance.sum(), 1.0)
    tie = rng.random(chance.shape) < chance
    return tie | tie.T


def _close_triangles(rng: np.random.Generator, tie: Bools) -> Bools:
    """One round of triadic closure: each common friend has one chance to introduce two people to each other."""
    common = tie.astype(np.float32) @ tie.astype(np.float32)
    new = np.triu(rng.random(tie.shape) < 1 - (1 - _CLOSURE_CHANCE) ** common, 1)
    return tie | new | new.T
