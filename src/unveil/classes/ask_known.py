"""The finding about how much an attacker must know: re-identification by the number of known columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.classes.missing import Missing
from unveil.finding import Curve, Exposed, Finding
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.run import Run
from unveil.wording import counted, listed, number, percent, shown

if TYPE_CHECKING:
    from unveil.classes.knowledge import Discovery, Known, Shapley
    from unveil.classes.uniques import Uniques

__all__ = ["LOOKED_AT", "known_findings"]

_FEW = 3  # columns that someone may well know
_LIKELY = 0.5
_SINGLED_OUT = 0.05  # the share of people from which on a set of columns is worth naming
_LARGEST = 4
LOOKED_AT = 200_000  # rows up to which minimal sample uniques are sought
_SOURCE = (
    "L. Sweeney, Simple demographics often identify people uniquely, 2000; L. S. Shapley, A value for n-person games, "
    "1953; R. Motwani, Y. Xu, Efficient algorithms for masking and finding quasi-identifiers, 2008; M. Elliot and "
    "others, SUDA: a program for detecting special uniques, 2005"
)


def known_findings(table: Table, policy: Policy, run: Run) -> Finding | None:
    """What someone achieves who knows any few of the quasi-identifiers; None where there is nothing to choose from."""
    from unveil.classes.knowledge import by_known, discover, shapley
    from unveil.classes.rows import rows_of
    from unveil.classes.tally import tally

    names = policy.quasi_columns
    if len(names) < 2 or policy.subject is not None:
        return None
    missing = Missing.of(policy) if policy.missing_as == "excluded" else Missing()
    rows = rows_of(tally(table, names, run=run), names, None, missing)
    codes, counts = rows.known, rows.weights
    people = rows.count if counts is None else int(counts.sum())
    bands = by_known(codes, counts, run.rng("classes.known_columns"), run=run)
    sets = discover(codes, counts, _SINGLED_OUT, _LARGEST, run=run)
    shares = shapley(codes, counts, run.rng("classes.known_columns shapley"), run=run)
    special = _minimal(table, names, missing, run)
    few = bands[min(_FEW, len(names))]
    tolerance = policy.tolerated("classes.known_columns")
    return Finding(
        id="classes.known_columns",
        question="classes",
        title=f"Average re-identification risk with {counted(few.known, 'column')} known, at worst",
        value=few.risk.high,
        unit="share",
        method="exact" if few.all_seen else "bound",
        interval=None if few.all_seen else (few.risk.high, bands[-1].risk.high),
        subjects=people,
        share=(few.risk.high, few.risk.high if few.all_seen else bands[-1].risk.high),
        tolerance=tolerance,
        direction="lower",
        decides=tolerance is not None,
        attacker=f"Knows any {counted(few.known, 'column')} of {listed(names, 12)}: the worst choice counts.",
        missing=missing.said(),
        baseline=1 / people,
        sentence=f"{_crossing(bands)} {_smallest(sets, names)}{_special(special, names)}",
        curves=(_by_known(bands), _contribution(shares, names)),
        exposed=() if special is None else _most_special(special, names, run.exposed),
        source=_SOURCE,
    )


def _minimal(table: Table, names: tuple[str, ...], missing: Missing, run: Run) -> Uniques | None:
    """On which smallest sets of columns each row is unique, where there are not too many rows to look."""
    from unveil.classes.rows import rows_of
    from unveil.classes.tally import every_row
    from unveil.classes.uniques import minimal_uniques

    if table.rows > LOOKED_AT or not missing.plain:
        return None
    rows = rows_of(every_row(table, names, run), names, None, missing)
    return minimal_uniques(rows.known, None, min(_LARGEST, len(names)), run=run)


def _special(found: Uniques | None, names: tuple[str, ...]) -> str:
    """Which column stands out most among what makes rows unique."""
    import numpy as np

    if found is None or not len(found.found):
        return ""
    parts = found.contribution
    first = int(np.argmax(parts))
    people = int((np.diff(found.begins) > 0).sum())
    return (
        f" {counted(people, 'row is', 'rows are')} unique on {found.most} columns or fewer; {shown(names[first])} is "
        f"part of {percent(float(parts[first]))} of what does that, by the points of the special uniques detection "
        "algorithm (SUDA)."
    )


def _most_special(found: Uniques, names: tuple[str, ...], limit: int) -> tuple[Exposed, ...]:
    """The rows with most points: unique on few columns, in many ways."""
    import numpy as np

    order = np.argsort(-found.score, kind="stable")[:limit]
    return tuple(
        Exposed(
            subject=f"row {row + 1:,}",
            risk=1.0,
            because=f"unique on {listed(names[c] for c in found.of(row)[0])}"
            + (f" and in {counted(len(found.of(row)) - 1, 'more way')}" if len(found.of(row)) > 1 else "")
            + f": {_points(float(found.score[row]))}",
        )
        for row in order.tolist()
        if found.score[row] > 0
    )


def _points(score: float) -> str:
    return "1 point" if score == 1 else f"{number(score)} points"


def _crossing(bands: tuple[Known, ...]) -> str:
    """From how many columns on the average person is likelier found than not."""
    from_here = next((b.known for b in bands if b.known and b.risk.high >= _LIKELY), None)
    if from_here is None:
        return f"Even with all {bands[-1].known:,} columns known, fewer than one in two is found on average."
    return f"From {counted(from_here, 'known column')} on, one in two is found on average if the right ones are known."


def _smallest(found: Discovery, names: tuple[str, ...]) -> str:
    """The smallest sets of columns that single out more than a few."""
    at_least = percent(_SINGLED_OUT)
    if not found.sets:
        return f"No {min(_LARGEST, len(names))} of the columns or fewer single out {at_least} of the rows."
    if not found.sets[0].columns:
        return "There is one row only."
    size = len(found.sets[0].columns)
    best = [s for s in found.sets if len(s.columns) == size][:3]
    said = "; ".join(f"{listed(shown(names[c]) for c in s.columns)} ({percent(s.unique)})" for s in best)
    return f"The smallest sets of columns that single out {at_least} of the rows or more: {said}."


def _by_known(bands: tuple[Known, ...]) -> Curve:
    sampled = (
        "" if all(b.all_seen for b in bands) else " Some numbers of columns have too many sets; a sample was seen."
    )
    worst = bands[-1].risk.high
    return Curve(
        title="Risk by how many columns are known",
        kind="line",
        x_label="columns known",
        y_label="average risk of re-identification",
        x=tuple(float(b.known) for b in bands),
        y=tuple(b.risk.mean for b in bands),
        low=tuple(b.risk.low for b in bands),
        high=tuple(b.risk.high for b in bands),
        reading=f"The line is the average over sets of as many columns, the band runs from the best to the worst of "
        f"them; with all known the risk is {percent(worst)}.{sampled}",
    )


def _contribution(found: Shapley, names: tuple[str, ...]) -> Curve:
    import numpy as np

    order = np.argsort(-found.risk.values, kind="stable")
    first = int(order[0])
    part = found.risk.values[first] / found.risk.total if found.risk.total else 0.0
    return Curve(
        title="What each column contributes to the risk",
        kind="bars",
        x_label="column",
        y_label="contribution to the average risk",
        x=tuple(shown(names[i], 40) for i in order.tolist()),
        y=tuple(max(0.0, float(found.risk.values[i])) for i in order),
        x_scale="category",
        reading=f"{shown(names[first], 40)} contributes most, {percent(float(part))} of the risk: the mean gain when "
        f"columns become known in random order (Shapley value{'' if found.exact else ', estimated'}).",
    )
