"""One row for everybody: the links that together are the likeliest.

The best row of each person may be the best of several. If no row can be two people, links are chosen together: those
that maximise Σ ln(odds) over the linked pairs, the odds of a pair being LR(x, y)/N · (1 − π)/π, its likelihood ratio
against a row taken at random from N and the share π of people outside. Pairs at odds below 1, or below what is asked
for, are better left unlinked. π counts as at least 1/(n + 1) for n people, which is less than one person: without that,
nobody could be left out.

**How it is computed.** Among the pairs that :func:`unveil.linkage.link.matches.link` kept, as a least-cost matching
(Jonker and Volgenant, in scipy) in which everybody may also stay alone. Pairs that compete with no other are taken at
once. Of twins only as many are set up as could be linked; ``links`` counts them by class, because nothing tells twins
apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, min_weight_full_bipartite_matching

from unveil.errors import UnveilError
from unveil.linkage.link.matches import Linkage
from unveil.linkage.link.paired import Floats, Ints, Paired
from unveil.run import Run

__all__ = ["Assigned", "assigned"]

_PAIRS = 20_000_000  # pairs of a person and a row that can be set up
_TOGETHER = 500  # people


@dataclass(frozen=True, eq=False)
class Assigned:
    """``links[e]`` people of class ``person[e]`` are linked to as many rows of class ``row[e]``, at ``log_odds``."""

    paired: Paired
    person: Ints
    row: Ints
    links: Ints
    log_odds: Floats

    @property
    def total(self) -> int:
        """How many links."""
        return int(self.links.sum())

    def of(self, people: npt.ArrayLike, rows: npt.ArrayLike) -> Floats:
        """How likely each of these pairs is linked, twins being chosen at random."""
        who, where = (np.asarray(side, np.int64) for side in (people, rows))
        if not len(self.person):
            return np.zeros(len(who))
        wide, sizes = self.paired.rows.n, (self.paired.person_sizes, self.paired.row_sizes)
        keys = self.person * wide + self.row
        key = self.paired.person_class[who] * wide + self.paired.row_class[where]
        at = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
        share = self.links / (sizes[0][self.person] * sizes[1][self.row])
        return np.where(keys[at] == key, share[at], 0.0)


def assigned(found: Linkage, odds: float = 1.0, run: Run | None = None) -> Assigned:
    """Link people and rows one to one, at the odds asked for and above."""
    if not odds > 0:
        raise UnveilError("odds are above 0")
    paired, pairs = found.paired, found.pairs
    share = max(found.prior, 1 / (max(1, found.n) + 1))
    log_odds = pairs.likelihood - np.log(max(1, paired.released)) + np.log((1 - share) / share)
    good = log_odds >= max(0.0, float(np.log(odds)))
    person, row, worth = pairs.person[good], pairs.row[good], log_odds[good]
    links = np.zeros(len(person), np.int64)
    alone = (np.bincount(person, minlength=1)[person] == 1) & (np.bincount(row, minlength=1)[row] == 1)
    r, c = paired.person_sizes, paired.row_sizes
    links[alone] = np.minimum(r[person[alone]], c[row[alone]])
    links[~alone] = _matched(person[~alone], row[~alone], worth[~alone], r, c, run)
    kept = links > 0
    return Assigned(paired, person[kept], row[kept], links[kept], worth[kept])


def _matched(person: Ints, row: Ints, worth: Floats, r: Ints, c: Ints, run: Run | None) -> Ints:
    """How many links go along each pair of classes: parts that have nothing in common are solved a few at a time,
    because the time it takes grows with the square of the people."""
    links = np.zeros(len(person), np.int64)
    if not len(person):
        return links
    people = np.minimum(r, np.bincount(person, c[row], len(r)).astype(np.int64))
    rows = np.minimum(c, np.bincount(row, r[person], len(c)).astype(np.int64))
    if (people[person] * rows[row]).sum() > _PAIRS:
        raise UnveilError("too many people and rows are alike to be linked one to one; compare more columns")
    joined = csr_array((np.ones(len(person), np.int8), (person, row + len(r))), shape=2 * (len(r) + len(c),))
    part = connected_components(joined, directed=False)[1]
    batch = np.cumsum(np.bincount(part[: len(r)], people))[part[person]] // _TOGETHER
    order = np.argsort(batch, kind="stable")
    for these in np.split(order, np.flatnonzero(np.diff(batch[order])) + 1):
        if run:
            run.check()
        links[these] = _least_cost(person[these], row[these], worth[these], people, rows)
    return links


def _least_cost(person: Ints, row: Ints, worth: Floats, people: Ints, rows: Ints) -> Ints:
    """How many links go along each pair of classes, of so many people and rows, in the best of all matchings."""
    who, a = np.unique(person, return_inverse=True)
    where, b = np.unique(row, return_inverse=True)
    first, first_row = (np.cumsum(sizes) - sizes for sizes in (people[who], rows[where]))
    size = people[person] * rows[row]
    edge = np.repeat(np.arange(len(size)), size)
    inside = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    i = first[a[edge]] + inside // rows[row[edge]]
    j = first_row[b[edge]] + inside % rows[row[edge]]
    n, wide = int(people[who].sum()), int(rows[where].sum())
    top = float(worth.max()) + 1  # costs have to be positive; all people pay it, linked or not
    cost = np.concatenate([top - worth[edge], np.full(n, top)])
    ends = np.concatenate([i, np.arange(n)]), np.concatenate([j, wide + np.arange(n)])
    chosen = min_weight_full_bipartite_matching(csr_array((cost, ends), shape=(n, wide + n)))
    real = chosen[1] < wide
    of = csr_array((edge + 1, (i, j)), shape=(n, wide))
    edges = np.asarray(of[chosen[0][real], chosen[1][real]]).reshape(-1) - 1
    return np.bincount(edges, minlength=len(size))
