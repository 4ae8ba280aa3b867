"""How alike are two values of an attribute?

A *similarity* of values is a function sim(a, b) from 0 to 1 that is symmetric, 1 for a value and itself, and 0 where
either is null (document 002, Definition 4). Theorems about linkage need more: 1 − sim has to be a *pseudometric*, which
adds the triangle inequality. What comes with it:

| similarity | sim(a, b) | 1 − sim is a pseudometric |
|---|---|---|
| :func:`equal` | 1 if a = b | yes, the discrete one |
| :func:`within` ρ | 1 if |a − b| ≤ ρ, or < ρ | no: 1 is near 2, 2 near 3, but 1 not near 3 |
| :func:`linear` s | max(1 − |a − b|/s, 0) | yes, |a − b|/s cut off at 1 |
| :func:`days` d | 1 if two dates are at most d days apart | no, as within |
| :func:`category` | 1 if both are of the same category | yes |
| :func:`support` | 1 if neither is null | yes, the one that is always 0 |
| :func:`given` | as a function says | only if it is, on the values at hand |

Values at hand may satisfy the triangle inequality where others would not: with values 1, 2, 10 and 11, within 1 is an
equivalence. So it is checked on the values that occur (:meth:`Similarity.is_pseudometric`), whatever was declared.

**Ranges.** The values of an attribute are sorted. The values b with sim(a, b) ≥ μ > 0 are a run of them,
``low(a) … high(a)``: kernels compare codes and nothing else. A function may say anything; it has ranges if it says 0 or
1, and those that it says are alike stand together when values that are linked by being alike come one after the other,
as they do for kinds of values, and for whatever goes by how far apart they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from unveil.errors import UnveilError
from unveil.wording import shown

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Similarity", "category", "days", "equal", "given", "linear", "named", "support", "within"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_SLACK = 1e-12
_ROUNDING = 4e-15  # several times what differences of two numbers are off, as a share of the largest
_GIVEN = 2_000  # values up to which a function is asked for all pairs
_CHECKED = 300  # values up to which the triangle inequality of any function is checked


@dataclass(frozen=True, eq=False)
class Similarity:
    """One of the functions of this module; ``scale`` is its ρ, s or d. ``said`` is what it is, for people."""

    kind: Literal["equal", "within", "linear", "days", "category", "support", "given"]
    said: str
    scale: float = 0.0
    closed: bool = True
    function: Callable[[Any, Any], float] | None = None
    categories: Callable[[Any], object] | None = None

    @property
    def declared(self) -> bool:
        """Whether 1 − sim is a pseudometric whatever the values are."""
        return self.kind in ("equal", "linear", "category", "support") or (
            self.kind in ("within", "days") and self.scale == 0 and self.closed
        )

    def numbers(self, values: pa.Array, name: str) -> Floats:
        """The values as this similarity counts them: numbers, days, the number of the category, or just their order."""
        if self.kind in ("within", "linear"):
            return _as_numbers(values, name)
        if self.kind == "days":
            return _as_days(values, name)
        if self.kind == "category":
            assert self.categories is not None
            kinds = [self.categories(v) for v in values.to_pylist()]
            order = {k: i for i, k in enumerate(dict.fromkeys(kinds))}
            return np.array([order[k] for k in kinds], np.float64)
        return np.arange(len(values), dtype=np.float64)

    def matrix(self, values: pa.Array, name: str = "attribute") -> Floats:
        """sim of every pair of values: the definition, for few values."""
        if self.kind == "given":
            assert self.function is not None
            plain = values.to_pylist()
            found = np.array([[float(self.function(a, b)) for b in plain] for a in plain]).reshape(2 * (len(plain),))
            _check_given(found, name)
            return found
        x = self.numbers(values, name)
        apart = np.abs(np.subtract.outer(x, x))
        if self.kind == "support":
            return np.ones_like(apart)
        if self.kind == "linear":
            return np.asarray(np.maximum(1 - apart / self.scale, 0.0))
        near = apart <= self._reach(x) if self.closed else apart < self._reach(x)
        return near.astype(np.float64)

    def _reach(self, x: Floats, share: float = 1.0) -> float:
        """How far apart two of these numbers may be. What is ρ apart in decimals, as 2.3 and 2 are for ρ = 0.3, is
        ρ apart but for rounding; without a margin for that, a could be near b and b not near a."""
        reach = self.scale * share if self.kind in ("within", "days", "linear") else 0.0
        margin = _ROUNDING * (np.abs(x).max(initial=0.0) + self.scale)
        return float(reach + margin if self.closed else reach - margin)

    def ranges(self, values: pa.Array, least: float, name: str = "attribute") -> tuple[Ints, Ints]:
        """For every value a, by code, the codes ``low(a) … high(a)`` of the values b with sim(a, b) ≥ ``least``, both
        included. Values must be sorted as this similarity counts them (see :meth:`order`)."""
        if not 0 < least <= 1:
            raise UnveilError("a similarity to be reached lies above 0 and is at most 1")
        if self.kind == "given":
            return self._given_ranges(values, name)
        n = len(values)
        if self.kind == "support":
            return np.zeros(n, np.int64), np.full(n, n - 1, np.int64)
        x = self.numbers(values, name)
        if (np.diff(x) < 0).any():
            raise UnveilError(f"{shown(name)}: values must be in the order in which they are compared")
        return self._runs(x, 1 - least if self.kind == "linear" else 1.0)

    def _given_ranges(self, values: pa.Array, name: str) -> tuple[Ints, Ints]:
        n = len(values)
        if n > _GIVEN:
            raise UnveilError(
                f"{shown(name)} has {n:,} values; a similarity given by a function can be used for at most {_GIVEN:,}"
            )
        near = self.matrix(values, name)
        if not n:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        low, high = near.argmax(axis=1), n - 1 - near[:, ::-1].argmax(axis=1)
        if not np.isin(near, (0.0, 1.0)).all() or (near.sum(axis=1) != high - low + 1).any():
            raise UnveilError(
                f"{shown(name)}: an attack takes a function only if it says 0 or 1, and values that are alike stand "
                "together when they are sorted"
            )
        return low, high

    def order(self, values: pa.Array, name: str = "attribute") -> Ints:
        """The order of values in which those that are alike stand together."""
        if self.kind == "given" and len(values) <= _GIVEN:
            return np.argsort(_linked(self.matrix(values, name) > 0), kind="stable")
        return np.argsort(self.numbers(values, name), kind="stable")

    def is_pseudometric(self, values: pa.Array, name: str = "attribute") -> bool:
        """Whether 1 − sim satisfies the triangle inequality on these values. Where there are too many to check a
        function, it is taken not to."""
        if self.declared:
            return True
        if self.kind in ("within", "days"):
            x = np.unique(self.numbers(values, name))
            low, high = self._runs(x)
            return bool((low[1:] >= high[:-1] + 1)[low[1:] != low[:-1]].all() and (high == high[low]).all())
        if len(values) > _CHECKED:
            return False
        apart = 1 - self.matrix(values, name)
        return all(bool((apart <= apart[:, [k]] + apart[[k], :] + _SLACK).all()) for k in range(len(values)))

    def _runs(self, x: Floats, share: float = 1.0) -> tuple[Ints, Ints]:
        """The first and the last of some numbers that each one is near to."""
        sides: tuple[Literal["left", "right"], Literal["left", "right"]] = (
            ("left", "right") if self.closed else ("right", "left")
        )
        reach = self._reach(x, share)
        return np.searchsorted(x, x - reach, sides[0]), np.searchsorted(x, x + reach, sides[1]) - 1


def equal() -> Similarity:
    """The same value."""
    return Similarity("equal", "the same value")


def within(rho: float, closed: bool = True) -> Similarity:
    """Numbers that differ by at most ρ; by less than ρ if not ``closed``."""
    _check_scale(rho, "a tolerance", zero=closed)
    return Similarity("within", f"{'at most' if closed else 'less than'} {rho:g} apart", rho, closed)


def linear(scale: float) -> Similarity:
    """Numbers, the less alike the more they differ: max(1 − |a − b|/s, 0)."""
    _check_scale(scale, "a scale", zero=False)
    return Similarity("linear", f"alike up to {scale:g} apart", scale)


def days(most: float) -> Similarity:
    """Dates that are at most so many days apart."""
    _check_scale(most, "a number of days", zero=True)
    return Similarity("days", f"at most {most:g} days apart", most)


def category(of: Callable[[Any], object]) -> Similarity:
    """Values of the same category, which a function tells."""
    return Similarity("category", "the same category", categories=of)


def support() -> Similarity:
    """That there is a value, whatever it is."""
    return Similarity("support", "any value")


def given(function: Callable[[Any, Any], float]) -> Similarity:
    """As a function of two values says, from 0 to 1."""
    return Similarity("given", "as given", function=function)


def _check_scale(scale: float, what: str, zero: bool) -> None:
    if isinstance(scale, bool) or not isinstance(scale, (int, float)) or not np.isfinite(scale) or scale < 0:
        raise UnveilError(f"{what} must be a number, 0 or more")
    if not zero and scale == 0:
        raise UnveilError(f"{what} must be above 0")


def _linked(near: npt.NDArray[np.bool_]) -> Ints:
    """The first value that each is linked to, step by step."""
    first = np.arange(len(near))
    while len(near):
        least = np.where(near, first, len(near)).min(axis=1)
        if (least == first).all():
            break
        first = least
    return first


def _check_given(found: Floats, name: str) -> None:
    if not ((found >= 0) & (found <= 1)).all():
        raise UnveilError(f"{shown(name)}: the similarity goes beyond 0 to 1")
    if (found != found.T).any() or (np.diag(found) != 1).any():
        raise UnveilError(f"{shown(name)}: a similarity is the same both ways, and 1 for a value and itself")


def _as_numbers(values: pa.Array, name: str) -> Floats:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        numbers = np.asarray(pc.cast(values, pa.float64()), np.float64)
    except (pa.ArrowException, ValueError):
        raise UnveilError(f"{shown(name)}: its values are not all numbers; compare them for equality") from None
    if not np.isfinite(numbers).all():
        raise UnveilError(f"{shown(name)}: its values are not all finite numbers; compare them for equality")
    return numbers


def _as_days(values: pa.Array, name: str) -> Floats:
    import pyarrow as pa
    import pyarrow.compute as pc

    from unveil.release.hierarchy import is_date

    wrong = UnveilError(f"{shown(name)}: its values are not all dates such as 1987-06-05")
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        if not all(map(is_date, values.to_pylist())):
            raise wrong
        dates = pc.strptime(pc.utf8_slice_codeunits(values, 0, 10), format="%Y-%m-%d", unit="us")
    elif pa.types.is_date(values.type) or pa.types.is_timestamp(values.type):
        dates = values.cast(pa.timestamp("us", values.type.tz if pa.types.is_timestamp(values.type) else None))
    else:
        raise wrong
    return np.asarray(dates.cast(pa.int64()), np.float64) / 86_400e6


def named(text: str) -> Similarity:
    """A similarity as it is written in a policy or on a command line: ``equal``, ``support``, a number ρ for at most ρ
    apart, ``30d`` for days, ``~5`` for alike up to 5 apart.

    >>> named("30d").said, named("2").said, named("~5").said
    ('at most 30 days apart', 'at most 2 apart', 'alike up to 5 apart')
    """
    plain: dict[str, Callable[[], Similarity]] = {"equal": equal, "support": support}
    if text in plain:
        return plain[text]()
    try:
        if text.endswith("d"):
            return days(float(text[:-1]))
        return linear(float(text[1:])) if text.startswith("~") else within(float(text))
    except ValueError:
        raise UnveilError(
            f"{shown(text)!r} is not a similarity; write equal, support, a number such as 2, ~5, or 30d for days"
        ) from None
