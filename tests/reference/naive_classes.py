"""Class sizes the slow, obvious way: compare every row with every other."""

from __future__ import annotations

from collections.abc import Sequence

Row = Sequence[object]


def sizes_of_people(rows: Sequence[Row], quasi: Sequence[int], subject: int | None) -> dict[object, int]:
    """For every person, the number of people in the smallest class that one of their rows is in."""
    person = (lambda i: i) if subject is None else (lambda i: rows[i][subject])
    smallest: dict[object, int] = {}
    for i, row in enumerate(rows):
        alike = {person(j) for j, other in enumerate(rows) if all(row[q] == other[q] for q in quasi)}
        who = person(i)
        smallest[who] = min(smallest.get(who, len(alike)), len(alike))
    return smallest
