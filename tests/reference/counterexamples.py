"""The theorem that started linkage attacks, and three databases on which its proof fails.

In A. Narayanan and V. Shmatikov (Robust de-anonymization of large sparse datasets, IEEE Symposium on Security and
Privacy, 2008), the candidates of the adversary *Scoreboard* are the records whose values are at least 1 − ε alike to
everything it knows, and it names one at random. Their **Theorem 1** claims that an attacker who knows

    m ≥ log(n/ε) / −log(1 − δ)

random attributes, each at least 1 − ε alike to the truth, names a record with Sim ≥ 1 − ε − δ with probability 1 − ε,
where Sim is Σ sim / |supp ∪ supp| (2.2). Merener (2012, §3.1) shows three cases in which Scoreboard fails:

1. Records are 1 1 1 …, 2 2 2 …, and so on; values less than .6 apart are alike; instead of 1 and 2 the attacker knows
   1.5. Both records are candidates and have nothing in common. (1 − sim violates the triangle inequality.)
2. Records are .5 .5 …, 1 1 …, 1.5 1.5 …; sim is 1 − |a − b|; instead of .5 and 1 the attacker knows .75. Both records
   are candidates, with Sim .5 where .625 is claimed. (1 − sim is a metric, but ε in the data becomes 2ε in the result.)
3. Every second record extends the one before it to more attributes. If some values of the short one are known, both are
   candidates, and their Sim is only the ratio of their lengths.

Â, which names a candidate with the fewest attributes, fixes case 3 only. In cases 1 and 2 all records have the same
attributes, so it draws among the same candidates as Scoreboard.

Success is computed from the definition: every record, every set of m of its attributes, every candidate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from reference.hypotheses import value_similarities
from unveil.arrays import Bools, Floats, Ints
from unveil.errors import UnveilError
from unveil.linkage.records import Records, records_from_codes
from unveil.linkage.similarity import Similarity, linear_similarity, within_distance
from unveil.linkage.theorems.exact_numbers import Number, exact_decimal, high_precision, smallest_exponent

__all__ = [
    "Claim",
    "Counterexample",
    "SuccessShares",
    "counterexample_1",
    "counterexample_2",
    "counterexample_3",
    "success_by_definition",
    "theorem_1_claim",
]


_MAX_SETS = 1_000_000  # sets of attributes of one record, at most
_SLACK = 1e-12


@dataclass(frozen=True)
class Claim:
    """The claim of Theorem 1: with ``m`` attributes, the smallest integer not below ``limit``, Sim ≥ ``sigma`` with
    probability ``p``."""

    limit: float
    m: int
    sigma: float
    p: float


@dataclass(frozen=True)
class SuccessShares:
    """For a random record: the probability that the one named has Sim ≥ σ, and that it is the record itself."""

    similar: float
    found: float


@dataclass(frozen=True, eq=False)
class Counterexample:
    """Records, what an attacker may know about them, and the ε and δ of Theorem 1."""

    records: Records
    auxiliary: Records
    epsilon: float
    delta: float

    @property
    def claim(self) -> Claim:
        """What Theorem 1 claims about it."""
        return theorem_1_claim(self.records.n, self.epsilon, self.delta)

    def success(self, adversary: Literal["Scoreboard", "Â"], m: int | None = None) -> SuccessShares:
        """What actually happens, with the m that Theorem 1 deems sufficient or with another one."""
        said = self.claim
        return success_by_definition(self.records, self.auxiliary, adversary, m or said.m, 1 - self.epsilon, said.sigma)


def theorem_1_claim(n: int, epsilon: Number, delta: Number) -> Claim:
    """The claim of Theorem 1 of Narayanan and Shmatikov, which has not been proven.

    >>> found = theorem_1_claim(10**6, 0.4, 0.5)
    >>> round(found.limit, 4), found.m, found.sigma, found.p
    (21.2535, 22, 0.1, 0.6)
    """
    if n < 1 or not 0 < epsilon < 1 or not 0 < delta < 1:
        raise UnveilError("there must be at least one record, and ε and δ must lie between 0 and 1")
    with high_precision():
        e, d = exact_decimal(epsilon), exact_decimal(delta)
        limit = (n / e).ln() / -(1 - d).ln()
        return Claim(float(limit), smallest_exponent(exact_decimal(n), e, 1 - d), float(1 - e - d), float(1 - e))


def counterexample_1(n: int = 6, c: int = 6) -> Counterexample:
    """Case 1; the paper has n = 10⁶, c = 30.

    >>> example = counterexample_1()
    >>> example.claim.p, example.success("Scoreboard"), example.success("Â").similar
    (0.6, SuccessShares(similar=0.5, found=0.5), 0.5)
    """
    rows = [[float(j)] * c for j in range(1, _check_even(n) + 1)]
    known = [[j + 0.5 if j % 2 else j - 0.5] * c for j in range(1, n + 1)]
    return _make_example(rows, known, within_distance(0.6, closed=False), 0.4, 0.5)


def counterexample_2(n: int = 4, c: int = 22) -> Counterexample:
    """Case 2; the paper has n = 10⁵, c = 200.

    >>> example = counterexample_2()
    >>> example.claim.p, example.success("Scoreboard", 3), example.success("Â", 3).similar
    (0.75, SuccessShares(similar=0.5, found=0.5), 0.5)
    """
    rows = [[j / 2] * c for j in range(1, _check_even(n) + 1)]
    known = [[j / 2 + 0.25 if j % 2 else j / 2 - 0.25] * c for j in range(1, n + 1)]
    return _make_example(rows, known, linear_similarity(1), 0.25, 0.125)


def counterexample_3(n: int = 6, c: int = 21, short: int = 4) -> Counterexample:
    """Case 3: every second record has only its first ``short`` attributes; the paper has n = 10⁵, c = 100, short =
    19.

    >>> example = counterexample_3()
    >>> example.claim.p, round(example.success("Scoreboard").similar, 4), round(example.success("Â").similar, 4)
    (0.8, 0.75, 0.9999)
    """
    rows: list[list[float | None]] = []
    for j in range(1, _check_even(n) // 2 + 1):
        rows += [[float(j)] * short + [None] * (c - short), [float(j)] * c]
    return _make_example(rows, rows, linear_similarity(1), 0.2, 0.6)


def success_by_definition(
    records: Records,
    auxiliary: Records,
    adversary: Literal["Scoreboard", "Â", "B̂"],
    m: int,
    least: float,
    sigma: float,
) -> SuccessShares:
    """The success of an adversary by definition, for few records: all must have m attributes, and are compared by
    (2.2).

    ``least`` is how alike a candidate's values must be to those known (for B̂ they only need to exist). If there are
    several candidates, each is named with the same probability; if there is none, nothing is found.
    """
    if (records.support < m).any() or m < 1:
        raise UnveilError("every record must have at least as many attributes as the attacker knows")
    if max(math.comb(int(u), m) for u in records.support) > _MAX_SETS:
        raise UnveilError("there are too many sets of attributes to try; take fewer records or attributes")
    there = records.array >= 0
    union = (there[:, None, :] | there[None, :, :]).sum(axis=2)
    near = _cell_similarities(records, records).sum(axis=2) / union >= sigma - _SLACK
    fits = (
        there[None, :, :] & there[:, None, :]
        if adversary == "B̂"
        else _cell_similarities(auxiliary, records) >= least - _SLACK
    )
    each = np.array(
        [_success_on_record(r, fits[r], near[r], records.support, adversary, m, there[r]) for r in range(records.n)]
    )
    return SuccessShares(*(float(x) for x in each.mean(axis=0)))


def _success_on_record(
    r: int,
    fits: Bools,
    near: Bools,
    support: Ints,
    adversary: str,
    m: int,
    own: Bools,
) -> tuple[float, float]:
    """The success on one record, over all sets of m of its attributes."""
    sets = np.array(list(combinations(np.flatnonzero(own).tolist(), m)))
    named = np.stack([fit[sets].all(axis=1) for fit in fits])
    if adversary != "Scoreboard":
        sizes = np.where(named, support[:, None], np.iinfo(np.int64).max)
        named &= sizes == sizes.min(axis=0)
    several = np.maximum(named.sum(axis=0), 1)
    return float((named[near].sum(axis=0) / several).mean()), float((named[r] / several).mean())


def _cell_similarities(a: Records, b: Records) -> Floats:
    """sim of every value of every record of one database with that of every record of another, 0 if one is null."""
    found = np.zeros((a.n, b.n, b.c))
    for i, (sim, name) in enumerate(zip(b.similarities, b.names, strict=True)):
        mine, theirs = np.flatnonzero(a.array[:, i] >= 0), np.flatnonzero(b.array[:, i] >= 0)
        table = value_similarities(sim, a.values[i], b.values[i], name)
        found[mine[:, None], theirs[None, :], i] = table[np.ix_(a.array[mine, i], b.array[theirs, i])]
    return found


def _make_example(
    rows: Sequence[Sequence[float | None]],
    known: Sequence[Sequence[float | None]],
    sim: Similarity,
    epsilon: float,
    delta: float,
) -> Counterexample:
    import pyarrow as pa

    from unveil.release.codes import encode_column

    def make_records(lines: Sequence[Sequence[float | None]]) -> Records:
        columns = zip(*lines, strict=True)
        coded = {
            f"a{i}": encode_column(pa.chunked_array([column], pa.float64())) for i, column in enumerate(columns, 1)
        }
        return records_from_codes(coded, dict.fromkeys(coded, sim))

    records = make_records(rows)
    return Counterexample(records, records if known is rows else make_records(known), epsilon, delta)


def _check_even(n: int) -> int:
    if n < 2 or n % 2:
        raise UnveilError("these records come in pairs: use an even number")
    return n
