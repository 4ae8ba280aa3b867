"""Compiled: what an adversary sees of a target, from the candidates that are left or from what is believed of everyone.

Arrays of two axes go by target and by number of things known.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.compiled import kernel

__all__ = ["Seen", "averaged", "told"]

Floats = npt.NDArray[np.float64]

_SLACK = 1e-9
_NEGLIGIBLE = 50.0  # e⁻⁵⁰ of the likeliest: a million of them make no difference


class Seen(NamedTuple):
    """What an adversary sees, by target and number of things known. It names the target with probability ``spread`` if
    its output is drawn from all it considers, and ``best`` if from the best of these. ``size`` is how many it considers
    and ``ties`` how many are the best; ``apart`` is by how much those lead. The others are expected of the output: how
    often it is similar enough, and how many of its attributes agree."""

    spread: Floats
    best: Floats
    size: Floats
    ties: Floats
    apart: Floats
    spread_similar: Floats
    spread_learned: Floats
    best_similar: Floats
    best_learned: Floats


@kernel
def averaged(
    places: Any, count: Any, similar: Any, learned: Any, until: Any, ties: Any, t: Any, j: Any, seen: Any
) -> None:
    """Fill what is expected of any of the places, and of any of the ``ties`` before ``until``."""
    all_similar, all_learned, best_similar, best_learned = 0, 0, 0, 0
    for k in range(count):
        all_similar += similar[k]
        all_learned += learned[k]
        if places[k] < until:
            best_similar += similar[k]
            best_learned += learned[k]
    count, ties = max(1, count), max(1, ties)
    seen.spread_similar[t, j], seen.spread_learned[t, j] = all_similar / count, all_learned / count
    seen.best_similar[t, j], seen.best_learned[t, j] = best_similar / ties, best_learned / ties


@kernel
def told(logs: Any, target: Any, similar: Any, learned: Any, t: Any, j: Any, seen: Any) -> None:
    """Fill what is seen from the logarithm of how much each record is believed, up to what is the same for all."""
    top, second = -np.inf, -np.inf
    for y in range(len(logs)):
        if logs[y] > top:
            top, second = logs[y], top
        elif logs[y] > second:
            second = logs[y]
    seen.spread[t, j] = seen.best[t, j] = seen.size[t, j] = seen.ties[t, j] = seen.apart[t, j] = 0.0
    if len(similar):  # otherwise there is no room for it
        seen.spread_similar[t, j] = seen.spread_learned[t, j] = seen.best_similar[t, j] = seen.best_learned[t, j] = 0.0
    if top == -np.inf:
        return
    whole, moment, ties, previous, e = 0.0, 0.0, 0, np.nan, 0.0
    spread_similar, spread_learned, best_similar, best_learned = 0.0, 0.0, 0, 0
    for y in range(len(logs)):
        if logs[y] < top - _NEGLIGIBLE:
            continue
        if logs[y] != previous:  # scores of neighbours are often the same
            previous = logs[y]
            e = np.exp(previous - top)
        whole += e
        moment += e * (previous - top)
        tied = previous >= top - _SLACK
        ties += tied
        if len(similar):
            spread_similar += e * similar[y]
            spread_learned += e * learned[y]
            if tied:
                best_similar += similar[y]
                best_learned += learned[y]
    seen.spread[t, j] = np.exp(logs[target] - top) / whole
    seen.best[t, j] = 1.0 / ties if logs[target] >= top - _SLACK else 0.0
    seen.size[t, j] = np.exp(np.log(whole) - moment / whole)
    seen.ties[t, j] = ties
    seen.apart[t, j] = top - second if ties == 1 else 0.0
    if len(similar):
        seen.spread_similar[t, j], seen.spread_learned[t, j] = spread_similar / whole, spread_learned / whole
        seen.best_similar[t, j], seen.best_learned[t, j] = best_similar / ties, best_learned / ties
