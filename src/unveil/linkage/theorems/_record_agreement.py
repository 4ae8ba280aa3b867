"""Compiled: on how many things a record agrees with each other record."""

# mypy: allow-untyped-defs
from __future__ import annotations

from unveil.compilation import kernel

__all__ = ["count_agreements"]


@kernel
def count_agreements(begin, end, holder, support, count, found):
    """For one record, add to ``found[k, g]`` the number of records that agree with it on g things and have fewer things
    (k = 0), equally many (1) or more (2). The records that agree on its e-th thing are ``holder[begin[e] : end[e]]``.
    ``count`` is 0 for every record, before and after."""
    for e in range(len(begin)):
        for place in range(begin[e], end[e]):
            count[holder[place]] += 1
    for y in range(len(count)):
        found[(support[y] >= len(begin)) + (support[y] > len(begin)), count[y]] += 1
        count[y] = 0
