"""Random relations for tests, as plain data: rows of attributes or columns of codes, likelihoods and dangers.

Weights are quarters, so that sums and products are exact in floating point whatever their order, and results can be
compared for equality. Empty and equal rows, rows within others, attributes that everybody or nobody has, and weights of
0 and 1 are frequent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from reference.naive_inference import Individual, individuals_from_columns, individuals_from_sets
from unveil.inference.relation import Relation

__all__ = ["SetData", "TableData", "relation_from_sets", "relation_from_table", "set_data", "table_data"]

WEIGHTS = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])


class SetData(NamedTuple):
    """Rows of attributes and their weights."""

    rows: list[frozenset[int]]
    likelihood: list[float]
    danger: list[float]

    @property
    def individuals(self) -> list[Individual]:
        return individuals_from_sets(self.rows)


class TableData(NamedTuple):
    """Columns of codes, −1 for missing, how many values each has, and weights by attribute."""

    columns: list[list[int]]
    sizes: list[int]
    likelihood: list[float]
    danger: list[float]

    @property
    def individuals(self) -> list[Individual]:
        return individuals_from_columns(self.columns, self.sizes)

    def by_column(self, weights: list[float]) -> list[list[float]]:
        begins = [sum(self.sizes[:c]) for c in range(len(self.sizes))]
        return [weights[b : b + size] for b, size in zip(begins, self.sizes, strict=True)]


@st.composite
def set_data(draw: st.DrawFn, most_attributes: int = 8, likelihoods: st.SearchStrategy[float] = WEIGHTS) -> SetData:
    """Up to eight individuals; some are equal to an earlier one, or have some of its attributes."""
    attributes = draw(st.integers(1, most_attributes))
    masks: list[int] = []
    for _ in range(draw(st.integers(1, 8))):
        mask = draw(st.integers(0, (1 << attributes) - 1))
        if masks and draw(st.booleans()):
            mask &= draw(st.sampled_from(masks))
        masks.append(mask)
    everybody = draw(st.integers(0, (1 << attributes) - 1)) if draw(st.booleans()) else 0
    rows = [frozenset(a for a in range(attributes) if (mask | everybody) >> a & 1) for mask in masks]
    weights = [draw(st.lists(one, min_size=attributes, max_size=attributes)) for one in (likelihoods, WEIGHTS)]
    return SetData(rows, weights[0], weights[1])


@st.composite
def table_data(draw: st.DrawFn, missing: bool = True) -> TableData:
    """Up to four columns of up to three values, and nine individuals."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    people = draw(st.integers(1, 9))
    columns = [
        draw(
            st.lists(
                st.integers(-1 if missing and draw(st.booleans()) else 0, size - 1), min_size=people, max_size=people
            )
        )
        for size in sizes
    ]
    weights = []
    for _ in range(2):
        by_value = draw(st.booleans())
        one = st.lists(WEIGHTS, min_size=sum(sizes), max_size=sum(sizes))
        weights.append(draw(one) if by_value else [w for size in sizes for w in [draw(WEIGHTS)] * size])
    return TableData(columns, sizes, weights[0], weights[1])


def relation_from_sets(data: SetData, offset: float = 1.0, width: int | None = None) -> Relation:
    """The relation; with a width, its attributes are spread over so many, the others nobody's."""
    m = len(data.likelihood)
    place = np.linspace(0, (width or m) - 1, m).astype(int)
    likelihood, danger = np.ones(width or m), np.ones(width or m)
    likelihood[place], danger[place] = data.likelihood, data.danger
    begins = np.append(0, np.cumsum([len(row) for row in data.rows]))
    items = np.array([place[a] for row in data.rows for a in row], np.int64)
    return Relation.from_items(begins, items, width or m, likelihood, danger, danger_offset=offset)


def relation_from_table(data: TableData) -> Relation:
    columns = [np.array(column, np.int32) for column in data.columns]
    weights = data.by_column(data.likelihood), data.by_column(data.danger)
    return Relation.from_columns(columns, *weights, sizes=data.sizes)
