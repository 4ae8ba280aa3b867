"""The privacy score when everything that can be known is certainly known: all likelihoods are 0 or 1.

Then K costs nothing but the danger of what need not be learned any more. Let V_i be what can be known about individual
i, and T_i its closure. Whatever K ⊆ V_i one begins with, adding V_i ∖ K̄ keeps I_K and makes the closure T_i, so only K
with K̄ = T_i matter:

    priv(i) = dg(D(T_i) − h_i),  h_i = least danger of a K ⊆ V_i that meets V_i ∖ V_j for each j that lacks any of V_i.

(If all likelihoods are 1, T_i = Att_i.) K must meet these sets because otherwise j has K, too. Few of them matter: the
least K that meets some of them is found by branch and bound, and while another row has it, a set that rules this row
out is added. Attributes without danger belong to K from the start. With missing values a larger K may confirm less, so
the argument fails, and :func:`hitting_sets_apply` says so.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unveil.arrays import BitWords, Bools, Floats, Ints
from unveil.errors import Termination
from unveil.inference import _hitting_sets
from unveil.inference.relation import Relation, pack_bits, unpack_bits, word_classes
from unveil.run import Run

__all__ = ["hitting_sets_apply", "score_by_hitting_sets"]

_FIRST_POOL = 512
_FIRST_NODES = 50_000
_SLICE = 1 << 25
_NO_LIMIT = np.iinfo(np.int64).max


class HittingScores(NamedTuple):
    """Between which bounds priv of each distinct row lies, and the nodes of branch and bound."""

    lower: Floats
    upper: Floats
    nodes: int


def hitting_sets_apply(relation: Relation) -> bool:
    """Whether all likelihoods are 0 or 1 and no dangerous value is missing."""
    certain = bool(((relation.likelihood == 0) | (relation.likelihood == 1)).all())
    return certain and not any(relation.danger_units[relation.values_of(c)].any() for c in relation.columns_with_gaps)


def score_by_hitting_sets(relation: Relation, run: Run, budget: int | None = None) -> HittingScores:
    """priv of each distinct row, or an interval for it if branch and bound would visit more than ``budget`` nodes or
    the user interrupts."""
    attributes = np.flatnonzero(relation.likelihood > 0)
    attributes = attributes[np.argsort(relation.danger_units[attributes], kind="stable")]
    marks = unpack_bits(relation.rows.has, relation.attributes)
    group = word_classes(pack_bits(marks[:, attributes]))
    known = np.zeros((int(group.max(initial=-1)) + 1, len(attributes)), np.bool_)
    known[group] = marks[:, attributes]
    danger = relation.danger_units[attributes]
    totals = _closure_dangers(relation, marks, known, group)
    own = known @ danger
    low, high = np.zeros(len(known), np.int64), own.copy()
    state = np.zeros(3, np.int64)
    try:
        _find_all(known, danger, low, high, state, _NO_LIMIT if budget is None else budget, run)
    except KeyboardInterrupt as stop:
        if isinstance(stop, Termination):
            raise
        run.cancelled.clear()
        run.progress("going on with the bounds found so far", None)
    lower, upper = (_danger_score(relation, totals - cost)[group] for cost in (high, low))
    return HittingScores(lower, upper, int(state[1]))


def _find_all(known: Bools, danger: Ints, low: Ints, high: Ints, state: Ints, node_limit: int, run: Run) -> None:
    rows, having = pack_bits(known), _rows_having(known)
    words, levels = rows.shape[1], known.shape[1] + 2
    padded = np.zeros(64 * words, np.int64)
    padded[: len(danger)] = danger
    deep = [np.zeros((levels, words), np.uint64) for _ in range(3)]
    wide = [np.zeros(words, np.uint64) for _ in range(3)]
    free = pack_bits((danger == 0)[None])[0]
    lines = [np.zeros(having.shape[1], np.uint64) for _ in range(2)]
    pool, row_limit = np.zeros((_FIRST_POOL, words), np.uint64), _FIRST_NODES

    def search_rows(first: int, last: int) -> None:
        state[0] = first
        while state[0] < last and state[1] < node_limit:
            run.check()
            run.progress("privacy score, least sets that single out a row", float(state[0]) / len(rows))
            _hitting_sets.find_least_hitting_sets(
                rows, having, _everybody(known), free, padded, low, high, state, last, pool, *deep,
                np.zeros(levels, np.int64), *wide, *lines, row_limit, node_limit, state[2] + _SLICE,
            )  # fmt: skip

    search_rows(0, len(rows))
    while state[1] < node_limit and (low < high).any():  # rows that take longer, a little longer each time
        pool, row_limit = np.zeros((2 * len(pool), words), np.uint64), 4 * row_limit
        for row in np.flatnonzero(low < high).tolist():
            search_rows(row, row + 1)


def _closure_dangers(relation: Relation, marks: Bools, known: Bools, group: Ints) -> Ints:
    """The danger of the closure of everything that can be known about each row of ``known``."""
    dangerous = np.flatnonzero(relation.danger_units)
    shared = np.full((len(known), max(1, -(-len(dangerous) // 64))), np.iinfo(np.uint64).max)
    np.bitwise_and.at(shared, group, pack_bits(marks[:, dangerous]))
    closed = shared.copy()
    having, everybody = _rows_having(known), _everybody(known)
    _hitting_sets.intersect_closures(pack_bits(known), shared, having, everybody, np.zeros_like(everybody), closed)
    found: Ints = unpack_bits(closed, len(dangerous)) @ relation.danger_units[dangerous]
    return found


def _rows_having(known: Bools) -> BitWords:
    """For each attribute, a bit for every row that has it."""
    padded = np.zeros((64 * max(1, -(-known.shape[1] // 64)), len(known)), np.bool_)
    padded[: known.shape[1]] = known.T
    return pack_bits(padded)


def _everybody(known: Bools) -> BitWords:
    """A bit for every row."""
    found: BitWords = pack_bits(np.ones((1, len(known)), np.bool_))[0]
    return found


def _danger_score(relation: Relation, units: Ints) -> Floats:
    total = units * relation.danger_unit
    return total / (relation.danger_offset + total)
