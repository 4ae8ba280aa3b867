"""What a few facts tell about people drawn at random, where looking at everybody would take too long.

For each of them everybody is looked at: who shares each fact is a row of bits, and of the people who share several, the
bits are counted. So the gains of :mod:`unveil.inference.belief_gains` are exact for everyone who was drawn, and only
the shares of people are estimates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from math import comb
from typing import NamedTuple

import numpy as np

from unveil.arrays import BitWords, Bools, Floats, Int32s, Ints
from unveil.inference.basket_gains import Baskets, sort_lists
from unveil.inference.belief_gains import BeliefGains, TellingColumns, lowest_that_reaches, most_telling_first, reaches
from unveil.inference.relation import pack_bits
from unveil.run import Run

__all__ = ["affordable_sample", "measure_sampled_baskets", "measure_sampled_rows"]

_MOST_WORDS = 4_000_000_000  # of 64 bits, to be looked at in all
_PEOPLE = (100, 1_000)  # to be drawn: the fewest and the most
_EXACT_SETS = 8  # the most telling sets of a sample, which are counted for everybody


class _Person(NamedTuple):
    """Who shares each of a person's facts, who has each of their values that may be learned, and who has any value
    there, as rows of bits; the share of everybody who has each value; and for each fact its number."""

    facts: BitWords
    values: BitWords
    recorded: BitWords | None
    shares: Floats
    numbers: Ints
    is_own_fact: Bools
    """For each fact and value, whether they are the same item."""


def affordable_sample(people: int, facts: int, known: int, values: int) -> int:
    """How many people can be drawn who have so many facts, of which so many are known; 0 if too few."""
    words = -(-people // 64) * sum(comb(facts, f) for f in range(known + 1)) * (values + 1)
    fewest, most = _PEOPLE
    affordable = min(most, _MOST_WORDS // max(1, words))
    return affordable if affordable >= fewest else 0


def measure_sampled_rows(
    columns: Sequence[Int32s],
    targets: Sequence[Int32s],
    drawn: Ints,
    *,
    facts: int,
    fewest: int,
    gain: float,
    run: Run,
) -> BeliefGains:
    """The gains about the rows drawn, with facts in some columns; ``targets`` as in
    :func:`~unveil.inference.learned_values.measure_learned_values`."""
    recorded = pack_bits(np.stack([target >= 0 for target in targets]))
    counts = [np.bincount(target[target >= 0], minlength=1) for target in targets]

    def person(row: int) -> _Person:
        own = [t for t, target in enumerate(targets) if target[row] >= 0]
        return _Person(
            pack_bits(np.stack([(column == column[row]) & (column >= 0) for column in columns])),
            pack_bits(np.stack([targets[t] == targets[t][row] for t in own])) if own else recorded[:0],
            recorded[own],
            np.array([counts[t][targets[t][row]] / counts[t].sum() for t in own]),
            np.arange(len(columns)),
            np.zeros((len(columns), len(own)), np.bool_),
        )

    return _measure_people(person, drawn, facts, fewest, gain, run)


def measure_sampled_baskets(
    baskets: Baskets, drawn: Ints, *, facts: int, fewest: int, gain: float, run: Run
) -> BeliefGains:
    """The gains about the baskets drawn, with some of their items known."""
    begins, lists = sort_lists(baskets)
    shares = baskets.counts / max(1, len(baskets))

    def bits(items: Ints) -> BitWords:
        marks = np.zeros((len(items), len(baskets)), np.bool_)
        for mark, item in zip(marks, items.tolist(), strict=True):
            mark[lists[begins[item] : begins[item + 1]]] = True
        return pack_bits(marks)

    def person(basket: int) -> _Person:
        own = baskets.items[baskets.indptr[basket] : baskets.indptr[basket + 1]]
        known, learned = own[baskets.is_fact[own]], own[baskets.is_target[own]]
        return _Person(bits(known), bits(learned), None, shares[learned], known, known[:, None] == learned[None, :])

    found = _measure_people(person, drawn, facts, fewest, gain, run)
    counted = [_count_baskets(baskets, one.columns, begins, lists, shares, gain) for one in found.telling[:_EXACT_SETS]]
    return replace(found, telling=tuple(most_telling_first(counted)))


def _count_baskets(
    baskets: Baskets, known: tuple[int, ...], begins: Ints, lists: Int32s, shares: Floats, gain: float
) -> TellingColumns:
    """How many baskets have these items, and in how many of them another one is then believed."""
    those = reduce(np.intersect1d, [lists[begins[item] : begins[item + 1]] for item in known])
    entries = np.concatenate([np.arange(baskets.indptr[b], baskets.indptr[b + 1]) for b in those.tolist()])
    counts = np.bincount(baskets.items[entries], minlength=len(shares))
    tells = reaches(counts / len(those) - shares, gain) & baskets.is_target
    tells[list(known)] = False
    own = np.repeat(np.arange(len(those)), np.diff(baskets.indptr)[those])
    return TellingColumns(known, len(np.unique(own[tells[baskets.items[entries]]])), len(those))


def _measure_people(
    person: Callable[[int], _Person], drawn: Ints, facts: int, fewest: int, gain: float, run: Run
) -> BeliefGains:
    best, certain = np.full((facts + 1, len(drawn)), -1.0), np.zeros((facts + 1, len(drawn)), np.bool_)
    telling: dict[tuple[int, ...], int] = {}
    for place, row in enumerate(drawn.tolist()):
        run.progress("looking for telling facts", place / len(drawn))
        one = person(row)
        for known, raised, is_certain in _visit_facts(one, facts, fewest, run):
            size = len(known)
            best[size, place] = max(best[size, place], raised)
            certain[size, place] |= is_certain
            if raised >= lowest_that_reaches(gain):
                names = tuple(one.numbers[list(known)].tolist())
                telling[names] = telling.get(names, 0) + 1
    return BeliefGains(
        np.maximum.accumulate(best),
        np.logical_or.accumulate(certain),
        tuple(most_telling_first(TellingColumns(columns, people, 0) for columns, people in telling.items())),
    )


def _visit_facts(one: _Person, facts: int, fewest: int, run: Run) -> Iterator[tuple[tuple[int, ...], float, bool]]:
    """Every set of facts that enough people share, with the largest gain in any value, and whether one is certain."""
    if not len(one.values):
        return
    yield (), 0.0, False
    stack: list[tuple[tuple[int, ...], BitWords]] = [((c,), one.facts[c]) for c in range(len(one.facts))]
    while stack:
        known, those = stack.pop()
        sharing = int(np.bitwise_count(those).sum())
        if sharing < fewest:
            continue
        run.check()
        having = np.bitwise_count(one.values & those).sum(axis=1, dtype=np.int64)
        recorded = (
            np.full(len(having), sharing)
            if one.recorded is None
            else np.bitwise_count(one.recorded & those).sum(axis=1, dtype=np.int64)
        )
        new = ~one.is_own_fact[list(known)].any(axis=0)
        if new.any():
            raised = having / np.maximum(1, recorded) - one.shares
            yield known, float(raised[new].max()), bool(((having == recorded) & (one.shares < 1) & new).any())
        if len(known) < facts:
            stack += [((*known, c), those & one.facts[c]) for c in range(known[-1] + 1, len(one.facts))]
