"""A table with coarser labels, and without some columns and rows; everything else stays as it was.

A column can be on one level for all rows, or on different levels for different rows. On its last level it is left out;
where only some rows are on the last level, they show the root instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.arrays import Bools, Int32s, Ints
from unveil.release.coarsening import ColumnLadder, LadderStep, code_entropy
from unveil.release.codes import arrow_integers, cast_to_text
from unveil.release.generalised_labels import ROOT_LABEL
from unveil.release.table import Table, table_from_frame
from unveil.wording import capitalise_text, list_text, safe_text, verb

if TYPE_CHECKING:
    from unveil.case import Case
    from unveil.policy import Policy

__all__ = [
    "ChangedColumn",
    "CoarseColumn",
    "RelabelledColumn",
    "coarsen_case",
    "describe_leaks",
    "kept_information",
    "mean_kept_information",
]

_MAX_DISTINCT_SHARE = 0.5  # of the rows: a column with more values than that goes with anything


@dataclass(frozen=True, eq=False)
class CoarseColumn:
    """What becomes of a column: row i gets its label on step ``steps[step_of[i]]``, the root if that is None. Without
    ``step_of``, all rows are on the only step; None then means that the column is left out."""

    ladder: ColumnLadder
    steps: tuple[LadderStep | None, ...]
    step_of: Int32s | None = None

    @property
    def is_unchanged(self) -> bool:
        """Whether all rows keep their values."""
        return all(step is self.ladder.steps[0] for step in self.steps)

    @property
    def is_left_out(self) -> bool:
        """Whether the column is gone."""
        return all(step is None for step in self.steps)

    @property
    def share_changed(self) -> float:
        """The share of rows that do not keep their value."""
        kept = [number for number, step in enumerate(self.steps) if step is self.ladder.steps[0]]
        if self.step_of is None or not kept:
            return 0.0 if kept else 1.0
        return float((self.step_of != kept[0]).mean())

    def label_codes(self) -> tuple[Int32s, pa.Array]:
        """The place of each row's label in an array of all labels; −1 for missing values, which stay as they are."""
        found = np.full(len(self.ladder.codes), -1, np.int32)
        labels, begin = list[pa.Array](), 0
        for number, step in enumerate(self.steps):
            some = slice(None) if self.step_of is None else np.flatnonzero(self.step_of == number)
            if step is None:
                found[some] = begin
                labels.append(pa.array([ROOT_LABEL]))
            else:
                codes = step.label_codes(self.ladder.codes[some])
                found[some] = np.where(codes >= 0, codes + np.int32(begin), np.int32(-1))
                labels.append(cast_to_text(step.labels))
            begin += len(labels[-1])
        return found, pa.concat_arrays(labels)


@dataclass(frozen=True, eq=False)
class RelabelledColumn:
    """What becomes of a column whose labels are none of its hierarchy: row i gets ``labels[codes[i]]`` if it is
    ``changed``, and otherwise keeps its value. Labels that are not text leave the type of the column as it is.
    ``change_text`` says in words what becomes of values."""

    ladder: ColumnLadder
    labels: pa.Array
    codes: Int32s
    changed: Bools
    change_text: str = "coarser or hidden"

    @property
    def is_unchanged(self) -> bool:
        """Whether all rows keep their values."""
        return not self.changed.any()

    @property
    def is_left_out(self) -> bool:
        """Whether the column is gone: all rows would show the root, or nothing."""
        if not self.changed.all():
            return False
        is_text = pa.types.is_string(self.labels.type)
        return self.hides_values or (is_text and bool(pc.all(pc.equal(self.labels, ROOT_LABEL)).as_py()))

    @property
    def hides_values(self) -> bool:
        """Whether changed values become missing."""
        return bool(self.labels.null_count == len(self.labels))

    @property
    def share_changed(self) -> float:
        """The share of rows that do not keep their value."""
        return float(self.changed.mean()) if len(self.changed) else 0.0

    def label_codes(self) -> tuple[Int32s, pa.Array]:
        """The place of each row's label in an array of all labels; −1 for values that stay as they are."""
        return np.where(self.changed, self.codes, np.int32(-1)), self.labels

    def unchanged_codes(self) -> Int32s:
        """A code for each value of the column that stays as it is, missing last: that of the label that looks the same,
        or one that no label has. A hidden value looks like a missing one."""
        values, size = self.ladder.steps[0].labels, len(self.labels)
        fresh = np.arange(size, size + len(values), dtype=np.int32)
        if self.hides_values:
            return np.append(fresh, np.int32(0))
        found = _same_labels(values, self.labels)
        return np.append(np.where(found >= 0, found, fresh), np.int32(size + len(values))).astype(np.int32)


def _same_labels(values: pa.Array, labels: pa.Array) -> Int32s:
    """The place of the label that looks like each value, −1 for none; 5 and 5.0 are the same number."""
    from unveil.release.column_profile import cast_to_numbers

    numbers = [cast_to_numbers(each) for each in (values, labels)]
    are_numbers = not any(np.isnan(each).any() for each in numbers)
    own, others = (pa.array(each) for each in numbers) if are_numbers else map(cast_to_text, (values, labels))
    return np.asarray(pc.index_in(own, value_set=others).fill_null(-1), np.int32)


ChangedColumn: TypeAlias = CoarseColumn | RelabelledColumn
"""What becomes of a column."""


def coarsen_case(case: Case, table: Table, columns: Mapping[str, ChangedColumn], kept: Ints) -> Case:
    """The case with the coarser table, the original beside it. ``kept`` are the rows that stay, rising."""
    changed = {name: column for name, column in columns.items() if not column.is_unchanged}
    rows = pa.Table.from_batches(table.batches())
    for name, column in changed.items():
        at = rows.column_names.index(name)
        if column.is_left_out:
            rows = rows.remove_column(at)
        else:
            rows = rows.set_column(at, name, _relabel_column(rows.column(at), column))
    place = np.full(table.rows, -1, np.int64)
    place[kept] = np.arange(len(kept))
    made = {name: c.ladder.hierarchy for name, c in columns.items() if c.ladder.hierarchy is not None}
    there = {name: h for name, h in {**made, **case.hierarchies}.items() if name in rows.column_names}
    return replace(
        case,
        release=table_from_frame(
            rows.take(arrow_integers(kept)), engine=table.engine, name=table.name, types=table.types
        ),
        original=table,
        truth=case.moved_truth(place),
        hierarchies=MappingProxyType({c: h for c, h in there.items() if c in case.hierarchies or c in changed}),
    )


def _relabel_column(column: pa.ChunkedArray, coarse: ChangedColumn) -> pa.Array:
    """A column with its new labels; values without one stay as they were."""
    codes, labels = coarse.label_codes()
    there = arrow_integers((codes >= 0).astype("int32")).cast(pa.bool_())
    own = cast_to_text(column) if pa.types.is_string(labels.type) else column
    return pc.if_else(there, labels.cast(own.type).take(arrow_integers(codes.clip(min=0))), own)


def kept_information(column: ChangedColumn, kept: Ints) -> float:
    """The share of a column's information that its labels keep in these rows: what labels and values have in common,
    as a share of the entropy of all values."""
    whole = code_entropy(column.ladder.codes)
    if column.is_left_out:
        return 0.0
    if not whole:
        return 1.0
    own, (labels, _) = column.ladder.codes[kept], column.label_codes()
    now = labels[kept]
    if isinstance(column, RelabelledColumn):
        now = np.where(now < 0, column.unchanged_codes()[own], now)
    elif column.step_of is None:
        return min(1.0, code_entropy(now) / whole)
    both = np.unique((own.astype(np.int64) + 1) * (int(now.max(initial=-1)) + 2) + now + 1, return_inverse=True)[1]
    shared = code_entropy(own) + code_entropy(now) - code_entropy(both.astype(np.int32))
    return float(min(1.0, max(0.0, shared) / whole))


def mean_kept_information(columns: Mapping[str, ChangedColumn], kept: Ints) -> float:
    """The mean over columns of the information that they keep in these rows; 1 if there are none."""
    return sum(kept_information(column, kept) for column in columns.values()) / len(columns) if columns else 1.0


def describe_leaks(table: Table, columns: Mapping[str, ChangedColumn], policy: Policy) -> str:
    """Which coarsened columns an unchanged column still reveals, because each of its values goes with one of theirs."""
    changed = [column.ladder for column in columns.values() if not column.is_unchanged]
    revealed = dict[str, list[str]]()
    names = [c for c in table.columns if c not in (*columns, *policy.identifier, policy.subject)]
    for name, own in table.codes(names, policy.missing).items():
        if not 1 < len(own.values) <= _MAX_DISTINCT_SHARE * table.rows:
            continue
        for ladder in changed:
            if _is_determined_by(ladder, own.codes, len(own.values)):
                revealed.setdefault(name, []).append(ladder.name)
    each = [
        f"column {safe_text(name)} is unchanged and still reveals {list_text(gone)}" for name, gone in revealed.items()
    ]
    remedy = verb(
        len(each), "leave it out, or call it a quasi-identifier", "leave these out, or call them quasi-identifiers"
    )
    return f"{capitalise_text('; '.join(each))}: {remedy}." if each else ""


def _is_determined_by(ladder: ColumnLadder, codes: Int32s, values: int) -> bool:
    """Whether the original values of a column follow from the codes of another."""
    there = (codes >= 0) & (ladder.codes >= 0)
    own, other = ladder.codes[there].astype(np.int64), codes[there]
    first = np.zeros(values, np.int64)
    first[other] = own
    return len(own) > 0 and bool((own != own[0]).any()) and bool((first[other] == own).all())
