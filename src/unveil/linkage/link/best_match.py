"""Who is who, if what is known may be wrong? Scores, eccentricity, and a probability for every row.

An attacker holds a file of people and the release. For each person all rows are scored, and the best one is a guess.

**Scores.** S(x, y) = Σ w_i(x_i) · sim(x_i, y_i) over the attributes known about the person, with one of three weights:

- ``support``: w_i = 1/ln |supp(i)|. Agreement in a rarer attribute counts more, whatever its value. This is
  Scoreboard-RH, made for ratings. (Supports of 0 and 1 count as 2, where the formula has no value.)
- ``rarity``: w_i = ln 1/G_i(x_i), where G_i(x_i) is the share of rows that agree with the known value. It is meant for
  tables, in which everybody has every attribute and only values are rare.
- ``likelihood``: the log-likelihood ratio below, in which disagreement counts against a row. These are the weights of
  Fellegi and Sunter, with as many levels of agreement as there are values.

**Eccentricity.** (best − second best)/σ, with the standard deviation σ of the score over all rows. Scoreboard-RH names
a row only if its eccentricity is at least φ = 1.5.

**Posterior.** The person's own row agrees with what is known about an attribute with probability 1 − q, and otherwise
has the value of a random row. With graded similarity, it agrees in proportion. Anyone else's row has the value of a
random row. The likelihood ratio of the two is ∏ (q + (1 − q) · sim(x_i, y_i)/G_i(x_i)) over the attributes known on
both sides, where G_i(x_i) is the mean similarity of the rows to x_i. A priori the person is outside the release with
probability π, and otherwise any row with equal probability; attributes count as independent. q = 0 stands for the
limit: as few errors as possible.

**How it is computed.** Rows that agree with a person in something rare, or have a null there, are found in the postings
and scored one by one; all others are scored by kind (:mod:`unveil.linkage.link.row_kinds`). Best, second best, σ
and posterior are therefore those over all rows. Scores are sums of multiples of 2⁻³⁶.

A. Narayanan, V. Shmatikov, Robust de-anonymization of large sparse datasets, IEEE S&P 2008, §4; I. Fellegi, A. Sunter,
A theory for record linkage, JASA 64, 1969.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from unveil.arrays import Floats, Ints
from unveil.linkage.link.candidates import count_candidates
from unveil.linkage.link.file_pair import FilePair
from unveil.linkage.link.row_kinds import choose_row_kinds
from unveil.linkage.link.row_scores import (
    MAX_WORK,
    SCORE_UNIT,
    LikelyPairs,
    Scoring,
    attribute_error_rates,
    score_pairs,
    score_people,
)
from unveil.run import Run

if TYPE_CHECKING:
    from unveil.linkage.link.subject_rows import SubjectRows

__all__ = ["Linkage", "link_people"]

_ROUNDING = 1e-9  # sums of probabilities depend on their order by less than this


@dataclass(frozen=True, eq=False, repr=False)
class Linkage:
    """The attacker's conclusions about each person.

    ``best`` is the row with the highest score, the likelier one among equals, or −1 if no row agrees in anything that
    tells. ``ties`` counts the rows that are as good; ``best`` is the first of them in the release. ``second`` is the
    second highest score, NaN if there is only one row. ``posterior`` is the probability that ``best`` is the person's
    row, ``outside`` that no row is. ``candidates`` counts the rows that nothing known rules out. ``deviation`` is the
    standard deviation of the score over all rows.

    If rows were put together by ``subjects`` (:mod:`unveil.linkage.link.subject_rows`), read "subject" for "row";
    ``best_row`` is then the best row of the best subject, and otherwise the best row.
    """

    file_pair: FilePair
    scoring: Scoring
    errors: Floats
    prior: float
    best: Ints
    ties: Ints
    score: Floats
    second: Floats
    eccentricity: Floats
    posterior: Floats
    outside: Floats
    candidates: Ints
    pairs: LikelyPairs
    deviation: Floats
    best_row: Ints
    subjects: SubjectRows | None = None

    @property
    def n(self) -> int:
        """Number of known people."""
        return len(self.best)

    @property
    def expected_links(self) -> float:
        """Expected number of best rows that are right, if the posterior is calibrated."""
        return float(self.posterior.sum())

    @property
    def people_with_one_candidate(self) -> int:
        """Number of people with exactly one candidate."""
        return int((self.candidates == 1).sum())

    @property
    def people_without_candidates(self) -> int:
        """Number of people without candidates."""
        return int((self.candidates == 0).sum())

    def likely_matches(self, above: float = 0.5) -> Ints:
        """The people whose best row has a posterior above this; by default, those likelier right than wrong."""
        return np.flatnonzero((self.posterior > above + _ROUNDING) & (self.best >= 0))

    @cached_property
    def best_class(self) -> Ints:
        """The class of every person's best row, −1 if there is none."""
        return np.where(self.best >= 0, np.append(self.file_pair.row_class, -1)[self.best], -1)

    def gains(self, person_class: Ints, row_class: Ints) -> Ints:
        """What these pairs of classes gain in score, compared with a row that agrees in nothing, and the gain in
        log-likelihood that decides between equal scores."""
        if self.subjects is not None:
            return self.subjects.score(self.errors, person_class, row_class).best[:, None]
        return score_pairs(self.file_pair, self.scoring, self.errors, person_class, row_class)

    def __repr__(self) -> str:
        return (
            f"Linkage: {self.n:,} people against {self.file_pair.row_count:,} rows by {self.scoring}\n"
            f"  {self.people_with_one_candidate:,} with one candidate, {self.people_without_candidates:,} with none; "
            f"{self.expected_links:.6g} best rows expected to be right"
        )


def link_people(
    file_pair: FilePair,
    *,
    least: float = 1.0,
    scoring: Scoring = "rarity",
    errors: float | Mapping[str, float] = 0.05,
    outside: float = 0.0,
    evidence: Floats | None = None,
    run: Run | None = None,
    work: int = MAX_WORK,
) -> Linkage:
    """Look for every known person in the release.

    Parameters
    ----------
    least
        The similarity α from which a value rules out no candidate; scores and posterior use the similarity itself.
    errors
        q, how often what is known is wrong: for all attributes, or by name
        (:mod:`unveil.linkage.link.error_rates`).
    outside
        π, the share of the known people who are not in the release.
    evidence
        By class of people, how much likelier what is known is of someone in the release than of someone outside, as a
        logarithm (:attr:`unveil.linkage.link.error_rates.ErrorRates.evidence`). By default, it is the mean likelihood
        ratio of all rows, which is right if attributes are independent.
    work
        The number of agreements that may be added up.
    """
    rates = attribute_error_rates(file_pair, errors)
    kinds = choose_row_kinds(file_pair)
    found = score_people(file_pair, kinds, scoring, rates, outside, run, evidence=evidence, most=work)
    people = file_pair.person_class
    top, second, sigma = found.top[people], found.second[people], found.deviation[people]
    start = found.base[people] if scoring == "likelihood" else np.zeros(file_pair.n)
    with np.errstate(divide="ignore", invalid="ignore"):
        away = np.where((sigma > 0) & (top > second) & (second >= 0), (top - second) * SCORE_UNIT / sigma, 0.0)
    best = np.append(file_pair.first_row, -1)[found.best[people]]
    return Linkage(
        file_pair=file_pair,
        scoring=scoring,
        errors=rates,
        prior=outside,
        best=best,
        ties=found.ties[people],
        score=start + top * SCORE_UNIT,
        second=np.where(second >= 0, start + second * SCORE_UNIT, np.nan),
        eccentricity=away,
        posterior=found.posterior[people],
        outside=found.outside[people],
        candidates=count_candidates(file_pair, least, run),
        pairs=found.pairs,
        deviation=sigma,
        best_row=best,
    )
