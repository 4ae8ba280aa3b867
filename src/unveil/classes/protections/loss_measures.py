"""How much does a protected table lose? Four measures, each from 0 (nothing) upwards, and the least that any coarser
levels lose.

- ``loss``: what labels cover. A row's label covers some share of all values of its column, and 1 if the row is left
  out; a column loses the mean of that, scaled from 0 for single values to 1; the columns' losses are put together by
  the geometric mean of 1 + loss, less 1 (the measure that ARX calls loss).
- ``entropy``: how uncertain the values are given their labels, as a share of how uncertain they are without any
  (non-uniform entropy, De Waal and Willenborg 1999), put together in the same way.
- ``discernibility``: the mean size of the crowd in which a row is, as a share of all; a row that is left out is in a
  crowd of all (Bayardo and Agrawal 2005).
- ``classes``: rows per class, as a share of all rows; those left out are one class (LeFevre and others 2006).

The first two depend on each column alone as long as no row is left out, and leaving rows out only adds to them; so what
they would be without rows left out is a bound that is known before any class is counted. It does not fall from a level
to a higher one. The other two are known for a level once its classes are counted, and then bound all levels above.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import exp
from types import MappingProxyType
from typing import Protocol

import numpy as np

from unveil.arrays import Bools, Floats, Int32s, Ints
from unveil.classes.protections.column_levels import ColumnLevels
from unveil.classes.protections.combinations import Combinations

__all__ = ["LOSS_MEASURES", "ColumnLoss", "LossMeasure", "column_entropies", "covered_shares"]


class LossMeasure(Protocol):
    """A measure of what is lost on some levels."""

    def bound(self, levels: Sequence[int]) -> float:
        """What these levels, and all above them, lose at least."""
        ...

    def bound_above(self, people: Combinations) -> float:
        """What all levels above lose at least, given the combinations on some levels."""
        ...

    def measure(self, levels: Sequence[int], people: Combinations, kept: Bools) -> float:
        """What is lost if some of the combinations on these levels are kept and all others left out."""
        ...


@dataclass(frozen=True, eq=False)
class ColumnLoss:
    """A loss that is the sum over all rows of what their labels lose, column by column: ``per_label[c][level][label]``,
    nulls last, and ``gone[c]`` for a row that is left out. ``least[c]`` of that is no loss. ``whole[c][level]`` is the
    sum if none is left out, and ``becomes[c][level][value]`` the label of a value. ``weights`` say how much
    columns matter."""

    per_label: tuple[tuple[Floats, ...], ...]
    gone: Floats
    least: Floats
    whole: tuple[Floats, ...]
    becomes: tuple[tuple[Int32s, ...], ...]
    weights: Floats
    rows: int

    def bound(self, levels: Sequence[int]) -> float:
        """What these levels lose if no row is left out."""
        return exp(sum(own[level] for own, level in zip(self._logarithms, levels, strict=True))) - 1

    def bound_above(self, people: Combinations) -> float:
        """No more than is known without the combinations."""
        return 0.0

    def measure(self, levels: Sequence[int], people: Combinations, kept: Bools) -> float:
        """What is lost if some of the combinations are kept and all others left out."""
        counts = people.people[kept]
        out = self.rows - int(counts.sum())
        sums = [
            float(counts @ of_label[level][labels[kept]])
            for of_label, level, labels in zip(self.per_label, levels, people.labels, strict=True)
        ]
        return self._combine(np.array(sums) + out * self.gone)

    def measure_rows(self, levels: Int32s, people: Combinations) -> float:
        """What is lost if the combinations on level 0 go to levels of their own: ``levels[combination, column]``."""
        lost = np.zeros(levels.shape)
        for c, (of_label, becomes) in enumerate(zip(self.per_label, self.becomes, strict=True)):
            for level in np.unique(levels[:, c]).tolist():
                some = levels[:, c] == level
                lost[some, c] = of_label[level][becomes[level][people.labels[c][some]]]
        return self.measure_shares(lost, people)

    def measure_shares(self, lost: Floats, people: Combinations) -> float:
        """What is lost if each combination loses ``lost[combination, column]``."""
        return self._combine(people.people @ lost)

    def _combine(self, totals: Floats) -> float:
        return exp(sum(float(self._weighted_logarithms(c, totals[c : c + 1])[0]) for c in range(len(totals)))) - 1

    @cached_property
    def _logarithms(self) -> list[list[float]]:
        """What each level of each column adds to the logarithm of 1 + loss if no row is left out."""
        return [self._weighted_logarithms(c, own).tolist() for c, own in enumerate(self.whole)]

    def _weighted_logarithms(self, column: int, sums: Floats) -> Floats:
        most = self.rows * (self.gone[column] - self.least[column])
        lost = np.maximum(sums - self.rows * self.least[column], 0) / most if most > 0 else np.zeros(len(sums))
        found: Floats = np.log1p(lost) * (self.weights[column] / self.weights.sum())
        return found


def covered_shares(columns: Sequence[ColumnLevels], people: Combinations, weights: Floats) -> ColumnLoss:
    """Loss by what labels cover; the combinations are those of level 0."""
    least = np.array([column.leaf_share for column in columns])
    return _column_loss(
        columns, people, tuple(column.covered for column in columns), np.ones(len(columns)), least, weights
    )


def column_entropies(columns: Sequence[ColumnLevels], people: Combinations, weights: Floats) -> ColumnLoss:
    """Loss by how uncertain values are given their labels; the combinations are those of level 0."""
    per_label, gone = list[tuple[Floats, ...]](), list[float]()
    for column, own in zip(columns, people.labels, strict=True):
        size = len(column.covered[0])
        counts = np.bincount(own % size, people.people, minlength=size).astype(np.float64)  # −1 is the last
        bits = _bits(counts)  # count × log₂ count
        levels = []
        for becomes in column.becomes:
            labels = becomes % max(1, int(becomes.max(initial=-1)) + 2)
            width = int(labels.max(initial=0)) + 1
            sums = np.bincount(labels, counts, minlength=width).astype(np.float64)
            inside = _bits(sums) - np.bincount(labels, bits, minlength=width)
            levels.append(np.divide(inside, sums, out=np.zeros(width), where=sums > 0))
        per_label.append(tuple(levels))
        gone.append(float(levels[-1][0]))
    return _column_loss(columns, people, tuple(per_label), np.array(gone), np.zeros(len(columns)), weights)


def _bits(counts: Floats) -> Floats:
    found: Floats = counts * np.log2(np.maximum(counts, 1))
    return found


def _column_loss(
    columns: Sequence[ColumnLevels],
    people: Combinations,
    per_label: tuple[tuple[Floats, ...], ...],
    gone: Floats,
    least: Floats,
    weights: Floats,
) -> ColumnLoss:
    whole = tuple(
        np.array([float(people.people @ lost[becomes[own]]) for lost, becomes in zip(levels, c.becomes, strict=True)])
        for levels, c, own in zip(per_label, columns, people.labels, strict=True)
    )
    becomes = tuple(column.becomes for column in columns)
    return ColumnLoss(per_label, gone, least, whole, becomes, weights, int(people.people.sum()))


@dataclass(frozen=True, eq=False)
class CrowdLoss:
    """A loss that is a function of the sizes of classes, for someone who knows all columns."""

    rows: int
    squares: bool

    def bound(self, levels: Sequence[int]) -> float:
        """Nothing is known before the classes are counted."""
        return 0.0

    def bound_above(self, people: Combinations) -> float:
        """What these levels lose if nobody is left out."""
        return self.measure((), people, np.ones(len(people), np.bool_))

    def measure(self, levels: Sequence[int], people: Combinations, kept: Bools) -> float:
        """What is lost if some of the combinations are kept and all others left out."""
        some = people.select(kept)
        sizes = _class_sizes(some)
        out = self.rows - int(sizes.sum())
        if self.squares:
            return float((sizes.astype(np.float64) @ sizes + out * self.rows) / self.rows**2)
        return 1 / (len(sizes) + bool(out))


def _class_sizes(people: Combinations) -> Ints:
    _, sizes = people.class_of(range(len(people.labels)))
    return sizes[sizes > 0]


def _crowd_loss(squares: bool, columns: Sequence[ColumnLevels], people: Combinations, weights: Floats) -> CrowdLoss:
    return CrowdLoss(int(people.people.sum()), squares)


LOSS_MEASURES: Mapping[str, Callable[[Sequence[ColumnLevels], Combinations, Floats], LossMeasure]] = MappingProxyType(
    {
        "loss": covered_shares,
        "entropy": column_entropies,
        "discernibility": partial(_crowd_loss, True),
        "classes": partial(_crowd_loss, False),
    }
)
