"""How alike are two records? Their similarity, and that of values as kernels want it.

**Two records** (document 002, Definition 5). With sim as each attribute says (:mod:`unveil.linkage.similarity`), which
is 0 where either value is null, and |∪| for the number of attributes that x or y has, Sim(x, y) is one of

    alike    |{i : sim(xᵢ, yᵢ) ≥ μ}| / |∪|        (2.1)
    sum      Σ sim(xᵢ, yᵢ) / |∪|                   (2.2), the same where every sim is 0 or 1
    support  |∩| / |∪|                             (2.3)

Two records without any attribute would give 0 / 0. They are equal, and Definition 5 wants Sim(x, x) = 1: it is 1 here.

Sims are whole numbers: 1 or 0 or, where they are graded, multiples of 1/72,072,000, which is exact for differences in
eighths, tenths, sevenths and such. So sums do not depend on any order, and fractions are compared by multiplying.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from unveil.errors import UnveilError
from unveil.linkage.alike import _nearest
from unveil.linkage.records import Records
from unveil.linkage.similarity import Similarity
from unveil.wording import counted, shown

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Kinds", "Sim", "comparing"]

Sim = Literal["alike", "sum", "support"]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]

_UNITS = (72_072_000, 720_720)  # 2⁶·3²·5³·7·11·13; without 10² where records have very many attributes
_TABLE = 256  # values up to which a graded similarity is computed for all pairs beforehand
_GIVEN = 2_000  # and up to which it must be, if it is given by a function
_SLACK = 1e-12
_ATTRIBUTES = 1 << 20  # of a record at most: products of sums stay below 2⁶³


class Kinds(NamedTuple):
    """Of every attribute, whether values are alike or not, and nothing between; whether to be alike is no equivalence;
    and how many bits a code has."""

    runs: npt.NDArray[np.bool_]
    ranged: npt.NDArray[np.bool_]
    bits: Ints


def comparing(records: Records, sim: Sim, least: float) -> tuple[_nearest.Rules, Kinds]:
    """How to compare values, as kernels want it, and of which kind that is. ``least`` is the μ of (2.1)."""
    if sim not in get_args(Sim):
        raise UnveilError(f"records are compared by {', '.join(get_args(Sim)[:-1])} or {get_args(Sim)[-1]}")
    if not 0 < least <= 1:
        raise UnveilError("a similarity to be reached lies above 0 and is at most 1")
    largest = int(records.support.max(initial=0))
    if largest > _ATTRIBUTES:
        raise UnveilError(f"a record has {counted(largest, 'attribute')}; at most {_ATTRIBUTES:,} can be compared")
    if sim == "support":
        zeros = np.zeros(max((len(v) for v in records.values), default=0), np.int32)
        return _joined(np.zeros(records.c, np.int64), [_Values(_nearest.RUN, zeros, zeros, zeros)], 1)
    graded = sim == "sum" and any(s.kind in ("linear", "given") for s in records.similarities)
    unit = next(u for u in _UNITS if u * largest < 1 << _nearest.SHIFT) if graded else 1
    parts, at = list[_Values](), dict[tuple[int, int], int]()
    of = np.empty(records.c, np.int64)
    for i, (own, said, name) in enumerate(zip(records.values, records.similarities, records.names, strict=True)):
        key = (id(own), id(said))
        if key not in at:
            at[key] = len(parts)
            parts.append(_values(own, said, name, unit, None if sim == "sum" else least))
        of[i] = at[key]
    return _joined(of, parts, unit)


class _Values(NamedTuple):
    """How the values of an attribute are compared; see the kernels' ``Rules``. Where to be alike is an equivalence,
    values that are have the same code."""

    kind: int
    code: Small
    low: Small
    high: Small
    table: Ints = np.empty((0, 0), np.int64)
    number: Floats = np.empty(0)
    scale: float = 1.0


def _values(own: pa.Array, said: Similarity, name: str, unit: int, least: float | None) -> _Values:
    """Of one attribute; graded if there is no ``least`` to be reached."""
    code = np.arange(len(own), dtype=np.int32)
    if said.kind != "given" and (said.kind != "linear" or least is not None):
        low, high = (side.astype(np.int32) for side in said.ranges(own, least or 1.0, name))
        if (low[low] == low).all() and (high[low] == high).all():  # whoever is alike has the same that are alike
            classes = np.cumsum(low == code, dtype=np.int32) - 1
            return _Values(_nearest.RUN, classes, classes, classes)
        return _Values(_nearest.RUN, code, low, high)
    if said.kind == "linear" and len(own) > _TABLE:
        return _Values(_nearest.LINEAR, code, code, code, number=said.numbers(own, name), scale=said.scale)
    if len(own) > _GIVEN:
        raise UnveilError(
            f"{shown(name)} has {counted(len(own), 'value')}; a similarity given by a function can be used for at most "
            f"{_GIVEN:,}"
        )
    exact = said.matrix(own, name)
    table = np.rint(exact * unit) if least is None else exact >= least - _SLACK
    return _Values(_nearest.TABLE, code, code, code, table.astype(np.int64))


def _joined(of: Ints, parts: Sequence[_Values], unit: int) -> tuple[_nearest.Rules, Kinds]:
    """The rules of all attributes; attribute a has those of ``parts[of[a]]``."""
    kind = np.array([p.kind for p in parts], np.int8)
    ranged = np.array([p.low is not p.high for p in parts], np.bool_)
    bits = np.array([int(p.code.max(initial=0)).bit_length() for p in parts], np.int64)
    starts = np.cumsum([0, *(len(p.code) for p in parts)])[:-1]
    tables = np.cumsum([0, *(p.table.size for p in parts)])[:-1]
    base = [t + p.table.shape[1] * np.arange(len(p.code)) for t, p in zip(tables, parts, strict=True)]
    number = [p.number if len(p.number) else np.zeros(len(p.code)) for p in parts]
    rules = _nearest.Rules(
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
    return rules, Kinds((kind == _nearest.RUN)[of], ranged[of], bits[of])
