"""The finding about the order of rows: does it follow what an attacker may know or wants to learn?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from unveil.case import Case
from unveil.finding import Finding
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.risk import Risk
from unveil.run import Run
from unveil.wording import list_text, percent_text, safe_text

if TYPE_CHECKING:
    from unveil.release.codes import Codes
    from unveil.release.row_order import OrderMeasure

__all__ = ["ORDER", "order_doubts", "order_finding"]

ORDER = Risk(
    "release.order",
    title="Rows in the order of a column",
    unit="share",
    safer="lower",
    summary="How closely the order of rows, or of an id, follows a quasi-identifier or sensitive column: 0% as in a "
    "random order, 100% if rows are sorted.",
)
_LEAST_STRENGTH = 0.05  # below it an order is too loose to tell anything about a row
_MOST_NAMED = 4
_TELLS_LITTLE = "The order of "
_SOURCE = (
    "M. G. Kendall, A new measure of rank correlation, Biometrika 30, 1938; A. M. Mood, The distribution theory of "
    "runs, Annals of Mathematical Statistics 11, 1940"
)


class _FollowedColumn(NamedTuple):
    """A column, the column by which rows are sorted (None: rows as they are), and how far that order follows it."""

    column: str
    sorted_by: str | None
    measure: OrderMeasure

    @property
    def is_followed(self) -> bool:
        """Whether the order tells something."""
        return self.measure.is_notable and self.measure.strength >= _LEAST_STRENGTH


def order_finding(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
    """How closely an order follows the column that it follows most; none if there is no column to look at. Of a
    protected table, columns are looked at as they were, because an order may tell what coarser values hide."""
    table, columns = case.release, _looked_at_columns(case, policy, run)
    assert isinstance(table, Table)
    measured = list(_measured_orders(table, columns, policy, run))
    if not measured:
        return
    followed = sorted((m for m in measured if m.is_followed), key=lambda m: -m.measure.strength)
    closest = followed[0] if followed else max(measured, key=lambda m: (m.measure.is_notable, m.measure.strength))
    yield ORDER.finding(
        policy,
        value=closest.measure.strength,
        subjects=table.rows,
        attacker="Knows by which column the rows were sorted, or when ids were given out.",
        missing="Rows that lack the value are left out.",
        baseline=0.0,
        sentence=_followed_text(followed) if followed else _not_followed_text(closest),
        source=_SOURCE,
    )


def order_doubts(case: Case, findings: Sequence[Finding]) -> Iterator[str]:
    """Why a protected table may still tell what was made coarser or left out."""
    if isinstance(case.original, Table):
        found = (f for f in findings if f.id == ORDER.id)
        yield from (f.sentence for f in found if not f.sentence.startswith(_TELLS_LITTLE))


def _looked_at_columns(case: Case, policy: Policy, run: Run) -> dict[str, Codes]:
    """The quasi-identifiers and sensitive columns, row by row of the release; those of the original, if it is known
    which rows they became."""
    import numpy as np

    from unveil.release.codes import Codes

    table, original = case.release, case.original
    assert isinstance(table, Table)
    named = (*policy.quasi_columns, *policy.sensitive, *policy.ratings[2:])
    here = table.codes([c for c in named if c in table.columns], policy.missing, run)
    if not isinstance(original, Table) or case.truth is None or len(case.truth) != original.rows:
        return here
    row = np.full(table.rows, -1)
    there = case.truth >= 0
    row[case.truth[there]] = np.flatnonzero(there)
    if (row < 0).any():
        return here
    gone = [c for c in original.columns if c not in table.columns or c in here]
    before = original.codes(gone, policy.missing, run)
    return here | {name: Codes(own.codes[row], own.values) for name, own in before.items()}


def _measured_orders(table: Table, columns: Mapping[str, Codes], policy: Policy, run: Run) -> Iterator[_FollowedColumn]:
    """Each column with the order of rows, and with that of every id."""
    import numpy as np

    from unveil.release.row_order import closest_measure, ordered_ranks

    encoded = table.codes(table.columns, policy.missing, run)
    ids = [name for name, own in encoded.items() if name not in columns and _is_id(own)]
    sources = {None: None} | {name: np.argsort(ordered_ranks(encoded[name])[0], kind="stable") for name in ids}
    for k, (column, own) in enumerate(columns.items()):
        run.progress("comparing the order of rows", k / len(columns))
        run.check()
        ranks, is_ordered = ordered_ranks(own)
        for name, order in sources.items():
            measure = closest_measure(ranks if order is None else ranks[order], is_ordered)
            if measure is not None:
                yield _FollowedColumn(column, name, measure)


def _is_id(column: Codes) -> bool:
    """Whether every row has a value of its own, and it is no measurement."""
    from unveil.release.column_profile import infer_type

    return len(column.values) == len(column.codes) and infer_type(column.values) != "number"


def _followed_text(followed: Sequence[_FollowedColumn]) -> str:
    """What the order tells, and what to do: about the rows as they are first, then about ids."""
    rows = [f for f in followed if f.sorted_by is None]
    said = []
    if rows:
        names = [f.column for f in rows[1:]]
        also = f" It also follows {list_text(names, _MOST_NAMED)}." if names else ""
        said.append(
            f"Row order follows {safe_text(rows[0].column)}: {_measure_text(rows[0])}.{also} Coarser values keep this "
            "order, so that the place of a row helps to guess the exact one: shuffle the rows."
        )
    for name in dict.fromkeys(f.sorted_by for f in followed if f.sorted_by is not None):
        own = [f for f in followed if f.sorted_by == name]
        said.append(
            f"Sorting by {safe_text(name)} {'also ' if rows else ''}puts rows in the order of "
            f"{list_text([f.column for f in own], _MOST_NAMED)}, whatever order they are in"
            f"{'' if rows else f': {_measure_text(own[0])}'}; leave out {safe_text(name)}, or number rows at random."
        )
    return " ".join(said[:_MOST_NAMED])


def _not_followed_text(closest: _FollowedColumn) -> str:
    order = f"{_TELLS_LITTLE}{'rows' if closest.sorted_by is None else safe_text(closest.sorted_by)}"
    nearest = f"the closest is {safe_text(closest.column)}: {_measure_text(closest)}"
    if closest.measure.is_notable:
        return f"{order} hardly follows any quasi-identifier or sensitive column; {nearest}."
    return (
        f"{order} does not clearly follow any quasi-identifier or sensitive column; {nearest}, and that may be chance."
    )


def _measure_text(followed: _FollowedColumn) -> str:
    """What was counted, and what a random order has on average."""
    name, measure = safe_text(followed.column), followed.measure
    share, random = percent_text(measure.share), percent_text(measure.random_share)
    counted = {
        "neighbours": f"{share} of neighbouring rows are in order of {name}",
        "pairs": f"{share} of all pairs of rows that differ in {name} are in order of {name}",
        "groups": f"{share} of neighbouring rows have the same {name}",
    }
    return f"{counted[measure.way]}, where a random order has {random}"
