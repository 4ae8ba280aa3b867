"""Compiled loop of :mod:`unveil.inference.basket_gains`."""

# mypy: allow-untyped-defs
from __future__ import annotations

from unveil.compilation import kernel

__all__ = ["visit_itemsets"]


@kernel
def visit_itemsets(
    indptr, items, rank, is_target, shares, fewest, facts, gain, lists, ext_items, ext_begin, ext_size, ext_count,
    ext_next, known, counts, is_known, best, certain, top_people, top_sharing, top_items, state, work_limit
):  # fmt: skip
    """Depth first through the sets of at most ``facts`` items that at least ``fewest`` baskets have.

    ``ext_items[d]`` are the items that can be added to the first d of ``known``; the baskets with the j-th of these are
    ``lists[d]`` from ``ext_begin[d, j]`` on. ``state`` is the depth, the entries looked at so far, and the place of the
    least telling of the most telling sets. Returns whether everything was visited; otherwise call it again.
    """
    depth = state[0]
    while True:
        if ext_next[depth] == ext_count[depth]:
            if depth == 0:
                state[0] = 0
                return True
            depth -= 1
            is_known[known[depth]] = False
            continue
        if state[1] >= work_limit:
            state[0] = depth
            return False
        j = ext_next[depth]
        ext_next[depth] += 1
        item = ext_items[depth, j]
        begin, size = ext_begin[depth, j], ext_size[depth, j]
        those = lists[depth, begin : begin + size]
        known[depth] = item
        is_known[item] = True
        depth += 1
        for b in those:
            for e in range(indptr[b], indptr[b + 1]):
                counts[items[e]] += 1
            state[1] += 2 * (indptr[b + 1] - indptr[b])
        people = 0
        for b in those:
            told = False
            for e in range(indptr[b], indptr[b + 1]):
                x = items[e]
                if is_known[x] or not is_target[x]:
                    continue
                raised = counts[x] / size - shares[x]
                if raised > best[depth, b]:
                    best[depth, b] = raised
                if counts[x] == size and shares[x] < 1.0:
                    certain[depth, b] = True
                if raised >= gain:
                    told = True
            if told:
                people += 1
        if people > top_people[state[2]]:
            top_people[state[2]] = people
            top_sharing[state[2]] = size
            for d in range(top_items.shape[1]):
                top_items[state[2], d] = known[d] if d < depth else -1
            for t in range(len(top_people)):
                if top_people[t] < top_people[state[2]]:
                    state[2] = t
        goes_on = depth < facts
        if goes_on:
            found, at = 0, 0
            for b in those:
                for e in range(indptr[b], indptr[b + 1]):
                    x = items[e]
                    if counts[x] >= fewest and rank[x] > rank[item]:  # the first time that it is met
                        ext_items[depth, found] = x
                        ext_begin[depth, found] = at
                        ext_size[depth, found] = 0
                        at += counts[x]
                        counts[x] = -1 - found
                        found += 1
                    if counts[x] < 0:
                        k = -1 - counts[x]
                        lists[depth, ext_begin[depth, k] + ext_size[depth, k]] = b
                        ext_size[depth, k] += 1
            ext_count[depth] = found
            ext_next[depth] = 0
        for b in those:
            for e in range(indptr[b], indptr[b + 1]):
                counts[items[e]] = 0
        if not goes_on:
            depth -= 1
            is_known[item] = False
