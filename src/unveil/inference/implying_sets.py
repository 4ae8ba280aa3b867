"""From which facts does a certain attribute follow? The smallest sets of attributes that imply a target.

K implies x if x ∉ K, at least one individual has K and x, and everybody who has K has or may have x (see
:mod:`unveil.inference.relation`). A *minimal* implying set contains no other one. Sets are tried from the smallest on;
a set is extended as long as somebody with all of it contradicts x, and enough people with all of it have x.

The support of a rule is the number of individuals who have K and x.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from unveil.arrays import Bools, Ints
from unveil.errors import UnveilError
from unveil.inference.relation import Relation, unpack_bits
from unveil.run import Run

__all__ = ["Implication", "find_implying_sets"]

_MOST_SETS = 1_000_000


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
    has, may = (unpack_bits(words, relation.attributes) for words in (relation.rows.has, relation.rows.may))
    counts, run = relation.rows.counts, run or Run()
    yes, no, unknown = has[:, target], ~may[:, target], may[:, target] & ~has[:, target]
    usable = _usable(relation, target, among)
    found, tried = list[Implication](), 0
    level: dict[tuple[int, ...], Bools] = {(): np.ones(len(has), np.bool_)}
    for size in range(most_known + 1):
        larger: dict[tuple[int, ...], Bools] = {}
        for known, those in level.items():
            run.check()
            support = _count(counts, those & yes)
            if support < least_support:
                continue
            if not (those & no).any():
                found.append(Implication(known, target, support, _count(counts, those & unknown)))
                continue
            if size == most_known:
                continue
            for a in usable:
                if known and a <= known[-1]:
                    continue
                tried += 1
                if tried > most_sets:
                    raise UnveilError(
                        f"more than {most_sets:,} sets would have to be tried; allow fewer known attributes"
                    )
                more = (*known, a)
                if all(more[:k] + more[k + 1 :] in level for k in range(size)):
                    larger[more] = those & has[:, a]
        implying = {one.known for one in found}
        level = {k: those for k, those in larger.items() if not _contains_one(k, implying)}
    return sorted(found, key=lambda one: (len(one.known), -one.support, one.known))


def _usable(relation: Relation, target: int, among: Iterable[int] | None) -> list[int]:
    """The attributes that may be known: neither the target nor, in a table, another value of its column."""
    chosen = set(range(relation.attributes)) if among is None else set(among)
    chosen.discard(target)
    if relation.first_attribute is not None:
        column = int(np.searchsorted(relation.first_attribute, target, "right")) - 1
        chosen -= set(range(*relation.values_of(column).indices(relation.attributes)))
    return sorted(chosen)


def _contains_one(known: tuple[int, ...], implying: set[tuple[int, ...]]) -> bool:
    return any(known[:k] + known[k + 1 :] in implying for k in range(len(known)))


def _count(counts: Ints, those: Bools) -> int:
    return int(counts[those].sum())
