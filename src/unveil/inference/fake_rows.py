"""Holes of a relation, and how to fill them with people who do not exist.

A set M of attributes is *free* if none of them follows from the others: x ∉ closure(M ∖ x) for all x ∈ M. So for every
x somebody has the others without x. Free sets are the minimal generators of closed sets, and the minimal non-faces,
which nobody has all of: the *holes* (chapter 6 of *A privacy score for anonymous databases*; its theorem 6.4 is about
free sets). A hole is filled (section 6.2 there)

1. by giving somebody all of it, which changes what is said about a real individual and may make inferences worse, or
2. by adding an individual who has it and nothing else. Afterwards nothing follows from any part of the hole (corollary
   6.6), and nobody's exact score is higher than before (theorem 6.5, which holds for any individual added).

A table is filled by rows: a fake row shares the facts that a value follows from, and has another value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from unveil.arrays import Int32s, Ints
from unveil.errors import UnveilError
from unveil.grouping import class_ids
from unveil.inference.relation import Relation
from unveil.run import Run

__all__ = ["FakeRows", "add_individual", "fill_with_fakes", "give_attributes", "is_free_set"]


def is_free_set(relation: Relation, attributes: Iterable[int]) -> bool:
    """Whether none of these attributes follows from the others.

    >>> rows = Relation.from_sets(["ACE", "ABD", "BCF"])
    >>> is_free_set(rows, {0, 1, 2}), is_free_set(rows, {0, 4})  # ABC is a hole; A follows from E
    (True, False)
    """
    whole = frozenset(attributes)
    return not any(x in relation.closure(whole - {x}) for x in whole)


def give_attributes(relation: Relation, person: int, attributes: Iterable[int]) -> Relation:
    """The relation after an individual got these attributes as well: the first filling."""
    if relation.words is None:
        raise UnveilError("people in a table have one value per column; give attributes to individuals with sets")
    words = relation.words.copy()
    words[person] |= relation.mask(attributes)
    return replace(relation, words=words)


def add_individual(relation: Relation, attributes: Iterable[int]) -> Relation:
    """The relation with one more individual, the last, who has these attributes: the second filling.

    >>> filled = add_individual(Relation.from_sets(["ACE", "ABD", "BCF"]), {0, 1, 2})
    >>> [filled.inferred_attributes(k) for k in ({0}, {0, 1})]
    [frozenset(), frozenset()]
    """
    if relation.words is None:
        raise UnveilError("a person in a table needs a value per column; add individuals to sets of attributes")
    words = np.vstack([relation.words, relation.mask(attributes)])
    return replace(relation, people=relation.people + 1, words=words)


# ---- tables ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FakeRows:
    """Rows about nobody: the code of every fact (a row of ``facts`` each), and the sensitive value."""

    facts: Int32s
    values: Int32s


@dataclass(frozen=True, eq=False)
class _CertainCells:
    """Facts that a value follows from: a row of codes each, −1 where nothing is known, and the value."""

    facts: Int32s
    values: Int32s


def fill_with_fakes(
    columns: Sequence[Int32s],
    sensitive: Int32s,
    *,
    facts: int,
    fewest: int = 1,
    rng: np.random.Generator,
    run: Run | None = None,
) -> FakeRows:
    """Fake rows after which no sensitive value of a real row follows from at most so many facts that at least
    ``fewest`` rows share. Columns have codes from 0, the sensitive one also −1 where it is missing; a row is a person.
    Facts that a fake does not need are those of a random real row.

    Every fake contradicts as many inferences as fit together, taken greedily; there may be a way with fewer fakes.
    Contradicted inferences stay so, but a fake may be the one too many with whom ``fewest`` rows share some facts, so
    the rows are looked at again until nothing is certain.
    """
    run, rows, width = run or Run(), len(sensitive), len(columns)
    made = np.empty((0, width), np.int32), np.empty(0, np.int32)
    while True:
        together = [np.append(column, made[0][:, c]).astype(np.int32) for c, column in enumerate(columns)]
        values = np.append(sensitive, made[1]).astype(np.int32)
        cells = _find_certain_cells(together, values, rows, facts, fewest, run)
        if not len(cells.values):
            return FakeRows(*made)
        fakes = _contradict_cells(cells, np.bincount(sensitive[sensitive >= 0]), run)
        real = np.stack([column[rng.integers(rows, size=len(fakes.values))] for column in columns], axis=1)
        filled = np.where(fakes.facts < 0, real, fakes.facts).astype(np.int32)
        made = np.vstack([made[0], filled]), np.append(made[1], fakes.values)


def _find_certain_cells(
    columns: Sequence[Int32s], values: Int32s, real: int, facts: int, fewest: int, run: Run
) -> _CertainCells:
    """All facts from which the value of one of the first ``real`` rows follows; nothing if all rows have that value."""
    there = np.flatnonzero(values >= 0)
    found, follows = [np.empty((0, len(columns)), np.int32)], [np.empty(0, np.int32)]
    most = min(facts, len(columns)) if len(np.unique(values[there])) > 1 else 0
    for size in range(1, most + 1):
        for known in combinations(range(len(columns)), size):
            run.check()
            cell, _ = class_ids([columns[c] for c in known], len(values))
            sharing = np.bincount(cell)
            low, high = np.full(len(sharing), values.max()), np.full(len(sharing), -1, np.int32)
            np.minimum.at(low, cell[there], values[there])
            np.maximum.at(high, cell[there], values[there])
            has_real = np.bincount(cell[:real][values[:real] >= 0], minlength=len(sharing)) > 0
            certain = np.flatnonzero((low == high) & (sharing >= fewest) & has_real)
            member = np.empty(len(sharing), np.int64)
            member[cell] = np.arange(len(cell))
            rows = np.full((len(certain), len(columns)), -1, np.int32)
            for c in known:
                rows[:, c] = columns[c][member[certain]]
            found.append(rows)
            follows.append(high[certain])
    return _CertainCells(np.vstack(found), np.concatenate(follows))


def _contradict_cells(cells: _CertainCells, counts: Ints, run: Run) -> FakeRows:
    """Rows, with −1 where any fact will do, of which each shares the facts of some cells and has another value. A row
    begins with one cell and takes in others that fit, those first that need the fewest more facts."""
    left = np.ones(len(cells.values), np.bool_)
    rows, values = list[Int32s](), list[int]()
    for begin in np.argsort((cells.facts >= 0).sum(axis=1), kind="stable").tolist():
        if not left[begin]:
            continue
        run.check()
        row, value = cells.facts[begin], _another_value(int(cells.values[begin]), counts)
        some = np.flatnonzero(left & (cells.values != value))
        while True:
            facts = cells.facts[some]
            fits = ((facts < 0) | (row < 0) | (facts == row)).all(axis=1)
            some, facts = some[fits], facts[fits]
            more = ((facts >= 0) & (row < 0)).sum(axis=1)
            if not more.any():
                break
            row = np.where(row < 0, facts[np.argmin(np.where(more > 0, more, len(row) + 1))], row)
        left[some] = False
        rows.append(row)
        values.append(value)
    return FakeRows(np.array(rows, np.int32), np.array(values, np.int32))


def _another_value(value: int, counts: Ints) -> int:
    """The most frequent of the other values."""
    others = counts.copy()
    others[value] = -1
    return int(np.argmax(others))
