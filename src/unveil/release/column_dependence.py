"""Does a column fix another? How often rows with the same value in one agree in the other, against random rows.

A column *says* −ln p about a row, where p is the probability that two random rows agree in it. If two rows of a group
agree with probability a, the group explains ln(a/p) of that: everything if they always agree, nothing if they agree as
often as random rows do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from unveil.arrays import Int32s, Ints
from unveil.release.codes import Codes
from unveil.run import Run

__all__ = [
    "AGREES",
    "agreement_within",
    "chance_of_agreement",
    "explained_information",
    "fixed_columns",
    "information",
]

AGREES = 0.95  # probability with which rows of a person agree in a column that is fixed
_OFTEN_AGREES = 0.4  # probability with which rows of a person agree in what changes now and then, such as an age
_CHANCE = math.exp(-15)  # probability below which rows with the same value do not agree by chance


def information(chance: float) -> float:
    """What a column says about a person: −ln of the probability that random rows agree in it."""
    return -math.log(max(chance, 1e-300))


def explained_information(within: float, says: float) -> float:
    """How much of what a column says a group says, if two rows of it agree with this probability: ln(within/chance)."""
    return max(0.0, says + math.log(max(within, 1e-300)))


def fixed_columns(
    person: Codes, sets: Sequence[Mapping[str, float]], codes: Mapping[str, Codes], run: Run
) -> tuple[str, ...]:
    """The quasi-identifiers that the values of a column fix, if these say half of what a set says about a person.

    A single column fixed by another is often a code and its label, so that two are needed; the second may change now
    and then, if rows with the same value agree in it far more often than random rows. The columns that say most are
    looked at first, and no more of them once too little is left.
    """
    for says in sets:
        run.check()
        agreed, often, left = list[str](), list[str](), math.fsum(says.values())
        needed = left / 2
        for column in says:
            within = agreement_within(person.codes, codes[column].codes, says[column])
            if within >= AGREES:
                agreed.append(column)
            else:
                explained = explained_information(within, says[column]) if within >= _OFTEN_AGREES else 0.0
                often += [column] if 2 * explained >= says[column] else []
                left -= says[column] - explained
                if left < needed:
                    break
        if agreed and len(agreed) + len(often) >= 2 and left >= needed:
            return tuple(c for c in codes if c in agreed)
    return ()


def agreement_within(groups: Int32s | Ints, values: Int32s | Ints, says: float) -> float:
    """The probability that two random rows of a group have the same value, on average over the groups, each with the
    weight of its rows after the first; 0 if so few rows may agree by chance, given what the values say (−ln of the
    probability that random rows agree). Rows without a group do not count."""
    there = groups >= 0
    group, value = groups[there].astype(np.int64), values[there].astype(np.int64) + 1
    size = np.bincount(group)
    if math.exp(-says * int((size - 1)[size > 0].sum())) > _CHANCE:
        return 0.0
    base = int(value.max(initial=0)) + 1
    cells, counts = np.unique(group * base + value, return_counts=True)
    same = np.bincount(cells // base, counts * (counts - 1.0), len(size))
    several = size > 1
    return float((same[several] / size[several]).sum() / (size[several] - 1).sum())


def chance_of_agreement(values: Int32s | Ints) -> float:
    """The probability that two random rows have the same value."""
    counts = np.bincount(values + 1).astype(float)
    n = len(values)
    return float((counts * (counts - 1)).sum() / max(1, n * (n - 1)))
