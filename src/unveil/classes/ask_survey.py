"""The findings about surveys: rows that stand for several people, and people who live together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.classes.attacker import KnownColumnsAttacker
from unveil.classes.missing_values import MissingValues
from unveil.classes.risks import HOUSEHOLD_RISK, HOUSEHOLD_UNIQUES, INDIVIDUAL_RISK
from unveil.errors import UnveilError
from unveil.finding import Finding
from unveil.policy import Policy
from unveil.release.codes import cast_to_text
from unveil.release.roles import check_column
from unveil.release.table import Table
from unveil.run import Run
from unveil.wording import capitalise_text, count_text, ends_text, list_text, number_text, percent_text, safe_text

if TYPE_CHECKING:
    from unveil.arrays import Floats, Ints

__all__ = ["check_survey", "survey_findings"]

_BENEDETTI = (
    "R. Benedetti, L. Franconi, Statistical and technological solutions for controlled data dissemination, NTTS 1998"
)
_TEMPL = (
    "M. Templ, A. Kowarik, B. Meindl, Statistical disclosure control for micro-data using the R package sdcMicro, "
    "Journal of Statistical Software 67(4), 2015 (household risk)"
)
_NUMBER = r"^\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_MISSING = MissingValues().describe()


def check_survey(case: Case, policy: Policy) -> None:
    """The columns must be there, and every row must have a weight of at least 1."""
    table = case.release
    if not isinstance(table, Table):
        return
    if policy.household is not None:
        check_column(table, policy.household)
    if policy.weight is not None:
        check_column(table, policy.weight)
        _read_weights(table, policy.weight, policy)


def _read_weights(table: Table, column: str, policy: Policy, run: Run | None = None) -> Floats:
    """The weight of every row."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    codes = table.codes([column], policy.missing, run)[column]
    texts = pc.utf8_trim_whitespace(cast_to_text(codes.values))
    is_number = pc.match_substring_regex(texts, _NUMBER)
    numbers = np.asarray(pc.cast(pc.if_else(is_number, texts, "nan"), pa.float64()))
    weights: Floats = np.append(numbers, np.nan)[codes.codes]
    wrong = int((~(weights >= 1) | np.isinf(weights)).sum())
    if wrong:
        raise UnveilError(
            f"{safe_text(table.name)}: {count_text(wrong, 'row has', 'rows have')} no number of at least 1 in "
            f"{safe_text(column)!r}, the column that says how many people a row stands for; correct it, or leave out "
            "weight"
        )
    return weights


def survey_findings(
    table: Table, attackers: Sequence[KnownColumnsAttacker], policy: Policy, run: Run
) -> Iterator[Finding]:
    """What weights and households say, for every set of quasi-identifiers."""
    import numpy as np

    from unveil.classes.sampling_weights import individual_risks
    from unveil.grouping import class_ids

    weights = None if policy.weight is None else _read_weights(table, policy.weight, policy, run)
    for attacker in attackers if policy.weight or policy.household else ():
        ids, _ = class_ids([own.codes for own in table.codes(attacker.columns, (), run).values()], table.rows)
        size = np.bincount(ids)
        risk: Floats = 1.0 / size
        if weights is not None:
            risk = individual_risks(size, np.bincount(ids, weights=weights).astype(np.float64))
            if run.asks(INDIVIDUAL_RISK):
                yield _individual_risk_finding(attacker, risk[ids], weights, policy)
        if policy.household is not None and run.asks(HOUSEHOLD_RISK, HOUSEHOLD_UNIQUES):
            yield from _household_findings(table, policy.household, attacker, ids, risk[ids], policy, run)


def _individual_risk_finding(attacker: KnownColumnsAttacker, risk: Floats, weights: Floats, policy: Policy) -> Finding:
    rows, people = len(risk), round(float(weights.sum()))
    average = float(risk.mean())
    return INDIVIDUAL_RISK.finding(
        policy,
        title=INDIVIDUAL_RISK.title + attacker.title_suffix,
        value=average,
        method="estimate",
        known=attacker.columns,
        subjects=rows,
        attacker=attacker.lookup_text(),
        missing=_MISSING,
        sentence=f"By the weights in {safe_text(policy.weight)}, the {count_text(rows, 'row')} stand for "
        f"{count_text(people, 'person', 'people')}. Someone who looks for a row's person among them is right with a "
        f"probability of {percent_text(average)} on average and {percent_text(float(risk.max()))} for the row most at "
        f"risk. The expected number of rows found is {number_text(float(f'{risk.sum():.3g}'))}. This estimate assumes "
        "that the weights in a class add up to about as many people as look alike in the population.",
        source=_BENEDETTI,
    )


def _household_findings(
    table: Table,
    column: str,
    attacker: KnownColumnsAttacker,
    ids: Ints,
    risk: Floats,
    policy: Policy,
    run: Run,
) -> Iterator[Finding]:
    from unveil.classes.sampling_weights import household_members

    household = household_members(table.codes([column], policy.missing, run)[column].codes)
    missing = f"{_MISSING} A row without a household is a household of its own."
    if run.asks(HOUSEHOLD_RISK):
        yield _household_risk_finding(attacker, household, risk, missing, policy)
    if run.asks(HOUSEHOLD_UNIQUES):
        yield _household_uniques_finding(attacker, household, ids, missing, policy)


def _household_risk_finding(
    attacker: KnownColumnsAttacker, household: Ints, risk: Floats, missing: str, policy: Policy
) -> Finding:
    """How likely it is that somebody in a row's household is found."""
    from unveil.classes.sampling_weights import combine_household_risks

    low, independent, high = (float(each[household].mean()) for each in combine_household_risks(household, risk))
    value = min(max(independent, low), high)
    estimated = policy.weight is not None
    everybody = "Knows the same about everybody in the household, and picks one of the matching rows for each of them."
    sentence = (
        f"Averaged over the rows, somebody in the row's household is found with a probability of {percent_text(value)} "
        f"if members are found independently of each other, against {percent_text(float(risk.mean()))} for the row's "
        f"person alone. However they are found, the probability is {ends_text(low, high)}."
    )
    if estimated:
        sentence += f" This is an estimate from the weights in {safe_text(policy.weight)}."
    return HOUSEHOLD_RISK.finding(
        policy,
        title=HOUSEHOLD_RISK.title + attacker.title_suffix,
        value=value,
        method="estimate" if estimated else "exact" if low == high else "bound",
        interval=None if estimated else (low, high),
        share=None if estimated else (low, high),
        known=attacker.columns,
        subjects=len(risk),
        attacker=attacker.lookup_text() if estimated else f"{attacker.text} {everybody}",
        missing=missing,
        sentence=sentence,
        source=_TEMPL,
    )


def _household_uniques_finding(
    attacker: KnownColumnsAttacker, household: Ints, ids: Ints, missing: str, policy: Policy
) -> Finding:
    """Households that differ from all others in what their members are like, as multisets."""
    import numpy as np

    from unveil.grouping import class_ids, group_people

    order = np.lexsort((ids, household))
    fresh = (np.diff(ids[order], prepend=-1) != 0) | (np.diff(household[order], prepend=-1) != 0)
    place = np.arange(len(ids))
    nth = np.empty(len(ids), np.int64)
    nth[order] = place - np.maximum.accumulate(np.where(fresh, place, 0))
    composition, _ = group_people(
        class_ids([ids.astype(np.int32), nth.astype(np.int32)], len(ids))[0], household.astype(np.int32)
    )
    alone = np.bincount(composition)[composition] == 1
    rows, unique = len(ids), int(alone[household].sum())
    single = int((np.bincount(ids)[ids] == 1).sum())
    columns = list_text(attacker.columns)
    if unique:
        said = (
            f"{capitalise_text(percent_text(unique / rows))} of the rows are in households that differ from every "
            f"other household in the {columns} of their members ({int(alone.sum()):,} of "
            f"{count_text(len(alone), 'household')})."
        )
    else:
        said = f"No household is unique: for each, another one has members with the same {columns}."
    return HOUSEHOLD_UNIQUES.finding(
        policy,
        title=HOUSEHOLD_UNIQUES.title + attacker.title_suffix,
        value=unique / rows,
        share=unique / rows,
        known=attacker.columns,
        subjects=rows,
        attacker=f"{attacker.text} Knows the same about everybody in the household, and who lives together.",
        missing=missing,
        sentence=f"{said} On their own, {percent_text(single / rows)} of the rows are unique.",
        source=_TEMPL,
    )
