"""Compiled: what an adversary sees of a target, from the candidates that are left or from what is believed of everyone.

Arrays of two axes go by target and by number of things known.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unveil.arrays import Floats
from unveil.compilation import helper

__all__ = ["TargetOutcomes", "average_candidates", "summarise_beliefs"]


_SLACK = 1e-9
_NEGLIGIBLE = 50.0  # e⁻⁵⁰ of the likeliest: a million of them make no difference


class TargetOutcomes(NamedTuple):
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


@helper
def average_candidates(
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


@helper
def summarise_beliefs(logs: Any, kinds: Any, count: Any, own: Any, compared: Any, t: Any, j: Any, seen: Any) -> None:
    """Fill what is seen from the logarithm of how much records of each kind are believed, up to what is the same for
    all; ``own`` is the kind of the target, −1 if that is out of the question."""
    top, second = -np.inf, -np.inf
    for k in range(count):
        if logs[k] > top:
            top, second = logs[k], top
        elif logs[k] > second:
            second = logs[k]
    seen.spread[t, j] = seen.best[t, j] = seen.size[t, j] = seen.ties[t, j] = seen.apart[t, j] = 0.0
    if compared:  # otherwise there is no room for it
        seen.spread_similar[t, j] = seen.spread_learned[t, j] = seen.best_similar[t, j] = seen.best_learned[t, j] = 0.0
    if top == -np.inf:
        return
    whole, moment, ties = 0.0, 0.0, 0
    spread_similar, spread_learned, best_similar, best_learned = 0.0, 0.0, 0, 0
    for k in range(count):
        if logs[k] < top - _NEGLIGIBLE:
            continue
        e = np.exp(logs[k] - top)
        whole += kinds.many[k] * e
        moment += kinds.many[k] * e * (logs[k] - top)
        tied = logs[k] >= top - _SLACK
        ties += kinds.many[k] * tied
        if compared:
            spread_similar += e * kinds.similar[k]
            spread_learned += e * kinds.learned[k]
            best_similar += tied * kinds.similar[k]
            best_learned += tied * kinds.learned[k]
    if own >= 0:
        seen.spread[t, j] = np.exp(logs[own] - top) / whole
        seen.best[t, j] = 1.0 / ties if logs[own] >= top - _SLACK else 0.0
    seen.size[t, j] = np.exp(np.log(whole) - moment / whole)
    seen.ties[t, j] = ties
    seen.apart[t, j] = top - second if ties == 1 else 0.0
    if compared:
        seen.spread_similar[t, j], seen.spread_learned[t, j] = spread_similar / whole, spread_learned / whole
        seen.best_similar[t, j], seen.best_learned[t, j] = best_similar / ties, best_learned / ties
