"""What must hold of every table whose classes were made safe and that kept all its rows."""

from __future__ import annotations

from collections.abc import Callable

from classes.test_full_domain import NAMES, SETTINGS
from classes.test_protect import released_rows
from reference import naive_generalisation as naive
from unveil.protection import Protection

__all__ = ["check_classes"]


def check_classes(
    made: Protection | None,
    setting: str,
    rows: list[tuple[str, str, str, str]],
    is_true_label: Callable[[int, object, str], bool],
) -> None:
    """Measured by the reference on what is released: every row is there, under labels that are true of its values, in a
    class that is fine. If nothing is offered, even all rows together fail."""
    _, goals, risk = SETTINGS[setting]
    values = [row[3] for row in rows]
    if made is None:
        together = all(goal(values, values) for goal in goals) and (risk is None or risk * len(rows) >= 1)
        assert not together
        return
    found = released_rows(made.apply().release)
    assert len(found) == len(rows)
    for row, new in zip(rows, found, strict=True):
        assert new["diagnosis"] == row[3]
        assert all(is_true_label(c, new[name], row[c]) for c, name in enumerate(NAMES) if name in new)
    classes = list(naive.all_classes([tuple(v for c, v in row.items() if c != "diagnosis") for row in found]))
    for members in classes:
        assert all(goal([values[i] for i in members], values) for goal in goals)
    if risk is not None:
        assert len(classes) <= risk * len(rows) + 1e-9
