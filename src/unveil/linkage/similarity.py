"""How similar are two values of an attribute?

A *similarity* is a function sim(a, b) from 0 to 1 that is symmetric, 1 for equal values, and 0 if either value is null
(Merener 2012, Definition 4). The theorems about linkage need more: 1 − sim must be a *pseudometric*, that is, satisfy
the triangle inequality. The similarities offered here:

| similarity | sim(a, b) | 1 − sim is a pseudometric |
|---|---|---|
| :func:`equal_values` | 1 if a = b | yes, the discrete one |
| :func:`within_distance` ρ | 1 if |a − b| ≤ ρ, or < ρ | no: 1 is near 2, 2 near 3, but 1 not near 3 |
| :func:`linear_similarity` s | max(1 − |a − b|/s, 0) | yes, |a − b|/s cut off at 1 |
| :func:`within_days` d | 1 if two dates are at most d days apart | no, for the same reason |
| :func:`same_category` | 1 if both are of the same category | yes |
| :func:`any_value` | 1 if neither is null | yes, the constant 0 |
| :func:`custom_similarity` | as a function says | only if it is on the values at hand |

The triangle inequality may hold for the values that occur even if it fails in general: on 1, 2, 10 and 11, *within 1*
is an equivalence. :meth:`Similarity.is_pseudometric` therefore checks the values that occur.

**Ranges.** The values of an attribute are sorted so that those with sim(a, b) ≥ μ > 0 are consecutive, ``low(a) …
high(a)``, and kernels only compare codes. A custom similarity has ranges if it returns only 0 and 1 and if similar
values become consecutive when linked values are sorted together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from unveil.arrays import Bools, Floats, Ints
from unveil.errors import UnveilError
from unveil.wording import safe_text, verb

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "Similarity",
    "any_value",
    "custom_similarity",
    "equal_values",
    "linear_similarity",
    "parse_similarity",
    "same_category",
    "within_days",
    "within_distance",
]


_SLACK = 1e-12
_ROUNDING = 4e-15  # a few times the rounding error of a difference, relative to the largest number
_MAX_CUSTOM_VALUES = 2_000  # values at most: a custom function is evaluated on all pairs
_MAX_TRIANGLE_VALUES = 300  # values at most for which the triangle inequality is checked


@dataclass(frozen=True, eq=False)
class Similarity:
    """A similarity of two values, from 0 to 1. ``scale`` is its ρ, s or d, and ``description`` says it in words."""

    kind: Literal["equal", "within", "linear", "days", "category", "support", "given"]
    description: str
    scale: float = 0.0
    closed: bool = True
    function: Callable[[Any, Any], float] | None = None
    categories: Callable[[Any], object] | None = None

    @property
    def always_pseudometric(self) -> bool:
        """Whether 1 − sim is a pseudometric for any values."""
        return self.kind in ("equal", "linear", "category", "support") or (
            self.kind in ("within", "days") and self.scale == 0 and self.closed
        )

    def numeric_values(self, values: pa.Array, name: str) -> Floats:
        """The values on the scale of this similarity: numbers, days, category numbers, or just positions."""
        if self.kind in ("within", "linear"):
            return _values_as_numbers(values, name)
        if self.kind == "days":
            return _values_as_days(values, name)
        if self.kind == "category":
            assert self.categories is not None
            kinds = [self.categories(v) for v in values.to_pylist()]
            order = {k: i for i, k in enumerate(dict.fromkeys(kinds))}
            return np.array([order[k] for k in kinds], np.float64)
        return np.arange(len(values), dtype=np.float64)

    def matrix(self, values: pa.Array, name: str = "attribute") -> Floats:
        """sim of every pair of values, straight from the definition; for few values."""
        if self.kind == "given":
            assert self.function is not None
            plain = values.to_pylist()
            found = np.array([[float(self.function(a, b)) for b in plain] for a in plain]).reshape(2 * (len(plain),))
            _check_custom(found, name)
            return found
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
        rounding. Without the margin, a could be near b but b not near a."""
        reach = self.scale * share if self.kind in ("within", "days", "linear") else 0.0
        margin = _ROUNDING * (np.abs(x).max(initial=0.0) + self.scale)
        return float(reach + margin if self.closed else reach - margin)

    def code_ranges(self, values: pa.Array, least: float, name: str = "attribute") -> tuple[Ints, Ints]:
        """For every value a, by code, the range ``low(a) … high(a)`` of codes with sim ≥ ``least``, both ends included.
        Values must be sorted by :meth:`order`."""
        if not 0 < least <= 1:
            raise UnveilError("a similarity threshold must be above 0 and at most 1")
        if self.kind == "given":
            return self._custom_ranges(values, name)
        n = len(values)
        if self.kind == "support":
            return np.zeros(n, np.int64), np.full(n, n - 1, np.int64)
        x = self.numeric_values(values, name)
        if (np.diff(x) < 0).any():
            raise UnveilError(f"{safe_text(name)}: values must be sorted in the order of their similarity")
        return self._near_ranges(x, 1 - least if self.kind == "linear" else 1.0)

    def _custom_ranges(self, values: pa.Array, name: str) -> tuple[Ints, Ints]:
        n = len(values)
        if n > _MAX_CUSTOM_VALUES:
            raise UnveilError(
                f"{safe_text(name)} has {n:,} values; a custom similarity supports at most {_MAX_CUSTOM_VALUES:,}"
            )
        near = self.matrix(values, name)
        if not n:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        low, high = near.argmax(axis=1), n - 1 - near[:, ::-1].argmax(axis=1)
        if not np.isin(near, (0.0, 1.0)).all() or (near.sum(axis=1) != high - low + 1).any():
            raise UnveilError(
                f"{safe_text(name)}: an attack can use a custom similarity only if it is always 0 or 1 and similar "
                "values are consecutive when sorted"
            )
        return low, high

    def order(self, values: pa.Array, name: str = "attribute") -> Ints:
        """The order of values in which similar ones are consecutive."""
        if self.kind == "given" and len(values) <= _MAX_CUSTOM_VALUES:
            return np.argsort(_linked_groups(self.matrix(values, name) > 0), kind="stable")
        return np.argsort(self.numeric_values(values, name), kind="stable")

    def is_pseudometric(self, values: pa.Array, name: str = "attribute") -> bool:
        """Whether 1 − sim satisfies the triangle inequality on these values. For a custom function with too many values
        to check, the answer is no."""
        if self.always_pseudometric:
            return True
        if self.kind in ("within", "days"):
            x = np.unique(self.numeric_values(values, name))
            low, high = self._near_ranges(x)
            return bool((low[1:] >= high[:-1] + 1)[low[1:] != low[:-1]].all() and (high == high[low]).all())
        if len(values) > _MAX_TRIANGLE_VALUES:
            return False
        apart = 1 - self.matrix(values, name)
        return all(bool((apart <= apart[:, [k]] + apart[[k], :] + _SLACK).all()) for k in range(len(values)))

    def _near_ranges(self, x: Floats, share: float = 1.0) -> tuple[Ints, Ints]:
        """The first and last number near each of these sorted numbers."""
        sides: tuple[Literal["left", "right"], Literal["left", "right"]] = (
            ("left", "right") if self.closed else ("right", "left")
        )
        reach = self._max_distance(x, share)
        return np.searchsorted(x, x - reach, sides[0]), np.searchsorted(x, x + reach, sides[1]) - 1


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
    """Dates at most this many days apart."""
    _check_scale(most, "a number of days", zero=True)
    return Similarity("days", f"at most {most:g} {verb(most, 'day', 'days')} apart", most)


def same_category(of: Callable[[Any], object]) -> Similarity:
    """Values for which ``of`` returns the same category."""
    return Similarity("category", "the same category", categories=of)


def any_value() -> Similarity:
    """Any two values that are present."""
    return Similarity("support", "whatever the value")


def custom_similarity(function: Callable[[Any, Any], float]) -> Similarity:
    """Whatever a function of two values returns, from 0 to 1."""
    return Similarity("given", "as given", function=function)


def _check_scale(scale: float, what: str, zero: bool) -> None:
    if isinstance(scale, bool) or not isinstance(scale, (int, float)) or not np.isfinite(scale) or scale < 0:
        raise UnveilError(f"{what} must be a number, 0 or more")
    if not zero and scale == 0:
        raise UnveilError(f"{what} must be above 0")


def _linked_groups(near: Bools) -> Ints:
    """The first value that each value is linked to through a chain of similar values."""
    first = np.arange(len(near))
    while len(near):
        least = np.where(near, first, len(near)).min(axis=1)
        if (least == first).all():
            break
        first = least
    return first


def _check_custom(found: Floats, name: str) -> None:
    if not ((found >= 0) & (found <= 1)).all():
        raise UnveilError(f"{safe_text(name)}: the similarity must stay between 0 and 1")
    if (found != found.T).any() or (np.diag(found) != 1).any():
        raise UnveilError(f"{safe_text(name)}: a similarity must be symmetric, and 1 for equal values")


def _values_as_numbers(values: pa.Array, name: str) -> Floats:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        numbers = np.asarray(pc.cast(values, pa.float64()), np.float64)
    except (pa.ArrowException, ValueError):
        raise UnveilError(f"{safe_text(name)}: not all values are numbers; compare the column with 'equal'") from None
    if not np.isfinite(numbers).all():
        raise UnveilError(f"{safe_text(name)}: not all values are finite numbers; compare the column with 'equal'")
    return numbers


def _values_as_days(values: pa.Array, name: str) -> Floats:
    import pyarrow as pa
    import pyarrow.compute as pc

    from unveil.release.hierarchy import is_date

    wrong = UnveilError(f"{safe_text(name)}: not all values are dates such as 1987-06-05")
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        if not all(map(is_date, values.to_pylist())):
            raise wrong
        dates = pc.strptime(pc.utf8_slice_codeunits(values, 0, 10), format="%Y-%m-%d", unit="us")
    elif pa.types.is_date(values.type) or pa.types.is_timestamp(values.type):
        dates = values.cast(pa.timestamp("us", values.type.tz if pa.types.is_timestamp(values.type) else None))
    else:
        raise wrong
    return np.asarray(dates.cast(pa.int64()), np.float64) / 86_400e6


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
