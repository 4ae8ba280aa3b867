"""The compiled inner loops of the passive attack.

A graph is four arrays: for each node, ``neighbours[starts[v] : starts[v + 1]]`` in rising order; their ``bits``, 1 if
the neighbour points to the node, 2 if the node points to the neighbour; and ``back``, the same seen from the neighbour.
In an undirected graph both are 1.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from unveil.compilation import helper, kernel

__all__ = ["count_mapped", "propagate_once", "score_all", "score_pairs"]


@helper
def _find(neighbours, low, high, wanted):
    """The position of a node in a rising row, or −1."""
    end = high
    while low < high:
        middle = (low + high) >> 1
        if neighbours[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and neighbours[low] == wanted else -1


@helper
def _shared_gain(shared, weights, witness, cells, v):
    """What a right node gains by sharing these directions with a witness: at least 0 for each."""
    none = np.float32(0)
    gain = max(weights[0, witness] - cells[v, 1], none) if shared & 1 else none
    if shared & 2:
        gain += max(weights[1, witness] - cells[v, 2], none)
    return gain


@helper
def _constant_part(node, v, losses, classes, prior):
    """What a pair scores without any shared neighbour."""
    left_loss, left_out, right_loss, right_out = losses
    score = left_loss[node] + right_loss[v] + prior[classes[0][node], classes[1][v]]
    if right_out[v, 1] > 0:  # the right node's outgoing edges are known
        score += left_out[node, 0]
    if left_out[node, 1] > 0:
        score += right_out[v, 0]
    return score


@helper
def _keep_two_best(best, who, node, score, other):
    """Enter a partner among the two best of a node."""
    if score > best[node, 0]:
        best[node, 1], who[node, 1] = best[node, 0], who[node, 0]
        best[node, 0], who[node, 0] = score, other
    elif score > best[node, 1]:
        best[node, 1], who[node, 1] = score, other


@helper
def _spread(begin, end, mine, into, out, neighbours, back, cells, touched, met):
    """Let a witness speak for its neighbours; a cell that is not 0 has been met."""
    least = np.float32(1e-6)
    for f in range(begin, end):
        v = neighbours[f]
        score = cells[v, 0]
        touched[met] = v  # no branch: the next one overwrites it unless it is new
        met += score == 0
        shared = mine & back[f]
        gain = max(into - cells[v, 1], least) if shared & 1 else least
        if shared & 2:
            gain += max(out - cells[v, 2], least)
        cells[v, 0] = score + gain
    return met


@helper
def _confirm(begin, end, mine, witness, neighbours, back, weights, cells, touched, met):
    """Let a hub speak for those of its neighbours that others have proposed."""
    if 8 * met < end - begin:
        for k in range(met):
            f = _find(neighbours, begin, end, touched[k])
            if f >= 0:
                cells[touched[k], 0] += _shared_gain(mine & back[f], weights, witness, cells, touched[k])
        return 8 * met
    for f in range(begin, end):
        v = neighbours[f]
        if cells[v, 0] != 0:
            cells[v, 0] += _shared_gain(mine & back[f], weights, witness, cells, v)
    return end - begin


@kernel
def score_all(
    node, budget, hub, worst, left, right, mapping, prices, weights, cells, losses, classes, prior, touched, best, rival
):
    """Score the pairs of a left and a right node that have a mapped neighbour in common, and keep the two best partners
    of each node on both sides. Visits left nodes until a budget of steps is used up and returns where it stopped.

    ``cells`` holds, for each right node, its score so far, what it subtracts from the weight of a witness that points
    to it, or that it points to, and its own loss. ``prices`` are what a partner costs that is taken by another.
    ``rival`` is the best partner besides the present one, whatever it costs. A pair whose score cannot reach ``worst``
    less the largest value of ``prior`` is passed over.
    """
    starts, neighbours, bits, _ = left
    other_starts, other_neighbours, _, back = right
    left_best, left_who, right_best, right_who = best
    left_price, right_price = prices
    rival_score, rival_who = rival
    steps = 0
    while node < len(starts) - 1 and steps < budget:
        begin, end, own = starts[node], starts[node + 1], mapping[node]
        witnesses, smallest = 0, len(other_neighbours)
        for e in range(begin, end):
            x = mapping[neighbours[e]]
            if x >= 0:
                witnesses += 1
                smallest = min(smallest, other_starts[x + 1] - other_starts[x])
        limit = hub if witnesses < 2 else max(hub, smallest)
        met = 0
        for e in range(begin, end):
            x = mapping[neighbours[e]]
            if x >= 0 and other_starts[x + 1] - other_starts[x] <= limit:
                first, last = other_starts[x], other_starts[x + 1]
                met = _spread(
                    first, last, bits[e], weights[0, x], weights[1, x], other_neighbours, back, cells, touched, met
                )
                steps += last - first
        for e in range(begin, end):
            x = mapping[neighbours[e]]
            if x < 0:
                continue
            first, last = other_starts[x], other_starts[x + 1]
            if last - first > limit:
                steps += _confirm(first, last, bits[e], x, other_neighbours, back, weights, cells, touched, met)
            f = _find(other_neighbours, other_starts[own], other_starts[own + 1], x) if own >= 0 else -1
            if f >= 0:  # the witness's partner could change places with this node's: their edge stays shared
                touched[met] = x
                met += cells[x, 0] == 0
                cells[x, 0] += np.float32(1e-6) + _shared_gain(bits[e] & back[f], weights, own, cells, x)
        for k in range(met):
            v = touched[k]
            hopeless = cells[v, 0] + cells[v, 3] + losses[0][node] < worst
            score = cells[v, 0]
            cells[v, 0] = 0
            if hopeless:
                continue
            score += _constant_part(node, v, losses, classes, prior)
            if own == v:
                _keep_two_best(left_best, left_who, node, score, v)
                _keep_two_best(right_best, right_who, v, score, node)
            else:
                _keep_two_best(left_best, left_who, node, score - right_price[v], v)
                _keep_two_best(right_best, right_who, v, score - left_price[node], node)
                if score > rival_score[node]:
                    rival_score[node], rival_who[node] = score, v
        steps += met + 1
        node += 1
    return node


@kernel
def score_pairs(pairs, without, left, right, mapping, weights, cells, losses, classes, prior, found):
    """Score given pairs as ``score_all`` does, leaving out one left node as a witness (−1: none)."""
    starts, neighbours, bits, _ = left
    other_starts, other_neighbours, other_bits, _ = right
    for p in range(len(pairs)):
        node, v = pairs[p, 0], pairs[p, 1]
        score = _constant_part(node, v, losses, classes, prior)
        for e in range(starts[node], starts[node + 1]):
            x = mapping[neighbours[e]]
            if x < 0 or neighbours[e] == without[p]:
                continue
            f = _find(other_neighbours, other_starts[v], other_starts[v + 1], x)
            if f >= 0:
                score += _shared_gain(bits[e] & other_bits[f], weights, x, cells, v)
        found[p] = score


# ---- the published method --------------------------------------------------------------------------------------------


@helper
def _is_valid(bit, partner_crawled, union, out_crawled_only):
    """Whether a mapped neighbour counts: as one that points to the node, or, if both nodes are crawled, as either."""
    into = (bit & 1) != 0 and partner_crawled
    out = union and (bit & 2) != 0 and (partner_crawled or not out_crawled_only)
    return into or out


@helper
def _change_counts(graph, counts, witness, partner_crawled, out_crawled_only, change):
    """Count a node among the mapped neighbours of its neighbours, or no longer."""
    starts, neighbours, _, back = graph
    for e in range(starts[witness], starts[witness + 1]):
        for union in range(2):
            if _is_valid(back[e], partner_crawled, union == 1, out_crawled_only):
                counts[union, neighbours[e]] += change


@helper
def _find_match(
    node, graph, other, mapping, crawled, other_crawled, counts, other_counts, strict, theta, work, touched
):
    """The node with the highest cosine similarity, if its eccentricity reaches theta; else −1."""
    starts, neighbours, bits, _ = graph
    other_starts, other_neighbours, _, other_back = other
    met = 0
    for e in range(starts[node], starts[node + 1]):
        x = mapping[neighbours[e]]
        if x < 0:
            continue
        for f in range(other_starts[x], other_starts[x + 1]):
            v = other_neighbours[f]
            union = crawled[node] and other_crawled[v]
            mine = _is_valid(bits[e], other_crawled[x], union, strict)
            if mine and _is_valid(other_back[f], crawled[neighbours[e]], union, strict):
                if work[v] == 0.0:
                    touched[met] = v
                    met += 1
                work[v] += 1.0
    total, first, second, found, size = 0.0, 0.0, 0.0, -1, len(other_starts) - 1
    for k in range(met):
        v = touched[k]
        kind = 1 if crawled[node] and other_crawled[v] else 0
        work[v] /= (counts[kind, node] * other_counts[kind, v]) ** 0.5
        total += work[v]
        if work[v] > first or (work[v] == first and v < found):
            if found >= 0:
                second = first
            first, found = work[v], v
        elif work[v] > second:
            second = work[v]
    mean = total / size
    squares = (size - met) * mean * mean
    for k in range(met):
        squares += (work[touched[k]] - mean) ** 2
        work[touched[k]] = 0.0
    deviation = (squares / size) ** 0.5
    eccentricity = (first - second) / deviation if deviation > 0.0 else 0.0
    return found if eccentricity >= theta else -1


@kernel
def propagate_once(
    node, budget, left, right, mapping, inverse, left_crawled, right_crawled, counts, strict, theta, work, touched
):
    """Visit left nodes as the listing does, until so many are visited; return the number of changes."""
    left_counts, right_counts = counts
    left_work, right_work = work
    changes = 0
    for u in range(node, min(node + budget, len(mapping))):
        v = _find_match(
            u, left, right, mapping, left_crawled, right_crawled, left_counts, right_counts, strict, theta,
            right_work, touched,
        )  # fmt: skip
        if v < 0 or mapping[u] == v:
            continue
        back = _find_match(
            v, right, left, inverse, right_crawled, left_crawled, right_counts, left_counts, strict, theta,
            left_work, touched,
        )  # fmt: skip
        if back != u:
            continue
        for side in range(2):  # who had either of them loses it
            a = u if side == 0 else inverse[v]
            b = mapping[u] if side == 0 else v
            if a >= 0 and b >= 0:
                _change_counts(left, left_counts, a, right_crawled[b], strict, -1)
                _change_counts(right, right_counts, b, left_crawled[a], strict, -1)
                mapping[a], inverse[b] = -1, -1
        _change_counts(left, left_counts, u, right_crawled[v], strict, 1)
        _change_counts(right, right_counts, v, left_crawled[u], strict, 1)
        mapping[u], inverse[v] = v, u
        changes += 1
    return changes


@kernel
def count_mapped(left, right, mapping, left_crawled, right_crawled, counts, strict):
    """Fill the numbers of mapped neighbours that ``propagate_once`` keeps."""
    for u in range(len(mapping)):
        if mapping[u] >= 0:
            _change_counts(left, counts[0], u, right_crawled[mapping[u]], strict, 1)
            _change_counts(right, counts[1], mapping[u], left_crawled[u], strict, 1)
