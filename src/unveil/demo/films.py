"""Made-up ratings: who gave which film how many stars, and when, with people replaced by numbers.

Nobody in it exists. It imitates what makes people recognisable by what they watched:

- *popularity* is skewed: everybody has seen a few films, most films have been seen by few;
- *tastes*: people like some genres and leave others alone, so that nobody's list is a random one;
- most people rate a handful of films and some very many;
- stars follow the film and the person, who is kind or strict, more than chance.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import numpy as np

from unveil.errors import UnveilError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["films"]

_GENRES = 8
_RATED = 12.0  # films in the middle of all lists
_FEWEST = 3
_DAYS = 700
_FIRST = dt.date(2023, 1, 1)


def films(rng: np.random.Generator, people: int = 500, titles: int = 200) -> pa.Table:
    """Ratings with columns person, film, stars and date, in random order; nobody rates a film twice."""
    import pyarrow as pa

    if people < 1 or titles < 1:
        raise UnveilError("films: the numbers of people and of titles must be at least 1")
    fame = 1 / np.arange(1, titles + 1) ** 0.8
    genre = rng.integers(0, _GENRES, titles)
    taste = rng.dirichlet(np.full(_GENRES, 0.5), people)
    length = np.clip(rng.lognormal(np.log(_RATED), 0.7, people).astype(np.int64), _FEWEST, (titles + 1) // 2)
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
            "date": [(_FIRST + dt.timedelta(int(d))).isoformat() for d in day[order]],
        }
    )
