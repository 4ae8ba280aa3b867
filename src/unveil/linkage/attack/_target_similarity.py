"""Compiled: how alike records are to one that is held up.

Records are numbered by their place (see ``_index``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from unveil.arrays import Floats, Ints, Small
from unveil.compilation import helper

__all__ = ["RecordComparison", "clear_target", "compare_records", "load_target"]


_SLACK = 1e-9


class RecordComparison(NamedTuple):
    """How records are compared: value v of attribute i is alike to the codes ``low … high`` at ``starts[i] + v``.
    Where ``scale[i]`` is above 0, sim falls with the distance of ``number``. ``kind`` is 1, 2 or 3 for the similarity
    of records (2.1), (2.2) or (2.3), or 0 where records are not compared; ``sigma`` is the one to be reached."""

    starts: Ints
    low: Small
    high: Small
    number: Floats
    scale: Floats
    kind: int
    sigma: float


@helper
def load_target(index: Any, like: Any, place: Any, low: Any, high: Any, number: Any) -> None:
    """Note what the record to compare with has, by attribute."""
    for e in range(index.indptr[place], index.indptr[place + 1]):
        i = index.attribute[e]
        at = like.starts[i] + index.value[e]
        low[i], high[i], number[i] = like.low[at], like.high[at], like.number[at]


@helper
def clear_target(index: Any, place: Any, low: Any, high: Any) -> None:
    for e in range(index.indptr[place], index.indptr[place + 1]):
        low[index.attribute[e]], high[index.attribute[e]] = 1, 0


@helper
def compare_records(
    index: Any, like: Any, places: Any, count: Any, support: Any, low: Any, high: Any, number: Any, similar: Any,
    learned: Any,
) -> Any:  # fmt: skip
    """Fill, for some places, whether the record is similar enough to the one that is held up, and how many attributes
    agree. Returns how many entries were gone through."""
    indptr, attribute, value = index.indptr, index.attribute, index.value
    starts, numbers, scale, kind, sigma = like.starts, like.number, like.scale, like.kind, like.sigma
    done = 0
    for k in range(count):
        y = places[k]
        alike, both, sim = 0, 0, 0.0
        for e in range(indptr[y], indptr[y + 1]):
            i, v = attribute[e], value[e]
            here = low[i] <= high[i]
            near = low[i] <= v and v <= high[i]
            both += here
            alike += near
            if kind == 2 and here:
                if scale[i] > 0:
                    sim += max(0.0, 1.0 - abs(number[i] - numbers[starts[i] + v]) / scale[i])
                else:
                    sim += near
        size = indptr[y + 1] - indptr[y]
        reached = float(alike)
        if kind == 2:
            reached = sim
        elif kind == 3:
            reached = float(both)
        similar[k] = reached + _SLACK >= sigma * (support + size - both)
        learned[k] = alike
        done += size
    return done
