"""Kinds of rows: what is common is added up once.

Half of all rows agree with a person in sex, and to say so of each of them takes longer than all else. Rows that are the
same in a few attributes of few values are of one *kind*. A kind is scored once for a person; only rows that also agree
in something rare are scored one by one, and the rest of a kind all have its score. Nothing is left out: best, second
best, deviation and posterior are those over all rows.

Which attributes make kinds: one after the other, those in which most rows agree, as long as each adds fewer kinds than
it saves rows to be touched. Ratings make one kind, of no attribute.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unveil.linkage.link.paired import Ints, Marks, Paired, Postings, postings

__all__ = ["Kinds", "kinds"]

_TRIED = 16  # attributes that are tried


@dataclass(frozen=True, eq=False)
class Kinds:
    """``kind[k]`` is the kind of row class k, by the attributes in ``common``; ``common_lists`` are postings of kinds,
    ``rare_lists`` those of row classes in all other attributes."""

    common: Marks
    kind: Ints
    common_lists: Postings
    rare_lists: Postings

    @property
    def count(self) -> int:
        """How many kinds."""
        return int(self.kind.max()) + 1 if len(self.kind) else 0

    def work(self, paired: Paired) -> Ints:
        """How many steps it takes to score all rows for each class of people."""
        each = sum(_lengths(paired, lists) for lists in (self.common_lists, self.rare_lists))
        total = np.append(0, np.cumsum(each))
        found: Ints = total[paired.people.indptr[1:]] - total[paired.people.indptr[:-1]] + self.count
        return found


def kinds(paired: Paired) -> Kinds:
    """The kinds that make scoring cheapest."""
    rows, people = paired.rows, paired.people
    saved = np.bincount(people.attribute, _lengths(paired, paired.postings), people.c) / max(1, people.n)
    common, kind, count = np.zeros(rows.c, np.bool_), np.zeros(rows.n, np.int64), min(1, rows.n)
    for i in np.argsort(-saved, kind="stable")[:_TRIED].tolist():
        more = np.unique(kind * (len(rows.values[i]) + 1) + _column(paired, i) + 1, return_inverse=True)[1]
        if rows.n and more.max() + 1 - count < saved[i]:
            common[i], kind, count = True, more.astype(np.int64), int(more.max()) + 1
    some = np.zeros(count, np.int64)
    some[kind] = np.arange(rows.n)
    shared = postings(rows.only(some), paired.base, paired.nulls, common)
    return Kinds(common, kind, shared, postings(rows, paired.base, paired.nulls, ~common))


def _lengths(paired: Paired, lists: Postings) -> Ints:
    """How long the postings are that agree with each known value, or have none, beside ``people.attribute``."""
    begin, end = paired.ends_in(lists)
    alike = np.bincount(paired.alike.owner, end - begin, paired.base[-1]).astype(np.int64)
    found: Ints = alike[paired.places] + np.diff(lists.missing_indptr)[paired.people.attribute]
    return found


def _column(paired: Paired, attribute: int) -> Ints:
    """The codes of one attribute by row class, −1 where null."""
    codes = np.full(paired.rows.n, -1, np.int64)
    inside = paired.postings.indptr[paired.base[attribute] : paired.base[attribute + 1] + 1]
    if len(inside) > 1:
        own = np.repeat(np.arange(len(inside) - 1), np.diff(inside))
        codes[paired.postings.classes[inside[0] : inside[-1]]] = own
    return codes
