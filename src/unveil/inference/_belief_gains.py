"""Compiled loops of :mod:`unveil.inference.belief_gains`.

A *cell* holds the people who share some facts; its number is that of the group of the facts before, times the values of
the next column, plus the value. ``counts[cell * values + v]`` people in it have the sensitive value v; 0 is missing.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

from unveil.compilation import kernel

__all__ = ["count_cells", "keep_large_groups", "measure_cells", "raise_gains"]


@kernel
def count_cells(rows, group, column, base, sensitive, values, counts, size):
    for i in range(size):
        counts[i] = 0
    for i in range(len(rows)):
        row = rows[i]
        counts[(group[i] * base + column[row]) * values + sensitive[row]] += 1


@kernel
def measure_cells(counts, cells, values, shares, fewest, gain, gains, certain, people, totals):
    """How many people share each cell's facts, and what belief in each value gains; -1 if too few do. ``totals`` sums
    the people who gain enough, and those who share their facts."""
    for cell in range(cells):
        begin = cell * values
        sharing = 0
        for v in range(values):
            sharing += counts[begin + v]
        people[cell] = sharing
        known = sharing - counts[begin]
        telling = False
        for v in range(values):
            count = counts[begin + v]
            if sharing < fewest or v == 0 or count == 0:
                gains[begin + v] = -1.0
                certain[begin + v] = False
                continue
            raised = count / known - shares[v]
            gains[begin + v] = raised
            certain[begin + v] = count == known and shares[v] < 1.0
            if raised >= gain:
                totals[0] += count
                telling = True
        if telling:
            totals[1] += sharing


@kernel
def raise_gains(rows, group, column, base, sensitive, values, gains, certain, best, is_certain):
    """Raise every row's best gain to that of its own value in its cell."""
    for i in range(len(rows)):
        row = rows[i]
        place = (group[i] * base + column[row]) * values + sensitive[row]
        if gains[place] > best[row]:
            best[row] = gains[place]
        if certain[place]:
            is_certain[row] = True


@kernel
def keep_large_groups(rows, group, column, base, people, cells, fewest, number, kept_rows, kept_group, kept):
    """Number the cells that enough people share, and keep the rows in them; ``kept`` is how many of both."""
    groups = 0
    for cell in range(cells):
        number[cell] = -1
        if people[cell] >= fewest:
            number[cell] = groups
            groups += 1
    found = 0
    for i in range(len(rows)):
        at = number[group[i] * base + column[rows[i]]]
        if at >= 0:
            kept_rows[found] = rows[i]
            kept_group[found] = at
            found += 1
    kept[0] = groups
    kept[1] = found
