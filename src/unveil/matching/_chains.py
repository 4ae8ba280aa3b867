"""The compiled inner loops of ``chains``: three ways to change a matching, each of which preserves its distribution.

``graph`` holds, for a block: ``weights[a, b]`` by class and group; the class of every entry and the group of every
pseudonym; ``runs[a, k]``, the candidates of class a as runs of pseudonyms of equal weight: the cumulative weight before
and after the run, the reciprocal of a single weight, the first and the last pseudonym, and the total weight of the
class without its last candidate; the entries that have a choice; which class may have which group, as bytes; the
classes that share candidates with each class (starts, classes, cumulative number of entries); and the first entry of
every class. ``matching`` holds the pseudonym of every entry and the entry of every pseudonym.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from unveil.compilation import allocating_kernel

__all__ = ["mean_tour_length", "run_sweeps"]

_ROWS = 5


@allocating_kernel
def _draw_candidate(a, drawn, runs):
    """The candidate of class a whose part of the cumulative weight contains the number ``drawn``."""
    k, last = 0, runs.shape[1] - 1
    while k < last and runs[a, k, 1] <= drawn:
        k += 1
    return int(min(runs[a, k, 3] + (drawn - runs[a, k, 0]) * runs[a, k, 2], runs[a, k, 4]))


@allocating_kernel
def _make_swaps(graph, matching, many, random):
    """An entry draws one of its other candidates and swaps with its holder, if the holder may have the other pseudonym.
    For equal weights only: the reverse swap is equally likely. To draw one of the others, draw one of all but the last,
    and take the last one if the result is the entry's own."""
    _, of_entry, of_slot, runs, movable, allowed = graph[:6]
    held, holder = matching
    last = runs.shape[1] - 1
    for _ in range(many):
        drawn = random.random() * len(movable)
        i = movable[int(drawn)]
        a, old = of_entry[i], held[i]
        j = _draw_candidate(a, (drawn - int(drawn)) * runs[a, last, 5], runs)  # the fractional part is uniform as well
        if j == old:
            j = int(runs[a, last, 4])
        other = holder[j]
        if allowed[of_entry[other], of_slot[old]]:
            held[i], held[other], holder[old], holder[j] = j, old, other, i


@allocating_kernel
def _make_tours(graph, matching, many, random, path):
    """An entry releases its pseudonym and draws a candidate by weight; the previous holder draws in turn, until one
    draws the free pseudonym. A tour that becomes too long is undone. Returns the number of steps."""
    _, of_entry, _, runs, movable = graph[:5]
    held, holder = matching
    steps, last = 0, runs.shape[1] - 1
    for _ in range(many):
        head = movable[int(random.random() * len(movable))]
        free, done, closed = held[head], 0, False
        while not closed and done < len(path):
            path[done, 0], path[done, 1] = head, held[head]
            a = of_entry[head]
            j = _draw_candidate(a, random.random() * runs[a, last, 1], runs)
            displaced = holder[j]
            held[head], holder[j] = j, head
            closed = j == free
            head = displaced
            done += 1
        steps += done
        if not closed:
            holder[held[head]] = head
            while done > 0:
                done -= 1
                held[path[done, 0]], holder[path[done, 1]] = path[done, 1], path[done, 0]
    return steps


@allocating_kernel
def _make_reshuffles(graph, matching, many, random):
    """An entry and up to four that share candidates with it redistribute their pseudonyms by the exact conditional
    distribution: by sums over sets of columns, then row by row from the last."""
    weights, of_entry, of_slot, _, movable, _, near_starts, near, near_upto, begins = graph
    held, holder = matching
    rows, slots = np.empty(_ROWS, np.int64), np.empty(_ROWS, np.int64)
    table, ways = np.empty((_ROWS, _ROWS)), np.empty(1 << _ROWS)
    sizes = np.zeros(1 << _ROWS, np.int64)
    for chosen in range(1, 1 << _ROWS):
        sizes[chosen] = sizes[chosen >> 1] + (chosen & 1)
    for _ in range(many):
        rows[0], size = movable[int(random.random() * len(movable))], 1
        low, high = near_starts[of_entry[rows[0]]], near_starts[of_entry[rows[0]] + 1]
        for _ in range(_ROWS - 1):
            drawn = int(random.random() * near_upto[high - 1])
            k = low + np.searchsorted(near_upto[low:high], drawn, "right")
            other = begins[near[k]] + drawn - (near_upto[k - 1] if k > low else 0)
            new = True
            for m in range(size):
                new = new and rows[m] != other
            if new:
                rows[size] = other
                size += 1
        for m in range(size):
            slots[m] = held[rows[m]]
        for m in range(size):
            for k in range(size):
                table[m, k] = weights[of_entry[rows[m]], of_slot[slots[k]]]
        ways[0] = 1.0
        for chosen in range(1, 1 << size):
            ways[chosen] = 0.0
            for k in range(size):
                if chosen >> k & 1:
                    ways[chosen] += ways[chosen ^ (1 << k)] * table[sizes[chosen] - 1, k]
        chosen = (1 << size) - 1
        for m in range(size - 1, -1, -1):
            drawn, pick = random.random() * ways[chosen], -1
            for k in range(size):
                w = ways[chosen ^ (1 << k)] * table[m, k] if chosen >> k & 1 else 0.0
                if w > 0 and (pick < 0 or drawn >= 0):
                    pick = k
                    drawn -= w
            chosen ^= 1 << pick
            held[rows[m]], holder[slots[pick]] = slots[pick], rows[m]


@allocating_kernel
def mean_tour_length(graph, matching, random, path, tours):
    """The mean length of some tours."""
    return _make_tours(graph, matching, tours, random, path) / tours


@allocating_kernel
def run_sweeps(graph, matching, rounds, random, path, worth, counts, scores):
    """Run one sweep per score; ``rounds`` gives the numbers of swaps, tours and reshuffles in a sweep. The score after
    a sweep is Σ ``worth``, and ``counts`` adds up how many entries of each class hold a pseudonym of each group."""
    of_entry, of_slot, held = graph[1], graph[2], matching[0]
    for sweep in range(len(scores)):
        if rounds[0]:
            _make_swaps(graph, matching, rounds[0], random)
        if rounds[1]:
            _make_tours(graph, matching, rounds[1], random, path)
        if rounds[2]:
            _make_reshuffles(graph, matching, rounds[2], random)
        score = 0.0
        for i in range(len(held)):
            a, b = of_entry[i], of_slot[held[i]]
            score += worth[a, b]
            counts[a, b] += 1
        scores[sweep] = score
