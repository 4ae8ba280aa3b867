"""Expected cracks of many similar beliefs: what they have in common is solved once.

Pseudonyms fall apart into stretches of the frequency axis that no interval bridges. A stretch is solved by itself and
remembered by its shape, so that after a change of one item only the stretches that it touches are solved anew.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from unveil.items.beliefs import Beliefs
from unveil.matching.blocks import InfeasibleError
from unveil.matching.candidates import Floats, Ints
from unveil.matching.ladder import Budget, solve
from unveil.run import Run

__all__ = ["Scales", "Stretch"]


@dataclass(frozen=True, eq=False)
class Stretch:
    """Items whose pseudonyms no interval joins with others: their numbers and how likely each is cracked."""

    items: Ints
    crack: Floats

    @property
    def cracks(self) -> float:
        """The expected cracks among them."""
        return float(self.crack.sum())


class Scales:
    """Weighs beliefs by their expected cracks. ``exact`` turns false once a stretch was out of reach and only estimated
    (Bethe); a belief that no mapping is consistent with weighs infinitely much: it says nothing about safety."""

    def __init__(self, run: Run, budget: Budget | None = None) -> None:
        self.run, self.budget = run, budget or Budget(states=200_000, transitions=200_000_000)
        self.exact = True
        self.spent = 0  # items looked at; one that had to be solved counts for a hundred
        self.known: dict[bytes, Floats] = {}

    def weigh(self, beliefs: Beliefs) -> float:
        """The expected cracks."""
        parts = self.stretches(beliefs)
        return math.inf if parts is None else sum(part.cracks for part in parts)

    def stretches(self, beliefs: Beliefs) -> list[Stretch] | None:
        """All stretches; None if no mapping is consistent."""
        self.run.check()
        self.spent += beliefs.n
        found = []
        for items in _apart(beliefs):
            crack = self._solved(beliefs.only(items))
            if crack is None:
                return None
            found.append(Stretch(items, crack))
        return found

    def _solved(self, beliefs: Beliefs) -> Floats | None:
        if beliefs.n == 1:
            return np.ones(1) if beliefs.compliant[0] else None
        key = (np.stack([beliefs.low, beliefs.high, beliefs.counts]) - beliefs.counts.min()).round(6).tobytes()
        if key not in self.known:
            self.spent += 100 * beliefs.n
            try:
                solution = solve(
                    beliefs.candidates, run=self.run, budget=self.budget, may_be_wrong=True, simulate=False
                )
            except InfeasibleError:
                return None
            self.exact &= solution.exact
            self.known[key] = solution.crack
        return self.known[key]


def _apart(beliefs: Beliefs) -> list[Ints]:
    """The items of each stretch; an item that is believed in one stretch and has its pseudonym in another joins them.
    Items are sorted, so that equal stretches look alike; one that fits no pseudonym is by itself."""
    values, group = np.unique(beliefs.counts, return_inverse=True)
    first, last = beliefs.reach(values)
    bridges = np.zeros(len(values) + 1, np.int64)
    fits = first <= last
    np.add.at(bridges, first[fits], 1)
    np.add.at(bridges, last[fits], -1)
    part = np.append(0, np.cumsum(np.cumsum(bridges[: len(values) - 1]) == 0))
    ends = part[np.where(fits, first, group)], part[group]
    if not np.array_equal(*ends):
        size = part[-1] + 1
        part = connected_components(coo_array((np.ones(beliefs.n), ends), (size, size)), directed=False)[1][part]
    of_item = part[group]
    order = np.lexsort((beliefs.high, beliefs.low, beliefs.counts, of_item))
    return np.split(order, np.flatnonzero(np.diff(of_item[order])) + 1)
