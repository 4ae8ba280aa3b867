"""Classes of a release, seen from a known population.

An attacker who does not know that a person is in the data must pick them out of the whole population (the journalist
attacker). A row that is unique in the release gives its person away only if it is unique in the population too, and a
row that fits F people of the population is matched to the right person with probability 1/F. k-map (Sweeney 2001) asks
for the smallest F. *Presence* (δ-presence: Nergiz, Atzori and Clifton, *Hiding the presence of individuals from shared
databases*, 2007) asks for the probability that a person of the population is in the release at all: f of the F people
who fit a class of f rows are.

A row fits a person if every label may stand for what is known about the person
(:mod:`unveil.classes.candidate_classes`). A suppressed value fits everybody, a generalised one everybody it covers. If
people fit several classes, each row is assumed equally likely to belong to anyone who fits it, and presence becomes an
estimate.

Everybody in the release is part of the population. If a population file lacks some of them, fewer people fit a class
than it has rows; F is then set to the number of rows, which does not understate the risk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unveil.arrays import Ints
from unveil.class_sizes import ClassSizes
from unveil.classes.candidate_classes import find_candidate_classes
from unveil.errors import UnveilError
from unveil.release.codes import Codes
from unveil.release.label_matching import LabelMatcher, raw_value_matcher
from unveil.run import Run

__all__ = ["PopulationMatches", "match_population"]


@dataclass(frozen=True, eq=False)
class PopulationMatches:
    """The rows of a release, matched with a known population.

    ``class_sizes`` are the rows by how many people of the population they fit. ``uniques`` of the ``sample_uniques``,
    the rows that are unique in the release, fit one person only. ``presence`` is δ: the lowest and highest probability
    that a person of the population is in the release. ``rows_without_enough_people`` are in classes that fit fewer
    people than they have rows. ``has_ambiguous_people``: whether anybody fits several classes.
    """

    class_sizes: ClassSizes
    sample_uniques: int
    uniques: int
    presence: tuple[float, float]
    population: int
    rows_without_enough_people: int = 0
    has_ambiguous_people: bool = False

    @property
    def share(self) -> float:
        """The share of the release's unique rows that are unique in the population; 0 without unique rows."""
        return self.uniques / self.sample_uniques if self.sample_uniques else 0.0

    @property
    def k_map(self) -> int:
        """k: the fewest people that any row fits."""
        return self.class_sizes.smallest_size

    @property
    def average_risk(self) -> float:
        """The average of 1/F over the rows."""
        return self.class_sizes.expected_reidentifications / self.class_sizes.total


def match_population(
    people: Sequence[Codes], released: Sequence[Codes], interpret: Sequence[LabelMatcher], run: Run | None = None
) -> PopulationMatches:
    """Match the quasi-identifiers of the population with those of the release, column by column."""
    fits = find_candidate_classes(people, released, [raw_value_matcher(read) for read in interpret], run)
    inside = np.bincount(fits.row_class)
    many = np.bincount(fits.person_profile, minlength=len(fits.indptr) - 1)
    everybody = np.zeros(len(inside), np.int64)
    np.add.at(everybody, fits.classes, np.repeat(many, np.diff(fits.indptr)))
    return summarise_matches(inside, everybody, fits.indptr, fits.classes, many)


def summarise_matches(inside: Ints, everybody: Ints, indptr: Ints, classes: Ints, many: Ints) -> PopulationMatches:
    """Summarise matches from each class's rows (``inside``) and fitting people (``everybody``). The ``many[q]`` people
    of profile q fit the classes ``classes[indptr[q] : indptr[q + 1]]``."""
    seen = inside > 0
    if not (seen & (everybody > 0)).any():
        raise UnveilError("nobody in the population fits any row; give a file with the same columns and categories")
    lacking = seen & (everybody < inside)
    fitting_each = np.maximum(everybody, inside)
    of_row = np.divide(inside, fitting_each, out=np.zeros(len(inside)), where=fitting_each > 0)
    some = np.flatnonzero(many)
    first, width = indptr[:-1][some], np.diff(indptr)[some]
    present = np.zeros(len(some))
    fits = width > 0
    begins = np.append(0, np.cumsum(width[fits]))
    at = np.repeat(first[fits] - begins[:-1], width[fits]) + np.arange(begins[-1])
    present[fits] = np.minimum(1.0, np.add.reduceat(of_row[classes[at]], begins[:-1])) if fits.any() else 0.0
    return PopulationMatches(
        class_sizes=ClassSizes.from_classes(fitting_each[seen], inside[seen]),
        sample_uniques=int((inside == 1).sum()),
        uniques=int((seen & (fitting_each == 1)).sum()),
        presence=(float(present.min(initial=1.0)), float(present.max(initial=0.0))),
        population=int(many.sum()),
        rows_without_enough_people=int(inside[lacking].sum()),
        has_ambiguous_people=bool((width > 1).any()),
    )
