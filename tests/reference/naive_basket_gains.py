"""How much a few items raise belief in another one, by definition: every basket, every set of its items."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations


def gains(
    baskets: Sequence[frozenset[str]], facts: int, fewest: int, sensitive: frozenset[str] = frozenset()
) -> list[list[tuple[float, bool]]]:
    """For each basket, by the number of items known: the largest gain in belief of another one, and whether one is
    certain. If some items are sensitive, only these are learned, and they are not known."""
    found = []
    for own in baskets:
        best, certain = -1.0, False
        series = []
        for f in range(facts + 1):
            for known in combinations(sorted(own - sensitive), f):
                those = [other for other in baskets if other.issuperset(known)]
                if f and len(those) < fewest:
                    continue
                for item in (own & sensitive if sensitive else own) - {*known}:
                    share = sum(item in other for other in baskets) / len(baskets)
                    having = sum(item in other for other in those)
                    best = max(best, having / len(those) - share)
                    certain = certain or (having == len(those) and share < 1)
            series.append((best, certain))
        found.append(series)
    return found
