"""The compiled inner loops of the passive attack.

A graph is four arrays: for each node, ``neighbours[starts[v] : starts[v + 1]]`` in rising order; their ``bits``, 1 if
the neighbour points to the node, 2 if the node points to the neighbour; and ``back``, the same seen from the neighbour.
In an undirected graph both are 1.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

from math import lgamma, log

import numpy as np

from unveil.compilation import helper, kernel

__all__ = ["count_mapped", "propagate_once", "score_candidates"]


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
def _least_degree(candidates, starts, begin, end, neighbours):
    """The least degree of all likely partners of some neighbours, and how many of these have any."""
    begins, partners, _ = candidates
    least, witnesses = 1 << 62, 0
    for e in range(begin, end):
        w = neighbours[e]
        witnesses += begins[w + 1] > begins[w]
        for c in range(begins[w], begins[w + 1]):
            least = min(least, starts[partners[c] + 1] - starts[partners[c]])
    return least, witnesses


@helper
def _edge_gain(shared, witness, v, cells, log_edges, least, most):
    """What a right node gains by sharing these directions with a witness, within limits for each."""
    gain = np.float32(0)
    if shared & 1:
        gain += max(min(log_edges - cells[witness, 3] - cells[v, 2], most), least)
    if shared & 2:
        gain += max(min(log_edges - cells[witness, 2] - cells[v, 3], most), least)
    return gain


@helper
def _directions(bit):
    """How many directions an edge has."""
    return (bit & 1) + (bit >> 1)


@helper
def _speak(f, mine, witness, trust, neighbours, back, cells, chance):
    """Let a witness speak for its neighbour on edge ``f``."""
    v = neighbours[f]
    shared = mine & back[f]
    cells[v, 0] += trust * _edge_gain(shared, witness, v, cells, chance[0], chance[1], chance[2])
    cells[v, 1] += trust * _directions(shared)


@helper
def _propose(begin, end, mine, witness, trust, neighbours, back, cells, chance, touched, met):
    """Let a witness speak for all its neighbours; return how many nodes have been met."""
    if chance[3] == 0:  # undirected: the loop where the time goes
        least, most, expected = chance[1], chance[2], chance[0] - cells[witness, 3]
        for f in range(begin, end):
            v = neighbours[f]
            shared = cells[v, 1]
            touched[met] = v  # no branch: the next one overwrites it unless it is new
            met += shared == 0
            cells[v, 1] = shared + trust
            cells[v, 0] += trust * min(max(expected - cells[v, 2], least), most)
        return met
    for f in range(begin, end):
        v = neighbours[f]
        if mine & back[f]:
            touched[met] = v
            met += cells[v, 1] == 0
            _speak(f, mine, witness, trust, neighbours, back, cells, chance)
    return met


@helper
def _confirm(begin, end, mine, witness, trust, neighbours, back, cells, chance, touched, met):
    """Let a hub speak for those of its neighbours that others have proposed; return the steps that took."""
    if 8 * met < end - begin:
        for k in range(met):
            f = _find(neighbours, begin, end, touched[k])
            if f >= 0:
                _speak(f, mine, witness, trust, neighbours, back, cells, chance)
        return 8 * met
    for f in range(begin, end):
        if cells[neighbours[f], 1] != 0:
            _speak(f, mine, witness, trust, neighbours, back, cells, chance)
    return end - begin


@helper
def _log_likelihood(alpha, beta, shared, total):
    """How likely it is that the unshared ones of all edges are unshared: the beta-binomial likelihood of both kinds,
    less half of what the shared ones say, since they are counted from both sides."""
    unshared = max(total - shared, 0.0)
    whole = alpha + beta
    likelihood = lgamma(alpha + shared) + lgamma(beta + unshared) - lgamma(whole + shared + unshared)
    likelihood += lgamma(whole) - lgamma(alpha) - lgamma(beta)
    return likelihood - 0.5 * shared * log((alpha + shared) / (whole + shared + unshared))


@helper
def _least_shared(shares, total, prior, worst, most):
    """How many edges a candidate must share at least, if everything else speaks for it as clearly as it can."""
    low, high = 0.0, total
    slope = most + 0.5 * (log((shares[1, 0] + shares[1, 1]) / shares[1, 0]))  # the other side adds that much at most
    for _ in range(12):
        middle = 0.5 * (low + high)
        if slope * middle + prior + _log_likelihood(shares[0, 0], shares[0, 1], middle, total) < worst:
            low = middle
        else:
            high = middle
    return low


@helper
def _keep_best(node, v, score, shared, found):
    """Enter a candidate among the best of a node, which are in falling order."""
    who, scores, shares = found
    k = who.shape[1] - 1
    if score <= scores[node, k]:
        return
    while k > 0 and scores[node, k - 1] < score:
        who[node, k], scores[node, k], shares[node, k] = who[node, k - 1], scores[node, k - 1], shares[node, k - 1]
        k -= 1
    who[node, k], scores[node, k], shares[node, k] = v, score, shared


@kernel
def score_candidates(
    node, last, budget, hub, limits, left, right, candidates, totals, crawled, shares, chance, classes, prior, given,
    cells, touched, found,
):  # fmt: skip
    """For each left node, the right nodes with the highest scores. Visits left nodes until a budget of steps is used up
    and returns where it stopped.

    ``limits`` are the least score that counts, and the largest value of ``prior``.
    ``candidates`` are the likely partners of left nodes: where those of a node begin, who they are, how probable.
    ``totals`` are, for both graphs, how many matched neighbours point to a node, and how many it points to.
    ``shares`` are the parameters of the beta distributions of shared edges, ``chance`` the logarithm of the number of
    edges, the least and the most that a shared one counts, and 1 for a directed graph. ``given`` is a partner that was
    given, or −1, and what speaks for it.
    ``cells`` holds for each right node what speaks for it, what it shares, and the logarithms of its degrees.
    """
    starts, neighbours, bits, _ = left
    other_starts, other_neighbours, _, back = right
    begins, partners, trust = candidates
    (left_into, left_out), (right_into, right_out) = totals
    given_partner, given_gain = given
    worst, highest = limits
    steps = 0
    while node < last and steps < budget:
        begin, end = starts[node], starts[node + 1]
        smallest, witnesses = _least_degree(candidates, other_starts, begin, end, neighbours)
        limit, met = hub if witnesses < 2 else max(hub, smallest), 0
        for hubs in range(2):
            for e in range(begin, end):
                w = neighbours[e]
                for c in range(begins[w], begins[w + 1]):
                    x = partners[c]
                    first, after = other_starts[x], other_starts[x + 1]
                    if (after - first > limit) != (hubs == 1):
                        continue
                    if hubs == 0:
                        met = _propose(
                            first, after, bits[e], x, trust[c], other_neighbours, back, cells, chance, touched, met
                        )
                        steps += after - first
                    else:
                        steps += _confirm(
                            first, after, bits[e], x, trust[c], other_neighbours, back, cells, chance, touched, met
                        )
        own = given_partner[node]
        if own >= 0 and cells[own, 1] == 0:
            touched[met] = own
            met += 1
        wanted = _least_shared(shares, left_into[node], highest, worst, chance[2])
        for k in range(met):
            v = touched[k]
            score, shared = np.float64(cells[v, 0]), np.float64(cells[v, 1])
            cells[v, 0] = cells[v, 1] = 0
            if shared < wanted and own != v:
                continue
            score += prior[classes[0][node], classes[1][v]]
            if own == v:
                score += given_gain
            mine = left_into[node] + (left_out[node] if crawled[1][v] else 0.0)
            theirs = right_into[v] + (right_out[v] if crawled[0][node] else 0.0)
            score += _log_likelihood(shares[0, 0], shares[0, 1], shared, mine)
            score += _log_likelihood(shares[1, 0], shares[1, 1], shared, theirs)
            if score >= worst:
                _keep_best(node, v, score, shared, found)
            steps += 10
        steps += met + end - begin + 1
        node += 1
    return node


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
