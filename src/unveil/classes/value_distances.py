"""How far apart two values of a sensitive column are: in their hierarchy, on a line if they are numbers, or all equally
far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.arrays import Floats, Int32s
    from unveil.classes.diversity import SensitiveClasses
    from unveil.release.hierarchy import Hierarchy

__all__ = ["ValueDistances"]


@dataclass(frozen=True, eq=False)
class ValueDistances:
    """``levels``: what each value is on every level of the hierarchy; ``rank``: the values as numbers."""

    levels: list[Int32s] | None
    rank: Floats | None

    @classmethod
    def from_values(cls, texts: pa.Array, hierarchy: Hierarchy | None) -> ValueDistances:
        """The distances of these values."""
        from unveil.classes.table_classes import numeric_order

        if hierarchy is not None:
            leaves = hierarchy.codes(texts)
            return cls([hierarchy.generalise(leaves, level) for level in range(1, hierarchy.height + 1)], None)
        return cls(None, numeric_order(texts))

    def from_table(self, classes: SensitiveClasses) -> Floats:
        """How far each class is from the whole table (t)."""
        if self.levels is not None:
            return classes.t_tree(self.levels)
        return classes.t_equal if self.rank is None else classes.t_ordered(self.rank)

    @property
    def description(self) -> str:
        """How far apart values are, in words."""
        if self.levels is not None:
            return "values in their hierarchy"
        return "all values equally far apart" if self.rank is None else "values on a line"
