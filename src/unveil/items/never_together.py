"""What an attacker gains by knowing which items are never bought together.

Such knowledge rules out no single edge, but whole mappings: those that give two such items pseudonyms that do occur
together (Lakshmanan, Ng and Ramesh 2008, section 7.3, leave this open). For few such items, the probability of a crack
under this condition is a sum over the groups of their pseudonyms, with exact terms where the blocks can be solved.
Otherwise it is simulated on the blocks of the items, by a walk over mappings that satisfy the condition.

The walk makes swaps and *leaps*: tours (see ``matching.chains``) of the blocks of one or more pairs, accepted or undone
together. A move that breaks the condition is undone. Swaps and leaps are reversible without the condition, so they stay
reversible on the allowed mappings. A tour can lead from any matching of a block to any other, and a leap may tour every
block, so every allowed mapping can be reached, except by tours that are too long. In practice leaps hardly ever succeed
if few mappings are allowed, far from each other. Chains that start apart and do not meet reveal this, and so does a
start that cannot be found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from unveil.arrays import Bools, Floats, Ints
from unveil.errors import UnveilError
from unveil.intervals import normal_interval, normal_quantile
from unveil.items import _never_together
from unveil.items.item_pairs import check_pairs, cooccurrence_table, pair_counts
from unveil.matching.blocks import InfeasibleError, feasible_flow, independent_blocks
from unveil.matching.candidates import Candidates
from unveil.matching.diagnostics import effective_size, split_rhat, standard_error
from unveil.matching.solver import Budget, Solution, solve
from unveil.release.transactions import Transactions
from unveil.run import Run

__all__ = ["ConditionalCracks", "pairs_still_apart", "solve_never_together"]

_CHAINS = 4
_MIN_WIDTH_ITEMS = 20  # with fewer items, the interval need not be narrower than for this many
_ROUND_SWEEPS = 250
_MAX_RHAT = 1.01
_MIN_EFFECTIVE = 400  # effective draws below which an interval is not reliable
_START_SWEEPS = 400  # sweeps in which a chain must find an allowed mapping
_MIN_PROPOSALS = 100  # least proposals in a sweep
_PROPOSALS_PER_CALL = 1 << 18  # proposals per kernel call
_NO_MAPPING = "no mapping keeps apart all items that never occur together; check the pairs"
_MAX_TERMS = 400  # choices of groups up to which the pseudonyms of the items under the rule are summed over,
_MAX_ASSIGNMENTS = 1_000_000  # and choices of pseudonyms


@dataclass(frozen=True, eq=False)
class ConditionalCracks:
    """Cracks under the condition that some pairs of items never occur together.

    ``crack`` is the probability for each item, ``before`` the probability without the condition. ``is_enough`` is
    false, and the interval not reliable, if a simulation was cut short, its chains did not meet, or its effective draws
    are too few.
    """

    crack: Floats
    before: Floats
    expected: float
    interval: tuple[float, float]
    exact: bool
    rhat: float = 1.0
    effective_size: float = math.inf
    is_enough: bool = True

    @property
    def method(self) -> Literal["exact", "simulation", "truncated"]:
        """How the expected cracks were obtained; truncated if the interval is not reliable."""
        return "truncated" if not self.is_enough else "exact" if self.exact else "simulation"


def solve_never_together(
    candidates: Candidates,
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    transactions: Transactions,
    run: Run | None = None,
    *,
    budget: Budget | None = None,
    simulate: bool = False,
) -> ConditionalCracks:
    """The cracks of an attacker who knows that items ``a[p]`` and ``b[p]`` never occur together.

    Parameters
    ----------
    candidates
        What the attacker considers possible otherwise, with equal weights. Pseudonym i is item i.
    transactions
        The release, in which the attacker sees which pseudonyms occur together.
    simulate
        Simulate even if the sum over the pseudonyms of these items could be computed.
    """
    run, budget = run or Run(), budget or Budget()
    x, y = check_pairs(a, b, candidates.n)
    if candidates.is_weighted:
        raise UnveilError(
            "items never bought together need candidates of equal weight; give candidates without weights"
        )
    if candidates.n != len(transactions.labels):
        raise UnveilError(
            "the candidates and the baskets have different numbers of items; give candidates for these baskets"
        )
    flow = feasible_flow(candidates, np.arange(candidates.n))
    solved = solve(candidates, run=run, budget=budget, may_exclude_truth=True)
    blocks, errors = list(independent_blocks(candidates, flow)), np.array([p.error for p in solved.parts])
    useful = np.sort(np.concatenate([block.edges for block in blocks]))  # the edges that lie in some matching
    block_of = np.full(len(candidates.class_sizes), -1)
    for number, block in enumerate(blocks):
        block_of[candidates.edge_class[block.edges]] = number
    rule = _make_rule(candidates, useful, transactions, x, y, run)
    if not len(rule.a):
        enough = all(p.enough for p in solved.parts)
        how = solved.expected_cracks, solved.interval, solved.exact
        return ConditionalCracks(solved.crack, solved.crack, *how, is_enough=enough)
    touched = np.isin(block_of, block_of[candidates.entry_class[np.append(rule.a, rule.b)]])
    part = _select_part(candidates, useful, block_of, touched)
    rest = math.sqrt((errors[~np.isin(np.arange(len(errors)), block_of[touched])] ** 2).sum())
    if not simulate:
        crack = _sum_over_pseudonyms(candidates, part, rule, run, budget)
        if crack is not None:
            return _replace_cracks(solved, part, crack, rest, run)
    return _simulate_part(solved, part, rule, flow, rest, run, budget)


def pairs_still_apart(a: Ints, b: Ints, becomes: Ints, transactions: Transactions) -> tuple[Ints, Ints]:
    """What remains of such knowledge in a protected release in which item i became ``becomes[i]``, −1 if suppressed.
    The pairs are distinct, with the lower item first.

    The attacker knows that two categories never occur together only if they know it of all their members. Items that
    meet in the release because they were added to random baskets no longer count as apart.
    """
    members = np.bincount(becomes[becomes >= 0], minlength=len(transactions.labels))
    both = np.sort(np.stack([becomes[a], becomes[b]]), axis=0)
    both, times = np.unique(both[:, both[0] >= 0], axis=1, return_counts=True)
    x, y = both[:, times == members[both[0]] * members[both[1]]]  # m (m − 1)/2 < m² within a category
    apart = pair_counts(transactions, x, y) == 0
    return x[apart], y[apart]


def _replace_cracks(solved: Solution, part: _BlockPart, crack: Floats, error: float, run: Run) -> ConditionalCracks:
    """The cracks of all items, with those of the part replaced."""
    all_cracks = solved.crack.copy()
    all_cracks[part.entries] = crack
    expected = float(all_cracks.sum())
    interval = normal_interval(expected, error, float(len(all_cracks)), run.confidence)
    enough = all(p.enough for p in solved.parts)
    return ConditionalCracks(all_cracks, solved.crack, expected, interval, error == 0, is_enough=enough)


@dataclass(frozen=True, eq=False)
class _NeverRule:
    """Pairs of items that may not have two pseudonyms among ``slots`` that, by the table, occur together."""

    a: Ints
    b: Ints
    slots: Ints
    table: Bools


def _make_rule(
    candidates: Candidates, useful: Ints, transactions: Transactions, a: Ints, b: Ints, run: Run
) -> _NeverRule:
    """The pairs that rule anything out, and which of their possible pseudonyms occur together."""
    a, b = np.unique(np.stack([np.minimum(a, b), np.maximum(a, b)]), axis=1)
    named = np.unique(np.append(a, b))
    sets = {i: _possible_pseudonyms(candidates, useful, i) for i in named.tolist()}
    slots = np.unique(np.concatenate([*sets.values(), np.empty(0, np.int64)]))
    table, place = cooccurrence_table(transactions, slots, run), _positions_in(slots, candidates.n)
    pairs = zip(a.tolist(), b.tolist(), strict=True)
    bites = np.array([bool(table[np.ix_(place[sets[i]], place[sets[j]])].any()) for i, j in pairs], bool)
    return _NeverRule(a[bites], b[bites], slots, table)


def _possible_pseudonyms(candidates: Candidates, useful: Ints, entry: int) -> Ints:
    """The pseudonyms that an entry has in some matching."""
    edges = useful[candidates.edge_class[useful] == candidates.entry_class[entry]]
    return np.flatnonzero(np.isin(candidates.pseudonym_group, candidates.groups[edges]))


@dataclass(frozen=True, eq=False)
class _BlockPart:
    """Some of the blocks together: entries, pseudonyms by group, the edges between classes and groups, and the block of
    every class, all numbered from 0."""

    entries: Ints
    slots: Ints
    edges: Ints
    of_entry: Ints
    of_slot: Ints
    a: Ints
    b: Ints
    block: Ints


def _select_part(candidates: Candidates, useful: Ints, block_of: Ints, touched: Bools) -> _BlockPart:
    edges = useful[touched[candidates.edge_class[useful]]]
    classes, a = np.unique(candidates.edge_class[edges], return_inverse=True)
    groups, b = np.unique(candidates.groups[edges], return_inverse=True)
    new_class = _positions_in(classes, len(candidates.class_sizes))
    new_group = _positions_in(groups, len(candidates.group_sizes))
    entries = np.flatnonzero(new_class[candidates.entry_class] >= 0)
    slots = np.flatnonzero(new_group[candidates.pseudonym_group] >= 0)
    slots = slots[np.argsort(new_group[candidates.pseudonym_group[slots]], kind="stable")]
    of_entry, of_slot = new_class[candidates.entry_class[entries]], new_group[candidates.pseudonym_group[slots]]
    return _BlockPart(
        entries, slots, edges, of_entry, of_slot, a, b, np.unique(block_of[classes], return_inverse=True)[1]
    )


def _positions_in(members: Ints, n: int) -> Ints:
    """The position of every number 0 … n − 1 in a list; −1 if it is not there."""
    place = np.full(n, -1)
    place[members] = np.arange(len(members))
    return place


def _sum_over_pseudonyms(
    candidates: Candidates, part: _BlockPart, rule: _NeverRule, run: Run, budget: Budget
) -> Floats | None:
    """The cracks of the part as a sum over the pseudonyms of the items under the rule; None if they are too many.

    The number of matchings in which these items have certain pseudonyms, and the probabilities of all other edges,
    depend only on the groups of these pseudonyms, and on which of a group are taken.
    """
    local = _positions_in(part.entries, candidates.n)
    own = _positions_in(part.slots, candidates.n)[part.entries]
    bound = np.unique(local[np.append(rule.a, rule.b)])
    taken = _allowed_pseudonyms(part, rule, bound, local, candidates.n)
    if taken is None:
        return None
    groups, term = np.unique(np.sort(part.of_slot[taken], axis=1), axis=0, return_inverse=True)
    if len(groups) > _MAX_TERMS:
        return None
    logs, found = list[float](), list[Floats]()
    for number, gone in enumerate(groups):
        run.progress("summing over the pseudonyms of items never bought together", number / len(groups))
        run.check()
        try:
            log, others = _solve_others(part, bound, gone, own, run, budget)
        except InfeasibleError:
            continue
        if others is None:
            return None
        ways = taken[term.reshape(-1) == number]
        times = np.bincount(ways.reshape(-1), minlength=len(part.slots))
        crack = others * np.where(own >= 0, 1 - times[own] / len(ways), 0.0)
        crack[bound] = (ways == own[bound]).mean(axis=0)
        logs.append(log + math.log(len(ways)))
        found.append(crack)
    if not logs:
        raise InfeasibleError(_NO_MAPPING)
    shares = np.exp(np.array(logs) - max(logs))
    total: Floats = shares @ np.stack(found) / shares.sum()
    return total


def _allowed_pseudonyms(part: _BlockPart, rule: _NeverRule, bound: Ints, local: Ints, n: int) -> Ints | None:
    """Every way to give the items under the rule different pseudonyms, a row each; None if there are too many."""
    place = _positions_in(rule.slots, n)[part.slots]
    fits = [np.flatnonzero(np.isin(part.of_slot, part.b[part.a == part.of_entry[i]])) for i in bound.tolist()]
    order = np.argsort([len(slots) for slots in fits], kind="stable").tolist()
    partners = {(int(local[a]), int(local[b])) for a, b in zip(rule.a.tolist(), rule.b.tolist(), strict=True)}
    ways = np.empty((1, 0), np.int64)
    for step, at in enumerate(order):
        if len(ways) * len(fits[at]) > _MAX_ASSIGNMENTS:
            return None
        new = np.tile(fits[at], len(ways))
        ways = np.repeat(ways, len(fits[at]), axis=0)
        allowed = np.ones(len(new), np.bool_)
        for column, other in enumerate(order[:step]):
            allowed &= ways[:, column] != new
            if partners & {(int(bound[at]), int(bound[other])), (int(bound[other]), int(bound[at]))}:
                allowed &= ~rule.table[place[ways[:, column]], place[new]]
        ways = np.column_stack([ways, new])[allowed]
    return ways[:, np.argsort(order)]


def _solve_others(
    part: _BlockPart, gone: Ints, groups: Ints, own: Ints, run: Run, budget: Budget
) -> tuple[float, Floats | None]:
    """ln of the number of matchings of all other entries if one pseudonym of each of some groups is taken, and each
    entry's probability of having its own pseudonym if that is left; None if that is not exact."""
    entries = np.delete(np.arange(len(part.entries)), gone)
    r = np.bincount(part.of_entry[entries], minlength=int(part.a.max()) + 1)
    c = np.bincount(part.of_slot) - np.bincount(groups, minlength=int(part.b.max()) + 1)
    if not len(entries):
        return 0.0, np.zeros(len(part.entries))
    new_class, new_group = _positions_in(np.flatnonzero(r), len(r)), _positions_in(np.flatnonzero(c), len(c))
    kept = (r[part.a] > 0) & (c[part.b] > 0)
    if not kept.any():
        raise InfeasibleError(_NO_MAPPING)
    rest = Candidates.from_classes(
        new_class[part.of_entry[entries]],
        np.repeat(np.arange((c > 0).sum()), c[c > 0]),
        new_class[part.a[kept]],
        new_group[part.b[kept]],
        np.ones(int(kept.sum())),
    )
    solved = solve(rest, run=run, budget=budget, may_exclude_truth=True, simulate=False)
    if not solved.exact:
        return 0.0, None
    of_own = np.where(own >= 0, new_group[part.of_slot[own]], -1)
    starts = np.cumsum(rest.group_sizes) - rest.group_sizes
    there = np.flatnonzero(of_own[entries] >= 0)
    edge = rest.find_edges(there, starts[of_own[entries[there]]])
    crack = np.zeros(len(part.entries))
    crack[entries[there]] = np.where(edge >= 0, solved.marginals[edge], 0.0)
    return solved.log_permanent[0], crack


def _simulate_part(
    solved: Solution, part: _BlockPart, rule: _NeverRule, flow: Ints, rest: float, run: Run, budget: Budget
) -> ConditionalCracks:
    """Simulate the part until the expected cracks are as precise as the budget asks, or its sweeps are used up."""
    walk = _ConditionalWalk(solved.candidates, part, rule, flow, run)
    walk.start_chains(run)
    half_width = budget.half_width * max(solved.candidates.n, _MIN_WIDTH_ITEMS)
    z = normal_quantile(run.confidence)
    walk.advance(_ROUND_SWEEPS, run)
    walk.hits[:] = 0
    rounds = list[Floats]()
    while True:
        rounds.append(walk.advance(_ROUND_SWEEPS, run))
        made = len(rounds) * _ROUND_SWEEPS
        run.progress("simulating mappings", min(1.0, made / budget.sweeps))
        scores = np.concatenate(rounds, axis=1)
        error, rhat, effective = standard_error(scores), split_rhat(scores), effective_size(scores)
        good = rhat < _MAX_RHAT and effective >= _MIN_EFFECTIVE and z * error <= half_width
        if good or made >= budget.sweeps:
            break
    crack = walk.hits.sum(axis=0) / (_CHAINS * made) / walk.sizes[walk.twin_class]
    found = _replace_cracks(solved, part, crack, math.hypot(error, rest), run)
    return replace(
        found,
        exact=False,
        rhat=rhat,
        effective_size=effective,
        is_enough=found.is_enough and good and walk.starts_apart,
    )


class _ConditionalWalk:
    """Four chains of mappings of a part, all of which obey a rule."""

    def __init__(self, candidates: Candidates, part: _BlockPart, rule: _NeverRule, flow: Ints, run: Run) -> None:
        n = candidates.n
        local = _positions_in(part.entries, n)
        bound = np.isin(part.entries, np.append(rule.a, rule.b))
        place = _positions_in(rule.slots, n)[part.slots]
        a, b = local[rule.a], local[rule.b]
        self.never_rule = a, b, bound, place, rule.table, np.stack([part.block[part.of_entry[x]] for x in (a, b)])
        self.graph = _kernel_graph(part)
        self.own = np.ascontiguousarray(_positions_in(part.slots, n)[part.entries])
        lone = np.where(bound, np.arange(len(bound)) + 1, 0)
        keys = part.of_entry * (len(bound) + 1) + lone  # an entry under the rule has no twins
        self.twin_class, self.sizes = np.unique(keys, return_inverse=True, return_counts=True)[1:]
        held = _starting_matching(part, flow[part.edges], self.own)
        self.matchings = [(held.copy(), np.argsort(held)) for _ in range(_CHAINS)]
        self.streams = run.rng(f"items.never_together {part.entries[0]}").spawn(_CHAINS)
        self.before = np.empty((2, len(held)), np.int64)
        self.hits = np.zeros((_CHAINS, len(held)), np.int64)
        choosy = int(bound[self.graph[6]].sum())
        self.rounds = np.array([len(held) // 2 + 1, 2 * choosy, len(rule.a) + 1]) * (1 + _MIN_PROPOSALS // len(held))
        self.starts_apart = True

    def start_chains(self, run: Run) -> None:
        """Move all chains but the first far away, then lead each to a mapping that obeys the rule. A chain that finds
        none starts where another does; ``starts_apart`` records that the chains then do not start apart."""
        if not len(self.graph[6]):
            raise InfeasibleError(_NO_MAPPING)
        everything = len(self.never_rule[0])
        for chain in range(1, _CHAINS):
            self._sweep(chain, np.empty(20), everything, run, sink=False)
        heeds = [self._reach_valid_mapping(chain, run) for chain in range(_CHAINS)]
        if not any(heeds):
            raise UnveilError(
                "found no mapping that keeps apart all items that never occur together; check the pairs, or name fewer"
            )
        self.starts_apart = all(heeds)
        for chain in np.flatnonzero(~np.array(heeds)).tolist():
            for mine, good in zip(self.matchings[chain], self.matchings[heeds.index(True)], strict=True):
                mine[:] = good

    def _reach_valid_mapping(self, chain: int, run: Run) -> bool:
        """Whether a chain reaches a mapping that obeys the rule by moves that never violate it for more pairs."""
        for _ in range(0, _START_SWEEPS, 20):
            left = _never_together.count_violations(self.matchings[chain][0], self.never_rule)
            if not left:
                return True
            self._sweep(chain, np.empty(20), left, run)
        return not _never_together.count_violations(self.matchings[chain][0], self.never_rule)

    def advance(self, sweeps: int, run: Run) -> Floats:
        """Make some sweeps; the score after each of them, by chain."""
        scores = np.empty((_CHAINS, sweeps))
        for chain in range(_CHAINS):
            self._sweep(chain, scores[chain], 0, run)
        return scores

    def _sweep(self, chain: int, scores: Floats, most: int, run: Run, sink: bool = True) -> None:
        at_once = max(1, _PROPOSALS_PER_CALL // (2 * int(self.rounds.sum())))
        for start in range(0, len(scores), at_once):
            run.check()
            part = scores[start : start + at_once]
            _never_together.run_sweeps(
                self.graph, self.matchings[chain], self.never_rule, self.rounds, most, self.streams[chain],
                self.before, sink, self.own, self.twin_class, self.sizes, self.hits[chain], part,
            )  # fmt: skip


def _kernel_graph(part: _BlockPart) -> tuple[Ints | Bools, ...]:
    """The arrays of a part that the kernels need."""
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


def _starting_matching(part: _BlockPart, flow: Ints, own: Ints) -> Ints:
    """A matching: the true one if it is possible, otherwise one with these numbers along the edges."""
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
