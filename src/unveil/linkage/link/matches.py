"""Who is who, when what is known may be wrong: scores, eccentricity, and a probability for every row.

Somebody holds a file of people and a release. For each person all rows are scored, and the best one is a guess.

**Scores.** S(x, y) = Σ w_i(x_i) · sim(x_i, y_i) over the attributes known of the person, with one of three weights:

- ``support``: w_i = 1/ln |supp(i)|, the rarer an attribute the more agreement in it counts, whatever its value. This is
  Scoreboard-RH, made for ratings. (Supports of 0 and 1 count as 2; the formula has no value there.)
- ``rarity``: w_i = ln 1/G_i(x_i), where G_i(x_i) is the share of rows that agree with the known value. It is meant for
  tables, in which everybody has every attribute and only values are rare.
- ``likelihood``: the log-likelihood ratio below, in which disagreement counts against a row as well. These are the
  weights of Fellegi and Sunter, with as many kinds of agreement as there are values.

**Eccentricity.** (best − second best)/σ, σ being the standard deviation of the score over all rows. Scoreboard-RH only
names a row if it stands out by at least φ = 1.5.

**Posterior.** A row that is the person's agrees with what is known of an attribute with probability 1 − q, and is
otherwise any row's value; where similarity comes in degrees, it agrees in proportion to it. Somebody else's row has any
row's value. The likelihood ratio of the two is ∏ (q + (1 − q) · sim(x_i, y_i)/G_i(x_i)) over the attributes known on
both sides, G_i(x_i) being the mean similarity of the rows to x_i. A priori the person is outside the release with
probability π, else any row alike; attributes are taken to be independent. At q = 0 the limit is meant: as few errors as
possible.

**How it is computed.** Rows that agree with a person in something rare, or have a null there, are found in the postings
and scored one by one, all others by kind (:mod:`unveil.linkage.link.kinds`), so that best, second best, σ and posterior
are those over all rows. Scores are sums of multiples of 2⁻³⁶.

A. Narayanan, V. Shmatikov, Robust de-anonymization of large sparse datasets, IEEE S&P 2008, §4; I. Fellegi, A. Sunter,
A theory for record linkage, JASA 64, 1969.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unveil.linkage.link.kinds import kinds
from unveil.linkage.link.paired import Floats, Ints, Paired
from unveil.linkage.link.possible import candidate_rows
from unveil.linkage.link.scores import UNIT, WORK, Pairs, Scoring, error_rates, scored
from unveil.run import Run

__all__ = ["Linkage", "link"]


@dataclass(frozen=True, eq=False, repr=False)
class Linkage:
    """What the attacker makes of each person.

    ``best`` is the row with the highest score, the likelier one among equals, −1 if no row agrees in anything that
    tells; ``ties`` says how many rows are as good, of which it is the first. ``second`` is the second highest score,
    NaN if there is one row only. ``posterior`` is the probability that ``best`` is the person's, ``outside`` that no
    row is. ``candidates`` counts the rows that nothing known rules out.
    """

    paired: Paired
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
    pairs: Pairs

    @property
    def n(self) -> int:
        """How many people are known."""
        return len(self.best)

    @property
    def expected_links(self) -> float:
        """How many best rows can be expected to be right, if the posterior is."""
        return float(self.posterior.sum())

    @property
    def alone(self) -> int:
        """How many people have a single candidate."""
        return int((self.candidates == 1).sum())

    @property
    def without(self) -> int:
        """How many people have no candidate."""
        return int((self.candidates == 0).sum())

    def linked(self, least: float = 0.5) -> Ints:
        """The people whose best row is theirs with at least this posterior."""
        return np.flatnonzero((self.posterior >= least) & (self.best >= 0))

    def standing_out(self, phi: float = 1.5) -> Ints:
        """The people whose best row is at least φ standard deviations better than the second."""
        return np.flatnonzero((self.eccentricity >= phi) & (self.best >= 0))

    @cached_property
    def best_class(self) -> Ints:
        """The class of the best row of every person, −1 if there is none."""
        return np.where(self.best >= 0, np.append(self.paired.row_class, -1)[self.best], -1)

    def __repr__(self) -> str:
        return (
            f"Linkage: {self.n:,} people against {self.paired.released:,} rows by {self.scoring}\n"
            f"  {self.alone:,} with one candidate, {self.without:,} with none; {self.expected_links:.6g} best rows "
            "expected to be right"
        )


def link(
    paired: Paired,
    *,
    least: float = 1.0,
    scoring: Scoring = "rarity",
    errors: float | Mapping[str, float] = 0.05,
    outside: float = 0.0,
    run: Run | None = None,
    work: int = WORK,
) -> Linkage:
    """Look for every known person in the release.

    Parameters
    ----------
    least
        The similarity α from which on a value rules out no candidate; scores and posterior go by similarity itself.
    errors
        q, how often what is known is wrong: for all attributes, or by name (see :mod:`unveil.linkage.link.mistakes`).
    outside
        π, the share of the known people who are not in the release.
    work
        How many agreements may be added up.
    """
    rates = error_rates(paired, errors)
    found = scored(paired, kinds(paired), scoring, rates, outside, run, most=work)
    people = paired.person_class
    best, ties, top, second = (column[people] for column in found.wholes.T)
    sigma, posterior, none = (column[people] for column in found.reals.T)
    start = found.base[people] if scoring == "likelihood" else np.zeros(paired.n)
    with np.errstate(divide="ignore", invalid="ignore"):
        away = np.where((sigma > 0) & (top > second) & (second >= 0), (top - second) * UNIT / sigma, 0.0)
    return Linkage(
        paired,
        scoring,
        rates,
        outside,
        np.append(paired.first_row, -1)[best],
        ties,
        start + top * UNIT,
        np.where(second >= 0, start + second * UNIT, np.nan),
        away,
        posterior,
        none,
        candidate_rows(paired, least, run),
        found.pairs,
    )
