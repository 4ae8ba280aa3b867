"""How alone is everyone? The sparsity of records.

Someone who finds a record that is very much like a person's has found the person, if no two people are that much alike.
Most records of what people bought, saw or answered are alone in this sense: they are *sparse*.

**The sparsity function** (Definition 12) is the share of records that are not alone,

    f(σ) = P[another record has Sim ≥ σ to a random one],

and a database is (σ, q)-sparse if f(σ) ≤ q (Definition 10). *Another* is another row: of two equal records neither is
alone. All of f is in one number per record, its largest Sim to any other (:func:`nearest`). As Sim ≥ σ is closed, f
falls just after a Sim that occurs: the σ with f(σ) ≤ q are those *above* a bound, which is not one of them. Of a record
with nobody beside it nobody is near, for σ = 0 too.

**A sample.** f may be measured on some of the records, each compared with all others. Then it is a share of so many
draws and comes with an interval; 0 of 400 is no 0, but at most .0075 with 95 % confidence. Draws without replacement
vary less than the binomial distribution says, so that intervals are too wide rather than too narrow.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from unveil.errors import UnveilError
from unveil.linkage.alike.comparing import Sim
from unveil.linkage.alike.nearest import Nearest, asked_for, nearest
from unveil.linkage.intervals import confident, highest, lowest, wilson
from unveil.linkage.records import Records
from unveil.linkage.theorems.whole import Number, written
from unveil.run import Run
from unveil.wording import counted, percent

__all__ = ["Sparsity", "sparsity"]

Floats = npt.NDArray[np.float64]

_ID = "linkage.sparsity"


@dataclass(frozen=True, eq=False)
class Sparsity:
    """f of ``total`` records, from the nearest of each or of a sample. A σ or q is taken as it is written: 0.8 is 4/5,
    though no binary number is. Confidences are those of a single σ, unless it says otherwise."""

    found: Nearest
    total: int

    @property
    def looked_at(self) -> int:
        """How many records were compared with all others."""
        return len(self.found.rows)

    @property
    def exact(self) -> bool:
        """Whether these are all."""
        return self.looked_at == self.total

    @cached_property
    def _sorted(self) -> Floats:
        return np.sort(self.found.similarity[self.found.row >= 0])

    def count(self, sigma: Number) -> int:
        """How many of the records looked at have another at Sim ≥ σ."""
        bound = written(sigma)
        near = float(bound)
        larger = len(self._sorted) - int(np.searchsorted(self._sorted, near, "right"))
        # Rounding keeps order, so only those that are rounded to the same number remain to be compared.
        close = np.flatnonzero((self.found.similarity == near) & (self.found.row >= 0))
        fractions = zip(self.found.above[close].tolist(), self.found.below[close].tolist(), strict=True)
        reached = (above * bound.denominator >= bound.numerator * below for above, below in fractions)
        return larger + sum(map(int, reached))

    def f(self, sigma: Number) -> float:
        """The share of the records looked at that have another at Sim ≥ σ."""
        return self.count(sigma) / self.looked_at

    def curve(self, points: int | Iterable[Number] = 101) -> tuple[Floats, Floats]:
        """σ and f(σ): at so many points from 0 to 1, or at those given."""
        sigma = _points(points)
        return np.array([float(s) for s in sigma]), np.array([self.f(s) for s in sigma])

    def interval(self, sigma: Number, confidence: float = 0.95) -> tuple[float, float]:
        """Where f(σ) of all records lies (Wilson); one point if all were looked at."""
        if self.exact:
            return self.f(sigma), self.f(sigma)
        return wilson(self.count(sigma), self.looked_at, confidence)

    def upper(self, sigma: Number, confidence: float = 0.95) -> float:
        """What f(σ) of all records is at most (Clopper and Pearson)."""
        return self.f(sigma) if self.exact else highest(self.count(sigma), self.looked_at, confidence)

    def lower(self, sigma: Number, confidence: float = 0.95) -> float:
        """What f(σ) of all records is at least (Clopper and Pearson)."""
        return self.f(sigma) if self.exact else lowest(self.count(sigma), self.looked_at, confidence)

    def limits(self, points: int | Iterable[Number] = 101, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """σ and what f is at most, at all these points at once: what a σ needs that is chosen by looking at them."""
        sigma = _points(points)
        each = 1 - (1 - confident(confidence)) / len(sigma)
        return np.array([float(s) for s in sigma]), np.array([self.upper(s, each) for s in sigma])

    def sparse(self, sigma: Number, q: Number, confidence: float = 0.95) -> bool | None:
        """Whether the records are (σ, q)-sparse; None if the sample does not tell with this confidence."""
        if self.upper(sigma, confidence) <= q:
            return True
        return False if self.exact or self.lower(sigma, confidence) > q else None

    def above(self, q: Number, confidence: float | None = None) -> float | None:
        """The records are (σ, q)-sparse for every σ above this and for none below; None if for none up to 1.

        On a sample that is so for the records looked at. With ``confidence`` it is what holds for all: as an upper
        bound of f falls with σ, it is wrong no more often than the bound is at one point.
        """
        levels = np.unique(self._sorted)
        counts = len(self._sorted) - np.searchsorted(self._sorted, levels, "left")
        most = self._allowed(q, confidence)
        if most < 0:
            return None
        over = levels[counts > most]
        bound = float(over[-1]) if len(over) else 0.0
        return bound if bound < 1 else None

    def _allowed(self, q: Number, confidence: float | None) -> int:
        """How many of those looked at may have another for f ≤ q; −1 if even none of them would not show it."""
        share = written(q)
        if confidence is None or self.exact:
            return int(share * self.looked_at // 1)
        low, high = -1, self.looked_at
        while low < high:
            middle = (low + high + 1) // 2
            if highest(middle, self.looked_at, confidence) <= share:
                low = middle
            else:
                high = middle - 1
        return low

    def __repr__(self) -> str:
        of = "all" if self.exact else f"{self.looked_at:,} of"
        shares = ", ".join(f"{percent(self.f(s))} at {s:g}" for s in (0.25, 0.5, 0.75, 1))
        return f"Sparsity of {of} {counted(self.total, 'record')}: another one is at least as similar to {shares}"


def sparsity(
    records: Records,
    sim: Sim = "alike",
    least: float = 1.0,
    rows: npt.ArrayLike | None = None,
    sample: int | None = None,
    run: Run | None = None,
) -> Sparsity:
    """The sparsity function of all records or of some ``rows``, such as those with a rare attribute; each is compared
    with all records. It may be measured on a random ``sample`` of them.

    >>> import pyarrow as pa
    >>> from unveil.linkage.records import records_of_codes
    >>> from unveil.release.codes import encode
    >>> table = {"age": [30, 30, 41, 7], "sex": ["f", "m", "m", None], "job": ["cook", "cook", None, None]}
    >>> found = sparsity(records_of_codes({name: encode(pa.chunked_array([v])) for name, v in table.items()}))
    >>> found.f(0.5), found.f(1 / 3), found.sparse(0.5, 0.5), found.above(0.5)
    (0.5, 0.75, True, 0.3333333333333333)
    """
    run = run or Run()
    if sample is not None and sample < 1:
        raise UnveilError("a sample has 1 record or more")
    asked = asked_for(records.n, rows)
    chosen = asked
    if sample is not None and sample < len(asked):
        chosen = np.sort(run.rng(_ID).choice(asked, sample, replace=False, shuffle=False))
    return Sparsity(nearest(records, sim, least, chosen, run), len(asked))


def _points(points: int | Iterable[Number]) -> list[Fraction]:
    """So many from 0 to 1, or those given."""
    if not isinstance(points, int):
        return [written(p) for p in points]
    if points < 2:
        raise UnveilError("a curve has 2 points or more")
    return [Fraction(k, points - 1) for k in range(points)]
