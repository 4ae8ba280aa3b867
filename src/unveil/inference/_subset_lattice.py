"""The compiled inner loops of ``subset_lattice``: tables with one entry for every set of up to 26 attributes.

A set is the number whose bits are its attributes.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from unveil._bits import bit_count
from unveil.compilation import kernel

__all__ = ["intersect_supersets", "maximise_over_subsets", "meet_rows", "select_bits", "sum_dangers", "weigh_sets"]


@kernel
def select_bits(words, pieces, found):
    """The bits of each row that ``pieces`` selects, in a new order: byte k with value v contributes
    ``pieces[k, v]``."""
    for i in range(len(words)):
        total = np.uint64(0)
        for k in range(len(pieces)):
            total |= pieces[k, (words[i, k >> 3] >> np.uint64(8 * (k & 7))) & np.uint64(255)]
        found[i] = total


@kernel
def meet_rows(places, values, table):
    """Intersect the rows that have the same place."""
    for i in range(len(places)):
        table[places[i]] &= values[i]


@kernel
def intersect_supersets(table, first, last, low, high):
    """Intersect every entry with the entries that have one bit more, for the bits ``low`` to ``high``, in a part of the
    table. Two bits at a time, as memory is what limits this."""
    bit = low
    while bit < high:
        step = 1 << bit
        if bit + 1 < high:
            for begin in range(first, last, 4 * step):
                for k in range(begin, begin + step):
                    one, two, both = table[k + step], table[k + 2 * step], table[k + 3 * step]
                    table[k] &= one & two & both
                    table[k + step] = one & both
                    table[k + 2 * step] = two & both
            bit += 2
        else:
            for begin in range(first, last, 2 * step):
                for k in range(begin, begin + step):
                    table[k] &= table[k + step]
            bit += 1


@kernel
def maximise_over_subsets(table, first, last, low, high):
    """The largest of every entry and the entries with one bit less, for the bits ``low`` to ``high``, in a part of the
    table."""
    bit = low
    while bit < high:
        step = 1 << bit
        if bit + 1 < high:
            for begin in range(first, last, 4 * step):
                for k in range(begin, begin + step):
                    none, one, two, both = table[k], table[k + step], table[k + 2 * step], table[k + 3 * step]
                    one = one if one > none else none
                    two = two if two > none else none
                    most = one if one > two else two
                    table[k + step] = one
                    table[k + 2 * step] = two
                    table[k + 3 * step] = both if both > most else most
            bit += 2
        else:
            for begin in range(first, last, 2 * step):
                for k in range(begin, begin + step):
                    if table[k] > table[k + step]:
                        table[k + step] = table[k]
            bit += 1


@kernel
def sum_dangers(table, first, last, pieces, sums):
    """Add the danger of the attributes in each entry of a part of the table: byte k with value v weighs
    ``pieces[k, v]``."""
    for place in range(first, last):
        total = np.int64(0)
        for k in range(len(pieces)):
            total += pieces[k, (table[place] >> np.uint64(8 * k)) & np.uint64(255)]
        sums[place] += total


@kernel
def weigh_sets(sums, first, last, low_bits, low, high, low_danger, high_danger, unit, offset, most_known, weights):
    """w(K) = lk(K) · dg(I_K) of each set K in a part of the table, where ``sums`` is the danger of its closure.

    Likelihood and danger of K are those of its lowest ``low_bits`` bits (``low``, ``low_danger``) and of the others.
    Sets of more than ``most_known`` attributes weigh nothing.
    """
    mask = (1 << low_bits) - 1
    for place in range(first, last):
        least = low_danger[place & mask] + high_danger[place >> low_bits]
        danger = (sums[place] - least) * unit
        weight = low[place & mask] * high[place >> low_bits] * (danger / (offset + danger))
        weights[place] = weight if bit_count(np.uint64(place)) <= most_known else 0.0
