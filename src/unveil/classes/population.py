"""Classes of a release, seen from a population that is known.

Whoever does not know that a person is in the data must tell them from everybody of the population (the journalist, as
this attacker is called). A row that is alone in the release is given away only if it is alone in the population too,
and a row that F people of the population fit is found with probability 1/F. k-map (Sweeney 2001) asks for the smallest
F; *presence* (δ-presence: Nergiz, Atzori and Clifton, *Hiding the presence of individuals from shared databases*, 2007)
for the probability that somebody of the population is in the release at all: of those who fit a class of f rows, f of F
are.

A row fits a person when every label may stand for what is known of the person (:mod:`unveil.classes.fitting`): a value
that was taken out fits everybody, a generalised one all that it covers. Where somebody fits several classes, each row
is taken to be equally likely anybody's who fits it, and the presence becomes an estimate.

Everybody in the release is one of the population. Where a file lacks some of them, fewer people fit a class than it has
rows; F is then taken to be the number of rows, which understates no risk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unveil.classes.fitting import fitting
from unveil.crowds import Crowds
from unveil.errors import UnveilError
from unveil.grouping import Ints
from unveil.release.codes import Codes
from unveil.release.meaning import Interpret, raw
from unveil.run import Run

__all__ = ["InPopulation", "fitting_people", "in_population"]


@dataclass(frozen=True, eq=False)
class InPopulation:
    """The rows of a release in a population that is known."""

    crowds: Crowds
    """The rows by how many people of the population fit them."""
    sample_uniques: int
    uniques: int
    """How many of the rows that are alone in the release fit one person only."""
    presence: tuple[float, float]
    """δ: the lowest and the highest probability that somebody of the population is in the release."""
    population: int
    lacking: int = 0
    """In classes that fewer people fit than they have rows: how many rows they are."""
    several: bool = False
    """Whether somebody fits several classes."""

    @property
    def share(self) -> float:
        """The share of the release's unique rows that are unique in the population; 0 if there are none."""
        return self.uniques / self.sample_uniques if self.sample_uniques else 0.0

    @property
    def k_map(self) -> int:
        """k: the fewest people of the population that a row fits."""
        return self.crowds.smallest

    @property
    def highest(self) -> float:
        """The highest probability 1/F with which a row is found."""
        return 1 / self.crowds.smallest

    @property
    def average(self) -> float:
        """The average of 1/F over the rows."""
        return self.crowds.found / self.crowds.total


def fitting_people(
    people: Sequence[Codes], released: Sequence[Codes], interpret: Sequence[Interpret], run: Run | None = None
) -> InPopulation:
    """The same from the quasi-identifiers of the population's people and of the release's rows, column by column."""
    fits = fitting(people, released, [raw(read) for read in interpret], run)
    inside = np.bincount(fits.row_class)
    many = np.bincount(fits.spot, minlength=len(fits.indptr) - 1)
    everybody = np.zeros(len(inside), np.int64)
    np.add.at(everybody, fits.classes, np.repeat(many, np.diff(fits.indptr)))
    return in_population(inside, everybody, fits.indptr, fits.classes, many)


def in_population(inside: Ints, everybody: Ints, indptr: Ints, classes: Ints, many: Ints) -> InPopulation:
    """From ``inside`` rows and ``everybody`` who fits, class by class; ``many`` people each fit the ``classes`` from
    ``indptr`` on."""
    seen = inside > 0
    if not (seen & (everybody > 0)).any():
        raise UnveilError("nobody of the population fits any row; give a file with the same columns and categories")
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
    return InPopulation(
        crowds=Crowds.of_classes(fitting_each[seen], inside[seen]),
        sample_uniques=int((inside == 1).sum()),
        uniques=int((seen & (fitting_each == 1)).sum()),
        presence=(float(present.min(initial=1.0)), float(present.max(initial=0.0))),
        population=int(many.sum()),
        lacking=int(inside[lacking].sum()),
        several=bool((width > 1).any()),
    )
