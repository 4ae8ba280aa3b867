"""The theorem that linkage attacks started from, and three databases on which its proof fails.

A. Narayanan and V. Shmatikov (Robust de-anonymization of large sparse datasets, IEEE Symposium on Security and Privacy,
2008) let the adversary *Scoreboard* take as candidates the records whose values are at least 1 − ε alike to all that it
knows, and name one of them at random. Their **Theorem 1** claims: whoever knows

    m ≥ log(n/ε) / −log(1 − δ)

random attributes, each at least 1 − ε alike to the truth, names a record with Sim ≥ 1 − ε − δ with probability 1 − ε,
Sim being Σ sim / |supp ∪ supp| (2.2). Document 002 (§3.1) shows three cases in which Scoreboard does not:

1. Records are 1 1 1 …, 2 2 2 …, and so on; values less than .6 apart are alike; of 1 and 2 the attacker knows 1.5.
   Both are candidates, and have nothing in common. (1 − sim violates the triangle inequality.)
2. Records are .5 .5 …, 1 1 …, 1.5 1.5 …; sim is 1 − |a − b|; of .5 and 1 the attacker knows .75. Both are candidates,
   with Sim .5 where .625 is claimed. (1 − sim is a metric, but ε in the data makes 2ε in the result.)
3. Every second record extends the one before it to more attributes. Whoever knows some of the short one's values has
   both as candidates, and their Sim is only the ratio of their lengths.

Â, which names a candidate with the fewest attributes, cures case 3 only. In cases 1 and 2 all records have the same
attributes, so that it draws among the same candidates as Scoreboard.

The success is computed by definition: every record, every set of m of its attributes, each candidate that may be named.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
import numpy.typing as npt

from unveil.errors import UnveilError
from unveil.linkage.records import Records, records_of_codes
from unveil.linkage.similarity import Similarity, linear, within
from unveil.linkage.theorems.hypotheses import alike
from unveil.linkage.theorems.whole import Number, exact, least_power, precisely

__all__ = ["Claim", "Counterexample", "Success", "case_1", "case_2", "case_3", "claim", "success"]

Floats = npt.NDArray[np.float64]

_SETS = 1_000_000  # sets of attributes of one record that are looked at, at most
_SLACK = 1e-12


@dataclass(frozen=True)
class Claim:
    """What Theorem 1 claims: with ``m`` attributes, the smallest whole number not below ``limit``, Sim ≥ ``sigma`` with
    probability ``p``."""

    limit: float
    m: int
    sigma: float
    p: float


@dataclass(frozen=True)
class Success:
    """Of a random record: the probability that the one named has Sim ≥ σ, and that it is the record itself."""

    similar: float
    found: float


@dataclass(frozen=True, eq=False)
class Counterexample:
    """Records, what an attacker may know of them, and the ε and δ of Theorem 1."""

    records: Records
    auxiliary: Records
    epsilon: float
    delta: float

    @property
    def claim(self) -> Claim:
        """What Theorem 1 says of it."""
        return claim(self.records.n, self.epsilon, self.delta)

    def success(self, adversary: Literal["Scoreboard", "Â"], m: int | None = None) -> Success:
        """What happens, with the m that Theorem 1 deems enough or another one."""
        said = self.claim
        return success(self.records, self.auxiliary, adversary, m or said.m, 1 - self.epsilon, said.sigma)


def claim(n: int, epsilon: Number, delta: Number) -> Claim:
    """Theorem 1 of Narayanan and Shmatikov, which has not been proven.

    >>> found = claim(10**6, 0.4, 0.5)
    >>> round(found.limit, 4), found.m, found.sigma, found.p
    (21.2535, 22, 0.1, 0.6)
    """
    if n < 1 or not 0 < epsilon < 1 or not 0 < delta < 1:
        raise UnveilError("there must be one record, and ε and δ lie between 0 and 1")
    with precisely():
        e, d = exact(epsilon), exact(delta)
        limit = (n / e).ln() / -(1 - d).ln()
        return Claim(float(limit), least_power(exact(n), e, 1 - d), float(1 - e - d), float(1 - e))


def case_1(n: int = 6, c: int = 6) -> Counterexample:
    """Case 1; the document has n = 10⁶, c = 30.

    >>> example = case_1()
    >>> example.claim.p, example.success("Scoreboard"), example.success("Â").similar
    (0.6, Success(similar=0.5, found=0.5), 0.5)
    """
    rows = [[float(j)] * c for j in range(1, _even(n) + 1)]
    known = [[j + 0.5 if j % 2 else j - 0.5] * c for j in range(1, n + 1)]
    return _example(rows, known, within(0.6, closed=False), 0.4, 0.5)


def case_2(n: int = 4, c: int = 22) -> Counterexample:
    """Case 2; the document has n = 10⁵, c = 200.

    >>> example = case_2()
    >>> example.claim.p, example.success("Scoreboard", 3), example.success("Â", 3).similar
    (0.75, Success(similar=0.5, found=0.5), 0.5)
    """
    rows = [[j / 2] * c for j in range(1, _even(n) + 1)]
    known = [[j / 2 + 0.25 if j % 2 else j / 2 - 0.25] * c for j in range(1, n + 1)]
    return _example(rows, known, linear(1), 0.25, 0.125)


def case_3(n: int = 6, c: int = 21, short: int = 4) -> Counterexample:
    """Case 3: every second record has its first ``short`` attributes only; the document has n = 10⁵, c = 100, 19.

    >>> example = case_3()
    >>> example.claim.p, round(example.success("Scoreboard").similar, 4), round(example.success("Â").similar, 4)
    (0.8, 0.75, 0.9999)
    """
    rows: list[list[float | None]] = []
    for j in range(1, _even(n) // 2 + 1):
        rows += [[float(j)] * short + [None] * (c - short), [float(j)] * c]
    return _example(rows, rows, linear(1), 0.2, 0.6)


def success(
    records: Records,
    auxiliary: Records,
    adversary: Literal["Scoreboard", "Â", "B̂"],
    m: int,
    least: float,
    sigma: float,
) -> Success:
    """An adversary's success by definition, for few records: all must have m attributes, and are compared by (2.2).

    ``least`` is how alike a candidate's values must be to those known (B̂ asks that there are values). Where several may
    be named, each is with the same probability; where nobody is a candidate nothing is found.
    """
    if (records.support < m).any() or m < 1:
        raise UnveilError("every record needs as many attributes as the attacker knows")
    if max(math.comb(int(u), m) for u in records.support) > _SETS:
        raise UnveilError("there are too many sets of attributes to look at each; take fewer records or attributes")
    there = records.array >= 0
    union = (there[:, None, :] | there[None, :, :]).sum(axis=2)
    near = _cells(records, records).sum(axis=2) / union >= sigma - _SLACK
    fits = there[None, :, :] & there[:, None, :] if adversary == "B̂" else _cells(auxiliary, records) >= least - _SLACK
    each = np.array([_one(r, fits[r], near[r], records.support, adversary, m, there[r]) for r in range(records.n)])
    return Success(*(float(x) for x in each.mean(axis=0)))


def _one(
    r: int,
    fits: npt.NDArray[np.bool_],
    near: npt.NDArray[np.bool_],
    support: npt.NDArray[np.int64],
    adversary: str,
    m: int,
    own: npt.NDArray[np.bool_],
) -> tuple[float, float]:
    """The success on one record, over all sets of m of its attributes."""
    sets = np.array(list(combinations(np.flatnonzero(own).tolist(), m)))
    named = np.stack([fit[sets].all(axis=1) for fit in fits])
    if adversary != "Scoreboard":
        sizes = np.where(named, support[:, None], np.iinfo(np.int64).max)
        named &= sizes == sizes.min(axis=0)
    several = np.maximum(named.sum(axis=0), 1)
    return float((named[near].sum(axis=0) / several).mean()), float((named[r] / several).mean())


def _cells(a: Records, b: Records) -> Floats:
    """sim of each value of each record of one database with that of each record of another, 0 where one is null."""
    found = np.zeros((a.n, b.n, b.c))
    for i, (sim, name) in enumerate(zip(b.similarities, b.names, strict=True)):
        mine, theirs = np.flatnonzero(a.array[:, i] >= 0), np.flatnonzero(b.array[:, i] >= 0)
        table = alike(sim, a.values[i], b.values[i], name)
        found[mine[:, None], theirs[None, :], i] = table[np.ix_(a.array[mine, i], b.array[theirs, i])]
    return found


def _example(
    rows: Sequence[Sequence[float | None]],
    known: Sequence[Sequence[float | None]],
    sim: Similarity,
    epsilon: float,
    delta: float,
) -> Counterexample:
    import pyarrow as pa

    from unveil.release.codes import encode

    def made(lines: Sequence[Sequence[float | None]]) -> Records:
        columns = zip(*lines, strict=True)
        coded = {f"a{i}": encode(pa.chunked_array([column], pa.float64())) for i, column in enumerate(columns, 1)}
        return records_of_codes(coded, dict.fromkeys(coded, sim))

    records = made(rows)
    return Counterexample(records, records if known is rows else made(known), epsilon, delta)


def _even(n: int) -> int:
    if n < 2 or n % 2:
        raise UnveilError("these records come in pairs: take an even number of them")
    return n
