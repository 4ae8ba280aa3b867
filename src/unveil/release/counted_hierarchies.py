"""Hierarchies that depend on how often values occur: intervals of equally many rows, and rare values together.

They tell something about the data beside the values: where its quantiles lie, and which values are rare.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from unveil.errors import UnveilError
from unveil.release.generalised_labels import ROOT_LABEL, parse_fraction
from unveil.release.hierarchy import Hierarchy
from unveil.wording import safe_text

__all__ = ["frequency_hierarchy", "quantile_cuts"]

_RARE_SHARES = (0.002, 0.02, 0.2)  # of the rows; more of them make searches ten times as long for little


def quantile_cuts(counts: Mapping[str, int], groups: Sequence[int], name: str) -> list[list[str]]:
    """For each number of groups, where intervals begin that contain about equally many rows.

    >>> quantile_cuts({str(age): 1 for age in range(8)}, [4, 2], "age")
    [['0', '2', '4', '6'], ['0', '4']]
    """
    if any(n < 2 for n in groups) or any(a % b or a == b for a, b in pairwise(groups)):
        raise UnveilError(
            f"{safe_text(name)}: numbers of quantiles must be at least 2, each a divisor of the one before; write "
            "quantiles:8,4,2"
        )
    parsed = ((parse_fraction(text.strip()), text.strip(), rows) for text, rows in counts.items())
    known = sorted((number, text, rows) for number, text, rows in parsed if number is not None)
    total = sum(rows for _, _, rows in known)
    found = []
    for n in groups:
        cuts, filled, before = list[str](), 0, 0
        for _, text, rows in known:
            if before * n >= filled * total:
                cuts.append(text)
                filled = before * n // total + 1  # a value may fill several quantiles
            before += rows
        found.append(cuts)
    return found


def frequency_hierarchy(counts: Mapping[str, int], name: str) -> Hierarchy:
    """Values that few rows have under one label, on each level more of them, and all values in the end.

    >>> list(frequency_hierarchy({"flu": 90, "gout": 8, "mumps": 1, "plague": 1}, "illness").rows())[2]
    ('mumps', 'other', 'other', '*')
    """
    total = max(1, sum(counts.values()))
    if not counts:
        raise UnveilError(f"{safe_text(name)}: there are no values; give at least one that is not missing")
    taken = {text.casefold() for text in counts}
    other = next(
        label
        for label in ("other", "other values", *(f"other ({k})" for k in range(2, len(taken) + 3)))
        if label not in taken
    )
    levels, merged = list[set[str]](), 1
    for share in _RARE_SHARES:
        rare = {text for text, rows in counts.items() if rows < share * total}
        if merged < len(rare) < len(counts):
            levels.append(rare)
            merged = len(rare)
    rows = ([text, *(other if text in rare else text for rare in levels), ROOT_LABEL] for text in counts)
    return Hierarchy.from_rows(rows, name)
