"""How similar are two values of an attribute?

A *similarity* is a function sim(a, b) from 0 to 1 that is symmetric, 1 for equal values, and 0 if either value is null
(Merener 2012, Definition 4). The theorems about linkage need more: 1 − sim must be a *pseudometric*, that is, satisfy
the triangle inequality. The similarities offered here:

| similarity | sim(a, b) | 1 − sim is a pseudometric |
|---|---|---|
| :func:`equal_values` | 1 if a = b | yes, the discrete one |
| :func:`within_distance` ρ | 1 if |a − b| ≤ ρ, or < ρ | no: 1 is near 2, 2 near 3, but 1 not near 3 |
| :func:`linear_similarity` s | max(1 − |a − b|/s, 0) | yes, |a − b|/s cut off at 1 |
| :func:`within_days` d | 1 if two dates or Unix times are at most d days apart | no, for the same reason |
| :func:`any_value` | 1 if neither is null | yes, the constant 0 |

**Ranges.** The values of an attribute are sorted so that those with sim(a, b) ≥ μ > 0 are consecutive, ``low(a) …
high(a)``, and kernels only compare codes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from unveil.arrays import Floats, Ints
from unveil.errors import UnveilError
from unveil.wording import safe_text, verb

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "Similarity",
    "any_value",
    "check_threshold",
    "equal_values",
    "linear_similarity",
    "parse_similarity",
    "within_days",
    "within_distance",
]


_UNIX_TIMES = (315_532_800, 1_988_150_400)  # seconds from 1970 to the beginning of 1980, and to that of 2033
_UNIX_UNITS = (1, 1e3, 1e6, 1e9)  # per second: Unix times count seconds, milliseconds, microseconds or nanoseconds
_ROUNDING = 4.5e-16  # more than the rounding error of a difference, relative to the largest number
_EXACT = 2.0**53  # whole numbers up to this are exact in floating point


@dataclass(frozen=True, eq=False)
class Similarity:
    """A similarity of two values, from 0 to 1. ``scale`` is its ρ, s or d, and ``description`` says it in words."""

    kind: Literal["equal", "within", "linear", "days", "support"]
    description: str
    scale: float = 0.0
    closed: bool = True

    def numeric_values(self, values: pa.Array, name: str) -> Floats:
        """The values on the scale of this similarity: numbers, days, or just positions."""
        if self.kind in ("within", "linear"):
            return _values_as_numbers(values, name)
        if self.kind == "days":
            return _values_as_days(values, name)
        return np.arange(len(values), dtype=np.float64)

    def matrix(self, values: pa.Array, name: str = "attribute") -> Floats:
        """sim of every pair of values, straight from the definition; for few values."""
        x = self.numeric_values(values, name)
        apart = np.abs(np.subtract.outer(x, x))
        if self.kind == "support":
            return np.ones_like(apart)
        if self.kind == "linear":
            return np.asarray(np.maximum(1 - apart / self.scale, 0.0))
        near = apart <= self._max_distance(x) if self.closed else apart < self._max_distance(x)
        return near.astype(np.float64)

    def _max_distance(self, x: Floats, share: float = 1.0) -> float:
        """The largest distance that counts as near, with a margin for rounding: 2.3 and 2 are 0.3 apart only up to
        rounding. Without the margin, a could be near b but b not near a. Whole numbers have no rounding error."""
        reach = self.scale * share if self.kind in ("within", "days", "linear") else 0.0
        largest = 0.0 if (x == np.rint(x)).all() else np.abs(x).max(initial=0.0)
        margin = _ROUNDING * (largest + self.scale)
        return float(reach + margin if self.closed else reach - margin)

    def code_ranges(self, values: pa.Array, least: float, name: str = "attribute") -> tuple[Ints, Ints]:
        """For every value a, by code, the range ``low(a) … high(a)`` of codes with sim ≥ ``least``, both ends included.
        Values must be sorted by :meth:`order`."""
        check_threshold(least)
        n = len(values)
        if self.kind == "support":
            return np.zeros(n, np.int64), np.full(n, n - 1, np.int64)
        x = self.numeric_values(values, name)
        if (np.diff(x) < 0).any():
            raise UnveilError(f"{safe_text(name)}: values must be sorted in the order of their similarity")
        reach = self._max_distance(x, 1 - least if self.kind == "linear" else 1.0)
        if self.closed:
            return np.searchsorted(x, x - reach, "left"), np.searchsorted(x, x + reach, "right") - 1
        return np.searchsorted(x, x - reach, "right"), np.searchsorted(x, x + reach, "left") - 1

    def order(self, values: pa.Array, name: str = "attribute") -> Ints:
        """The order of values in which similar ones are consecutive."""
        return np.argsort(self.numeric_values(values, name), kind="stable")


def equal_values() -> Similarity:
    """Equal values."""
    return Similarity("equal", "the same value")


def within_distance(rho: float, closed: bool = True) -> Similarity:
    """Numbers that differ by at most ρ, or by less than ρ if not ``closed``."""
    _check_scale(rho, "a tolerance", zero=closed)
    return Similarity("within", f"{'at most' if closed else 'less than'} {rho:g} apart", rho, closed)


def linear_similarity(scale: float) -> Similarity:
    """Similarity that falls linearly with the difference of two numbers: max(1 − |a − b|/s, 0)."""
    _check_scale(scale, "a scale", zero=False)
    return Similarity("linear", f"similar if less than {scale:g} apart", scale)


def within_days(most: float) -> Similarity:
    """Dates or Unix times at most this many days apart."""
    _check_scale(most, "a number of days", zero=True)
    return Similarity("days", f"at most {most:g} {verb(most, 'day', 'days')} apart", most)


def any_value() -> Similarity:
    """Any two values that are present."""
    return Similarity("support", "whatever the value")


def check_threshold(least: float) -> None:
    """Refuse a similarity that values cannot be required to have."""
    if not 0 < least <= 1:
        raise UnveilError("a similarity threshold must be above 0 and at most 1")


def _check_scale(scale: float, what: str, zero: bool) -> None:
    if isinstance(scale, bool) or not isinstance(scale, (int, float)) or not np.isfinite(scale) or scale < 0:
        raise UnveilError(f"{what} must be a number, 0 or more")
    if not zero and scale == 0:
        raise UnveilError(f"{what} must be above 0")


def _values_as_numbers(values: pa.Array, name: str) -> Floats:
    """The values as numbers. Whole numbers are counted from the least of them, so that differences are exact however
    large they are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        whole = np.asarray(pc.cast(values, pa.int64()), np.int64)
    except MemoryError:
        raise
    except (pa.ArrowException, ValueError):
        return _finite_numbers(values, name)
    least, most = (int(whole.min()), int(whole.max())) if len(whole) else (0, 0)
    if most - least > _EXACT:
        raise UnveilError(
            f"{safe_text(name)}: numbers more than 2⁵³ apart cannot be compared; compare the column with 'equal'"
        )
    return np.asarray((whole - least).astype(np.float64))


def _finite_numbers(values: pa.Array, name: str) -> Floats:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        numbers = np.asarray(pc.cast(values, pa.float64()), np.float64)
    except MemoryError:
        raise
    except (pa.ArrowException, ValueError):
        raise UnveilError(f"{safe_text(name)}: not all values are numbers; compare the column with 'equal'") from None
    if not np.isfinite(numbers).all():
        raise UnveilError(f"{safe_text(name)}: not all values are finite numbers; compare the column with 'equal'")
    return numbers


def _values_as_days(values: pa.Array, name: str) -> Floats:
    """Dates, or Unix times, in days since 1970."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from unveil.release.hierarchy import is_date

    if pa.types.is_date(values.type) or pa.types.is_timestamp(values.type):
        zone = values.type.tz if pa.types.is_timestamp(values.type) else None
        dates = values.cast(pa.timestamp("us", zone), safe=False)  # nanoseconds are no part of a day
    elif pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        if not all(map(is_date, values.to_pylist())):
            return _unix_times_as_days(values, name)
        dates = pc.strptime(pc.utf8_slice_codeunits(values, 0, 10), format="%Y-%m-%d", unit="us")
    else:
        return _unix_times_as_days(values, name)
    return np.asarray(dates.cast(pa.int64()), np.float64) / 86_400e6


def _unix_times_as_days(values: pa.Array, name: str) -> Floats:
    """Numbers that count from 1970 in one unit and all lie from 1980 to 2032 in it, as days. Other numbers may be
    anything: 20201231 and 202012312359 lie outside in every unit."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        numbers = np.asarray(pc.cast(values, pa.float64(), safe=False), np.float64)
    except MemoryError:
        raise
    except (pa.ArrowException, ValueError):
        numbers = np.array([np.nan])
    for per_second in _UNIX_UNITS:
        seconds = numbers / per_second
        if ((seconds >= _UNIX_TIMES[0]) & (seconds < _UNIX_TIMES[1])).all():
            return np.asarray(seconds / 86_400)
    raise UnveilError(
        f"{safe_text(name)}: not all values are dates such as 1987-06-05, or Unix times from 1980 to 2032; compare the "
        "column with 'equal' or a number"
    )


def parse_similarity(text: str) -> Similarity:
    """Parse a similarity as written in a policy or on the command line: ``equal_values``, ``any_value``, a number ρ for
    at most ρ apart, ``30d`` for days, or ``~5`` for a linear similarity that reaches 0 at a distance of 5.

    >>> parse_similarity("30d").description, parse_similarity("2").description
    ('at most 30 days apart', 'at most 2 apart')
    >>> parse_similarity("~5").description, parse_similarity("support").description
    ('similar if less than 5 apart', 'whatever the value')
    """
    plain: dict[str, Callable[[], Similarity]] = {"equal": equal_values, "support": any_value}
    if text in plain:
        return plain[text]()
    try:
        if text.endswith("d"):
            return within_days(float(text[:-1]))
        return linear_similarity(float(text[1:])) if text.startswith("~") else within_distance(float(text))
    except ValueError:
        raise UnveilError(
            f"{safe_text(text)!r} is not a similarity; write equal, support, a number such as 2, ~5, or 30d for days"
        ) from None
