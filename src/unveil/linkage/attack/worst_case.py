"""What if the attacker knows exactly what singles a person out? The worst case.

A *point* of a record is one of its attributes with its value: a place visited, a film rated with four stars. An
attacker who knows some points of a person looks for the records that have all of them. In the worst case the attacker
knows the k points that single the person out best. The risk of a record is

    max over all sets of k of its points of 1 / #{records that have them all},

as in scikit-mobility's ``LocationAttack`` (Pratesi and others, *PRUDEnce*, 2018). A record with fewer than k points is
known completely; a record without points could be anyone. For uniqueness given k *random* points, see
:class:`~unveil.linkage.attack.experiment.Outcome`.

A point may occur several times, such as two visits to one place. The first and the second visit are then two
attributes, and the second *needs* the first: knowing only the second would say as much as knowing both.

**How it is computed.** More points never leave more records, so sets of at most k points are searched depth first,
rarest points first. Each path carries a bit set of the records that have all its points. If c records are left and gᵢ
of them lack point i, at least c − Σ gᵢ are left after adding points i. A path that cannot beat the best so far is
abandoned, and a record is finished when only records with all its points are left. The work allowed is divided among
the records, and what some leave over goes to those that need more. If it still does not suffice, the risk is at least
what was found and at most the risk against an attacker who knows all points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.arrays import Bools, Floats, Int32s, Ints
from unveil.errors import UnveilError
from unveil.linkage.attack._rarest_points import find_rarest_points
from unveil.linkage.attack.adversaries import posting_index, record_comparison
from unveil.linkage.records import Records
from unveil.run import Run
from unveil.slices import parallel_for

__all__ = ["WorstCase", "worst_case"]


_DEFAULT_WORK = 2_000_000_000  # words of bits and entries of records: about a second
_SLICE_WORK = 50_000_000
_MAX_RECORD_WORK = 100_000_000  # for one record, so that the search can be interrupted
_MIN_RECORD_WORK = 1_000


@dataclass(frozen=True, eq=False)
class WorstCase:
    """For each of ``rows``: ``least``, the smallest number of records that share ``size`` of its points, and
    ``all_points``, the number that share all of them. Where the result is not ``exact``, other points may leave even
    fewer."""

    size: int
    rows: Ints
    least: Ints
    all_points: Ints
    exact: Bools

    @property
    def is_truncated(self) -> bool:
        """Whether the work did not suffice for all rows."""
        return not bool(self.exact.all())

    @property
    def risk(self) -> Floats:
        """The probability that each is found, or a lower bound."""
        return 1 / self.least


def worst_case(
    records: Records,
    size: int,
    *,
    targets: npt.ArrayLike | None = None,
    needs: Mapping[str, str] | None = None,
    work: int = _DEFAULT_WORK,
    run: Run | None = None,
) -> WorstCase:
    """The success of an attacker who knows the ``size`` points of each record that single it out best. ``needs`` names
    attributes that are known only together with another, earlier one.

    Three people were at the bar and two of them at the spa, where Ann was twice.

    >>> import pyarrow as pa
    >>> from unveil.linkage.records import records_from_ratings
    >>> from unveil.release.codes import encode_column
    >>> user = ["ann", "ann", "ann", "bob", "bob", "cy"]
    >>> place = ["bar", "spa", "spa again", "bar", "spa", "bar"]
    >>> places = records_from_ratings(*(encode_column(pa.chunked_array([column])) for column in (user, place)))
    >>> worst_case(places, 1, needs={"spa again": "spa"}).risk.tolist()
    [0.5, 0.5, 0.3333333333333333]
    >>> worst_case(places, 2, needs={"spa again": "spa"}).risk.tolist()
    [1.0, 0.5, 0.3333333333333333]
    """
    if size < 1:
        raise UnveilError("the number of points must be 1 or more")
    run = run or Run()
    rows = np.arange(records.n) if targets is None else np.asarray(targets, np.int64)
    (index, place), before = posting_index(records, run), _required_attributes(records, needs)
    comparison, at = record_comparison(records), place[rows]
    found = WorstCase(size, rows, np.zeros_like(rows), np.zeros_like(rows), np.zeros(len(rows), np.bool_))
    todo, cap, left = np.arange(len(rows)), 0, work
    while len(todo) and (cap == 0 or min(_MAX_RECORD_WORK, left // len(todo)) >= 2 * cap):
        cap, spent = min(_MAX_RECORD_WORK, max(_MIN_RECORD_WORK, left // len(todo))), list[int]()
        parts = np.zeros(len(todo), np.int64), np.zeros(len(todo), np.int64), np.zeros(len(todo), np.bool_)
        step = partial(find_rarest_points, index, comparison, at[todo], before, size, cap)

        def slice_of(first: int, last: int, step: Any = step, spent: list[int] = spent, parts: Any = parts) -> int:
            reached, work = step(first, last, _SLICE_WORK, *parts)
            spent.append(work)
            return int(reached)

        parallel_for(slice_of, len(todo), "looking for the rarest points", run)
        left -= sum(spent)
        found.least[todo], found.all_points[todo], found.exact[todo] = parts
        todo = todo[~parts[2]]
    return found


def _required_attributes(records: Records, needs: Mapping[str, str] | None) -> Int32s:
    """The attribute that each attribute needs, −1 for none."""
    at = {name: i for i, name in enumerate(records.names)}
    found = np.full(records.c, -1, np.int32)
    for name, needed in (needs or {}).items():
        if at.get(needed, records.c) >= at.get(name, -1):
            raise UnveilError("an attribute can only need one that comes before it")
        found[at[name]] = at[needed]
    return found
