"""The compiled inner loops of ``never_together``: random walks on perfect matchings.

``graph`` holds the class of every entry; the candidates of class c as runs ``starts[c] … starts[c + 1]``, each with the
cumulative number of pseudonyms and its first pseudonym; the group of every pseudonym; which class may have which group;
the entries that have a choice, by block; and where each block begins among these. ``matching`` holds the pseudonym of
every entry and the entry of every pseudonym. ``never`` holds the two entries of every pair; which entries are in a
pair; the index of every pseudonym in the table ``together``; that table, which says whether two pseudonyms occur
together; and the blocks of each pair's two entries.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from unveil.compilation import allocating_kernel

__all__ = ["count_violations", "run_sweeps"]


@allocating_kernel
def _draw_pseudonym(graph, entry, random):
    """Draw one of the candidates of an entry."""
    of_entry, starts, upto, first = graph[:4]
    begin, end = starts[of_entry[entry]], starts[of_entry[entry] + 1]
    u = int(random.random() * upto[end - 1])
    k = begin + np.searchsorted(upto[begin:end], u, "right")
    return first[k] + u - (upto[k - 1] if k > begin else 0)


@allocating_kernel
def count_violations(held, never):
    """The number of pairs whose pseudonyms occur together."""
    left, right, _, place, together = never[:5]
    found = 0
    for p in range(len(left)):
        found += together[place[held[left[p]]], place[held[right[p]]]]
    return found


@allocating_kernel
def _try_swaps(graph, matching, never, among, many, most, random):
    """Try ``many`` swaps. One of the entries ``among`` draws a candidate and swaps with its holder, if the holder may
    have the other pseudonym and no more than ``most`` pairs are violated afterwards. The reverse swap is equally
    likely."""
    of_entry, _, _, _, of_slot, allowed = graph[:6]
    held, holder = matching
    bound = never[2]
    for _ in range(many):
        i = among[int(random.random() * len(among))]
        old, j = held[i], _draw_pseudonym(graph, i, random)
        other = holder[j]
        if allowed[of_entry[other], of_slot[old]]:
            held[i], held[other], holder[old], holder[j] = j, old, other, i
            if (bound[i] or bound[other]) and count_violations(held, never) > most:
                held[i], held[other], holder[old], holder[j] = old, j, i, other


@allocating_kernel
def _tour_block(graph, matching, block, random):
    """An entry of a block releases its pseudonym and draws a candidate; the previous holder draws in turn, until one
    draws the free pseudonym. Returns the number of steps; 0 if the tour became too long, which leaves no valid
    matching."""
    held, holder = matching
    begin, many = graph[7][block], graph[7][block + 1] - graph[7][block]
    if many == 0:
        return 1
    head = graph[6][begin + int(random.random() * many)]
    free = held[head]
    for step in range(4 * many + 8):
        j = _draw_pseudonym(graph, head, random)
        displaced = holder[j]
        held[head], holder[j] = j, head
        if j == free:
            return step + 1
        head = displaced
    return 0


@allocating_kernel
def _try_leaps(graph, matching, never, many, most, random, before):
    """Try ``many`` leaps. A leap makes a tour in each block of a random pair and, each time with probability 1/2, in
    those of one more pair. It is undone if a tour became too long or if more than ``most`` pairs are violated at its
    end. The choice of blocks does not depend on the matching, and tours of different blocks commute, so the reverse
    leap is equally likely."""
    held, holder = matching
    ends = never[5]
    for _ in range(many):
        before[0], before[1] = held, holder
        good, more = True, True
        while good and more:
            p = int(random.random() * ends.shape[1])
            good = _tour_block(graph, matching, ends[0, p], random) > 0
            if good and ends[0, p] != ends[1, p]:
                good = _tour_block(graph, matching, ends[1, p], random) > 0
            more = random.random() < 0.5
        if not good or count_violations(held, never) > most:
            held[:], holder[:] = before[0], before[1]


@allocating_kernel
def run_sweeps(graph, matching, never, rounds, most, random, before, sink, own, kin, sizes, hits, scores):
    """Run one sweep per score; ``rounds`` gives the numbers of swaps of all entries, of swaps of entries in a pair, and
    of leaps in a sweep. At most ``most`` pairs are violated at any time; with ``sink``, no more than at the start of
    the sweep. After each sweep, ``hits`` counts the entries whose ``own`` pseudonym is held by an entry of the same
    ``kin``, and the score is their number, each divided by the size of the kin."""
    held, holder = matching
    bound, movable = never[2], graph[6]
    choosy = movable[bound[movable]]
    for sweep in range(len(scores)):
        most = min(most, count_violations(held, never)) if sink else most
        _try_swaps(graph, matching, never, graph[6], rounds[0], most, random)
        _try_swaps(graph, matching, never, choosy, rounds[1], most, random)
        _try_leaps(graph, matching, never, rounds[2], most, random, before)
        score = 0.0
        for i in range(len(own)):
            if own[i] >= 0 and kin[holder[own[i]]] == kin[i]:
                hits[i] += 1
                score += 1 / sizes[kin[i]]
        scores[sweep] = score
