"""The findings about how much an attacker must know: re-identification by the number of known columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from unveil.classes.missing_values import MissingValues
from unveil.classes.risks import DIS_SUDA, KNOWN_COLUMNS
from unveil.classes.settings import ClassesSettings
from unveil.finding import Curve, ExposedSubject, Finding
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.run import Run
from unveil.wording import count_text, list_text, number_text, percent_text, safe_text

if TYPE_CHECKING:
    from unveil.classes.known_columns import IdentifyingSets, KnownColumns, ShapleyValues
    from unveil.classes.minimal_uniques import MinimalUniques

__all__ = ["MOST_ROWS_SEARCHED", "known_columns_findings"]

_FEW_COLUMNS = 3  # columns that someone may well know
_LIKELY_FOUND = 0.5
_NOTABLE_SHARE = 0.05  # the share of rows from which a set of columns is worth naming
_LARGEST_SET = 4  # columns of the largest sets that are searched
_MOST_SCORED_COLUMNS = 27  # columns up to which DIS-SUDA scores are defined
MOST_ROWS_SEARCHED = 200_000  # rows up to which the sets of columns that make each row unique are searched for
MOTWANI = "R. Motwani, Y. Xu, Efficient algorithms for masking and finding quasi-identifiers, 2008"
_SOURCE = (
    "L. Sweeney, Simple demographics often identify people uniquely, 2000; L. S. Shapley, A value for n-person games, "
    f"1953; {MOTWANI}; M. Elliot and others, SUDA: a program for detecting special uniques, 2005"
)
_ELLIOT = "M. Elliot, A. Manning, Using DIS to modify the classification of special uniques, 2003"


def known_columns_findings(table: Table, policy: Policy, run: Run) -> Iterator[Finding]:
    """What someone achieves who knows only a few of the quasi-identifiers, where there are several to choose from."""
    names = policy.quasi_columns
    if len(names) < 2 or policy.subject is not None:
        return
    missing = MissingValues.from_policy(policy) if policy.missing_as == "excluded" else MissingValues()
    special = _minimal_uniques(table, names, missing, run)
    if run.asks(KNOWN_COLUMNS):
        yield _known_columns_finding(table, names, missing, special, policy, run)
    if special is not None and run.asks(DIS_SUDA):
        yield from _dis_suda_findings(table, special, names, missing, policy)


def _known_columns_finding(
    table: Table,
    names: tuple[str, ...],
    missing: MissingValues,
    special: MinimalUniques | None,
    policy: Policy,
    run: Run,
) -> Finding:
    from unveil.classes.known_columns import find_identifying_sets, risk_by_columns_known, shapley_values
    from unveil.classes.known_rows import select_known_rows
    from unveil.classes.tally import tally_rows

    rows = select_known_rows(tally_rows(table, names, run=run), names, None, missing)
    codes, counts = rows.known, rows.weights
    people = rows.count if counts is None else int(counts.sum())
    bands = risk_by_columns_known(codes, counts, run.rng("classes.known_columns"), run=run)
    sets = find_identifying_sets(codes, counts, _NOTABLE_SHARE, _LARGEST_SET, run=run)
    shares = shapley_values(codes, counts, run.rng("classes.known_columns shapley"), run=run)
    few = bands[min(_FEW_COLUMNS, len(names))]
    worst = bands[-1].risk.high
    return KNOWN_COLUMNS.finding(
        policy,
        title=f"Average re-identification risk with {count_text(few.known, 'column')} known, at worst",
        value=few.risk.high,
        method="exact" if few.is_exhaustive else "bound",
        interval=(few.risk.high, worst),
        subjects=people,
        share=few.risk.high if few.is_exhaustive else (few.risk.high, worst),
        attacker=f"Knows any {count_text(few.known, 'column')} of {list_text(names, 12)}; the choice that helps most "
        "counts.",
        missing=missing.describe(),
        baseline=1 / people,
        sentence=f"{_enough_columns_sentence(bands)} {_smallest_sets_sentence(sets, names)}"
        f"{_special_column_sentence(special, names)}",
        curves=(_known_columns_curve(bands), _contributions_curve(shares, names)),
        exposed=() if special is None else _exposed_rows(special, names, run.exposed),
        source=_SOURCE,
    )


def _dis_suda_findings(
    table: Table, special: MinimalUniques, names: tuple[str, ...], missing: MissingValues, policy: Policy
) -> Iterator[Finding]:
    """The highest DIS-SUDA score, where the policy says which share of the population the rows are. It ranks rows by a
    rule of thumb, so that it is an estimate."""
    from unveil.classes.minimal_uniques import dis_suda_scores

    chosen = policy.settings_for(ClassesSettings)
    fraction = chosen.sampling_fraction
    if chosen.population_size is not None:
        fraction = table.rows / chosen.population_size
    if fraction is None or len(names) > _MOST_SCORED_COLUMNS:
        return
    scores = dis_suda_scores(special.score, special.people_in_pairs, special.columns, fraction)
    highest, scored = float(scores.max(initial=0.0)), int((scores > 0).sum())
    at_most = f"{count_text(special.largest_size, 'column')}{' or fewer' if special.largest_size > 1 else ''}"
    if scored:
        sentence = (
            f"{count_text(scored, 'row is', 'rows are')} unique on {at_most}. Somebody in the population who matches "
            f"the one that stands out most is the right person with a probability of about {percent_text(highest)}."
        )
    else:
        sentence = f"No row is unique on {at_most}, so none has a score."
    yield DIS_SUDA.finding(
        policy,
        value=highest,
        method="estimate",
        subjects=table.rows,
        attacker=f"Knows {list_text(names, 12)} for somebody in the population, of which the rows are a random sample "
        f"of {percent_text(fraction)}.",
        missing=missing.describe(),
        sentence=sentence,
        source=_ELLIOT,
    )


def _minimal_uniques(table: Table, names: tuple[str, ...], missing: MissingValues, run: Run) -> MinimalUniques | None:
    """The smallest sets of columns on which each row is unique, where there are not too many rows to search."""
    from unveil.classes.known_rows import select_known_rows
    from unveil.classes.minimal_uniques import find_minimal_uniques
    from unveil.classes.tally import tally_every_row

    if table.rows > MOST_ROWS_SEARCHED or not missing.is_own_value:
        return None
    rows = select_known_rows(tally_every_row(table, names, run), names, None, missing)
    return find_minimal_uniques(rows.known, None, min(_LARGEST_SET, len(names)), run=run)


def _special_column_sentence(found: MinimalUniques | None, names: tuple[str, ...]) -> str:
    """The column that stands out most among those that make rows unique."""
    import numpy as np

    if found is None or not len(found.row_sets):
        return ""
    parts = found.contribution
    first = int(np.argmax(parts))
    people = int((np.diff(found.begins) > 0).sum())
    at_most = f"{count_text(found.largest_size, 'column')}{' or fewer' if found.largest_size > 1 else ''}"
    theirs = "its" if people == 1 else "their"
    return (
        f" {count_text(people, 'row is', 'rows are')} unique on {at_most}. Sets that include {safe_text(names[first])} "
        f"make up {percent_text(float(parts[first]))} of {theirs} SUDA score, in which smaller sets weigh more."
    )


def _exposed_rows(found: MinimalUniques, names: tuple[str, ...], limit: int) -> tuple[ExposedSubject, ...]:
    """The rows with the highest SUDA scores: unique on few columns, in many ways."""
    import numpy as np

    order = np.argsort(-found.score, kind="stable")[:limit]
    return tuple(
        ExposedSubject(subject=f"row {row + 1:,}", risk=1.0, because=_special_row_reason(found, names, row))
        for row in order.tolist()
        if found.score[row] > 0
    )


def _special_row_reason(found: MinimalUniques, names: tuple[str, ...], row: int) -> str:
    smallest, *others = found.sets_of_row(row)
    more = f", and on {count_text(len(others), 'other set')} of columns" if others else ""
    score = number_text(float(found.score[row]))
    return f"unique on {list_text(names[c] for c in smallest)}{more} (SUDA score {score})"


def _enough_columns_sentence(bands: tuple[KnownColumns, ...]) -> str:
    """How many columns are enough to find the average person more often than not."""
    enough = next((b.known for b in bands if b.known and b.risk.high >= _LIKELY_FOUND), None)
    if enough is None:
        every = "both" if bands[-1].known == 2 else f"all {bands[-1].known:,}"
        return f"Even if {every} columns are known, fewer than half of the rows are found on average."
    are = "is" if enough == 1 else "are"
    right = "if it is the right one" if enough == 1 else "if they are the right ones"
    return f"{count_text(enough, 'known column')} {are} enough to find half of the rows or more on average, {right}."


def _smallest_sets_sentence(found: IdentifyingSets, names: tuple[str, ...]) -> str:
    """The smallest sets of columns that single out more than a few rows."""
    at_least = percent_text(_NOTABLE_SHARE)
    if not found.sets and found.truncated:
        if not found.size:
            return f"There are too many rows and columns to find the sets that single out {at_least} of the rows."
        return (
            f"No set of up to {count_text(found.size, 'column')} singles out {at_least} of the rows; larger sets are "
            "too many to search."
        )
    if not found.sets:
        return f"No set of up to {count_text(found.size, 'column')} singles out {at_least} of the rows."
    if not found.sets[0].columns:
        return "There is only one row."
    size = len(found.sets[0].columns)
    best = [s for s in found.sets if len(s.columns) == size][:3]
    sets = "; ".join(f"{list_text(names[c] for c in s.columns)} ({percent_text(s.unique)})" for s in best)
    return f"The smallest sets of columns that single out {at_least} of the rows or more: {sets}."


def _known_columns_curve(bands: tuple[KnownColumns, ...]) -> Curve:
    sampled = ""
    if not all(b.is_exhaustive for b in bands):
        sampled = " For some numbers of columns there are too many sets; only a sample was measured."
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
        reading="The line is the average over all sets of that many columns; the band runs from the set that helps "
        f"least to the one that helps most. With all columns known, the risk is {percent_text(worst)}.{sampled}",
    )


def _contributions_curve(found: ShapleyValues, names: tuple[str, ...]) -> Curve:
    import numpy as np

    order = np.argsort(-found.risk.values, kind="stable")
    return Curve(
        title="What each column contributes to the risk",
        kind="bars",
        x_label="column",
        y_label="contribution to the average risk",
        x=tuple(safe_text(names[i], 40) for i in order.tolist()),
        y=tuple(max(0.0, float(found.risk.values[i])) for i in order),
        x_scale="category",
        reading=f"{_largest_contribution_sentence(found, names)} A contribution is the average gain when columns "
        f"become known in random order (Shapley value{'' if found.exact else ', estimated'}).",
    )


def _largest_contribution_sentence(found: ShapleyValues, names: tuple[str, ...]) -> str:
    """Which column contributes most to the risk, or which ones contribute equally."""
    values, total = found.risk.values.tolist(), found.risk.total
    largest = max(values)
    if total <= 0 or largest <= 0:
        return "No column adds to the risk."
    first = [safe_text(names[i], 40) for i, value in enumerate(values) if math.isclose(value, largest, rel_tol=1e-9)]
    share = percent_text(largest / total)
    if len(first) == 1:
        return f"{first[0]} contributes most, {share} of the risk."
    which = "" if len(first) == len(names) else " and most"
    return f"{list_text(first)} contribute equally{which}, {share} of the risk each."
