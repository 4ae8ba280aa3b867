"""What if the attacker knows just what singles someone out? The worst case.

A *point* of a record is one of its attributes with its value: a place someone was at, a film they gave four stars.
Whoever knows a few points of a person looks for the records that have all of them. The attacker knows the k points that
single the person out best. The risk of a record is

    max over all sets of k of its points of 1 / #{records that have them all},

as in scikit-mobility's ``LocationAttack`` (Pratesi and others, *PRUDEnce*, 2018). A record with fewer than k points is
known completely; one without points could be anyone. Who is unique given k *random* points is an
:class:`~unveil.linkage.attack.experiment.Outcome` of the attack.

Points may come several times: someone was at a place twice. Then the first visit and the second are two attributes, of
which the second *needs* the first: a set with the second only would say no less than one with both.

**How the worst case is computed.** More points never leave more records, so that sets of at most k points are looked
at, rarest points first and depth first. Each path goes with a set of bits for the records that have all its points. If
c records are left and gᵢ of them lack point i, at least c − Σ gᵢ are left after any points i: a path that cannot get
below the least so far is given up, and a record is finished when nobody is left but those that have all its points.
The work allowed is shared out among the records, and what they leave is for those on which it did not suffice. If it
still does not, the risk is at least what was found, and at most that of someone who knows all points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.errors import UnveilError
from unveil.linkage.attack._rarest import rarest
from unveil.linkage.attack.adversaries import indexed, liking
from unveil.linkage.records import Records
from unveil.run import Run
from unveil.slices import spread

__all__ = ["Worst", "worst_case"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_WORK = 2_000_000_000  # words of bits and entries of records: about a second
_SLICE = 50_000_000
_MOST = 100_000_000  # of one record, so that it can be stopped
_LEAST = 1_000


@dataclass(frozen=True, eq=False)
class Worst:
    """For each of ``rows`` how few records have the same ``size`` points of it, chosen for that (``least``), and how
    many have all its points (``all_points``). Where it is not ``exact``, still fewer may have some others."""

    size: int
    rows: Ints
    least: Ints
    all_points: Ints
    exact: npt.NDArray[np.bool_]

    @property
    def truncated(self) -> bool:
        """Whether the work did not suffice for all."""
        return not bool(self.exact.all())

    @property
    def risk(self) -> Floats:
        """The probability that each is found, or what it is at least."""
        return 1 / self.least

    @property
    def risk_at_most(self) -> Floats:
        """The same, or what it is at most."""
        return 1 / np.where(self.exact, self.least, self.all_points)


def worst_case(
    records: Records,
    size: int,
    *,
    targets: npt.ArrayLike | None = None,
    needs: Mapping[str, str] | None = None,
    work: int = _WORK,
    run: Run | None = None,
) -> Worst:
    """What someone achieves who knows the ``size`` points of each record that single it out best. ``needs`` names the
    attributes that are known only with another one, which must come before them.

    Two people were at the bar and the spa; of these, Ann was at the spa twice.

    >>> import pyarrow as pa
    >>> from unveil.linkage.records import records_of_ratings
    >>> from unveil.release.codes import encode
    >>> user = ["ann", "ann", "ann", "bob", "bob", "cy"]
    >>> place = ["bar", "spa", "spa again", "bar", "spa", "bar"]
    >>> places = records_of_ratings(*(encode(pa.chunked_array([column])) for column in (user, place)))
    >>> worst_case(places, 1, needs={"spa again": "spa"}).risk.tolist()
    [0.5, 0.5, 0.3333333333333333]
    >>> worst_case(places, 2, needs={"spa again": "spa"}).risk.tolist()
    [1.0, 0.5, 0.3333333333333333]
    """
    if size < 1:
        raise UnveilError("the number of points must be 1 or more")
    run = run or Run()
    rows = np.arange(records.n) if targets is None else np.asarray(targets, np.int64)
    (index, place), before = indexed(records, run), _needs(records, needs)
    like, at = liking(records, "alike"), place[rows]
    found = Worst(size, rows, np.zeros_like(rows), np.zeros_like(rows), np.zeros(len(rows), np.bool_))
    todo, cap, left = np.arange(len(rows)), 0, work
    while len(todo) and (cap == 0 or min(_MOST, left // len(todo)) >= 2 * cap):
        cap, spent = min(_MOST, max(_LEAST, left // len(todo))), list[int]()
        parts = np.zeros(len(todo), np.int64), np.zeros(len(todo), np.int64), np.zeros(len(todo), np.bool_)
        step = partial(rarest, index, like, at[todo], before, size, cap)

        def slice_of(first: int, last: int, step: Any = step, spent: list[int] = spent, parts: Any = parts) -> int:
            reached, work = step(first, last, _SLICE, *parts)
            spent.append(work)
            return int(reached)

        spread(slice_of, len(todo), "looking for the rarest points", run)
        left -= sum(spent)
        found.least[todo], found.all_points[todo], found.exact[todo] = parts
        todo = todo[~parts[2]]
    return found


def _needs(records: Records, needs: Mapping[str, str] | None) -> npt.NDArray[np.int32]:
    """The attribute that each needs, −1 for none; empty if that is so for all."""
    if not needs:
        return np.empty(0, np.int32)
    at = {name: i for i, name in enumerate(records.names)}
    found = np.full(records.c, -1, np.int32)
    for name, needed in needs.items():
        if at.get(needed, records.c) >= at.get(name, -1):
            raise UnveilError("what is needed must be an attribute that comes before the one that needs it")
        found[at[name]] = at[needed]
    return found
