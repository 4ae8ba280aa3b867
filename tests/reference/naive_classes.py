"""Class sizes the slow, obvious way: compare every row with every other."""

from __future__ import annotations

from collections.abc import Sequence

Row = Sequence[object]


def sizes_of_people(rows: Sequence[Row], quasi: Sequence[int], subject: int | None) -> dict[object, int]:
    """For every person, the number of people whose rows show the same set of quasi-identifiers."""
    shown: dict[object, set[tuple[object, ...]]] = {}
    for i, row in enumerate(rows):
        shown.setdefault(i if subject is None else row[subject], set()).add(tuple(row[q] for q in quasi))
    return {who: sum(other == known for other in shown.values()) for who, known in shown.items()}
