"""The findings about how much an attacker must know: re-identification by the number of known columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from unveil.classes.attacker import GUESSED_TEXT, KnownColumnsAttacker, Subjects, attackers
from unveil.classes.missing_values import MissingValues
from unveil.classes.risks import DIS_SUDA, KNOWN_COLUMNS
from unveil.classes.settings import ClassesSettings
from unveil.finding import Curve, ExposedSubject, Finding
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.run import Run
from unveil.wording import count_text, list_text, number_text, percent_text, safe_text, verb

if TYPE_CHECKING:
    from unveil.classes.known_columns import IdentifyingSets, KnownColumns, ShapleyValues
    from unveil.classes.minimal_uniques import MinimalUniques

__all__ = ["MOTWANI", "known_columns_findings"]

_FEW_COLUMNS = 3  # columns that someone may well know
_LIKELY_FOUND = 0.5
_NOTABLE_SHARE = 0.05  # the share of rows from which a set of columns is worth naming
_LARGEST_SET = 4  # columns of the largest sets that are searched
_MOST_SCORED_COLUMNS = 27  # columns up to which DIS-SUDA scores are defined
MOTWANI = "R. Motwani, Y. Xu, Efficient algorithms for masking and finding quasi-identifiers, 2008"
_SOURCE = (
    "L. Sweeney, Simple demographics often identify people uniquely, 2000; L. S. Shapley, A value for n-person games, "
    f"1953; {MOTWANI}; M. Elliot and others, SUDA: a program for detecting special uniques, 2005"
)
_STRICTER_SENTENCE = "Here, a missing value counts as a value of its own, not as a wildcard. "
_ELLIOT = "M. Elliot, A. Manning, Using DIS to modify the classification of special uniques, 2003"


def known_columns_findings(table: Table, policy: Policy, run: Run) -> Iterator[Finding]:
    """What someone achieves who knows only a few columns of a set of quasi-identifiers, if it has several."""
    for number, attacker in enumerate(attackers(policy)):
        if len(attacker.columns) > 1:
            yield from _attacker_findings(table, attacker, policy, run, f" {number}" if number else "")


def _attacker_findings(
    table: Table, attacker: KnownColumnsAttacker, policy: Policy, run: Run, stream: str
) -> Iterator[Finding]:
    """The findings about one set of quasi-identifiers; ``stream`` names its random numbers. Sets of columns are counted
    with missing values as values of their own, also where the policy reads them as wildcards; the findings say so."""
    missing = attacker.missing if attacker.missing.read_as == "excluded" else MissingValues()
    attacker = replace(attacker, missing=missing)
    special = _minimal_uniques(table, attacker, policy, run)
    if run.asks(KNOWN_COLUMNS):
        yield _known_columns_finding(table, attacker, special, policy, run, stream)
    if special is not None and run.asks(DIS_SUDA):
        yield from _dis_suda_findings(table, special, attacker, policy)


def _known_columns_finding(
    table: Table,
    attacker: KnownColumnsAttacker,
    special: MinimalUniques | None,
    policy: Policy,
    run: Run,
    stream: str,
) -> Finding:
    from unveil.classes.known_columns import find_identifying_sets, risk_by_columns_known, shapley_values
    from unveil.classes.known_rows import select_known_rows
    from unveil.classes.tally import tally_rows

    names, subjects = attacker.columns, Subjects.from_policy(policy)
    found = tally_rows(table, (*names, *([policy.subject] if policy.subject else [])), run=run)
    rows = select_known_rows(found, names, policy.subject, attacker.missing)
    who, codes, counts = rows.person, rows.known, None if rows.person is not None else rows.weights
    sets = find_identifying_sets(codes, counts, _NOTABLE_SHARE, _LARGEST_SET, person=who, run=run)
    bands = risk_by_columns_known(
        codes, counts, run.rng(f"classes.known_columns{stream}"), person=who, also=[s.columns for s in sets.sets],
        run=run,
    )  # fmt: skip
    shares = shapley_values(codes, counts, run.rng(f"classes.known_columns shapley{stream}"), person=who, run=run)
    people = rows.class_sizes().total
    few = bands[min(_FEW_COLUMNS, len(names))]
    worst = bands[-1].risk.high
    where = " in all of the person's rows" if policy.subject else ""
    is_stricter = _is_stricter(policy)
    gaps = ", including which of their values are missing" if is_stricter else ""
    return KNOWN_COLUMNS.finding(
        policy,
        title=f"Average re-identification risk with {count_text(few.known, 'column')}"
        f"{f' of {list_text(names, 3)}' if len(policy.quasi) > 1 else ''} known, at worst"
        f"{', missing values included' if is_stricter else ''}",
        value=few.risk.high,
        method="exact" if few.is_exhaustive else "bound",
        interval=(few.risk.high, worst),
        subjects=people,
        share=few.risk.high if few.is_exhaustive else (few.risk.high, worst),
        known=names,
        attacker=f"Knows any {count_text(few.known, 'column')} of {list_text(names, 12)}{where}{gaps}"
        f"{GUESSED_TEXT if set(names) & set(policy.guessed) else ''}; the choice that helps most counts.",
        missing=attacker.missing.describe(),
        baseline=1 / people,
        sentence=f"{_STRICTER_SENTENCE if is_stricter else ''}{_enough_columns_sentence(bands, subjects)} "
        f"{_smallest_sets_sentence(sets, bands, names, subjects)}{_special_column_sentence(special, names, subjects)}",
        curves=(_known_columns_curve(bands), _contributions_curve(shares, names)),
        exposed=() if special is None else _exposed_rows(special, names, run.exposed, subjects, is_stricter),
        source=_SOURCE,
    )


def _dis_suda_findings(
    table: Table, special: MinimalUniques, attacker: KnownColumnsAttacker, policy: Policy
) -> Iterator[Finding]:
    """The highest DIS-SUDA score, where the policy says which share of the population the rows are. It ranks rows by a
    rule of thumb, so that it is an estimate."""
    from unveil.classes.minimal_uniques import dis_suda_scores

    chosen, names, subjects = policy.settings_for(ClassesSettings), attacker.columns, Subjects.from_policy(policy)
    fraction = chosen.sampling_fraction
    if chosen.population_size is not None:
        fraction = special.people / chosen.population_size
    if fraction is None or len(names) > _MOST_SCORED_COLUMNS:
        return
    scores = dis_suda_scores(special.score, special.people_in_pairs, special.columns, fraction)
    highest, scored = float(scores.max(initial=0.0)), int((scores > 0).sum())
    at_most = _at_most_text(special)
    if scored:
        sentence = (
            f"{subjects.count_text(scored)} {verb(scored, 'is', 'are')} unique on {at_most}. Somebody in the "
            "population who matches the one that stands out most is the right person with a probability of about "
            f"{percent_text(highest)}."
        )
    else:
        sentence = f"No {subjects.one} is unique on {at_most}, so none has a score."
    yield DIS_SUDA.finding(
        policy,
        value=highest,
        method="estimate",
        subjects=special.people,
        title=f"{DIS_SUDA.title}{attacker.title_suffix}",
        known=names,
        attacker=f"Knows {list_text(names, 12)} for somebody in the population, of which the {subjects.many} are a "
        f"random sample of {percent_text(fraction)}.",
        missing=attacker.missing.describe(),
        sentence=f"{_STRICTER_SENTENCE if _is_stricter(policy) else ''}{sentence}",
        source=_ELLIOT,
    )


def _minimal_uniques(table: Table, attacker: KnownColumnsAttacker, policy: Policy, run: Run) -> MinimalUniques | None:
    """The smallest sets of columns on which each row or person is unique; None if incomplete rows are left out."""
    from unveil.classes.known_rows import select_known_rows
    from unveil.classes.minimal_uniques import find_minimal_uniques
    from unveil.classes.tally import tally_every_row

    if not attacker.missing.is_own_value:
        return None
    names = attacker.columns
    each = tally_every_row(table, (*names, *([policy.subject] if policy.subject else [])), run)
    rows = select_known_rows(each, names, policy.subject, attacker.missing)
    return find_minimal_uniques(rows.known, None, min(_LARGEST_SET, len(names)), person=rows.person, run=run)


def _is_stricter(policy: Policy) -> bool:
    """Whether missing values are read more strictly here than by the policy."""
    return MissingValues.from_policy(policy).read_as == "wildcard"


def _special_column_sentence(found: MinimalUniques | None, names: tuple[str, ...], subjects: Subjects) -> str:
    """The column that stands out most among those that make rows unique."""
    import numpy as np

    if found is None or not len(found.row_sets):
        return ""
    parts = found.contribution
    first = int(np.argmax(parts))
    people = int((np.diff(found.begins) > 0).sum())
    at_most = _at_most_text(found)
    theirs = "its" if people == 1 else "their"
    return (
        f" {subjects.count_text(people)} {verb(people, 'is', 'are')} unique on {at_most}. Sets that include "
        f"{safe_text(names[first])} make up {percent_text(float(parts[first]))} of {theirs} SUDA score, in which "
        "smaller sets weigh more."
    )


def _at_most_text(found: MinimalUniques) -> str:
    """The size of the sets that were searched."""
    return f"{count_text(found.largest_size, 'column')}{' or fewer' if found.largest_size > 1 else ''}"


def _exposed_rows(
    found: MinimalUniques, names: tuple[str, ...], limit: int, subjects: Subjects, is_stricter: bool
) -> tuple[ExposedSubject, ...]:
    """The rows or people with the highest SUDA scores: unique on few columns, in many ways."""
    import numpy as np

    condition = ", if a missing value is a value of its own" if is_stricter else ""
    order = np.argsort(-found.score, kind="stable")[:limit]
    return tuple(
        ExposedSubject(
            subject=subjects.row_text(row + 1),
            risk=1.0,
            because=f"{_special_row_reason(found, names, row)}{condition}",
        )
        for row in order.tolist()
        if found.score[row] > 0
    )


def _special_row_reason(found: MinimalUniques, names: tuple[str, ...], row: int) -> str:
    smallest, *others = found.sets_of_row(row)
    more = f", and on {count_text(len(others), 'other set')} of columns" if others else ""
    score = number_text(float(found.score[row]))
    return f"unique on {list_text(names[c] for c in smallest)}{more} (SUDA score {score})"


def _enough_columns_sentence(bands: tuple[KnownColumns, ...], subjects: Subjects) -> str:
    """How many columns are enough to find the average person more often than not."""
    enough = next((b.known for b in bands if b.known and b.risk.high >= _LIKELY_FOUND), None)
    if enough is None:
        every = "both" if bands[-1].known == 2 else f"all {bands[-1].known:,}"
        return f"Even if {every} columns are known, fewer than half of the {subjects.many} are found on average."
    are = "is" if enough == 1 else "are"
    right = "if it is the right one" if enough == 1 else "if they are the right ones"
    sampled = "" if all(b.is_exhaustive for b in bands[:enough]) else " Not all sets of fewer columns were measured."
    return (
        f"{count_text(enough, 'known column')} {are} enough to find half of the {subjects.many} or more on average, "
        f"{right}.{sampled}"
    )


def _smallest_sets_sentence(
    found: IdentifyingSets, bands: tuple[KnownColumns, ...], names: tuple[str, ...], subjects: Subjects
) -> str:
    """The smallest sets of columns that single out more than a few. Sets that are larger than those that were all
    searched are examples."""
    single_out = f"out {percent_text(_NOTABLE_SHARE)} of the {subjects.many}"
    shares = {s.columns: s.unique for s in found.sets}
    if not shares:
        shares = {
            b.unique.worst_set: b.unique.high for b in bands[: _LARGEST_SET + 1] if b.unique.high >= _NOTABLE_SHARE
        }
    size = min(map(len, shares), default=0)
    best = sorted((-share, columns) for columns, share in shares.items() if len(columns) == size)[:3]
    sets = "; ".join(f"{list_text(names[c] for c in columns)} ({percent_text(-share)})" for share, columns in best)
    none = f"No set of up to {count_text(found.size, 'column')} singles {single_out}" if found.size else ""
    if not best and found.truncated:
        beyond = "not all larger sets were searched" if none else "not all sets were searched"
        return f"{none or f'No set that was searched singles {single_out}'}; {beyond}."
    if not best:
        return f"{none}."
    if size == 0:
        return f"There is only one {subjects.one}."
    if size <= found.size:
        return f"The smallest sets of columns that single {single_out} or more: {sets}."
    before = f"{none}. " if none else ""
    return f"{before}These columns single {single_out} or more: {sets}. Not all sets of columns were searched."


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
