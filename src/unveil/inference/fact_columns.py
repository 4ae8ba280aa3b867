"""Columns as facts: one for each value, or for each range of many numbers or dates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from unveil.arrays import Int32s
from unveil.case import Case
from unveil.errors import UnveilError
from unveil.policy import Policy
from unveil.release.codes import Codes, cast_to_text
from unveil.release.hierarchy import Hierarchy
from unveil.release.row_order import ordered_ranks
from unveil.release.table import Table
from unveil.run import Run

__all__ = ["FactColumn", "cut_column", "read_facts"]

_MOST_VALUES = 20  # numbers and dates up to which each is a fact
_RANGES = 8


@dataclass(frozen=True, eq=False)
class FactColumn:
    """``codes`` of facts, −1 for none, and what each is called. If values were cut into ranges, ``ranges`` says in
    which each is."""

    name: str
    codes: Int32s
    labels: tuple[str, ...]
    ranges: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def is_cut(self) -> bool:
        """Whether the facts are ranges of values."""
        return bool(self.ranges)


def cut_column(name: str, column: Codes, hierarchy: Hierarchy | None = None) -> FactColumn:
    """A column's facts: its values, or where they are many numbers or dates, the first level of their hierarchy, or
    else ranges with an equal share of the rows."""
    texts = cast_to_text(column.values).to_pylist()
    ranks, is_ordered = ordered_ranks(Codes(np.arange(len(texts), dtype=np.int32), column.values))
    if not is_ordered or len(texts) <= _MOST_VALUES:
        return FactColumn(name, column.codes, tuple(texts))
    group, labels = _hierarchy_groups(texts, hierarchy) if hierarchy is not None else (None, ())
    if group is None:
        group, labels = _quantile_groups(column, ranks, texts)
    ranges = MappingProxyType(dict(zip(texts, group.tolist(), strict=True)))
    return FactColumn(name, np.append(group, -1).astype(np.int32)[column.codes], labels, ranges)


def _quantile_groups(column: Codes, ranks: Int32s, texts: list[str]) -> tuple[Int32s, tuple[str, ...]]:
    """Ranges with about an equal share of the rows."""
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(texts)).astype(np.float64)
    by_rank = np.bincount(ranks, counts)
    middle = np.cumsum(by_rank) - by_rank / 2
    group = np.minimum((middle * _RANGES / max(1.0, by_rank.sum())).astype(np.int64), _RANGES - 1)
    _, dense = np.unique(group, return_inverse=True)
    text_at = [""] * len(by_rank)
    for text, rank in zip(texts, ranks.tolist(), strict=True):
        text_at[rank] = text
    ends = [np.flatnonzero(dense == g)[[0, -1]] for g in range(int(dense.max()) + 1)]
    labels = tuple(
        text_at[low] if low == high else f"{text_at[low]} to {text_at[high]}"
        for low, high in (e.tolist() for e in ends)
    )
    return dense[ranks].astype(np.int32), labels


def _hierarchy_groups(texts: list[str], hierarchy: Hierarchy) -> tuple[Int32s | None, tuple[str, ...]]:
    """The first level of a hierarchy that knows all values; None if it does not."""
    place = {text: i for i, text in enumerate(hierarchy.values.to_pylist())}
    if hierarchy.height < 1 or any(text not in place for text in texts):
        return None, ()
    codes = hierarchy.generalise(np.array([place[text] for text in texts], np.int32), 1)
    used, dense = np.unique(codes, return_inverse=True)
    labels = hierarchy.labels(1).to_pylist()
    return dense.astype(np.int32), tuple(labels[i] for i in used.tolist())


def read_facts(case: Case, table: Table, names: Sequence[str], policy: Policy, run: Run) -> tuple[FactColumn, ...]:
    """The columns as facts. A missing value is a fact of its own, one for each text that stands for it, or no fact at
    all (−1), as the policy says. It plays no part in how the others are cut."""
    recorded = table.codes(names, policy.missing, run)
    facts = [cut_column(name, recorded[name], case.hierarchies.get(name)) for name in names]
    if policy.missing_as == "excluded" and not np.all([fact.codes >= 0 for fact in facts], axis=0).any():
        raise UnveilError("every row lacks a quasi-identifier; read missing values differently")
    if policy.missing_as != "value":
        return tuple(facts)
    texts = table.codes(names, (), run)
    return tuple(_add_missing_facts(fact, texts[fact.name].codes) for fact in facts)


def _add_missing_facts(fact: FactColumn, texts: Int32s) -> FactColumn:
    gone = np.flatnonzero(fact.codes < 0)
    different, number = np.unique(texts[gone], return_inverse=True)
    codes = fact.codes.copy()
    codes[gone] = len(fact.labels) + number
    return replace(fact, codes=codes, labels=(*fact.labels, *("missing" for _ in different)))
