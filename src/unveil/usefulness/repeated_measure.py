"""What a protection that draws at random leaves behind: mean and variance of a measure over many releases.

One release says little about such a protection, and two protections with the same mean may differ in how far one can
rely on it (Vanhoef, *Privacy in databases*, 2012, section 9.6.2). So as many releases are made as wanted, and each is
measured by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from unveil.usefulness.use_measure import UseMeasure

__all__ = ["RepeatedMeasure", "summarise_releases"]


@dataclass(frozen=True)
class RepeatedMeasure:
    """One measure over the releases that have a number for it; ``before`` is that of the data as it was.

    ``variance`` is that of single releases, and ``interval`` contains the mean with 95% confidence (Student's t). With
    one release only there is no variance, and ``interval`` is the one that the release was measured with, if any.
    """

    id: str
    title: str
    before: float | None
    releases: int
    mean: float
    variance: float | None
    interval: tuple[float, float] | None
    is_share: bool = True

    def to_dict(self) -> dict[str, Any]:
        """The measure as plain JSON values."""
        return {**asdict(self), "interval": None if self.interval is None else list(self.interval)}


def summarise_releases(measured: Iterable[Iterable[UseMeasure]]) -> list[RepeatedMeasure]:
    """The measures of several releases, one after the other, as one: every measure that has a number in any of them.

    A measure that draws a sample should draw another for each release, or the interval is that of this one sample.

    >>> lengths = [[UseMeasure("length", "Length", 4.0, length, "", is_share=False)] for length in (1.0, 3.0)]
    >>> [found] = summarise_releases(lengths)
    >>> found.mean, found.variance, [round(end, 1) for end in found.interval]
    (2.0, 2.0, [-10.7, 14.7])
    """
    found: dict[str, list[UseMeasure]] = {}
    for release in measured:
        for measure in release:
            if measure.after is not None:
                found.setdefault(measure.id, []).append(measure)
    return [_summarise_measure(measures) for measures in found.values()]


def _summarise_measure(measures: list[UseMeasure]) -> RepeatedMeasure:
    import numpy as np

    from unveil.intervals import student_half_width

    first, values = measures[0], np.array([m.after for m in measures], np.float64)
    mean, variance, interval = float(values.mean()), None, first.interval
    if len(values) > 1:
        variance, half = float(values.var(ddof=1)), float(student_half_width(values))
        interval = mean - half, mean + half
        if first.is_share and values.min() >= 0 and values.max() <= 1:
            interval = max(0.0, interval[0]), min(1.0, interval[1])
    return RepeatedMeasure(first.id, first.title, first.before, len(values), mean, variance, interval, first.is_share)
