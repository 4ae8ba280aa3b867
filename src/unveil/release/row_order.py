"""The order of rows: what it tells about a column, and how to make it tell nothing.

A table is often sorted, by age or by the day of admission. Coarser values keep that order, and whoever knows it can
work out exact values from the place of a row. How far an order follows a column is measured in three ways:

- *neighbours*: the share of neighbouring rows that are in order, equal values included;
- *pairs*: the share of all pairs of rows with different values that are in order (Kendall 1938);
- *groups*: the share of neighbouring rows with the same value (Wald and Wolfowitz 1940, Mood 1940).

All are counted exactly. In a random order each has a mean and a variance that depend only on how often each value
occurs; both are exact too. With f_k = the number of rows with value k, x^(j) = x (x − 1) … (x − j + 1), and L and G =
the number of rows with lower and with higher values than a row:

- groups: the number Y of equal neighbours has the mean (n − 1) p₂ and the variance (n − 1) p₂ + 2 (n − 2) p₃ +
  (n − 2)(n − 3) p₄ − ((n − 1) p₂)², where p₂ = Σ f_k^(2) / n^(2), p₃ = Σ f_k^(3) / n^(3), and p₄ is the probability
  that two disjoint pairs of rows are equal pairs, (Σ f_k^(4) + Σ_{k≠l} f_k^(2) f_l^(2)) / n^(4);
- neighbours: the number U of steps up minus steps down has the mean 0 and the variance (n − 1)(1 − p₂) −
  2 (n − 2) Σ ((L − G)² − (L + G)) / n^(3). A reversed order has the same Y and the opposite U, so both are
  uncorrelated, and the number of neighbours in order is (n − 1 + Y ± U) / 2;
- pairs: pairs in order minus pairs out of order have the mean 0 and the variance
  (n (n − 1)(2 n + 5) − Σ f_k (f_k − 1)(2 f_k + 5)) / 18.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.arrays import Int32s, Ints
from unveil.case import Case
from unveil.release.codes import Codes, arrow_integers, cast_to_text
from unveil.release.column_profile import infer_type
from unveil.release.generalised_labels import parse_interval
from unveil.release.table import Table, table_from_frame
from unveil.secret_order import secret_permutation

__all__ = ["OrderMeasure", "closest_measure", "count_inversions", "measure_order", "ordered_ranks", "shuffle_rows"]

_MAX_PARSED_LABELS = 100_000
_NOTABLE_DEVIATIONS = 5.0
_NUMBERED = r"^(?P<name>\D*)(?P<number>[0-9]{1,18})$"


@dataclass(frozen=True)
class OrderMeasure:
    """How far an order of rows follows a column, in one of three ways.

    ``share`` is what was counted and ``random_share`` its mean in a random order, from which it is ``deviations``
    standard deviations away. ``strength`` is 0 for what a random order has on average, and 1 for sorted rows.
    """

    way: Literal["neighbours", "pairs", "groups"]
    share: float
    random_share: float
    deviations: float
    strength: float

    @property
    def is_notable(self) -> bool:
        """Whether a random order is practically ruled out: at five deviations, by one in three million if they are
        normal, and whatever their distribution (Cantelli) by 1 in 26."""
        return self.deviations >= _NOTABLE_DEVIATIONS


def closest_measure(ranks: Int32s, is_ordered: bool) -> OrderMeasure | None:
    """The way in which an order of rows follows a column most; None if the column has fewer than two values.

    ``ranks`` are the ranks of the rows' values, in that order; a missing value, −1, is left out. ``is_ordered`` says
    that the values are numbers or dates, so that order is said before grouping.

    >>> found = closest_measure(np.arange(100, dtype=np.int32), True)
    >>> found.way, found.share, found.random_share, round(found.deviations), found.strength
    ('neighbours', 1.0, 0.5, 17, 1.0)
    """
    ranks = ranks[ranks >= 0]
    counts = np.bincount(ranks)
    counts = counts[counts > 0]
    if len(counts) < 2:
        return None
    found = list(measure_order(np.unique(ranks, return_inverse=True)[1], counts))
    if not is_ordered:
        found.reverse()
    notable = [measure for measure in found if measure.is_notable]
    return max(notable, key=lambda m: round(m.strength, 9)) if notable else max(found, key=lambda m: m.deviations)


def measure_order(codes: Ints, counts: Ints) -> Iterator[OrderMeasure]:
    n, steps = len(codes), np.diff(codes)
    falling = [math.perm(n, j) for j in range(5)]
    sizes = [tuple(map(int, pair)) for pair in zip(*np.unique(counts, return_counts=True), strict=True)]
    sums = [sum(many * math.perm(size, j) for size, many in sizes) for j in range(5)]
    same = Fraction(sums[2], falling[2])
    mean = (n - 1) * same
    equal, up, down = int((steps == 0).sum()), int((steps > 0).sum()), int((steps < 0).sum())
    spread_equal = mean - mean**2
    if n > 2:
        spread_equal += 2 * (n - 2) * Fraction(sums[3], falling[3])
    if n > 3:
        twice = sum(many * math.perm(size, 2) ** 2 for size, many in sizes)
        spread_equal += (n - 2) * (n - 3) * Fraction(sums[4] + sums[2] ** 2 - twice, falling[4])
    yield _make_measure("neighbours", equal + max(up, down), n - 1, (n - 1 + mean) / 2, n - 1,
                        (float(spread_equal) + _step_variance(counts, n, same)) / 4)  # fmt: skip
    out = count_inversions(codes)
    pairs = (falling[2] - sums[2]) // 2
    ties = sum(many * size * (size - 1) * (2 * size + 5) for size, many in sizes)
    variance = Fraction(n * (n - 1) * (2 * n + 5) - ties, 18)
    yield _make_measure("pairs", max(out, pairs - out), pairs, Fraction(pairs, 2), pairs, float(variance) / 4)
    yield _make_measure("groups", equal, n - 1, mean, n - len(counts), float(spread_equal))


def _make_measure(
    way: Literal["neighbours", "pairs", "groups"], found: int, of: int, mean: Fraction, most: int, variance: float
) -> OrderMeasure:
    """``most`` is what sorted rows have."""
    above = found - mean
    return OrderMeasure(
        way,
        found / of,
        float(mean / of),
        float(above) / math.sqrt(variance) if variance > 0 else 0.0,
        max(0.0, float(above / (most - mean))) if most > mean else 0.0,
    )


def _step_variance(counts: Ints, n: int, same: Fraction) -> float:
    """The variance of steps up minus steps down in a random order."""
    if n < 3:
        return float((n - 1) * (1 - same))
    lower = np.cumsum(counts) - counts
    higher = n - lower - counts
    around = (counts * ((lower - higher).astype(np.float64) ** 2 - (lower + higher))).sum()
    return float((n - 1) * (1 - same)) - 2 * (n - 2) * float(around) / math.perm(n, 3)


def count_inversions(codes: Ints) -> int:
    """The number of pairs in which the first code is the higher one: pairs are counted at the highest bit in which they
    differ, and codes are sorted bit by bit."""
    total = 0
    for bit in range(int(codes.max()).bit_length() - 1, -1, -1):
        group, one = codes >> (bit + 1), (codes >> bit) & 1
        starts = np.flatnonzero(np.append(True, np.diff(group) > 0))
        sizes = np.diff(np.append(starts, len(codes)))
        ones_before = np.cumsum(one) - one
        ones_before -= np.repeat(ones_before[starts], sizes)
        total += int(ones_before[one == 0].sum())
        begin = np.repeat(starts, sizes)
        zeros = np.repeat(np.add.reduceat(1 - one, starts), sizes)
        place = np.where(one == 1, begin + zeros + ones_before, np.arange(len(codes)) - ones_before)
        ordered = np.empty_like(codes)
        ordered[place] = codes
        codes = ordered
    return total


# ---- the order of values ---------------------------------------------------------------------------------------------


def ordered_ranks(column: Codes) -> tuple[Int32s, bool]:
    """The rank of each row's value, −1 if missing, and whether the values are numbers, intervals of numbers or dates.
    Other values are sorted as text, those that end in a number (P9, P10) by that."""
    values = column.values
    kind = infer_type(values)
    if kind in ("whole number", "number"):
        keys = pc.utf8_trim_whitespace(cast_to_text(values)).cast(pa.float64()).to_numpy(zero_copy_only=False)
        return _rows_by_rank(column, np.unique(keys, return_inverse=True)[1]), True
    if kind in ("date", "nothing") or not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return column.codes, kind == "date"
    if (intervals := _interval_keys(values)) is not None:
        return _rows_by_rank(column, np.unique(intervals, axis=0, return_inverse=True)[1].ravel()), True
    parts = pc.extract_regex(values, _NUMBERED)
    if parts.null_count:
        return column.codes, False
    names = pa.table({"name": parts.field("name"), "number": parts.field("number").cast(pa.int64())})
    order = pc.sort_indices(names, [("name", "ascending"), ("number", "ascending")]).to_numpy()
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return _rows_by_rank(column, ranks), False


def _rows_by_rank(column: Codes, ranks: Ints) -> Int32s:
    return np.append(ranks, -1).astype(np.int32)[column.codes]


def _interval_keys(values: pa.Array) -> np.ndarray | None:
    """The ends of intervals such as 20–29; None if some value is none."""
    if len(values) > _MAX_PARSED_LABELS:
        return None
    found = []
    for text in values.to_pylist():
        interval = parse_interval(text)
        if interval is None:
            return None
        found.append((interval.low, interval.high))
    return np.array(found)


# ---- a random order --------------------------------------------------------------------------------------------------


def shuffle_rows(case: Case) -> Case:
    """The case with the rows of its table in a random order that nobody can replay, and the truth of where they are."""
    table = case.release
    assert isinstance(table, Table)
    rows = pa.Table.from_batches(table.batches())
    wide = [
        pa.field(field.name, pa.large_string()) if pa.types.is_string(field.type) and size >= 2**31 else field
        for field, size in zip(rows.schema, (column.nbytes for column in rows.columns), strict=True)
    ]  # Arrow gathers a column in one piece
    order = secret_permutation(table.rows)
    shuffled = rows.cast(pa.schema(wide)).take(arrow_integers(order))
    return replace(
        case,
        release=table_from_frame(shuffled, engine=table.engine, name=table.name, types=table.types),
        original=case.original or table,
        truth=case.moved_truth(np.argsort(order)),
    )
