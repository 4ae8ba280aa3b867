"""How isolated is everyone? The sparsity of records.

Finding a record very similar to a person's means finding the person, provided that no two people are that similar. Most
records of what people bought, watched or answered are isolated in this sense: they are *sparse*.

**The sparsity function** (Definition 12) is the share of records that are not isolated,

    f(σ) = P[another record has Sim ≥ σ to a random one],

and a database is (σ, q)-sparse if f(σ) ≤ q (Definition 10). *Another* means another row, so equal records are never
isolated. f follows from one number per record: its largest Sim to any other (:func:`nearest_records`). Because Sim ≥ σ
includes equality, f drops just after each Sim that occurs: f(σ) ≤ q holds for σ *above* a bound, not at the bound. A
record that is the only one has no neighbour, even at σ = 0.

**Sampling.** f may be measured on some of the records, each compared with all others. It is then a sampled share with
an interval: 0 of 400 does not mean 0, but at most .0075 with 95% confidence. Draws without replacement vary less than
the binomial distribution, so intervals are too wide rather than too narrow.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from unveil.arrays import Floats
from unveil.errors import UnveilError
from unveil.intervals import check_confidence, upper_bound, wilson_interval
from unveil.linkage.records import Records
from unveil.linkage.sparsity.nearest_records import NearestRecords, nearest_records, requested_rows
from unveil.linkage.sparsity.record_similarity import RecordSimilarity
from unveil.linkage.theorems.exact_numbers import Number, written_fraction
from unveil.run import Run
from unveil.wording import count_text, percent_text

__all__ = ["SparsityFunction", "measure_sparsity"]


_FINDING_ID = "linkage.sparsity"


@dataclass(frozen=True, eq=False)
class SparsityFunction:
    """The sparsity function of ``total`` records, from the nearest neighbour of all of them or of a sample. σ and q are
    taken as written: 0.8 is 4/5, although no binary number is. A confidence holds for a single σ unless stated
    otherwise."""

    found: NearestRecords
    total: int

    @property
    def compared_count(self) -> int:
        """Number of records compared with all others."""
        return len(self.found.rows)

    @property
    def exact(self) -> bool:
        """Whether every record was compared."""
        return self.compared_count == self.total

    @cached_property
    def _sorted_similarities(self) -> Floats:
        return np.sort(self.found.similarity[self.found.row >= 0])

    def count(self, sigma: Number) -> int:
        """How many of the compared records have another at Sim ≥ σ."""
        bound = written_fraction(sigma)
        near = float(bound)
        larger = len(self._sorted_similarities) - int(np.searchsorted(self._sorted_similarities, near, "right"))
        # Rounding preserves order, so only similarities rounded to the same number need an exact comparison.
        close = np.flatnonzero((self.found.similarity == near) & (self.found.row >= 0))
        fractions = zip(self.found.above[close].tolist(), self.found.below[close].tolist(), strict=True)
        reached = (above * bound.denominator >= bound.numerator * below for above, below in fractions)
        return larger + sum(map(int, reached))

    def similar_share(self, sigma: Number) -> float:
        """The share of the compared records that have another at Sim ≥ σ."""
        return self.count(sigma) / self.compared_count

    def curve(self, points: int | Iterable[Number] = 101) -> tuple[Floats, Floats]:
        """σ and f(σ), at this many points from 0 to 1 or at the given points."""
        sigma = _sigma_points(points)
        return np.array([float(s) for s in sigma]), np.array([self.similar_share(s) for s in sigma])

    def interval(self, sigma: Number, confidence: float = 0.95) -> tuple[float, float]:
        """Wilson interval for f(σ) over all records; a single point if all were compared."""
        if self.exact:
            return self.similar_share(sigma), self.similar_share(sigma)
        return wilson_interval(self.count(sigma), self.compared_count, confidence)

    def upper_limit(self, sigma: Number, confidence: float = 0.95) -> float:
        """Upper limit for f(σ) over all records (Clopper and Pearson)."""
        return (
            self.similar_share(sigma) if self.exact else upper_bound(self.count(sigma), self.compared_count, confidence)
        )

    def upper_curve(self, points: int | Iterable[Number] = 101, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """σ and upper limits for f that hold at all points at once, as needed to choose σ after seeing them."""
        sigma = _sigma_points(points)
        each = 1 - (1 - check_confidence(confidence)) / len(sigma)
        return np.array([float(s) for s in sigma]), np.array([self.upper_limit(s, each) for s in sigma])

    def __repr__(self) -> str:
        of = "all" if self.exact else f"{self.compared_count:,} of"
        shares = ", ".join(f"{percent_text(self.similar_share(s))} at {s:g}" for s in (0.25, 0.5, 0.75, 1))
        return (
            f"Sparsity of {of} {count_text(self.total, 'record')}, with another record at least that similar: {shares}"
        )


def measure_sparsity(
    records: Records,
    sim: RecordSimilarity = "alike",
    least: float = 1.0,
    rows: npt.ArrayLike | None = None,
    sample: int | None = None,
    run: Run | None = None,
) -> SparsityFunction:
    """Measure the sparsity function of all records or of some ``rows``, such as those with a rare attribute. Each is
    compared with all records. ``sample`` limits the measurement to that many random rows.

    >>> import pyarrow as pa
    >>> from unveil.linkage.records import records_from_codes
    >>> from unveil.release.codes import encode_column
    >>> table = {"age": [30, 30, 41, 7], "sex": ["f", "m", "m", None], "job": ["cook", "cook", None, None]}
    >>> found = measure_sparsity(records_from_codes({name: encode_column(pa.chunked_array([v])) for name,
    ...     v in table.items()}))
    >>> found.similar_share(0.5), found.similar_share(1 / 3)
    (0.5, 0.75)
    """
    run = run or Run()
    if sample is not None and sample < 1:
        raise UnveilError("a sample needs at least 1 record")
    asked = requested_rows(records.n, rows)
    chosen = asked
    if sample is not None and sample < len(asked):
        chosen = np.sort(run.rng(_FINDING_ID).choice(asked, sample, replace=False, shuffle=False))
    return SparsityFunction(nearest_records(records, sim, least, chosen, run), len(asked))


def _sigma_points(points: int | Iterable[Number]) -> list[Fraction]:
    """Evenly spaced points from 0 to 1, or the given ones."""
    if not isinstance(points, int):
        return [written_fraction(p) for p in points]
    if points < 2:
        raise UnveilError("a curve needs at least 2 points")
    return [Fraction(k, points - 1) for k in range(points)]
