"""One row for everybody: the likeliest set of links.

The best row of one person may also be the best of others. If no row can be two people, links are chosen jointly: they
maximise Σ ln(odds) over the linked pairs. The odds of a pair are LR(x, y)/N · (1 − π)/π, from its likelihood ratio
against a random one of N rows and the share π of people outside the release. Pairs with odds below 1, or below the
threshold, are better left unlinked. π is at least 1/(n + 1) for n people, less than one person; otherwise nobody could
be left out.

**Ties.** Several sets of links may be equally good, with as many links each, and which of them comes out means nothing.
``favour`` chooses among them: :func:`unveil.linkage.link.link_quality.assignment_range` needs the set in which most, or
fewest, links are right.

**How it is computed.** As a least-cost matching (Jonker and Volgenant, in scipy) among the likely pairs that
:func:`unveil.linkage.link.best_match.link_people` kept, in which everybody may also stay alone. Costs are whole
numbers of units, so ties are exact. The prices of the rows tell which pairs belong to some optimal set (complementary
slackness), and a second matching among these does what is favoured. Pairs without competition are linked directly. Of
twins, only as many are modelled as could be linked; ``links`` counts them by class, because nothing tells twins apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, min_weight_full_bipartite_matching

from unveil.arrays import Bools, Floats, Ints
from unveil.errors import UnveilError
from unveil.linkage.link.best_match import Linkage
from unveil.linkage.link.file_pair import FilePair
from unveil.linkage.link.row_scores import MIN_POSTERIOR, SCORE_UNIT
from unveil.run import Run

__all__ = ["Assignment", "assign_links"]

_MAX_PAIRS = 20_000_000  # pairs of a person and a row in one matching, at most
_BATCH_PEOPLE = 500  # people solved at a time


@dataclass(frozen=True, eq=False)
class Assignment:
    """``links[e]`` people of class ``person[e]`` are linked to as many rows of class ``row[e]``, at ``log_odds``."""

    file_pair: FilePair
    person: Ints
    row: Ints
    links: Ints
    log_odds: Floats

    @property
    def total(self) -> int:
        """Number of links."""
        return int(self.links.sum())

    def link_chances(self, people: npt.ArrayLike, rows: npt.ArrayLike) -> Floats:
        """The probability that each of these pairs is linked, with twins chosen at random."""
        files = self.file_pair
        share = self.links / (files.person_sizes[self.person] * files.row_sizes[self.row])
        at = files.find_pairs(self.person, self.row, people, files.row_class[np.asarray(rows, np.int64)])
        return np.append(share, 0.0)[at]


def assign_links(
    found: Linkage, odds: float = 1.0, run: Run | None = None, *, favour: Floats | None = None
) -> Assignment:
    """Link people and rows one to one, at these odds or better. ``favour``, beside ``found.pairs`` and from −1 to 1,
    chooses among sets of links that are equally good: its sum over the links is maximal."""
    if not odds > 0:
        raise UnveilError("odds must be above 0")
    file_pair, pairs = found.file_pair, found.pairs
    share = max(found.prior, 1 / (max(1, found.n) + 1))
    prior_odds = np.log((1 - share) / share / max(1, file_pair.row_count))
    log_odds = pairs.likelihood + SCORE_UNIT * np.rint(prior_odds / SCORE_UNIT)
    good = (log_odds >= max(0.0, float(np.log(odds))) - SCORE_UNIT) & (pairs.posterior >= MIN_POSTERIOR)
    person, row, worth = pairs.person[good], pairs.row[good], log_odds[good]
    wanted = np.zeros(len(person)) if favour is None else favour[good]
    links = np.zeros(len(person), np.int64)
    alone = (np.bincount(person, minlength=1)[person] == 1) & (np.bincount(row, minlength=1)[row] == 1)
    r, c = file_pair.person_sizes, file_pair.row_sizes
    links[alone] = np.minimum(r[person[alone]], c[row[alone]])
    links[~alone] = _match_groups(person[~alone], row[~alone], worth[~alone], wanted[~alone], r, c, run)
    kept = links > 0
    return Assignment(file_pair, person[kept], row[kept], links[kept], worth[kept])


def _match_groups(person: Ints, row: Ints, worth: Floats, wanted: Floats, r: Ints, c: Ints, run: Run | None) -> Ints:
    """The number of links along each pair of classes. Unconnected parts are solved a few at a time, because the time
    grows with the square of the number of people."""
    links = np.zeros(len(person), np.int64)
    if not len(person):
        return links
    people = np.minimum(r, np.bincount(person, c[row], len(r)).astype(np.int64))
    rows = np.minimum(c, np.bincount(row, r[person], len(c)).astype(np.int64))
    if (people[person] * rows[row]).sum() > _MAX_PAIRS:
        raise UnveilError("too many people and rows are alike for one-to-one links; compare more columns")
    joined = csr_array((np.ones(len(person), np.int8), (person, row + len(r))), shape=2 * (len(r) + len(c),))
    part = connected_components(joined, directed=False)[1]
    batch = np.cumsum(np.bincount(part[: len(r)], people))[part[person]] // _BATCH_PEOPLE
    order = np.argsort(batch, kind="stable")
    for these in np.split(order, np.flatnonzero(np.diff(batch[order])) + 1):
        if run:
            run.check()
        links[these] = _least_cost_links(person[these], row[these], worth[these], wanted[these], people, rows)
    return links


def _least_cost_links(person: Ints, row: Ints, worth: Floats, wanted: Floats, people: Ints, rows: Ints) -> Ints:
    """The number of links along each pair of classes in the best matching of this many people and rows."""
    who, a = np.unique(person, return_inverse=True)
    where, b = np.unique(row, return_inverse=True)
    first, first_row = (np.cumsum(sizes) - sizes for sizes in (people[who], rows[where]))
    size = people[person] * rows[row]
    edge = np.repeat(np.arange(len(size)), size)
    inside = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    n, wide = int(people[who].sum()), int(rows[where].sum())
    i = np.append(first[a[edge]] + inside // rows[row[edge]], np.arange(n))
    j = np.append(first_row[b[edge]] + inside % rows[row[edge]], wide + np.arange(n))
    alone = np.zeros(n)
    cost = -np.append(worth[edge] / SCORE_UNIT + 2, alone)  # at even odds, rather linked than alone
    chosen = _match_everybody(i, j, cost, n, wide)
    if wanted.any():
        tight, needed = _optimal_edges(i, j, cost, chosen, wide + n)
        better = -np.append(wanted[edge], alone) - (2 * n + 1.0) * needed[j]
        chosen = tight[_match_everybody(i[tight], j[tight], better[tight], n, wide)]
    return np.bincount(edge[chosen[chosen < len(edge)]], minlength=len(size))


def _match_everybody(i: Ints, j: Ints, cost: Floats, n: int, wide: int) -> Ints:
    """The edges of a matching of n people at the least cost, by person; places from ``wide`` on are outside."""
    shape = (n, wide + n)
    graph = csr_array((cost - cost.min() + 1, (i, j)), shape=shape)  # costs must be positive; everybody pays the same
    columns = min_weight_full_bipartite_matching(graph)[1]
    of = csr_array((np.arange(1, len(i) + 1), (i, j)), shape=shape)
    return np.asarray(of[np.arange(n), columns]).reshape(-1).astype(np.int64) - 1


def _optimal_edges(i: Ints, j: Ints, cost: Floats, chosen: Ints, columns: int) -> tuple[Ints, Bools]:
    """The edges that an optimal matching may use, and the columns that every optimal matching uses, from one of them.

    The price v of a column is at most 0, and 0 if it is free. A matching is optimal if and only if its edges are the
    cheapest of each person at these prices, cost − v, and it uses all columns with a price below 0 (complementary
    slackness). Prices are shortest paths: v[j] ≤ v[m] + cost(i, j) − cost(i, m) for every person i, matched to m.
    """
    price, extra = np.zeros(columns), cost - cost[chosen][i]
    while True:
        lower = price.copy()
        np.minimum.at(lower, j, price[j[chosen]][i] + extra)
        if np.array_equal(lower, price):
            break
        price = lower
    tight = np.flatnonzero(price[j[chosen]][i] + extra == price[j])
    return tight, price < 0
