"""The compiled inner loops of ``matching``. Only sums of products of non-negative numbers: nothing cancels."""

from __future__ import annotations

from typing import Any

import numpy as np

from unveil.compiled import inlined, kernel

__all__ = [
    "alive",
    "pick_backward",
    "pick_forward",
    "share_backward",
    "share_forward",
    "subset_cracks",
    "subset_marginals",
    "swap_sweeps",
]

_LOW = 4  # columns in the low bits of a set of columns: 16 sets lie side by side and are worked on as a vector
_WIDTH = 1 << _LOW


@kernel
def _popcount(x: Any) -> Any:
    count = 0
    while x:
        x &= x - 1
        count += 1
    return count


@kernel
def subset_marginals(w: Any) -> Any:
    """The permanent of a square matrix of at least four rows, and the weight of all matchings through each edge.

    Dynamic programming over sets S of columns. ``before[S]`` is the weight of matching the first |S| rows onto S,
    ``after[S]`` that of matching the other rows onto the rest; an edge (i, j) carries
    Σ_{|S| = i, j ∉ S} before[S] · w[i, j] · after[S ∪ j]. The row that a set belongs to depends on its size, so the
    weights are laid out by the size of the high part and the low part itself (``weight``).
    """
    n = len(w)
    high = n - _LOW
    low_size = np.array([_popcount(low) for low in range(_WIDTH)])
    weight = np.zeros((high + 1, n, _WIDTH))  # weight[p, j, low] = w[p + |low|, j]
    for p in range(high + 1):
        for j in range(n):
            for low in range(_WIDTH):
                if p + low_size[low] < n:
                    weight[p, j, low] = w[p + low_size[low], j]
    before = np.zeros(1 << n)
    before[0] = 1.0
    for top in range(1 << high):
        p = _popcount(top)
        block = before[top << _LOW : (top + 1) << _LOW]
        rest = top
        while rest:
            bit = rest & -rest
            rest ^= bit
            j = _LOW + _popcount(bit - 1)
            other = before[(top ^ bit) << _LOW : ((top ^ bit) + 1) << _LOW]
            row = weight[p - 1, j]
            for low in range(_WIDTH):
                block[low] += other[low] * row[low]
        for low in range(1, _WIDTH):
            total = block[low]
            for j in range(_LOW):
                if low >> j & 1:
                    total += block[low ^ (1 << j)] * w[p + low_size[low] - 1, j]
            block[low] = total
    after = np.zeros(1 << n)
    after[-1] = 1.0
    through = np.zeros((high + 1, n, _WIDTH))  # sums of before[S] · after[S ∪ j], laid out like the weights
    everything = (1 << high) - 1
    for top in range((1 << high) - 1, -1, -1):
        p = _popcount(top)
        block = after[top << _LOW : (top + 1) << _LOW]
        front = before[top << _LOW : (top + 1) << _LOW]
        rest = everything ^ top
        while rest:
            bit = rest & -rest
            rest ^= bit
            j = _LOW + _popcount(bit - 1)
            other = after[(top | bit) << _LOW : ((top | bit) + 1) << _LOW]
            row = weight[p, j]
            sums = through[p, j]
            for low in range(_WIDTH):
                block[low] += other[low] * row[low]
                sums[low] += other[low] * front[low]
        for low in range(_WIDTH - 1, -1, -1):
            if p + low_size[low] < n:
                total = block[low]
                for j in range(_LOW):
                    if not low >> j & 1:
                        value = block[low | (1 << j)]
                        total += value * w[p + low_size[low], j]
                        through[p, j, low] += value * front[low]
                block[low] = total
    edges = np.zeros((n, n))
    for p in range(high + 1):
        for j in range(n):
            for low in range(_WIDTH):
                i = p + low_size[low]
                if i < n:
                    edges[i, j] += w[i, j] * through[p, j, low]
    return before[-1], edges


@kernel
def subset_cracks(w: Any) -> Any:
    """The weight of all matchings with exactly 0, 1, … n entries of the diagonal, by the same sum over sets."""
    n = len(w)
    weight = np.zeros((1 << n, n + 1))
    weight[0, 0] = 1.0
    for chosen in range(1, 1 << n):
        i = _popcount(chosen) - 1
        for j in range(n):
            if chosen >> j & 1 and w[i, j] > 0:
                before = weight[chosen ^ (1 << j)]
                for cracks in range(i + 1):
                    weight[chosen, cracks + (i == j)] += before[cracks] * w[i, j]
    return weight[-1].copy()


# ---- frontier --------------------------------------------------------------------------------------------------------
#
# States are packed into 64 bits. An edge's step is a row of eight numbers: where the class stands in the state (shift
# and mask), its size if it opens here (else 0), whether it closes here; where the group's room stands (shift and
# mask), the group's size if this is its first step (else 0), and whether this is its last.


@inlined
def _slot(key: Any, size: Any) -> Any:
    """Where a key is looked for first in a table whose size is a power of two."""
    mixed = (key ^ (key >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((mixed >> np.uint64(32)) & np.uint64(size - 1))


@kernel
def _table(keys: Any, count: Any, size: Any) -> Any:
    """Open addressing: the position of each of the first ``count`` keys, −1 where a slot is free."""
    table = np.full(size, -1, np.int32)
    for k in range(count):
        at = _slot(keys[k], size)
        while table[at] >= 0:
            at = (at + 1) & (size - 1)
        table[at] = k
    return table


@kernel
def _room_for(count: Any) -> Any:
    size = 8
    while size < 2 * count:
        size *= 2
    return size


@inlined
def _find(table: Any, keys: Any, key: Any) -> Any:
    """The slot that holds the key, or the free one where it belongs."""
    at = _slot(key, len(table))
    while table[at] >= 0 and keys[table[at]] != key:
        at = (at + 1) & (len(table) - 1)
    return at


@inlined
def _digit(key: Any, shift: Any, mask: Any) -> Any:
    return np.int64((key >> np.uint64(shift)) & np.uint64(mask))


@inlined
def _span(key: Any, step: Any) -> Any:
    """What is left of the class, the room left in the group, and the least and most that may go there."""
    left = step[2] if step[2] > 0 else _digit(key, step[0], step[1])
    room = step[6] if step[6] > 0 else _digit(key, step[4], step[5])
    return left, room, max(left * step[3], room * step[7]), min(left, room)


@inlined
def _moved(key: Any, step: Any, left: Any, room: Any) -> Any:
    """The key with these remainders."""
    key &= ~(np.uint64(step[1]) << np.uint64(step[0]))
    key &= ~(np.uint64(step[5]) << np.uint64(step[4]))
    return key | (np.uint64(left) << np.uint64(step[0])) | (np.uint64(room) << np.uint64(step[4]))


@kernel
def share_forward(keys: Any, values: Any, step: Any, weights: Any, made: Any, sums: Any) -> Any:
    """One step of a large group: x entries of the class go there, with weight ``weights[x]``.

    Fills in the new keys and values; returns how many there are, or −1 if there was not room for all.
    """
    table = np.full(_room_for(len(made)), -1, np.int32)
    count = 0
    for k in range(len(keys)):
        left, room, least, most = _span(keys[k], step)
        for x in range(least, most + 1):
            key = _moved(keys[k], step, left - x, room - x)
            at = _find(table, made, key)
            if table[at] < 0:
                if count == len(made):
                    return -1
                table[at], made[count], sums[count] = count, key, 0.0
                count += 1
            sums[table[at]] += values[k] * weights[x]
    return count


@kernel
def share_backward(keys: Any, values: Any, step: Any, weights: Any, next_keys: Any, next_values: Any) -> Any:
    """The same step backwards: the values behind each key, and the mean number that went along the edge."""
    table = _table(next_keys, len(next_keys), _room_for(len(next_keys)))
    behind = np.zeros(len(keys))
    through, total = 0.0, 0.0
    for k in range(len(keys)):
        left, room, least, most = _span(keys[k], step)
        for x in range(least, most + 1):
            found = table[_find(table, next_keys, _moved(keys[k], step, left - x, room - x))]
            if found >= 0:
                value = weights[x] * next_values[found]
                behind[k] += value
                through += values[k] * value * x
        total += values[k] * behind[k]
    return behind, through / total


@inlined
def _must(key: Any, steps: Any) -> Any:
    """Which class has to fill a group of one because it closes here: its place, −1 for any, −2 for a dead end."""
    forced = -1
    for e in range(len(steps)):
        if not steps[e, 3]:
            break
        left = _digit(key, steps[e, 0], steps[e, 1])
        if left > 1 or (left == 1 and forced >= 0):
            forced = -2
        elif left == 1 and forced == -1:
            forced = e
    return forced


@kernel
def pick_forward(keys: Any, values: Any, steps: Any, weights: Any, made: Any, sums: Any) -> Any:
    """A group of one pseudonym: one entry of one of its classes goes there. Classes that close stand first."""
    table = np.full(_room_for(len(made)), -1, np.int32)
    opening = np.uint64(0)
    for e in range(len(steps)):
        opening |= np.uint64(steps[e, 2]) << np.uint64(steps[e, 0])
    count = 0
    for k in range(len(keys)):
        base = keys[k] | opening
        forced = _must(base, steps)
        if forced == -2:
            continue
        for e in range(len(steps)):
            if (forced >= 0 and e != forced) or _digit(base, steps[e, 0], steps[e, 1]) == 0:
                continue
            key = base - (np.uint64(1) << np.uint64(steps[e, 0]))
            at = _find(table, made, key)
            if table[at] < 0:
                if count == len(made):
                    return -1
                table[at], made[count], sums[count] = count, key, 0.0
                count += 1
            sums[table[at]] += values[k] * weights[e]
    return count


@kernel
def pick_backward(keys: Any, values: Any, steps: Any, weights: Any, next_keys: Any, next_values: Any) -> Any:
    """The same group backwards: the values behind each key, and the mean number along each of its edges."""
    table = _table(next_keys, len(next_keys), _room_for(len(next_keys)))
    opening = np.uint64(0)
    for e in range(len(steps)):
        opening |= np.uint64(steps[e, 2]) << np.uint64(steps[e, 0])
    behind = np.zeros(len(keys))
    through = np.zeros(len(steps))
    for k in range(len(keys)):
        base = keys[k] | opening
        forced = _must(base, steps)
        if forced == -2:
            continue
        for e in range(len(steps)):
            if (forced >= 0 and e != forced) or _digit(base, steps[e, 0], steps[e, 1]) == 0:
                continue
            found = table[_find(table, next_keys, base - (np.uint64(1) << np.uint64(steps[e, 0])))]
            if found >= 0:
                value = weights[e] * next_values[found]
                behind[k] += value
                through[e] += values[k] * value
    return behind, through / through.sum()


@kernel
def alive(keys: Any, values: Any, open_classes: Any) -> Any:
    """Drop states that cannot end well. Rows of ``open_classes``: shift and mask of a class, by rising last group, and
    the room that all classes up to it have together until then (Hall's condition for intervals)."""
    count = 0
    for k in range(len(keys)):
        total, good = np.int64(0), True
        for e in range(len(open_classes)):
            total += _digit(keys[k], open_classes[e, 0], open_classes[e, 1])
            if total > open_classes[e, 2]:
                good = False
                break
        if good:
            keys[count], values[count] = keys[k], values[k]
            count += 1
    return keys[:count], values[:count]


# ---- sampling --------------------------------------------------------------------------------------------------------


@kernel
def swap_sweeps(
    logs: Any,
    of_entry: Any,
    of_slot: Any,
    first: Any,
    reach: Any,
    ends: Any,
    held: Any,
    holder: Any,
    uniforms: Any,
    counts: Any,
    worth: Any,
    totals: Any,
    scores: Any,
) -> Any:
    """The local swap chain: pick an entry, pick one of its candidate pseudonyms, swap with the holder if that is legal.

    ``logs[a, b]`` are the logarithms of the weights (−∞: impossible); ``of_entry`` and ``of_slot`` the classes of
    entries and groups of pseudonyms; the candidates of class a are the pseudonyms ``first[a, k] …`` for the runs k that
    end at ``ends[a, k]``, ``reach[a]`` of them in all. ``held`` and ``holder`` are the matching and its inverse, and
    ``counts[a, b]`` how many of class a hold one of group b, all changed in place. A row of ``uniforms`` drives one
    proposal, and as many as there are entries make a sweep. After each sweep the score, Σ counts · worth, goes to
    ``scores``; ``totals`` gathers the counts over all proposals. Both are kept up to date swap by swap, so that nothing
    is gone through after a sweep. Proposals are symmetric, so Metropolis' rule is right.
    """
    n = len(held)
    since = np.zeros(counts.shape, np.int64)
    score = (counts * worth).sum()
    m = 0
    for sweep in range(len(scores)):
        for _ in range(n):
            i = int(uniforms[m, 0] * n)
            a = of_entry[i]
            drawn = uniforms[m, 1] * reach[a]
            wanted = int(drawn)
            accept = drawn - wanted  # what is left of a uniform number is uniform again
            k = 0
            while ends[a, k] <= wanted:
                k += 1
            j = first[a, k] + wanted - (ends[a, k - 1] if k > 0 else 0)
            now, other = held[i], holder[j]
            b, c, d = of_slot[j], of_slot[now], of_entry[other]
            gain = logs[a, b] + logs[d, c] - logs[a, c] - logs[d, b]
            if now != j and (gain >= 0 or (gain > -np.inf and accept < np.exp(gain))):
                held[i], held[other] = j, now
                holder[j], holder[now] = i, other
                if a != d and b != c:
                    for x, y, change in ((a, c, -1), (a, b, 1), (d, b, -1), (d, c, 1)):
                        totals[x, y] += counts[x, y] * (m - since[x, y])
                        since[x, y] = m
                        counts[x, y] += change
                        score += change * worth[x, y]
            m += 1
        scores[sweep] = score
    totals += counts * (m - since)
