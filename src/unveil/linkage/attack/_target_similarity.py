"""Compiled: how alike records are to a target.

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
    """How records are compared: value v of attribute i is alike to the codes ``low … high`` at ``starts[i] + v``, and
    alike attributes count 1, or as ``grades`` say. ``sigma`` is the similarity of records to be reached, or below 0
    where they are not compared."""

    starts: Ints
    low: Int32s
    high: Int32s
    sigma: float
    grades: Grades | None


class Grades(NamedTuple):
    """Attributes that count even if they are not alike: where ``scale[i]`` is above 0, according to the distance of
    ``number``, which is at ``starts[i] + v``; fully if it is infinite."""

    number: Floats
    scale: Floats


class TargetValues(NamedTuple):
    """What a target has, by attribute: the codes that are alike and, if there are grades, its number. Only attributes
    of ``target`` count."""

    target: Ints
    low: Int32s
    high: Int32s
    number: Floats | None


def target_values(attributes: int, grades: Grades | None) -> TargetValues:
    """Working arrays for the values of a target, before there is one."""
    low, high = np.empty((2, attributes), np.int32)
    return TargetValues(np.full(attributes, -1), low, high, None if grades is None else np.empty(attributes))


@helper
def load_target(indptr, attribute, value, like, grades, target, own):
    """Note what the target has."""
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
    """Whether records of some places are similar enough to the target (1 or 0), and how many attributes agree: the sums
    of both, and those before ``until``; of ``each`` in two arrays, if given. Returns also how many entries were
    visited."""
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
