"""How much could be learned about each individual? The privacy score, exact, by the cheapest method that applies.

    priv(i) = max over K ⊆ Att_i of w(K) = lk(K) · dg(I_K)

(definition 3.1 of White's thesis; :mod:`unveil.inference.relation` has the rest). The empty K counts: what
everybody has is learned by knowing that somebody is among them. Every individual counts, those with equal attributes
and those whose attributes are some of another's.

The database scores are the average of priv (definition 3.5), and the number and share of individuals with priv ≥ t
(definition 3.6).

Four methods give the same result, up to the order in which likelihoods are multiplied:

- ``subset lattice``: few attributes can be known (:mod:`unveil.inference.subset_lattice`);
- ``hitting sets``: all likelihoods are 0 or 1 (:mod:`unveil.inference.hitting_sets`);
- ``column search`` and ``generator search``: everything else, tables by columns and sets by attributes
  (:mod:`unveil.inference.generator_search`).

If a budget or the user ends the work early, each individual has an interval that is proven to contain the score.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from unveil.arrays import Floats
from unveil.errors import Termination, UnveilError
from unveil.inference.generator_search import search_generators
from unveil.inference.hitting_sets import hitting_sets_apply, score_by_hitting_sets
from unveil.inference.packed_rows import pack_attributes, pack_columns
from unveil.inference.relation import Relation
from unveil.inference.subset_lattice import MOST_KNOWABLE, known_attributes, score_by_lattice
from unveil.run import Run

__all__ = ["PrivacyScores", "ScoreRange", "choose_method", "score"]

ScoreMethod: TypeAlias = Literal["subset lattice", "hitting sets", "column search", "generator search"]

_LATTICE_STEP = 27e-9  # seconds: what one entry of the lattice, one set that one row has, and one hitting set take
_SEARCH_STEP = 10e-9
_HITTING_STEP = (20e-6, 1e-9)


class ScoreRange(NamedTuple):
    """Between which numbers a score lies; they are equal if it is exact."""

    low: float
    high: float


@dataclass(frozen=True, eq=False)
class PrivacyScores:
    """Between which bounds priv of every individual lies, the method, and how many sets it looked at."""

    lower: Floats
    upper: Floats
    method: ScoreMethod
    sets: int

    @property
    def is_exact(self) -> bool:
        """Whether all scores are known."""
        return bool((self.lower == self.upper).all())

    @property
    def average(self) -> ScoreRange:
        """The average score (definition 3.5); NaN of nobody."""
        people = len(self.lower)
        low, high = (fsum(scores.tolist()) / people if people else np.nan for scores in (self.lower, self.upper))
        return ScoreRange(low, high)

    def count_at_least(self, threshold: float) -> ScoreRange:
        """How many individuals score at least so much (definition 3.6)."""
        return ScoreRange(int((self.lower >= threshold).sum()), int((self.upper >= threshold).sum()))

    def share_at_least(self, threshold: float) -> ScoreRange:
        """The share of individuals who score at least so much (definition 3.6); NaN of nobody."""
        people = len(self.lower)
        low, high = (count / people if people else np.nan for count in self.count_at_least(threshold))
        return ScoreRange(low, high)


def score(
    relation: Relation,
    method: ScoreMethod | None = None,
    budget: int | None = None,
    run: Run | None = None,
    *,
    most_known: int | None = None,
    threshold: float | None = None,
) -> PrivacyScores:
    """The privacy score of every individual.

    ``budget`` is the largest number of sets to look at, for the methods that search; ``most_known`` the largest number
    of attributes in K. With a ``threshold``, only who reaches it is found out: the work ends for everybody about whom
    that is certain.

    >>> score(Relation.from_sets(["abcd", "abce", "abfg", "bcfg"])).lower.round(4).tolist()
    [0.75, 0.75, 0.6667, 0.6667]
    """
    if most_known is not None and most_known < 0:
        raise UnveilError("the number of known attributes must not be negative")
    if threshold is not None and not 0 <= threshold <= 1:
        raise UnveilError("a threshold of the privacy score must lie between 0 and 1")
    run = run or Run()
    method = choose_method(relation, most_known, threshold) if method is None else method
    _check_method(relation, method, most_known)
    if relation.people == 0:
        return PrivacyScores(np.zeros(0), np.zeros(0), method, 0)
    if method == "subset lattice":
        return _score_by_lattice(relation, most_known, run)
    if method == "hitting sets":
        lower, upper, sets = score_by_hitting_sets(relation, run, budget)
    else:
        by_columns = method == "column search"
        rows = pack_columns(relation, most_known is None) if by_columns else pack_attributes(relation)
        found = search_generators(relation, rows, run, budget, most_known, threshold)
        lower, upper, sets = found.lower, found.upper, found.nodes
    return PrivacyScores(lower[relation.rows.row_of], upper[relation.rows.row_of], method, sets)


def choose_method(relation: Relation, most_known: int | None = None, threshold: float | None = None) -> ScoreMethod:
    """The method that is expected to take least time."""
    search: ScoreMethod = "column search" if relation.columns is not None else "generator search"
    if relation.people == 0 or not relation.danger_units.any():
        return search
    sizes = _known_sizes(relation, most_known is None)
    seconds: dict[ScoreMethod, float] = {search: float(np.exp2(np.minimum(sizes, 60.0)).sum()) * _SEARCH_STEP}
    knowable = len(known_attributes(relation))
    if knowable <= MOST_KNOWABLE:
        seconds["subset lattice"] = (1 << knowable) * _LATTICE_STEP * -(-len(relation.danger) // 64)
    if most_known is None and threshold is None and hitting_sets_apply(relation):
        rows = len(relation.rows.counts)
        seconds["hitting sets"] = rows * (_HITTING_STEP[0] + rows * _HITTING_STEP[1])
    return min(seconds, key=lambda method: seconds[method])


def _known_sizes(relation: Relation, may_know_all: bool) -> Floats:
    """How many attributes are searched of each individual, or each distinct row. If all may be known, a column search
    takes those for known that are certain and harmless."""
    has = relation.rows.has if relation.words is None else relation.words
    known = known_attributes(relation)
    if relation.columns is not None and may_know_all and not relation.columns_with_gaps:
        known = known[(relation.likelihood[known] < 1) | (relation.danger_units[known] > 0)]
    mask = relation.mask(known.tolist())
    found: Floats = np.bitwise_count(has & mask).sum(axis=1, dtype=np.int64).astype(np.float64)
    return found


def _check_method(relation: Relation, method: str, most_known: int | None) -> None:
    if method not in get_args(ScoreMethod):
        raise UnveilError(f"no method is called {method!r}: choose one of {', '.join(get_args(ScoreMethod))}")
    if method == "subset lattice" and len(known_attributes(relation)) > MOST_KNOWABLE:
        raise UnveilError(f"a subset lattice needs at most {MOST_KNOWABLE} attributes with a likelihood above 0")
    if method == "hitting sets" and (most_known is not None or not hitting_sets_apply(relation)):
        raise UnveilError("hitting sets need likelihoods of 0 or 1, no missing dangerous values and no limit on K")
    if method == "column search" and relation.columns is None:
        raise UnveilError("a column search needs a relation made from columns")


def _score_by_lattice(relation: Relation, most_known: int | None, run: Run) -> PrivacyScores:
    """Without distinct rows where every individual has words: finding them takes longer than the lattice."""
    sets = 1 << len(known_attributes(relation))
    try:
        if relation.words is not None:
            found = score_by_lattice(relation, relation.words, relation.words, most_known, run)
        else:
            found = score_by_lattice(relation, relation.rows.has, relation.rows.may, most_known, run)
            found = found[relation.rows.row_of]
        return PrivacyScores(found, found, "subset lattice", sets)
    except KeyboardInterrupt as stop:
        if isinstance(stop, Termination):
            raise
        run.cancelled.clear()
    bounds = search_generators(relation, pack_attributes(relation), run, budget=0)
    of_people = relation.rows.row_of
    return PrivacyScores(bounds.lower[of_people], bounds.upper[of_people], "subset lattice", 0)
