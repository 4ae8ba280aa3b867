"""Full-domain generalisation: every column on one level for all rows, and rows left out that still stand apart.

Of all levels on which enough people can stay, those that lose least are taken; :mod:`lattice_search` proves it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np

from unveil.arrays import Bools
from unveil.classes.protections.class_goals import ClassGoals, keep_safe_people
from unveil.classes.protections.column_levels import ColumnLevels
from unveil.classes.protections.combinations import Combinations
from unveil.classes.protections.lattice_search import CheckedNode, LatticeOptimum, Levels, search_lattice
from unveil.classes.protections.loss_measures import LossMeasure
from unveil.run import Run

__all__ = ["FullDomain"]

_KEPT_NODES = 64  # nodes whose combinations are remembered


@dataclass(eq=False)
class FullDomain:
    """A table's combinations, what must hold, and how loss is measured. At most ``max_left_out`` people may be left
    out."""

    columns: Sequence[ColumnLevels]
    people: Combinations
    goals: ClassGoals
    loss: LossMeasure
    max_left_out: int
    kept_columns: frozenset[int] = frozenset()
    _nodes: OrderedDict[Levels, Combinations] = field(default_factory=OrderedDict, init=False)

    def find_optimum(self, run: Run, max_checked: int = 20_000) -> LatticeOptimum:
        """The levels that lose least."""
        heights = [0 if c in self.kept_columns else own.height for c, own in enumerate(self.columns)]
        return search_lattice(heights, self.loss.bound, self._check, run, max_checked)

    def combinations_on(self, levels: Levels) -> Combinations:
        """The combinations on some levels, from those of the node below that has fewest."""
        if levels in self._nodes:
            return self._nodes[levels]
        start, found = (0,) * len(levels), self.people
        for below, there in self._nodes.items():
            if len(there) < len(found) and all(a <= b for a, b in zip(below, levels, strict=True)):
                start, found = below, there
        maps = [c.between(low, high) for c, low, high in zip(self.columns, start, levels, strict=True)]
        found = found.coarsen(maps)
        self._nodes[levels] = found
        if len(self._nodes) > _KEPT_NODES:
            self._nodes.popitem(last=False)
        return found

    def keep_people(self, levels: Levels) -> Bools:
        """The combinations on some levels that are kept."""
        return keep_safe_people(self.combinations_on(levels), self.goals)

    def _check(self, levels: Levels) -> CheckedNode:
        people = self.combinations_on(levels)
        kept, bound = keep_safe_people(people, self.goals), self.loss.bound_above(people)
        if self._leaves_enough(people, kept):
            return CheckedNode(self.loss.measure(levels, people, kept), False, bound)
        hopeless = self.goals.are_lasting or not self._leaves_enough(
            people, keep_safe_people(people, self.goals.lasting)
        )
        return CheckedNode(inf, hopeless, bound)

    def _leaves_enough(self, people: Combinations, kept: Bools) -> bool:
        some = people.people[kept].sum() if people.person is None else len(np.unique(people.person[kept]))
        return bool(people.total - some <= self.max_left_out)
