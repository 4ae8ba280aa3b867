"""Made-up people as in febrl's data: names, addresses shared by households, births; a list of them with errors.

Attributes are not independent: a household shares its surname and address, and a suburb nearly always its postcode, and
that its state. An error is a typing mistake, which gives a value that nobody has, or the value of somebody else; some
values are missing. A share of the people on the list is not in the release, but of the same households.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["LinkedFiles", "make_linked_files"]

Column = list[str | None]
_TYPED_WRONG = 0.6  # share of the errors that are typing mistakes


@dataclass(frozen=True)
class LinkedFiles:
    """The columns of a release and of known people, and the row of each person, −1 if outside."""

    released: Mapping[str, Column]
    known: Mapping[str, Column]
    truth: npt.NDArray[np.int64]

    @property
    def outside(self) -> float:
        """The share of people outside."""
        return float((self.truth < 0).mean())


def make_linked_files(
    seed: int, *, rows: int = 3_000, people: int = 1_000, outside: float = 0.0, errors: float = 0.1
) -> LinkedFiles:
    """A release, and people of whom a share is outside and a share of the values is wrong; 5% are missing."""
    rng = np.random.default_rng(seed)
    extra = round(people * outside)
    everybody = _make_population(rng, rows + 4 * extra)
    order = rng.permutation(rows + 4 * extra)
    own = rng.choice(rows, people - extra, replace=False)
    shuffled = rng.permutation(people)
    who = np.concatenate([order[own], order[rows : rows + extra]])[shuffled]
    truth = np.concatenate([own, np.full(extra, -1)])[shuffled]
    released = {name: _with_nulls(rng, values[order[:rows]], 0.02) for name, values in everybody.items()}
    known = {
        name: _with_nulls(rng, _with_errors(rng, values[who], values, errors, name), 0.05)
        for name, values in everybody.items()
    }
    return LinkedFiles(released, known, truth)


def _make_population(rng: np.random.Generator, count: int) -> dict[str, npt.NDArray[np.int64]]:
    household = np.repeat(np.arange(count), rng.integers(1, 5, count))[:count]
    homes = int(household[-1]) + 1
    suburb = _draw_skewed(rng, homes, 600, 0.8)
    postcode = np.where(rng.random(homes) < 0.9, suburb // 2, rng.integers(0, 300, homes))
    return {
        "given_name": _draw_skewed(rng, count, 800, 0.9),
        "surname": _draw_skewed(rng, homes, 3_000, 0.8)[household],
        "street_number": rng.integers(1, 200, homes)[household],
        "street": _draw_skewed(rng, homes, 2_000, 0.6)[household],
        "suburb": suburb[household],
        "postcode": postcode[household],
        "state": (postcode % 7)[household],
        "birth": rng.integers(0, 365 * 80, count),
    }


def _draw_skewed(rng: np.random.Generator, count: int, values: int, power: float) -> npt.NDArray[np.int64]:
    """Values of which few are common and most are rare (Zipf)."""
    chance = 1 / np.arange(1, values + 1) ** power
    return rng.choice(values, count, p=chance / chance.sum())


def _with_errors(
    rng: np.random.Generator, own: npt.NDArray[np.int64], others: npt.NDArray[np.int64], errors: float, name: str
) -> npt.NDArray[np.int64]:
    wrong = rng.random(len(own)) < errors
    typed = wrong & (rng.random(len(own)) < _TYPED_WRONG) & (name != "state")
    found = np.where(wrong, rng.choice(others, len(own)), own)
    return np.where(typed, 10_000_000 + own * 100 + rng.integers(0, 50, len(own)), found)


def _with_nulls(rng: np.random.Generator, values: npt.NDArray[np.int64], share: float) -> Column:
    gone = rng.random(len(values)) < share
    return [None if null else str(value) for value, null in zip(values.tolist(), gone.tolist(), strict=True)]
