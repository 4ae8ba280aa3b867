"""What a protection that draws at random leaves of the use of data: mean and variance over many releases.

One release says little about such a protection, and two protections with the same mean may differ in how far one can
rely on it (Vanhoef, *Privacy in databases*, 2012, section 9.6.2). So as many releases are made as wanted, and each is
measured by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from unveil.case import Case
from unveil.errors import UnveilError
from unveil.intervals import student_half_width
from unveil.usefulness.use_measure import UseMeasure

__all__ = ["RepeatedUse", "repeat_protection"]


@dataclass(frozen=True)
class RepeatedUse:
    """One measure over the releases that have a number for it.

    ``variance`` is that of single releases, and ``interval`` contains the mean with 95% confidence (Student's t). Both
    are None if there is one release only.
    """

    id: str
    title: str
    before: float | None
    releases: int
    mean: float
    variance: float | None
    interval: tuple[float, float] | None


def repeat_protection(
    protect: Callable[[], Case], measure: Callable[[Case], Iterable[UseMeasure]], releases: int
) -> list[RepeatedUse]:
    """Make so many releases, measure each, and summarise every measure that has a number in any of them.

    A measure that draws a sample should draw another for each release, or the interval is that of this one sample.

    >>> cases = iter([Case("a"), Case("abc")])
    >>> def measure_length(case):
    ...     return [UseMeasure("length", "Length", 4.0, float(len(case.release)), "")]
    >>> [found] = repeat_protection(lambda: next(cases), measure_length, 2)
    >>> found.mean, found.variance, [round(end, 1) for end in found.interval]
    (2.0, 2.0, [-10.7, 14.7])
    """
    if releases < 1:
        raise UnveilError("releases must be 1 or more")
    numbers: dict[str, list[float]] = {}
    first: dict[str, UseMeasure] = {}
    for _ in range(releases):
        for found in measure(protect()):
            if found.after is not None:
                first.setdefault(found.id, found)
                numbers.setdefault(found.id, []).append(found.after)
    return [_summarise_measure(first[name], np.array(values)) for name, values in numbers.items()]


def _summarise_measure(measure: UseMeasure, values: np.ndarray) -> RepeatedUse:
    mean, variance, interval = float(values.mean()), None, None
    if len(values) > 1:
        variance, half = float(values.var(ddof=1)), float(student_half_width(values))
        interval = mean - half, mean + half
    return RepeatedUse(measure.id, measure.title, measure.before, len(values), mean, variance, interval)
