"""Compiled: how similar records are to a target.

Records are numbered by their place (see ``_posting_index``).
"""

# mypy: allow-untyped-defs
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unveil.arrays import Floats, Int32s, Ints
from unveil.compilation import helper

__all__ = ["Grades", "RecordComparison", "TargetValues", "compare_records", "load_target", "target_values"]


_SLACK = 1e-9


class RecordComparison(NamedTuple):
    """How records are compared. Value v of attribute i matches the codes ``low[k] … high[k]`` with k =
    ``starts[i] + v``. A matching attribute counts 1, unless ``grades`` say otherwise. ``sigma`` is the similarity that
    records have to reach, negative if they are not compared."""

    starts: Ints
    low: Int32s
    high: Int32s
    sigma: float
    grades: Grades | None


class Grades(NamedTuple):
    """Attributes with a graded similarity: if ``scale[i]`` > 0, two values count max(0, 1 − d / ``scale[i]``), where d
    is the distance between their ``number``, stored at ``starts[i] + v``. If the scale is infinite, they count 1."""

    number: Floats
    scale: Floats


class TargetValues(NamedTuple):
    """The values of a target, by attribute: the range of matching codes and, with grades, its number. Entry i is valid
    only if ``target[i]`` is the current target."""

    target: Ints
    low: Int32s
    high: Int32s
    number: Floats | None


def target_values(attributes: int, grades: Grades | None) -> TargetValues:
    """Working arrays for the values of a target, with no target loaded."""
    low, high = np.empty((2, attributes), np.int32)
    return TargetValues(np.full(attributes, -1), low, high, None if grades is None else np.empty(attributes))


@helper
def load_target(indptr, attribute, value, like, grades, target, own):
    """Store the values of a target."""
    for e in range(indptr[target], indptr[target + 1]):
        i = attribute[e]
        at = like.starts[i] + value[e]
        own.target[i], own.low[i], own.high[i] = target, like.low[at], like.high[at]
        if grades is not None:
            own.number[i] = grades.number[at]


@helper
def compare_records(
    indptr, attribute, value, like, grades, target, own, places, count,
    until, each,
):  # fmt: skip
    """Count the first ``count`` of the ``places`` that are similar enough to the target, and the attributes that agree.
    Returns the number of entries visited, both counts, and both counts over the places before ``until``. ``each``, if
    given, receives both numbers for every place."""
    holder, low, high, support = own.target, own.low, own.high, indptr[target + 1] - indptr[target]
    done, similar, learned, early_similar, early_learned = 0, 0, 0, 0, 0
    for k in range(count):
        begin, end, alike, both, more = indptr[places[k]], indptr[places[k] + 1], 0, 0, 0.0
        for e in range(begin, end):
            i, v = attribute[e], value[e]
            here = holder[i] == target
            near = here & (low[i] <= v) & (v <= high[i])
            both += here
            alike += near
            if grades is not None and grades.scale[i] > 0.0:
                apart = abs(own.number[i] - grades.number[like.starts[i] + v]) / grades.scale[i]
                more += here * max(0.0, 1.0 - apart) - near
        enough: Any = np.int64(alike + more + _SLACK >= like.sigma * (support + end - begin - both))
        similar += enough
        learned += alike
        if places[k] < until:
            early_similar += enough
            early_learned += alike
        if each is not None:
            each[0][k], each[1][k] = enough, alike
        done += end - begin
    return done, similar, learned, early_similar, early_learned
