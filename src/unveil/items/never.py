"""What an attacker gains by knowing which items are never bought together.

Knowing that two items are never bought together rules out no edge but mappings: those that give the
two items pseudonyms that do occur together (section 7.3 leaves this open). For a single pair of items, the probability
of a crack under that condition is a sum over the groups of their two pseudonyms, each term exact where the ladder is.
Otherwise it is simulated on the blocks that the items are in, by a walk over mappings that heed the condition. A swap
is undone if it breaks the condition. So is a *leap*: tours (see ``matching.chains``) of the blocks of one or more pairs
that are judged together. Without the condition, swaps and leaps are reversible; a move that is undone when it ends at a
forbidden mapping is so on the allowed ones. A tour can lead from any matching of a block to any other, and a leap may
tour every block, so that no allowed mapping is out of reach, unless by tours that are too long. It may be out of reach
in practice: where few mappings are allowed, far from each other, leaps hardly ever succeed. Chains that start apart and
do not meet give this away, or a start that cannot be found.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from unveil.errors import UnveilError
from unveil.items import _kernels
from unveil.items.pairs import checked_pairs, pair_counts, together
from unveil.matching.blocks import InfeasibleError, blocks, feasible_flow
from unveil.matching.candidates import Candidates, Floats, Ints
from unveil.matching.diagnostics import effective_size, split_rhat, standard_error
from unveil.matching.ladder import Budget, Solution, solve
from unveil.release.transactions import Transactions
from unveil.run import Run

__all__ = ["Conditional", "never_together", "still_apart"]

_CHAINS = 4
_FEW = 20  # items; for fewer, the interval need not be narrower
_ROUND = 250
_MET = 1.01
_FEWEST = 400  # effective draws, below which an interval is not to be trusted
_STARTING = 400  # sweeps in which a chain must find a mapping that heeds the condition
_PROPOSED = 100  # in a sweep, at least
_PROPOSALS = 1 << 18  # driven by one call
_NONE = "no mapping keeps items apart that never occur together; check the pairs"
_SUMMED = 400  # pairs of groups, up to which the sum for a single pair is taken


@dataclass(frozen=True, eq=False, repr=False)
class Conditional:
    """Cracks under the condition that some pairs of items never occur together.

    ``crack`` is the probability for each item, ``before`` that without the condition. ``enough`` is false where a
    simulation was cut short, its chains did not meet, or its effective draws are too few: the interval is not to be
    trusted then.
    """

    crack: Floats
    before: Floats
    expected: float
    interval: tuple[float, float]
    exact: bool
    rhat: float = 1.0
    effective: float = math.inf
    enough: bool = True

    @property
    def method(self) -> Literal["exact", "simulation", "truncated"]:
        """How the expected cracks were obtained; truncated where the interval is not to be trusted."""
        return "truncated" if not self.enough else "exact" if self.exact else "simulation"

    def __repr__(self) -> str:
        how = "exact" if self.exact else f"simulated, {self.interval[0]:.4g} to {self.interval[1]:.4g}"
        return f"Conditional: {self.expected:.6g} items cracked on average instead of {self.before.sum():.6g} ({how})"


def never_together(
    candidates: Candidates,
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    transactions: Transactions,
    run: Run | None = None,
    *,
    budget: Budget | None = None,
    simulate: bool = False,
) -> Conditional:
    """How likely each item is to be cracked by someone who knows that items ``a[p]`` and ``b[p]`` never occur together.

    Parameters
    ----------
    candidates
        What the attacker considers possible otherwise; all that is possible weighs the same. Pseudonym i is item i.
    transactions
        The release, in which the attacker sees what pseudonyms occur together.
    simulate
        Walk over mappings even where the sum for a single pair is within reach.
    """
    run, budget = run or Run(), budget or Budget()
    x, y = checked_pairs(a, b, candidates.n)
    if candidates.weighted:
        raise UnveilError("pairs that are never together are for candidates that all weigh the same")
    if candidates.n != len(transactions.labels):
        raise UnveilError("the candidates are not about the items of these baskets")
    flow = feasible_flow(candidates, np.arange(candidates.n))
    solved = solve(candidates, run=run, budget=budget, may_be_wrong=True)
    useful, block_of, errors = _useful(candidates, flow, solved)
    rule = _rule(candidates, useful, transactions, x, y, run)
    if not len(rule.a):
        enough = all(p.enough for p in solved.parts)
        how = solved.expected_cracks, solved.interval, solved.exact
        return Conditional(solved.crack, solved.crack, *how, enough=enough)
    touched = np.isin(block_of, block_of[candidates.entry_class[np.append(rule.a, rule.b)]])
    part = _part(candidates, useful, block_of, touched)
    rest = math.sqrt((errors[~np.isin(np.arange(len(errors)), block_of[touched])] ** 2).sum())
    if len(rule.a) == 1 and not simulate:
        crack = _summed(candidates, part, rule, run, budget)
        if crack is not None:
            return _conditional(solved, part, crack, rest, run)
    return _simulated(solved, part, rule, flow, rest, run, budget)


def still_apart(a: Ints, b: Ints, becomes: Ints, transactions: Transactions) -> tuple[Ints, Ints]:
    """What is left of such knowledge, of different pairs with the lower item first, in a protected release in which
    item i became ``becomes[i]``, −1 if it was left out.

    A category is known never to occur with another one only if that is known of all their members. Items that meet in
    the release because they were put into random baskets are not seen to be apart any more.
    """
    members = np.bincount(becomes[becomes >= 0], minlength=len(transactions.labels))
    both = np.sort(np.stack([becomes[a], becomes[b]]), axis=0)
    both, times = np.unique(both[:, both[0] >= 0], axis=1, return_counts=True)
    x, y = both[:, times == members[both[0]] * members[both[1]]]  # m (m − 1)/2 < m² within a category
    apart = pair_counts(transactions, x, y) == 0
    return x[apart], y[apart]


def _conditional(solved: Solution, part: _Part, crack: Floats, error: float, run: Run) -> Conditional:
    """All cracks, those of the part replaced."""
    all_cracks = solved.crack.copy()
    all_cracks[part.entries] = crack
    expected, width = float(all_cracks.sum()), float(ndtri((1 + run.confidence) / 2)) * error
    interval = max(0.0, expected - width), min(float(len(all_cracks)), expected + width)
    enough = all(p.enough for p in solved.parts)
    return Conditional(all_cracks, solved.crack, expected, interval, error == 0, enough=enough)


def _useful(candidates: Candidates, flow: Ints, solved: Solution) -> tuple[Ints, Ints, Floats]:
    """The edges that lie in some matching, the block of every class, and how uncertain each block's cracks are."""
    block_of, edges = np.full(len(candidates.class_sizes), -1), list[Ints]()
    for number, block in enumerate(blocks(candidates, flow)):
        block_of[candidates.edge_class[block.edges]] = number
        edges.append(block.edges)
    return np.sort(np.concatenate(edges)), block_of, np.array([p.error for p in solved.parts])


@dataclass(frozen=True, eq=False)
class _Rule:
    """Pairs of items that may not have two of the pseudonyms ``slots`` which, as the table says, occur together."""

    a: Ints
    b: Ints
    slots: Ints
    table: npt.NDArray[np.bool_]

    def places(self, n: int) -> Ints:
        """Where each pseudonym is in the table; −1 if it is not."""
        place = np.full(n, -1)
        place[self.slots] = np.arange(len(self.slots))
        return place


def _rule(candidates: Candidates, useful: Ints, transactions: Transactions, a: Ints, b: Ints, run: Run) -> _Rule:
    """The pairs that rule out anything, and which of the pseudonyms that they may have occur together."""
    a, b = np.unique(np.stack([np.minimum(a, b), np.maximum(a, b)]), axis=1)
    named = np.unique(np.append(a, b))
    sets = {i: _slots(candidates, useful, i) for i in named.tolist()}
    slots = np.unique(np.concatenate([*sets.values(), np.empty(0, np.int64)]))
    table = together(transactions, slots, run)
    rule = _Rule(a, b, slots, table)
    place = rule.places(candidates.n)
    pairs = zip(a.tolist(), b.tolist(), strict=True)
    bites = np.array([bool(table[np.ix_(place[sets[i]], place[sets[j]])].any()) for i, j in pairs], bool)
    return replace(rule, a=a[bites], b=b[bites])


def _slots(candidates: Candidates, useful: Ints, entry: int) -> Ints:
    """The pseudonyms that an entry has in some matching."""
    edges = useful[candidates.edge_class[useful] == candidates.entry_class[entry]]
    return np.flatnonzero(np.isin(candidates.pseudonym_group, candidates.groups[edges]))


@dataclass(frozen=True, eq=False)
class _Part:
    """Some of the blocks together: entries, pseudonyms by group, the edges between classes and groups, and the block of
    every class, all of which are numbered from 0."""

    entries: Ints
    slots: Ints
    edges: Ints
    of_entry: Ints
    of_slot: Ints
    a: Ints
    b: Ints
    block: Ints


def _part(candidates: Candidates, useful: Ints, block_of: Ints, touched: npt.NDArray[np.bool_]) -> _Part:
    edges = useful[touched[candidates.edge_class[useful]]]
    classes, a = np.unique(candidates.edge_class[edges], return_inverse=True)
    groups, b = np.unique(candidates.groups[edges], return_inverse=True)
    new_class, new_group = np.full(len(candidates.class_sizes), -1), np.full(len(candidates.group_sizes), -1)
    new_class[classes], new_group[groups] = np.arange(len(classes)), np.arange(len(groups))
    entries = np.flatnonzero(new_class[candidates.entry_class] >= 0)
    slots = np.flatnonzero(new_group[candidates.pseudonym_group] >= 0)
    slots = slots[np.argsort(new_group[candidates.pseudonym_group[slots]], kind="stable")]
    of_entry, of_slot = new_class[candidates.entry_class[entries]], new_group[candidates.pseudonym_group[slots]]
    return _Part(entries, slots, edges, of_entry, of_slot, a, b, np.unique(block_of[classes], return_inverse=True)[1])


def _numbers(members: Ints, n: int) -> Ints:
    """The place of every number in a list; −1 if it is not there."""
    place = np.full(n, -1)
    place[members] = np.arange(len(members))
    return place


# ---- a single pair, exactly ------------------------------------------------------------------------------------------


def _summed(candidates: Candidates, part: _Part, rule: _Rule, run: Run, budget: Budget) -> Floats | None:
    """The cracks of the part as a sum over the groups of the pair's two pseudonyms; None where that is out of reach.

    With Z(x, y) the number of matchings in which the items have pseudonyms x and y, Z and the probabilities of all
    other edges depend on the groups of x and y only, and on which of their pseudonyms are taken.
    """
    n = candidates.n
    i, j = (int(_numbers(part.entries, n)[item[0]]) for item in (rule.a, rule.b))
    own = _numbers(part.slots, n)[part.entries]
    terms = list(_terms(part, rule, i, j, n))
    if len(terms) > _SUMMED:
        return None
    logs, found = list[float](), list[Floats]()
    for done, (first, second, x, y) in enumerate(terms):
        run.progress("summing over the pseudonyms of a pair", done / len(terms))
        run.check()
        try:
            log, others = _without(part, (i, j), (first, second), own, run, budget)
        except InfeasibleError:
            continue
        if others is None:
            return None
        taken = np.bincount(np.append(x, y), minlength=len(part.slots))
        crack = others * np.where(own >= 0, 1 - taken[own] / len(x), 0.0)
        crack[i], crack[j] = (x == own[i]).mean(), (y == own[j]).mean()
        logs.append(log + math.log(len(x)))
        found.append(crack)
    if not logs:
        raise InfeasibleError(_NONE)
    shares = np.exp(np.array(logs) - max(logs))
    total: Floats = shares @ np.stack(found) / shares.sum()
    return total


def _terms(part: _Part, rule: _Rule, i: int, j: int, n: int) -> Iterator[tuple[int, int, Ints, Ints]]:
    """For every two groups, the pairs of their pseudonyms that the two items may have."""
    place = rule.places(n)[part.slots]
    for first in part.b[part.a == part.of_entry[i]].tolist():
        for second in part.b[part.a == part.of_entry[j]].tolist():
            mine, other = (np.flatnonzero(part.of_slot == group) for group in (first, second))
            apart = ~rule.table[np.ix_(place[mine], place[other])] & (mine[:, None] != other)
            x, y = np.nonzero(apart)
            if len(x):
                yield first, second, mine[x], other[y]


def _without(
    part: _Part, gone: tuple[int, int], groups: tuple[int, int], own: Ints, run: Run, budget: Budget
) -> tuple[float, Floats | None]:
    """ln of the number of matchings of all other entries when one pseudonym of each of two groups is taken, and the
    probability of every entry to have its own if that is left; None if it is not known exactly."""
    entries = np.delete(np.arange(len(part.entries)), gone)
    r = np.bincount(part.of_entry[entries], minlength=int(part.a.max()) + 1)
    c = np.bincount(part.of_slot) - np.bincount(groups, minlength=int(part.b.max()) + 1)
    if not len(entries):
        return 0.0, np.zeros(2)
    new_class, new_group = _numbers(np.flatnonzero(r), len(r)), _numbers(np.flatnonzero(c), len(c))
    kept = (r[part.a] > 0) & (c[part.b] > 0)
    if not kept.any():
        raise InfeasibleError(_NONE)
    rest = Candidates.from_classes(
        new_class[part.of_entry[entries]],
        np.repeat(np.arange((c > 0).sum()), c[c > 0]),
        new_class[part.a[kept]],
        new_group[part.b[kept]],
        np.ones(int(kept.sum())),
    )
    solved = solve(rest, run=run, budget=budget, may_be_wrong=True, simulate=False)
    if not solved.exact:
        return 0.0, None
    of_own = np.where(own >= 0, new_group[part.of_slot[own]], -1)
    starts = np.cumsum(rest.group_sizes) - rest.group_sizes
    there = np.flatnonzero(of_own[entries] >= 0)
    edge = rest.edge_of(there, starts[of_own[entries[there]]])
    crack = np.zeros(len(part.entries))
    crack[entries[there]] = np.where(edge >= 0, solved.marginals[edge], 0.0)
    return solved.log_permanent[0], crack


# ---- many pairs, simulated -------------------------------------------------------------------------------------------


def _simulated(
    solved: Solution, part: _Part, rule: _Rule, flow: Ints, rest: float, run: Run, budget: Budget
) -> Conditional:
    """Simulate the part until the expected cracks are known as well as the budget wants, or its sweeps are used up."""
    walk = _Walk(solved.candidates, part, rule, flow, run)
    walk.begin(run)
    half_width = budget.half_width * max(solved.candidates.n, _FEW)
    z = float(ndtri((1 + run.confidence) / 2))
    walk.advance(_ROUND, run)
    walk.hits[:] = 0
    rounds = list[Floats]()
    while True:
        rounds.append(walk.advance(_ROUND, run))
        made = len(rounds) * _ROUND
        run.progress("simulating mappings", min(1.0, made / budget.sweeps))
        scores = np.concatenate(rounds, axis=1)
        error, rhat, effective = standard_error(scores), split_rhat(scores), effective_size(scores)
        good = rhat < _MET and effective >= _FEWEST and z * error <= half_width
        if good or made >= budget.sweeps:
            break
    crack = walk.hits.sum(axis=0) / (_CHAINS * made) / walk.sizes[walk.kin]
    found = _conditional(solved, part, crack, math.hypot(error, rest), run)
    return replace(found, exact=False, rhat=rhat, effective=effective, enough=found.enough and good and walk.apart)


class _Walk:
    """Four mappings of a part on their way, all of which heed a rule."""

    def __init__(self, candidates: Candidates, part: _Part, rule: _Rule, flow: Ints, run: Run) -> None:
        n = candidates.n
        local = _numbers(part.entries, n)
        bound = np.isin(part.entries, np.append(rule.a, rule.b))
        place = rule.places(n)[part.slots]
        a, b = local[rule.a], local[rule.b]
        self.never = a, b, bound, place, rule.table, np.stack([part.block[part.of_entry[x]] for x in (a, b)])
        self.graph = _graph(part)
        self.own = np.ascontiguousarray(_numbers(part.slots, n)[part.entries])
        lone = np.where(bound, np.arange(len(bound)) + 1, 0)
        keys = part.of_entry * (len(bound) + 1) + lone  # entries under a rule have no twins
        self.kin, self.sizes = np.unique(keys, return_inverse=True, return_counts=True)[1:]
        held = _started(part, flow[part.edges], self.own)
        self.matchings = [(held.copy(), np.argsort(held)) for _ in range(_CHAINS)]
        self.streams = run.rng(f"items.never_together {part.entries[0]}").spawn(_CHAINS)
        self.before = np.empty((2, len(held)), np.int64)
        self.hits = np.zeros((_CHAINS, len(held)), np.int64)
        choosy = int(bound[self.graph[6]].sum())
        self.rounds = np.array([len(held) // 2 + 1, 2 * choosy, len(rule.a) + 1]) * (1 + _PROPOSED // len(held))
        self.apart = True

    def begin(self, run: Run) -> None:
        """The first chain stays where it is, the others go far from there; then each looks for a mapping that heeds the
        rule. One that finds none starts where another one does, which is noted: then they do not start apart."""
        if not len(self.graph[6]):
            raise InfeasibleError(_NONE)
        everything = len(self.never[0])
        for chain in range(1, _CHAINS):
            self._sweep(chain, np.empty(20), everything, run, sink=False)
        heeds = [self._settled(chain, run) for chain in range(_CHAINS)]
        if not any(heeds):
            raise UnveilError(
                "found no mapping that keeps items apart that never occur together; check the pairs or name fewer"
            )
        self.apart = all(heeds)
        for chain in np.flatnonzero(~np.array(heeds)).tolist():
            for mine, good in zip(self.matchings[chain], self.matchings[heeds.index(True)], strict=True):
                mine[:] = good

    def _settled(self, chain: int, run: Run) -> bool:
        """Whether a chain gets to a mapping that heeds the rule by moves that never break it for more pairs."""
        for _ in range(0, _STARTING, 20):
            left = _kernels.violations(self.matchings[chain][0], self.never)
            if not left:
                return True
            self._sweep(chain, np.empty(20), left, run)
        return not _kernels.violations(self.matchings[chain][0], self.never)

    def advance(self, sweeps: int, run: Run) -> Floats:
        """Go on by some sweeps; the score after each of them, by chain."""
        scores = np.empty((_CHAINS, sweeps))
        for chain in range(_CHAINS):
            self._sweep(chain, scores[chain], 0, run)
        return scores

    def _sweep(self, chain: int, scores: Floats, most: int, run: Run, sink: bool = True) -> None:
        at_once = max(1, _PROPOSALS // (2 * int(self.rounds.sum())))
        for start in range(0, len(scores), at_once):
            run.check()
            part = scores[start : start + at_once]
            how = self.graph, self.matchings[chain], self.never, self.rounds, most, self.streams[chain], self.before
            _kernels.sweeps(*how, sink, self.own, self.kin, self.sizes, self.hits[chain], part)


def _graph(part: _Part) -> tuple[npt.NDArray[np.int64] | npt.NDArray[np.bool_], ...]:
    """What the kernels need to know of a part."""
    sizes = np.bincount(part.of_slot)
    starts = np.append(0, np.cumsum(np.bincount(part.a)))
    total = np.cumsum(sizes[part.b])
    upto = total - np.append(0, total)[starts[:-1]][part.a]
    first = (np.cumsum(sizes) - sizes)[part.b]
    allowed = np.zeros((len(starts) - 1, len(sizes)), np.bool_)
    allowed[part.a, part.b] = True
    degrees = upto[starts[1:] - 1]
    movable = np.flatnonzero(degrees[part.of_entry] > 1)
    block = part.block[part.of_entry[movable]]
    begins = np.append(0, np.cumsum(np.bincount(block, minlength=int(part.block.max()) + 1)))
    movable = movable[np.argsort(block, kind="stable")]
    return part.of_entry, starts, upto, first, part.of_slot, allowed, movable, begins


def _started(part: _Part, flow: Ints, own: Ints) -> Ints:
    """A matching: the true one if it is possible, else one with these numbers along the edges."""
    edges = set(zip(part.a.tolist(), part.b.tolist(), strict=True))
    if (own >= 0).all() and edges.issuperset(zip(part.of_entry.tolist(), part.of_slot[own].tolist(), strict=True)):
        return own.copy()
    sizes = np.bincount(part.of_slot)
    free = np.cumsum(sizes) - sizes
    waiting = np.argsort(part.of_entry, kind="stable")
    entry = np.append(0, np.cumsum(np.bincount(part.of_entry)))
    held = np.empty(len(part.entries), np.int64)
    for a, b, many in zip(part.a.tolist(), part.b.tolist(), flow.tolist(), strict=True):
        held[waiting[entry[a] : entry[a] + many]] = np.arange(free[b], free[b] + many)
        entry[a] += many
        free[b] += many
    return held
