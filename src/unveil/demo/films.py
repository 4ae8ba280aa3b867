"""Invented film ratings: who gave which film how many stars, and when, with people replaced by numbers.

Nobody in it exists. It imitates what makes people recognisable by the films they watched:

- *popularity* is skewed: a few films have been seen by everybody, most films by few;
- *tastes*: people like some genres and avoid others, so nobody's list is random;
- *activity*: most people rate a handful of films, some rate very many;
- *stars* depend on the film and on whether the person is generous or strict, more than on chance.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import numpy as np

from unveil.errors import UnveilError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["make_ratings"]

_GENRES = 8
_TYPICAL_RATINGS = 12.0  # median number of ratings per person
_MIN_RATINGS = 3
_DAYS = 700
_FIRST_DAY = dt.date(2023, 1, 1)


def make_ratings(rng: np.random.Generator, people: int = 500, titles: int = 200) -> pa.Table:
    """Ratings with columns person, film, stars and date, in random order; nobody rates a film twice."""
    import pyarrow as pa

    if people < 1 or titles < 1:
        raise UnveilError("films: the numbers of people and of titles must be at least 1")
    fame = 1 / np.arange(1, titles + 1) ** 0.8
    genre = rng.integers(0, _GENRES, titles)
    taste = rng.dirichlet(np.full(_GENRES, 0.5), people)
    length = np.clip(
        rng.lognormal(np.log(_TYPICAL_RATINGS), 0.7, people).astype(np.int64), _MIN_RATINGS, (titles + 1) // 2
    )
    quality, kindness = rng.normal(3.5, 0.7, titles), rng.normal(0.0, 0.5, people)
    who, what = list[int](), list[int]()
    for number in range(people):
        weight = fame * (0.1 + taste[number, genre])
        chosen = rng.choice(titles, length[number], replace=False, p=weight / weight.sum())
        who += [number] * len(chosen)
        what += chosen.tolist()
    person, film = np.array(who), np.array(what)
    stars = np.clip(np.rint(quality[film] + kindness[person] + rng.normal(0, 0.6, len(film))), 1, 5).astype(np.int64)
    joined = rng.integers(0, _DAYS - 100, people)
    day = joined[person] + rng.integers(0, 100, len(film))
    name, title = rng.permutation(people), rng.permutation(titles)
    order = rng.permutation(len(film))
    return pa.table(
        {
            "person": (1000 + name[person])[order],
            "film": (100 + title[film])[order],
            "stars": stars[order],
            "date": [(_FIRST_DAY + dt.timedelta(int(d))).isoformat() for d in day[order]],
        }
    )
