"""From which facts does a certain attribute follow? The smallest sets of attributes that imply a target.

K implies x if x ∉ K, at least one individual has K and x, and everybody who has K has or may have x (see
:mod:`unveil.inference.relation`). A *minimal* implying set contains no other one. Sets are tried from the smallest on;
a set is extended as long as somebody with all of it contradicts x, and enough people with all of it have x.

The support of a rule is the number of individuals who have K and x.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unveil.arrays import BitWords, Bools, Floats, Ints
from unveil.errors import UnveilError
from unveil.inference.relation import Relation, unpack_bits
from unveil.run import Run

__all__ = ["Implication", "find_implying_sets"]

_MOST_SETS = 1_000_000
_MOST_CELLS = 1 << 24  # rows × attributes that are looked at together


@dataclass(frozen=True)
class Implication:
    """Whoever has ``known`` has ``target``, too: ``support`` individuals do, and ``unknown`` more have what is known
    and no value where the target belongs."""

    known: tuple[int, ...]
    target: int
    support: int
    unknown: int


def find_implying_sets(
    relation: Relation,
    target: int,
    *,
    most_known: int = 3,
    among: Iterable[int] | None = None,
    least_support: int = 1,
    most_sets: int = _MOST_SETS,
    run: Run | None = None,
) -> list[Implication]:
    """All minimal sets of at most ``most_known`` attributes (of those ``among`` which to look) that imply the target
    and have the support; by size, then by support, largest first.

    >>> rows = Relation.from_sets(["abcd", "abce", "abfg", "bcfg"])
    >>> [(rule.known, rule.support) for rule in find_implying_sets(rows, 2)]
    [((3,), 1), ((4,), 1)]
    """
    if not 0 <= target < relation.attributes:
        raise UnveilError("the target is not an attribute of the relation")
    run, rows = run or Run(), relation.rows
    has, may = (_has_attribute(words, target) for words in (rows.has, rows.may))
    weights: Floats = np.stack([has, ~may, may & ~has]).astype(np.float64)  # who has it, has it not, may have it
    weights *= rows.counts
    found, tried, usable = list[Implication](), 0, _usable(relation, target, among)
    level: dict[tuple[int, ...], Ints] = {}
    lists = _AttributeLists.from_relation(relation)
    support, against, unknown = map(int, weights.sum(axis=1))
    if support >= least_support and not against:
        found.append(Implication((), target, support, unknown))
    elif support >= least_support:
        level[()] = np.arange(len(has))
    for size in range(1, most_known + 1):
        larger: dict[tuple[int, ...], Ints] = {}
        for known, those in level.items():
            run.check()
            later = usable[np.searchsorted(usable, known[-1], "right") :] if known else usable
            tried += len(later)
            if tried > most_sets:
                raise UnveilError(
                    f"more than {most_sets:,} sets would have to be tried; allow fewer known attributes, or ask for "
                    "more support"
                )
            people = lists.add_weights(weights, those)[:, later]
            for a, (support, against, unknown) in zip(later.tolist(), people.T.tolist(), strict=True):
                more = (*known, a)
                if support < least_support or any(more[:k] + more[k + 1 :] not in level for k in range(size - 1)):
                    continue
                if not against:
                    found.append(Implication(more, target, int(support), int(unknown)))
                elif size < most_known:
                    larger[more] = those[_has_attribute(rows.has, a, those)]
        level = larger
        if size == 1:
            usable = np.array(sorted(a for (a,) in level), np.int64)
    return sorted(found, key=lambda one: (len(one.known), -one.support, one.known))


class _AttributeLists(NamedTuple):
    """The attributes of each distinct row, one after the other: those of row i end where those of row i + 1 begin."""

    begins: Ints
    attributes: Ints
    width: int

    @classmethod
    def from_relation(cls, relation: Relation) -> _AttributeLists:
        words, step = relation.rows.has, max(1, _MOST_CELLS // max(1, relation.attributes))
        places = [
            np.nonzero(unpack_bits(words[begin : begin + step], relation.attributes))
            for begin in range(0, len(words), step)
        ]
        lengths = [
            np.bincount(row, minlength=len(words[k * step : (k + 1) * step])) for k, (row, _) in enumerate(places)
        ]
        begins = np.append(0, np.cumsum(np.concatenate([np.empty(0, np.int64), *lengths])))
        attributes = np.concatenate([np.empty(0, np.int64), *(found for _, found in places)])
        return cls(begins.astype(np.int64), attributes, relation.attributes)

    def add_weights(self, weights: Floats, rows: Ints) -> Floats:
        """The weights of those rows that have each attribute, added up, for several weights."""
        lengths = self.begins[rows + 1] - self.begins[rows]
        before = np.cumsum(lengths) - lengths
        place = np.repeat(self.begins[rows] - before, lengths) + np.arange(int(lengths.sum()))
        attributes, who = self.attributes[place], np.repeat(rows, lengths)
        return np.stack([np.bincount(attributes, own[who], self.width) for own in weights])


def _has_attribute(words: BitWords, attribute: int, rows: Ints | slice = slice(None)) -> Bools:
    found: Bools = (words[rows, attribute >> 6] >> np.uint64(attribute & 63) & np.uint64(1)).astype(np.bool_)
    return found


def _usable(relation: Relation, target: int, among: Iterable[int] | None) -> Ints:
    """The attributes that may be known: neither the target nor, in a table, another value of its column."""
    chosen = set(range(relation.attributes)) if among is None else set(among)
    chosen.discard(target)
    if relation.first_attribute is not None:
        column = int(np.searchsorted(relation.first_attribute, target, "right")) - 1
        chosen -= set(range(*relation.values_of(column).indices(relation.attributes)))
    return np.array(sorted(chosen), np.int64)
