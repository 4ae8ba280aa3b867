"""A rehearsal of the attack on the release itself: stand-ins whose own row is known.

How much agreement means that somebody is in the release? Multiplying what each attribute says would be right if
attributes were independent, but they are not: two people of one household share their surname and their whole address,
and a suburb tells the postcode. The release shows how alike different people are. Some of its rows are taken out and
looked for among the others: they are *stand-ins* for people outside (if a person has several rows, all are taken out
and one is looked for). Other rows stay and are looked for as well:
stand-ins for people inside. What is known of a stand-in is their row with as many errors, and as many values missing,
as in the file of known people.

**Assumption.** People outside the release are as alike to those inside as these are to each other. A release that is
all of one town says little about how well somebody from another town fits it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.arrays import Bools, Floats, Int32s, Ints
from unveil.grouping import group_people
from unveil.linkage.link.file_pair import FilePair, pair_other_people
from unveil.linkage.records import Records

__all__ = ["Rehearsal", "rehearse"]

_HELD_OUT = 0.1  # share of the rows taken out at a time, at most
_TRIES = 4  # values drawn to find one that differs
KEPT, REPLACED, UNSEEN, UNKNOWN = range(4)


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """Stand-ins and the rows they are looked for in. Stand-in k is ``inside`` or was taken out; ``changes[k, i]`` says
    what became of attribute i: 0 as in the row, 1 replaced by the value of another row, 2 by a value that no row has, 3
    not known. They were drawn with the rates ``replaced`` and ``unseen``."""

    file_pair: FilePair
    inside: Bools
    changes: npt.NDArray[np.int8]
    replaced: Floats
    unseen: Floats

    def weights(self, replaced: Floats, unseen: Floats) -> Floats:
        """How much each stand-in counts if errors are of these rates instead; 1/2 in total for those inside, and for
        those outside."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = [
                (1 - replaced - unseen) / (1 - self.replaced - self.unseen),
                np.where(self.replaced > 0, replaced / self.replaced, 0.0),
                np.where(self.unseen > 0, unseen / self.unseen, 0.0),
                np.ones(len(replaced)),
            ]
        found: Floats = np.choose(self.changes, [np.broadcast_to(r, self.changes.shape) for r in ratios]).prod(axis=1)
        for side in (self.inside, ~self.inside):
            found[side] /= 2 * found[side].sum()
        return found


def rehearse(
    file_pair: FilePair, replaced: Floats, unseen: Floats, size: int, rng: np.random.Generator
) -> list[Rehearsal]:
    """About ``size`` stand-ins inside and as many outside, with errors of these rates. If the release is small, several
    rehearsals with different rows taken out make up the number."""
    people = _rows_by_person(file_pair)
    count = len(people.indptr) - 1
    out = max(1, min(size, int(count * _HELD_OUT)))
    order, found = rng.permutation(count), []
    for start in range(0, min(size, count - count % out), out):
        held = order[start : start + out]
        stay = rng.choice(np.concatenate([order[:start], order[start + out :]]), min(out, count - out), replace=False)
        found.append(_rehearse_once(file_pair, people, held, stay, replaced, unseen, rng))
    return found


class _RowsByPerson(NamedTuple):
    """Person k has rows of the classes ``row_classes[indptr[k] … indptr[k + 1]]``, whatever the order of the rows."""

    indptr: Ints
    row_classes: Ints

    def all_rows(self, people: Ints) -> Ints:
        """The classes of all rows of these people."""
        taken = np.zeros(len(self.indptr) - 1, np.bool_)
        taken[people] = True
        return self.row_classes[np.repeat(taken, np.diff(self.indptr))]

    def random_rows(self, people: Ints, rng: np.random.Generator) -> Ints:
        """The class of a random row of each of these people."""
        size = np.diff(self.indptr)[people]
        place = rng.integers(size) if size.max(initial=1) > 1 else np.zeros(len(people), np.int64)
        found: Ints = self.row_classes[self.indptr[people] + place]
        return found


def _rows_by_person(file_pair: FilePair) -> _RowsByPerson:
    """The rows of everybody in the release: one row each, unless subjects are known."""
    if file_pair.subjects is None:
        by_class = np.repeat(np.arange(file_pair.rows.n), file_pair.row_sizes)
        return _RowsByPerson(np.arange(file_pair.row_count + 1), by_class)
    kind, owner = group_people(file_pair.row_class, file_pair.subjects)
    rank = np.argsort(np.argsort(kind, kind="stable"))[owner]
    order = np.lexsort((file_pair.row_class, rank))
    return _RowsByPerson(np.append(0, np.cumsum(np.bincount(rank))), file_pair.row_class[order])


def _rehearse_once(
    file_pair: FilePair,
    people: _RowsByPerson,
    held: Ints,
    stay: Ints,
    replaced: Floats,
    unseen: Floats,
    rng: np.random.Generator,
) -> Rehearsal:
    by_class = np.repeat(np.arange(file_pair.rows.n), file_pair.row_sizes)  # whatever the order of the rows
    sizes = file_pair.row_sizes - np.bincount(people.all_rows(held), minlength=file_pair.rows.n)
    own = file_pair.rows.array[people.random_rows(np.concatenate([held, stay]), rng)]
    changes, pools = _draw_changes(file_pair, len(own), replaced, unseen, rng)
    codes = _fill_values(file_pair, own, changes, pools, by_class, rng)
    known = pair_other_people(file_pair, sizes, _records_from_array(file_pair.people, codes))
    inside = np.arange(len(own)) >= len(held)
    return Rehearsal(known, inside, changes, replaced, np.where([len(pool) > 0 for pool in pools], unseen, 0.0))


def _draw_changes(
    file_pair: FilePair, count: int, replaced: Floats, unseen: Floats, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int8], list[Int32s]]:
    """What becomes of every attribute, with values missing as they are of random known people; and, by attribute, the
    known values that no row has."""
    people = file_pair.people
    lost = ~file_pair.has_agreeing_rows[file_pair.value_places]
    pools = [people.value[lost & (people.attribute == i)] for i in range(people.c)]
    rates = np.where([len(pool) > 0 for pool in pools], unseen, 0.0)
    chance = rng.random((count, people.c))
    changes = np.where(chance < replaced, REPLACED, np.where(chance < replaced + rates, UNSEEN, KEPT))
    someone = rng.choice(people.n, count, p=file_pair.person_sizes / file_pair.n)
    return np.where(people.array[someone] < 0, UNKNOWN, changes).astype(np.int8), pools


def _fill_values(
    file_pair: FilePair,
    own: Int32s,
    changes: npt.NDArray[np.int8],
    pools: list[Int32s],
    by_class: Ints,
    rng: np.random.Generator,
) -> Int32s:
    """What is known of every stand-in. Where their row lacks a value, it is that of a random row."""
    codes = own.copy()
    for i, pool in enumerate(pools):
        other = np.full(len(own), -1, np.int32)
        for _ in range(_TRIES):
            drawn = file_pair.rows.array[by_class[rng.integers(len(by_class), size=len(own))], i]
            other = np.where((other < 0) | (other == own[:, i]), drawn, other)
        wanted = (changes[:, i] == REPLACED) | (own[:, i] < 0)
        codes[wanted, i] = other[wanted]
        lost = changes[:, i] == UNSEEN
        codes[lost, i] = pool[rng.integers(max(1, len(pool)), size=int(lost.sum()))] if len(pool) else -1
    codes[changes == UNKNOWN] = -1
    return codes


def _records_from_array(like: Records, codes: Int32s) -> Records:
    """Records with the attributes of others, from an array of codes."""
    rows, attribute = np.nonzero(codes >= 0)
    indptr = np.append(0, np.cumsum(np.bincount(rows, minlength=len(codes))))
    return replace(like, indptr=indptr, attribute=attribute.astype(np.int32), value=codes[rows, attribute])
