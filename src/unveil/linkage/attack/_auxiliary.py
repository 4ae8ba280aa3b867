"""The compiled inner loops of ``auxiliary``: things drawn, and errors put into them."""

from __future__ import annotations

from typing import Any

import numpy as np

from unveil.compilation import kernel

__all__ = ["add_errors", "deal_entries", "draw_things", "fill_owners"]


@kernel
def draw_things(
    indptr: Any, attribute: Any, value: Any, targets: Any, usable: Any, rare: Any, random: Any, things: Any,
    values: Any, entries: Any,
) -> None:  # fmt: skip
    """Fill the ``things`` known of each target and their values: a random order of its ``usable`` attributes, after one
    that is ``rare`` if any is marked; nothing if it has none. ``random`` are numbers from 0 to 1 for the choice of the
    rare one and of each that follows; ``entries`` is room for as many as there are attributes."""
    most = things.shape[1]
    for t in range(len(targets)):
        k, first = 0, 0
        for e in range(indptr[targets[t]], indptr[targets[t] + 1]):
            if usable[attribute[e]]:
                entries[k] = e
                k += 1
        if len(rare):
            some, first = 0, 1
            for j in range(k):
                some += rare[attribute[entries[j]]]
            if some == 0:
                continue
            chosen = np.int64(random[t, 0] * some)
            for j in range(k):
                if rare[attribute[entries[j]]]:
                    if chosen == 0:
                        things[t, 0], values[t, 0] = attribute[entries[j]], value[entries[j]]
                    chosen -= 1
        for j in range(min(k, most - first)):
            other = j + np.int64(random[t, j + 1] * (k - j))
            entries[j], entries[other] = entries[other], entries[j]
            i = attribute[entries[j]]
            if first == 0 or i != things[t, 0]:
                things[t, first + j], values[t, first + j] = i, value[entries[j]]


@kernel
def add_errors(
    indptr: Any, attribute: Any, targets: Any, columns: Any, starts: Any, code: Any, elsewhere: Any, wrong: Any,
    noise: Any, near_starts: Any, near_low: Any, near_high: Any, random: Any, things: Any, values: Any, taken: Any,
) -> None:  # fmt: skip
    """Put errors into the ``things`` known and their values. ``random`` are five numbers from 0 to 1 for each: whether
    it is from elsewhere and from where, which value it has then, and whether that is wrong or has noise. ``taken`` is
    False for every attribute, before and after."""
    for t in range(len(targets)):
        free = len(columns)
        for e in range(indptr[targets[t]], indptr[targets[t] + 1]):
            taken[attribute[e]] = True
        for i in columns:
            free -= taken[i]
        for j in range(things.shape[1]):
            i, v = things[t, j], values[t, j]
            if i < 0:
                continue
            if random[t, j, 0] < elsewhere and free > 0:
                chosen = np.int64(random[t, j, 1] * free)
                for other in columns:
                    if not taken[other]:
                        if chosen == 0:
                            i = other
                            break
                        chosen -= 1
                taken[i] = True
                free -= 1
                v = code[starts[i] + np.int64(random[t, j, 2] * (starts[i + 1] - starts[i]))]
            elif random[t, j, 3] < wrong:
                v = code[starts[i] + np.int64(random[t, j, 2] * (starts[i + 1] - starts[i]))]
            elif random[t, j, 4] < noise:
                low, high = near_low[near_starts[i] + v], near_high[near_starts[i] + v]
                if high > low:
                    near = low + np.int64(random[t, j, 2] * (high - low))
                    v = near + 1 if near >= v else near
            things[t, j], values[t, j] = i, v
        for i in range(len(taken)):
            taken[i] = False


@kernel
def fill_owners(indptr: Any, first: Any, last: Any, owner: Any) -> None:
    """Fill the record that each entry belongs to."""
    for r in range(first, last):
        for e in range(indptr[r], indptr[r + 1]):
            owner[e] = r


@kernel
def deal_entries(keys: Any, order: Any, free: Any, first: Any, last: Any, dealt_order: Any) -> None:
    """Deal entries, in an order, to the places that are free for their key: a stable sort. With no order given, that in
    which they come."""
    for k in range(first, last):
        e = order[k] if len(order) else k
        dealt_order[free[keys[e]]] = e
        free[keys[e]] += 1
