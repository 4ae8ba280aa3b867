"""The compiled inner loops of ``known_columns`` and ``minimal_uniques``.

Distinct rows are stored class by class: class c is ``order[starts[c] … starts[c + 1]]``. A class of one row cannot be
divided further; it is counted and dropped, so that a pass over many columns gets shorter and shorter.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

from unveil.compilation import kernel

__all__ = ["divide_classes", "group_sets_by_row", "keep_minimal", "mark_rows"]


@kernel
def divide_classes(order, starts, classes, code, lone, tally, place, inside, new_order, new_starts, singles):
    """Divide classes by one more column.

    ``code`` is the column, and ``lone`` says which rows stand for a single person. ``tally`` (0 on entry and exit) and
    ``place`` are workspace by value of the column, ``inside`` by row. Returns the numbers of rows and of classes left,
    the number of one-row classes dropped, and how many of their rows stand for a single person; these rows are in
    ``singles``.
    """
    filled = made = apart = found = 0
    for c in range(classes):
        first, last = starts[c], starts[c + 1]
        if last - first == 2:
            one, two = order[first], order[first + 1]
            if code[one] == code[two]:
                new_starts[made] = filled
                made += 1
                new_order[filled], new_order[filled + 1] = one, two
                filled += 2
            else:
                apart += 2
                singles[found] = one
                found += lone[one]
                singles[found] = two
                found += lone[two]
            continue
        values = 0
        for i in range(first, last):
            value = code[order[i]]
            if tally[value] == 0:
                inside[values] = value  # the distinct values so far, at most one per row
                values += 1
            tally[value] += 1
        for k in range(values):
            value = inside[k]
            if tally[value] == 1:
                place[value] = -1
                apart += 1
            else:
                place[value] = filled
                new_starts[made] = filled
                made += 1
                filled += tally[value]
            tally[value] = 0
        for i in range(first, last):
            row = order[i]
            at = place[code[row]]
            if at < 0:
                singles[found] = row
                found += lone[row]
            else:
                new_order[at] = row
                place[code[row]] = at + 1
    new_starts[made] = filled
    return filled, made, apart, found


@kernel
def keep_minimal(rows, alone, parts, kept):
    """Keep the rows that are unique on a set of columns but on none of its subsets. ``alone`` has one line per set,
    with a bit for every row; ``parts`` are the lines of the subsets. Fills ``kept`` and returns its length."""
    made = 0
    for row in rows:
        kept[made] = row
        minimal = True
        for part in parts:
            minimal &= (alone[part, row >> 3] >> (row & 7)) & 1 == 0
        made += minimal
    return made


@kernel
def mark_rows(rows, line):
    """Set the bits of some rows."""
    for row in rows:
        line[row >> 3] |= 1 << (row & 7)


@kernel
def group_sets_by_row(ends, owner, free, sets):
    """List the sets of every row, in order. Set k belongs to the rows ``owner[ends[k] … ends[k + 1]]``, and
    ``free[row]`` is the next free position of a row."""
    for k in range(len(ends) - 1):
        for entry in range(ends[k], ends[k + 1]):
            sets[free[owner[entry]]] = k
            free[owner[entry]] += 1
