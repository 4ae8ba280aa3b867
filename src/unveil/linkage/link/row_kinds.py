"""Kinds of rows: adding up what many rows have in common only once.

Half of all rows agree with a person in sex, and adding that to each of them would take longer than everything else.
Rows that are equal in a few attributes with few values form one *kind*. A kind is scored once per person. Only rows
that also agree in something rare are scored one by one; the other rows of a kind share its score. Nothing is
approximated: best, second best, deviation and posterior are those over all rows.

Kinds are built from attributes one after the other, those in which most rows agree first, as long as an attribute adds
fewer kinds than it saves rows to visit. Ratings form one kind, without attributes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unveil.arrays import Ints
from unveil.linkage.link.file_pair import ClassPostings, FilePair, class_postings

__all__ = ["RowKinds", "choose_row_kinds"]

_MAX_TRIED = 16  # attributes tried, at most


@dataclass(frozen=True, eq=False)
class RowKinds:
    """``kind[k]`` is the kind of row class k by the common attributes. ``common_lists`` are the postings of kinds in
    these attributes, ``rare_lists`` those of row classes in all others."""

    kind: Ints
    common_lists: ClassPostings
    rare_lists: ClassPostings

    @property
    def count(self) -> int:
        """Number of kinds."""
        return int(self.kind.max()) + 1 if len(self.kind) else 0

    def work(self, file_pair: FilePair) -> Ints:
        """Number of steps needed to score all rows for each class of people."""
        each = sum(_posting_lengths(file_pair, lists) for lists in (self.common_lists, self.rare_lists))
        total = np.append(0, np.cumsum(each))
        found: Ints = total[file_pair.people.indptr[1:]] - total[file_pair.people.indptr[:-1]] + self.count
        return found


def choose_row_kinds(file_pair: FilePair) -> RowKinds:
    """Choose the kinds that make scoring cheapest."""
    rows, people = file_pair.rows, file_pair.people
    saved = np.bincount(people.attribute, _posting_lengths(file_pair, file_pair.postings), people.c) / max(1, people.n)
    common, kind, count = np.zeros(rows.c, np.bool_), np.zeros(rows.n, np.int64), min(1, rows.n)
    for i in np.argsort(-saved, kind="stable")[:_MAX_TRIED].tolist():
        more = np.unique(kind * (len(rows.values[i]) + 1) + _attribute_codes(file_pair, i) + 1, return_inverse=True)[1]
        if rows.n and more.max() + 1 - count < saved[i]:
            common[i], kind, count = True, more.astype(np.int64), int(more.max()) + 1
    some = np.zeros(count, np.int64)
    some[kind] = np.arange(rows.n)
    shared = class_postings(rows.select(some), file_pair.base, file_pair.nulls, common)
    return RowKinds(kind, shared, class_postings(rows, file_pair.base, file_pair.nulls, ~common))


def _posting_lengths(file_pair: FilePair, lists: ClassPostings) -> Ints:
    """For each known value, beside ``people.attribute``, the number of postings that agree with it or lack the
    attribute."""
    begin, end = file_pair.posting_ends(lists)
    alike = np.bincount(file_pair.alike.owner, end - begin, file_pair.base[-1]).astype(np.int64)
    found: Ints = alike[file_pair.value_places] + np.diff(lists.missing_indptr)[file_pair.people.attribute]
    return found


def _attribute_codes(file_pair: FilePair, attribute: int) -> Ints:
    """The codes of one attribute by row class, −1 where null."""
    codes = np.full(file_pair.rows.n, -1, np.int64)
    inside = file_pair.postings.indptr[file_pair.base[attribute] : file_pair.base[attribute + 1] + 1]
    if len(inside) > 1:
        own = np.repeat(np.arange(len(inside) - 1), np.diff(inside))
        codes[file_pair.postings.classes[inside[0] : inside[-1]]] = own
    return codes
