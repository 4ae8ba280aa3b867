"""All ways to switch two edges of a graph, by trying every two of them."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from reference.naive_degree_anonymity import Edges

__all__ = ["all_switches"]


def all_switches(edges: Edges) -> Counter[Edges]:
    """The graphs that one valid switch leads to, and by how many different switches."""
    found = Counter[Edges]()
    for (a, b), (c, d) in combinations(sorted(edges), 2):
        for new in (((a, d), (c, b)), ((a, c), (b, d))):
            pairs = {(min(pair), max(pair)) for pair in new}
            if len({a, b, c, d}) == 4 and not pairs & edges:
                found[edges - {(a, b), (c, d)} | pairs] += 1
    return found
