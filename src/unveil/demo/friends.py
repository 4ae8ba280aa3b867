"""A made-up circle of friends: who is connected with whom, with people replaced by numbers.

Nobody in it exists. It imitates what makes real friendship graphs recognisable even without names:

- *communities* of different size (schools, clubs, workplaces), with few friendships between them;
- *popularity* is skewed: most people have a handful of friends, a few have very many;
- *triadic closure*: friends of a friend become friends, so that there are many more triangles than chance would make;
- nobody is alone: everyone was introduced by someone who was there before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unveil.errors import UnveilError

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["friends"]

_COMMUNITY = 40  # people in an average community
_STRANGERS = 0.02  # how much less likely a friendship is between communities
_FRIENDS = 5.0  # friends made by own initiative, on average
_CLOSURE = 0.06  # chance that one common friend introduces two people to each other


def friends(rng: np.random.Generator, people: int = 600) -> npt.NDArray[np.int64]:
    """Friendships among ``people`` people, numbered from 0: one row (a, b) with a < b for each, sorted, connected.

    The numbers are handed out at random, so that they tell neither community nor popularity. Time and memory
    grow with the square of ``people``: meant for thousands, not for millions.
    """
    if people < 1:
        raise UnveilError("friends: the number of people must be at least 1")

    groups = max(1, people // _COMMUNITY)
    community = rng.choice(groups, people, p=rng.dirichlet(np.full(groups, 4.0)))
    charm = 1 + rng.pareto(2.5, people)
    closeness = np.where(community[:, None] == community, 1.0, _STRANGERS)

    met = _introductions(rng, charm, closeness) | _acquaintances(rng, charm, closeness)
    known = _closed(rng, _closed(rng, met))

    number = rng.permutation(people)
    edges = np.sort(number[np.argwhere(np.triu(known, 1))], axis=1)
    return edges[np.lexsort((edges[:, 1], edges[:, 0]))]


def _introductions(
    rng: np.random.Generator, charm: npt.NDArray[np.float64], closeness: npt.NDArray[np.float64]
) -> npt.NDArray[np.bool_]:
    """A tree: each person is tied to one who came earlier, more likely a charming one of the own community."""
    people = charm.size
    wish = np.log(charm * closeness) + rng.gumbel(size=closeness.shape)  # the largest is one draw by weight
    host = np.argmax(np.where(np.tri(people, k=-1, dtype=bool), wish, -np.inf), axis=1)
    tie = np.zeros(closeness.shape, dtype=bool)
    tie[np.arange(1, people), host[1:]] = True
    return tie | tie.T


def _acquaintances(
    rng: np.random.Generator, charm: npt.NDArray[np.float64], closeness: npt.NDArray[np.float64]
) -> npt.NDArray[np.bool_]:
    """Pairs who met by themselves, with a chance in proportion to both charms and closeness (Chung and Lu 2002)."""
    chance = np.triu(np.outer(charm, charm) * closeness, 1)
    chance *= _FRIENDS * charm.size / 2 / max(chance.sum(), 1.0)
    tie = rng.random(chance.shape) < chance
    return tie | tie.T


def _closed(rng: np.random.Generator, tie: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """One round of triadic closure: each common friend has one chance to introduce two people to each other."""
    common = tie.astype(np.float32) @ tie.astype(np.float32)
    new = np.triu(rng.random(tie.shape) < 1 - (1 - _CLOSURE) ** common, 1)
    return tie | new | new.T
