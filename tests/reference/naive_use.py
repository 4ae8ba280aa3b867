"""What a table can still be used for, by definition: row by row, with every label spread over the values it covers."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product

Row = Mapping[str, str | None]
Spread = dict[str | None, float]

INTERVAL = re.compile(r"(\d+)–(\d+)")


def covered(label: str, values: Sequence[str]) -> list[str]:
    """The values that a label covers: itself, an interval, a prefix, or all."""
    if label in values:
        return [label]
    if found := INTERVAL.fullmatch(label):
        inside = [v for v in values if int(found[1]) <= int(v) <= int(found[2])]
        return inside or list(values)
    if label.endswith("*") and label != "*":
        head = label.rstrip("*")
        return [v for v in values if v.startswith(head) and len(v) <= len(label)] or list(values)
    return list(values)


def spread(rows: Sequence[Row], original: Sequence[Row], column: str) -> list[Spread]:
    """For each released row, how likely it is to have had each value."""
    values = sorted({r[column] for r in original if r[column] is not None})
    shares = Counter(r[column] for r in original)
    found: list[Spread] = []
    for row in rows:
        if column not in row:
            hidden = shares[None] / len(original)
            found.append({None: hidden} | {v: (1 - hidden) / len(values) for v in values})
            continue
        label = row[column]
        if label is None:
            found.append({None: 1.0})
        else:
            own = covered(label, values)
            found.append({v: 1 / len(own) for v in own})
    return found


def distance(original: Sequence[Row], rows: Sequence[Row], columns: Sequence[str]) -> float:
    """Half the sum of the differences of all shares, by one or more columns, each value a group of its own."""
    before = Counter(tuple(r[c] for c in columns) for r in original)
    after = dict[tuple[str | None, ...], float]()
    spreads = [spread(rows, original, c) for c in columns]
    for own in zip(*spreads, strict=True):
        for values in product(*own):
            after[values] = after.get(values, 0.0) + math.prod(s[v] for s, v in zip(own, values, strict=True))
    keys = {*before, *after}
    return sum(abs(before[k] / len(original) - after.get(k, 0) / len(rows)) for k in keys) / 2


def unchanged(original: Sequence[Row], rows: Sequence[Row], place: Sequence[int], columns: Sequence[str]) -> float:
    """The share of cells that are as they were; ``place`` says where each row went, −1 if it is gone."""
    same = 0
    for row, at in zip(original, place, strict=True):
        same += sum(1 for c in columns if at >= 0 and c in rows[at] and rows[at][c] == row[c])
    return same / (len(original) * len(columns))


def pearson(pairs: Sequence[tuple[float, float]]) -> float:
    """Pearson's correlation; 0 if one does not vary."""
    n = len(pairs)
    means = [sum(p[i] for p in pairs) / n for i in (0, 1)]
    products = [sum((p[i] - means[i]) * (p[j] - means[j]) for p in pairs) for i, j in ((0, 0), (1, 1), (0, 1))]
    return 0.0 if min(products[:2]) < 1e-9 else products[2] / math.sqrt(products[0] * products[1])


def count(original: Sequence[Row], rows: Sequence[Row], wanted: Mapping[str, set[str | None]]) -> tuple[int, float]:
    """How many rows have one of the wanted values in every column: truly, and as the release suggests."""
    true = sum(all(row[c] in values for c, values in wanted.items()) for row in original)
    spreads = {c: spread(rows, original, c) for c in wanted}
    guess = 0.0
    for i in range(len(rows)):
        guess += math.prod(
            sum(share for v, share in spreads[c][i].items() if v in values) for c, values in wanted.items()
        )
    return true, guess
