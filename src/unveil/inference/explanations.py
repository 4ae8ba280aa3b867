"""Why is an individual exposed? The facts K about them, and what follows from these.

Only the attributes that the individual has matter, so the other rows are compared with theirs once, and sets are tried
from the smallest on. A set that contains one with the same closure is no better than that, so only *generators* are
kept: sets that no attribute can be removed from without losing part of the closure. Three of them are picked:

- the **shortest**: the fewest facts from which anything dangerous follows, of several the one with the largest w;
- the **likeliest**: the largest lk, of several the one with the largest w;
- the **most dangerous**: the largest w, which is the individual's privacy score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unveil.arrays import Bools, Ints
from unveil.inference.relation import Relation, unpack_bits
from unveil.run import Run

__all__ = ["Explanation", "Inference", "explain"]

_MOST_WORK = 50_000_000


@dataclass(frozen=True)
class Inference:
    """From ``known`` follows ``learned``. ``people`` individuals have what is known."""

    known: tuple[int, ...]
    learned: tuple[int, ...]
    likelihood: float
    danger: float
    weight: float
    people: int


class Explanation(NamedTuple):
    """Three inferences about one individual; None if nothing dangerous follows from any facts about them.
    ``is_complete`` unless trying all sets would have taken too much: then these are the best of the smallest sets."""

    shortest: Inference | None
    likeliest: Inference | None
    most_dangerous: Inference | None
    is_complete: bool


def explain(
    relation: Relation,
    person: int,
    *,
    most_known: int | None = None,
    most_work: int = _MOST_WORK,
    run: Run | None = None,
) -> Explanation:
    """What follows about one individual, from the fewest facts, the likeliest and the most dangerous ones.

    ``most_work`` limits how many rows are looked at, over all sets.

    >>> found = explain(Relation.from_sets(["abcd", "abce", "abfg", "bcfg"]), 0)
    >>> found.shortest.known, found.shortest.learned, found.most_dangerous.weight
    ((), (1,), 0.75)
    """
    found, complete = list[Inference](), True
    for inference in _inferences(relation, person, most_known, run or Run(), most_work):
        if inference is None:
            complete = False
        else:
            found.append(inference)
    if not found:
        return Explanation(None, None, None, complete)

    def best(key: Callable[[Inference], tuple[float, ...]]) -> Inference:
        return min(found, key=lambda one: (*key(one), one.known))

    return Explanation(
        best(lambda one: (len(one.known), -one.weight)),
        best(lambda one: (-one.likelihood, -one.weight, len(one.known))),
        best(lambda one: (-one.weight, len(one.known))),
        complete,
    )


def _inferences(
    relation: Relation, person: int, most_known: int | None, run: Run, most_work: int
) -> Iterator[Inference | None]:
    """Every inference from a generator with positive likelihood and danger, smaller sets first; None at the end if
    there were too many sets."""
    rows = relation.rows
    own = rows.row_of[person]
    has, may = unpack_bits(rows.has, relation.attributes), unpack_bits(rows.may, relation.attributes)
    facts = [a for a in np.flatnonzero(has[own]).tolist() if relation.likelihood[a] > 0]
    level: dict[tuple[int, ...], Ints] = {(): np.arange(len(has))}
    work = 0
    while level:
        for known, those in level.items():
            inference = _infer(relation, has, may, known, those)
            if inference is not None:
                yield inference
        if len(next(iter(level))) == (len(facts) if most_known is None else most_known):
            return
        larger: dict[tuple[int, ...], Ints] = {}
        for known, those in level.items():
            run.check()
            for fact in facts:
                if (known and fact <= known[-1]) or work > most_work:
                    continue
                more, both = (*known, fact), those[has[those, fact]]
                work += len(those) + 1
                parts = (more[:k] + more[k + 1 :] for k in range(len(more)))
                if all(part in level and len(level[part]) > len(both) for part in parts):
                    larger[more] = both
        level = larger
        if work > most_work:
            yield None
            return


def _infer(relation: Relation, has: Bools, may: Bools, known: tuple[int, ...], those: Ints) -> Inference | None:
    """What those who have K share; None if nothing dangerous follows."""
    shared: Bools = np.asarray(may[those].all(axis=0) & has[those].any(axis=0))
    shared[list(known)] = False
    learned = np.flatnonzero(shared).tolist()
    danger, likelihood = relation.danger_of(learned), relation.likelihood_of(known)
    if danger == 0:
        return None
    people = int(relation.rows.counts[those].sum())
    return Inference(known, tuple(learned), likelihood, danger, likelihood * danger, people)
