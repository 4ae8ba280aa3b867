"""How much a few facts raise belief, by definition: every person, every set of columns, everybody counted again."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

Row = tuple[str, ...]


def gains(
    rows: Sequence[Row], own: Sequence[str | None], facts: int, fewest: int, people: Sequence[str] | None = None
) -> dict[str, list[tuple[float, bool]]]:
    """For each person, by the number of facts known: the largest gain in belief of their own value, and whether it is
    certain."""
    who = [str(i) for i in range(len(rows))] if people is None else list(people)
    have = {w for w, v in zip(who, own, strict=True) if v is not None}
    found: dict[str, list[tuple[float, bool]]] = {}
    columns = range(len(rows[0]))
    for i, row in enumerate(rows):
        best, certain = -1.0, False
        series = []
        for f in range(facts + 1):
            for chosen in combinations(columns, f):
                same = [j for j, other in enumerate(rows) if all(other[c] == row[c] for c in chosen)]
                if own[i] is None or len({who[j] for j in same}) < fewest:
                    continue
                known = {who[j] for j in same if own[j] is not None}
                having = {who[j] for j in same if own[j] == own[i]}
                share = len({w for w, v in zip(who, own, strict=True) if v == own[i]}) / len(have)
                best = max(best, len(having) / len(known) - share)
                certain = certain or (having == known and share < 1)
            series.append((best, certain))
        before = found.get(who[i], [(-1.0, False)] * (facts + 1))
        found[who[i]] = [(max(a, c), b or d) for (a, b), (c, d) in zip(series, before, strict=True)]
    return found
