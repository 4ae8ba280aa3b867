"""How similar are two records?

**Definition** (Merener 2012, Definition 5). Each attribute has a similarity sim (:mod:`unveil.linkage.similarity`),
which is 0 if either value is null. With |∪| for the number of attributes that x or y has, Sim(x, y) is one of

    alike    |{i : sim(xᵢ, yᵢ) ≥ μ}| / |∪|        (2.1)
    sum      Σ sim(xᵢ, yᵢ) / |∪|                   (2.2), equal to (2.1) if every sim is 0 or 1
    support  |∩| / |∪|                             (2.3)

Two records without attributes would give 0/0. They are equal, and Definition 5 requires Sim(x, x) = 1, so Sim is 1.

Similarities are integers: 0 or 1 or, if graded, multiples of 1/72,072,000, which represents eighths, tenths, sevenths
and the like exactly. Sums therefore do not depend on their order, and fractions are compared by cross-multiplication.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from unveil.arrays import Bools, Floats, Int32s, Ints
from unveil.errors import UnveilError
from unveil.linkage.records import Records
from unveil.linkage.similarity import Similarity, check_threshold
from unveil.linkage.sparsity import _nearest_records
from unveil.wording import count_text

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["AttributeKinds", "RecordSimilarity", "comparison_rules"]

RecordSimilarity = Literal["alike", "sum", "support"]

_SIMILARITY_UNITS = (72_072_000, 720_720)  # 2⁶·3²·5³·7·11·13; 100 times less for records with very many attributes
_MAX_TABLE_VALUES = 256  # values at most: a graded similarity of all pairs is tabulated
_MAX_ATTRIBUTES = 1 << 20  # of a record at most, so that products of sums stay below 2⁶³


class AttributeKinds(NamedTuple):
    """For every attribute: whether sim is only 0 or 1, whether being similar is *not* an equivalence, and how many bits
    its codes need."""

    runs: Bools
    ranged: Bools
    bits: Ints


def comparison_rules(
    records: Records, sim: RecordSimilarity, least: float
) -> tuple[_nearest_records.ComparisonRules, AttributeKinds]:
    """The rules for comparing values in the form that kernels take, and the kind of each attribute. ``least`` is the μ
    of (2.1)."""
    if sim not in get_args(RecordSimilarity):
        raise UnveilError(
            f"compare records by {', '.join(get_args(RecordSimilarity)[:-1])} or {get_args(RecordSimilarity)[-1]}"
        )
    check_threshold(least)
    largest = int(records.support.max(initial=0))
    if largest > _MAX_ATTRIBUTES:
        raise UnveilError(
            f"a record has {count_text(largest, 'attribute')}; at most {_MAX_ATTRIBUTES:,} can be compared"
        )
    if sim == "support":
        zeros = np.zeros(max((len(v) for v in records.values), default=0), np.int32)
        return _join_rules(np.zeros(records.c, np.int64), [_ValueRules(_nearest_records.RUN, zeros, zeros, zeros)], 1)
    graded = sim == "sum" and any(s.kind == "linear" for s in records.similarities)
    unit = next(u for u in _SIMILARITY_UNITS if u * largest < 1 << _nearest_records.COUNT_SHIFT) if graded else 1
    parts, at = list[_ValueRules](), dict[tuple[int, int], int]()
    of = np.empty(records.c, np.int64)
    for i, (own, similarity, name) in enumerate(zip(records.values, records.similarities, records.names, strict=True)):
        key = (id(own), id(similarity))
        if key not in at:
            at[key] = len(parts)
            parts.append(_value_rules(own, similarity, name, unit, None if sim == "sum" else least))
        of[i] = at[key]
    return _join_rules(of, parts, unit)


class _ValueRules(NamedTuple):
    """How the values of one attribute are compared, in the terms of the kernels' ``ComparisonRules``. If being similar
    is an equivalence, similar values have the same code."""

    kind: int
    code: Int32s
    low: Int32s
    high: Int32s
    table: Ints = np.empty((0, 0), np.int64)
    number: Floats = np.empty(0)
    scale: float = 1.0


def _value_rules(own: pa.Array, similarity: Similarity, name: str, unit: int, least: float | None) -> _ValueRules:
    """The rules for one attribute, graded if there is no threshold ``least``."""
    code = np.arange(len(own), dtype=np.int32)
    if similarity.kind != "linear" or least is not None:
        low, high = (side.astype(np.int32) for side in similarity.code_ranges(own, least or 1.0, name))
        if (low[low] == low).all() and (high[low] == high).all():  # similar values have the same similar values
            classes = np.cumsum(low == code, dtype=np.int32) - 1
            return _ValueRules(_nearest_records.RUN, classes, classes, classes)
        return _ValueRules(_nearest_records.RUN, code, low, high)
    if len(own) > _MAX_TABLE_VALUES:
        return _ValueRules(
            _nearest_records.LINEAR,
            code,
            code,
            code,
            number=similarity.numeric_values(own, name),
            scale=similarity.scale,
        )
    table = np.rint(similarity.matrix(own, name) * unit).astype(np.int64)
    return _ValueRules(_nearest_records.TABLE, code, code, code, table)


def _join_rules(
    of: Ints, parts: Sequence[_ValueRules], unit: int
) -> tuple[_nearest_records.ComparisonRules, AttributeKinds]:
    """The rules of all attributes; attribute a has the rules ``parts[of[a]]``."""
    kind = np.array([p.kind for p in parts], np.int8)
    ranged = np.array([p.low is not p.high for p in parts], np.bool_)
    bits = np.array([int(p.code.max(initial=0)).bit_length() for p in parts], np.int64)
    starts = np.cumsum([0, *(len(p.code) for p in parts)])[:-1]
    tables = np.cumsum([0, *(p.table.size for p in parts)])[:-1]
    base = [t + p.table.shape[1] * np.arange(len(p.code)) for t, p in zip(tables, parts, strict=True)]
    number = [p.number if len(p.number) else np.zeros(len(p.code)) for p in parts]
    rules = _nearest_records.ComparisonRules(
        kind=kind[of],
        start=starts[of],
        code=np.concatenate([p.code for p in parts]),
        low=np.concatenate([p.low for p in parts]),
        high=np.concatenate([p.high for p in parts]),
        base=np.concatenate(base),
        table=np.concatenate([p.table.ravel() for p in parts]),
        number=np.concatenate(number),
        scale=np.array([p.scale for p in parts], np.float64)[of],
        unit=unit,
    )
    return rules, AttributeKinds((kind == _nearest_records.RUN)[of], ranged[of], bits[of])
