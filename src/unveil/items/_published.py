"""The compiled inner loops of ``published``."""

from __future__ import annotations

from typing import Any

from unveil.compiled import kernel

__all__ = ["count", "iterate"]


@kernel
def iterate(allowed: Any, of_entry: Any, of_slot: Any, held: Any, order: Any, iterations: Any, random: Any) -> None:
    """So often: draw a permutation P; then each entry i in turn and P(i) swap what they hold if both can have it."""
    n = len(held)
    for _ in range(iterations):
        for k in range(n - 1, 0, -1):
            j = int(random.random() * (k + 1))
            order[k], order[j] = order[j], order[k]
        for i in range(n):
            k = order[i]
            if allowed[of_entry[i], of_slot[held[k]]] and allowed[of_entry[k], of_slot[held[i]]]:
                held[i], held[k] = held[k], held[i]


@kernel
def count(held: Any, starts: Any, members: Any, counts: Any) -> Any:
    """How many entries hold their own pseudonym. One is added to ``counts`` for every itemset that has just its own;
    those of itemset x are ``members[starts[x] : starts[x + 1]]``."""
    for x in range(len(counts)):
        begin, end = starts[x], starts[x + 1]
        inside = 0
        for i in range(begin, end):
            for j in range(begin, end):
                inside += held[members[i]] == members[j]
        counts[x] += inside == end - begin
    own = 0
    for i in range(len(held)):
        own += held[i] == i
    return own
