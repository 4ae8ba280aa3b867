"""The picture of a small relation: which attributes belong together, and what they follow from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.finding import LatticeChart
from unveil.wording import safe_text

if TYPE_CHECKING:
    from unveil.inference.closed_sets import ClosedSets
    from unveil.inference.relation import Relation

__all__ = ["HIDDEN_VALUES", "LATTICE_READING", "MOST_DRAWN_SETS", "draw_lattice", "lattice_charts"]

MOST_DRAWN_SETS = 60
"""The most sets that a picture shows."""

LATTICE_READING = (
    "Each dot stands for everything that some rows have in common; lines lead to what more rows have in common."
)
HIDDEN_VALUES = "A value is called by a number, 1 for the most frequent."
"""How to read a picture, and the names in it where values are not shown."""


def draw_lattice(found: ClosedSets, reading: str) -> LatticeChart:
    """The picture of closed sets, by the names of their attributes."""

    def names(attributes: frozenset[int]) -> tuple[str, ...]:
        return tuple(found.names[a] for a in sorted(attributes))

    return LatticeChart(
        title="Which values belong together",
        sets=tuple(map(names, found.sets)),
        people=found.people,
        follows_from=tuple(tuple(map(names, some)) for some in found.generators),
        edges=found.edges,
        reading=reading,
    )


def lattice_charts(relation: Relation, columns: Sequence[str]) -> tuple[LatticeChart, ...]:
    """The picture of a table with these columns, its values numbered by how frequent they are; nothing if it has too
    many sets, or missing values that may be any."""
    from unveil.inference.closed_sets import find_closed_sets

    if relation.columns is None or len(relation.columns) != len(columns) or relation.columns_with_gaps:
        return ()
    try:
        found = find_closed_sets(replace(relation, names=_numbered_names(relation, columns)), MOST_DRAWN_SETS)
    except UnveilError:
        return ()
    return (draw_lattice(found, f"{LATTICE_READING} {HIDDEN_VALUES}"),)


def _numbered_names(relation: Relation, columns: Sequence[str]) -> tuple[str, ...]:
    import numpy as np

    from unveil.inference.named_attributes import number_values

    assert relation.columns is not None and relation.first_attribute is not None
    sizes = np.diff(relation.first_attribute).tolist()
    return tuple(
        f"{safe_text(name)} {number}"
        for name, codes, size in zip(columns, relation.columns, sizes, strict=True)
        for number in number_values(np.bincount(codes, minlength=size)).tolist()
    )
