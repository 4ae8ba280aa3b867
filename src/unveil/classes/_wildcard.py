"""The compiled inner loops of ``wildcard``.

Profiles are stored pattern by pattern. Those of pattern p, which lack the same columns, are
``starts[p] … starts[p + 1]``. Word w of profile i is ``bits[w, i]``, with a bit field for each column, 0 where the
value is missing; ``known[w, i]`` has ones in the fields of all other columns. Profiles i and j may be the same if
(bitsᵢ ⊕ bitsⱼ) ∧ knownᵢ ∧ knownⱼ = 0. Hash tables use linear probing; a slot holds the first profile of its kind, or
−1.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from unveil.compilation import allocating_kernel, helper

__all__ = [
    "SLOTS",
    "assign_cells",
    "count_by_comparison",
    "count_by_table",
    "gather_values",
    "group_values_by_cell",
    "list_values",
]

SLOTS = 16  # per profile in a table, at most, and half as many at least: most look-ups end at an empty slot
_BLOCK = 512
_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ / golden ratio: spreads neighbouring keys (Fibonacci hashing)


@helper
def _hash_table_size(entries):
    """The number of slots of a table, a power of 2, and the shift that turns a 64-bit hash into a slot."""
    table_size, shift = 2, np.uint64(63)
    while 2 * table_size < SLOTS * entries:
        table_size, shift = 2 * table_size, shift - np.uint64(1)
    return table_size, shift


@helper
def _first_slot(bits, row, under, shift):
    """The slot where the search for a profile begins; only the bits ``under`` count."""
    mixed = np.uint64(0)
    for w in range(len(under)):
        mixed = (mixed ^ np.uint64(bits[w, row] & under[w])) * _MIX
    return np.int64(mixed >> shift)


@helper
def _profiles_agree(bits, row, other, under):
    """Whether two profiles agree in the bits ``under``."""
    same = True
    for w in range(len(under)):
        same &= (bits[w, row] ^ bits[w, other]) & under[w] == 0
    return same


@helper
def _find_slot(bits, row, under, slots, table_size, shift):
    """The slot that holds a profile's kind, or the empty one where it belongs. Do not restructure the loop: an
    equivalent one compiled to code half as fast."""
    at = _first_slot(bits, row, under, shift)
    while slots[at] >= 0 and not _profiles_agree(bits, row, slots[at], under):
        at = (at + 1) & (table_size - 1)
    return at


@helper
def _differing_bits(bits, known, row, first, last, differ):
    """The known bits in which ``row`` differs from each of ``first … last``. The loops are simple enough for the
    compiler to vectorise."""
    for w in range(len(bits)):
        own, own_known = bits[w, row], known[w, row]
        other, other_known = bits[w, first:last], known[w, first:last]
        if w == 0:
            for i in range(last - first):
                differ[i] = (other[i] ^ own) & other_known[i] & own_known
        else:
            for i in range(last - first):
                differ[i] |= (other[i] ^ own) & other_known[i] & own_known


@allocating_kernel
def count_by_table(p, q, patterns, work, starts, bits, known, members, slots, size):
    """Add to ``size``, for every profile, the number of people of other patterns who may be the same. Processes all
    pairs p < q of the first ``patterns`` patterns, from the given pair on.

    The profiles of q, of which there are fewer, are put into a table by what both patterns know, and those of p are
    looked up. Stops after about ``work`` profiles and returns the next pair.
    """
    most = starts[q + 1] - starts[q]
    kind, here, there = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    under = np.empty(len(bits), np.int64)
    done = 0
    while q < patterns:
        first, last = starts[q], starts[q + 1]
        table_size, shift = _hash_table_size(last - first)
        while p < q:
            if done >= work:
                return p, q
            done += last - first + starts[p + 1] - starts[p]
            for w in range(len(bits)):
                under[w] = known[w, starts[p]] & known[w, first]
            slots[:table_size] = -1
            for row in range(first, last):
                at = _find_slot(bits, row, under, slots, table_size, shift)
                if slots[at] < 0:
                    slots[at] = row
                    here[row - first] = there[row - first] = 0
                kind[row - first] = slots[at] - first
                here[slots[at] - first] += members[row]
            for row in range(starts[p], starts[p + 1]):
                at = _find_slot(bits, row, under, slots, table_size, shift)
                if slots[at] >= 0:
                    size[row] += here[slots[at] - first]
                    there[slots[at] - first] += members[row]
            for row in range(first, last):
                size[row] += there[kind[row - first]]
            p += 1
        p = 0
        q += 1
    return p, q


@allocating_kernel
def count_by_comparison(row, work, before, bits, known, members, size):
    """Add to ``size`` what :func:`count_by_table` adds, by comparing each profile from ``row`` on with all profiles of
    earlier patterns, which are the first ``before[row]``. Returns the next profile."""
    differ = np.empty(_BLOCK, np.int64)
    done = 0
    while row < len(members) and done < work:
        own, found = members[row], 0
        for first in range(0, before[row], _BLOCK):
            last = min(first + _BLOCK, before[row])
            _differing_bits(bits, known, row, first, last, differ)
            people, sizes = members[first:last], size[first:last]
            for i in range(last - first):
                found += people[i] if differ[i] == 0 else 0
                sizes[i] += own if differ[i] == 0 else 0
        size[row] += found
        done += before[row]
        row += 1
    return row


@allocating_kernel
def assign_cells(first, last, unders, ends, turn, starts, bits, slots, cell, hit):
    """Divide all profiles that may be the same as any of the profiles ``first … last`` of one pattern into cells. The
    members of a cell may be the same as the same ones of these profiles.

    Patterns are visited in the order ``turn``; those from ``ends[d - 1]`` to ``ends[d]`` know ``unders[d]`` of what
    this pattern knows. Fills ``cell``, the cell of every profile (−1 if it has none), and ``hit[i, d]``, the cell that
    the i-th of these profiles may be in. Returns the number of cells.
    """
    table_size, shift = _hash_table_size(last - first)
    kind, named = np.empty(last - first, np.int64), np.empty(last - first, np.int64)
    made = k = 0
    for d in range(len(unders)):
        under = unders[d]
        slots[:table_size] = -1
        for row in range(first, last):
            at = _find_slot(bits, row, under, slots, table_size, shift)
            if slots[at] < 0:
                slots[at] = row
                named[row - first] = -1
            kind[row - first] = slots[at] - first
        while k < ends[d]:
            for row in range(starts[turn[k]], starts[turn[k] + 1]):
                at = _find_slot(bits, row, under, slots, table_size, shift)
                cell[row] = -1
                if slots[at] >= 0:
                    one = slots[at] - first
                    if named[one] < 0:
                        named[one] = made
                        made += 1
                    cell[row] = named[one]
            k += 1
        for i in range(last - first):
            hit[i, d] = named[kind[i]]
    return made


@allocating_kernel
def group_values_by_cell(cells, cell, owner, value, count, begins, ends, held, many):
    """Distribute pairs of a profile and a value, sorted by value, to the cells, and merge equal values of a cell: cell
    c has the values ``held[begins[c] … ends[c]]``, and ``many`` people have each."""
    begins[: cells + 1] = 0
    for k in range(len(owner)):
        if cell[owner[k]] >= 0:
            begins[cell[owner[k]] + 1] += 1
    for c in range(cells):
        begins[c + 1] += begins[c]
        ends[c] = begins[c]
    for k in range(len(owner)):
        c = cell[owner[k]]
        if c < 0:
            continue
        if ends[c] > begins[c] and held[ends[c] - 1] == value[k]:
            many[ends[c] - 1] += count[k]
        else:
            held[ends[c]], many[ends[c]] = value[k], count[k]
            ends[c] += 1


@allocating_kernel
def gather_values(i, last, work, hit, begins, ends, held, many, total, seen, value, count, filled):
    """For the profiles ``i … last`` of ``hit``, add up the values of all cells that a profile may be in.

    ``total`` and ``seen`` are workspace by value; ``seen`` contains no profile number at first. The results are written
    to ``value`` and ``count``; those of the k-th profile end at ``filled[k]``. Stops when there may be no room for
    another profile, or after ``work``. Returns the next profile and the number of results.
    """
    made, done, begin = 0, 0, i
    while i < last and made + len(total) <= len(value) and done < work:
        before = made
        for d in range(hit.shape[1]):
            c = hit[i, d]
            if c < 0:
                continue
            for k in range(begins[c], ends[c]):
                v = held[k]
                if seen[v] != i:
                    seen[v], total[v] = i, 0
                    value[made] = v
                    made += 1
                total[v] += many[k]
            done += ends[c] - begins[c]
        done += hit.shape[1]
        value[before:made].sort()
        for k in range(before, made):
            count[k] = total[value[k]]
        filled[i - begin] = made
        i += 1
    return i, made


@allocating_kernel
def list_values(row, work, bits, known, order, begins, held, many, total, seen, value, count, filled):
    """Fill the same as :func:`gather_values` for the profiles from ``row`` on, by comparing each with all others.
    Profile i has the values ``held[begins[order[i]] … begins[order[i] + 1]]``."""
    differ = np.empty(_BLOCK, np.int64)
    made, done, begin = 0, 0, row
    while row < len(order) and made + len(total) <= len(value) and done < work:
        before = made
        for first in range(0, len(order), _BLOCK):
            last = min(first + _BLOCK, len(order))
            _differing_bits(bits, known, row, first, last, differ)
            for i in range(last - first):
                if differ[i] == 0:
                    one = order[first + i]
                    for k in range(begins[one], begins[one + 1]):
                        v = held[k]
                        if seen[v] != row:
                            seen[v], total[v] = row, 0
                            value[made] = v
                            made += 1
                        total[v] += many[k]
                    done += begins[one + 1] - begins[one]
        done += len(order)
        value[before:made].sort()
        for k in range(before, made):
            count[k] = total[value[k]]
        filled[row - begin] = made
        row += 1
    return row, made
