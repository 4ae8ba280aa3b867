"""The findings about class sizes: how many people look the same to one attacker."""

from __future__ import annotations

from collections.abc import Iterator

from unveil.class_sizes import ClassSizes
from unveil.classes.ask_known_columns import MOST_ROWS_SEARCHED
from unveil.classes.attacker import Attacker, Subjects
from unveil.classes.risks import AT_RISK, DISTINCTION, REIDENTIFICATION, SEPARATION, UNIQUES, K
from unveil.classes.table_classes import count_class_sizes, read_row_values, smallest_classes
from unveil.finding import Curve, ExposedSubject, Finding
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.risk import Risk
from unveil.run import Run
from unveil.wording import capitalise_text, list_text, number_text, percent_text, safe_text

__all__ = ["size_findings"]

_SWEENEY = "L. Sweeney, k-anonymity: a model for protecting privacy, IJUFKS 10(5), 2002"
_EL_EMAM = "K. El Emam, Guide to the De-Identification of Personal Health Information, 2013"
_MOTWANI = "R. Motwani, Y. Xu, Efficient algorithms for masking and finding quasi-identifiers, 2008"
_MOST_COLUMNS_BLAMED = 16  # columns up to which those that make a row unique are searched for


def size_findings(table: Table, attacker: Attacker, crowds: ClassSizes, policy: Policy, run: Run) -> Iterator[Finding]:
    """All findings about the sizes of the classes that an attacker sees."""
    subjects, k, people = Subjects.of(policy), policy.threshold(K), crowds.total
    few, alone = crowds.count_below(k), crowds.count_below(2)
    if run.asks(K):
        yield _smallest_class_finding(table, attacker, crowds, policy, run)
    yield _share_finding(
        UNIQUES,
        attacker,
        policy,
        people,
        title=f"Unique {subjects.many}",
        value=alone / people,
        sentence=_unique_sentence(alone, people, attacker, subjects),
    )
    if not attacker.is_upper_bound:
        yield from _motwani_findings(crowds, attacker, policy)
    yield _share_finding(
        AT_RISK,
        attacker,
        policy,
        people,
        title=f"{subjects.many.capitalize()} in classes smaller than {number_text(k)}",
        value=few / people,
        sentence=f"{_in_small_classes(few, people, k, subjects)}.",
        curves=(crowds.share_below_curve(subjects.many, f"{subjects.many.capitalize()} in classes smaller than k", k),),
    )
    found, title = crowds.expected_found / people, f"{subjects.many.capitalize()} by the probability of being found"
    yield _share_finding(
        REIDENTIFICATION,
        attacker,
        policy,
        people,
        title=REIDENTIFICATION.title,
        value=found,
        sentence=f"Someone who picks one of the matching {subjects.many} at random is right with a probability of "
        f"{percent_text(found)} on average.",
        baseline=1 / people,
        curves=(crowds.risk_curve(subjects.many, title, k),),
    )


def _smallest_class_finding(table: Table, attacker: Attacker, crowds: ClassSizes, policy: Policy, run: Run) -> Finding:
    subjects, k, people = Subjects.of(policy), policy.threshold(K), crowds.total
    few = crowds.count_below(k)
    smallest, alike = subjects.count_text(crowds.smallest_size), _common_values(attacker)
    if few:
        sentence = f"{_in_small_classes(few, people, k, subjects)} with {alike}; the smallest class has {smallest}."
    else:
        sentence = f"Every class of {subjects.many} with {alike} has at least {smallest}."
    if not attacker.is_upper_bound and not attacker.missing.is_own_value:
        sentence += _with_missing_as_values(table, attacker, people, policy, run)
    return K.finding(
        policy,
        title=K.title + attacker.title_suffix,
        value=crowds.smallest_size,
        unit=subjects.many,
        known=attacker.columns,
        method="bound" if attacker.is_upper_bound else "exact",
        interval=(float(crowds.smallest_size), float(people)),
        subjects=people,
        share=(0.0, few / people) if attacker.is_upper_bound else few / people,
        may_decide=not attacker.is_upper_bound,
        attacker=attacker.text,
        missing=attacker.missing.describe(),
        sentence=sentence,
        curves=(crowds.sizes_curve(subjects.many, f"{subjects.many.capitalize()} by class size", k),),
        exposed=_exposed_rows(table, attacker, k, policy, run),
        source=_SWEENEY,
    )


def _share_finding(
    risk: Risk,
    attacker: Attacker,
    policy: Policy,
    people: int,
    *,
    title: str,
    value: float,
    sentence: str,
    baseline: float | None = None,
    curves: tuple[Curve, ...] = (),
) -> Finding:
    """The finding that an attacker harms a share of the people."""
    return risk.finding(
        policy,
        title=title + attacker.title_suffix,
        value=value,
        known=attacker.columns,
        method="bound" if attacker.is_upper_bound else "exact",
        interval=(0.0, value),
        subjects=people,
        share=(0.0, value) if attacker.is_upper_bound else value,
        may_decide=not attacker.is_upper_bound,
        attacker=attacker.text,
        missing=attacker.missing.describe(),
        baseline=baseline,
        sentence=sentence,
        curves=curves,
        source=_EL_EMAM,
    )


def _motwani_findings(crowds: ClassSizes, attacker: Attacker, policy: Policy) -> Iterator[Finding]:
    """Distinction and separation. Where missing values are wildcards, classes overlap and there is no distinction."""
    subjects, people = Subjects.of(policy), crowds.total
    if attacker.missing.read_as != "wildcard":
        classes = sum(n // size for size, n in zip(crowds.size.tolist(), crowds.subjects.tolist(), strict=True))
        yield DISTINCTION.finding(
            policy,
            title=f"{subjects.many.capitalize()} left without duplicates (distinction){attacker.title_suffix}",
            value=classes / people,
            known=attacker.columns,
            subjects=people,
            attacker=attacker.text,
            missing=attacker.missing.describe(),
            sentence=f"If only one {subjects.one} with {_common_values(attacker)} were kept, {classes:,} of "
            f"{subjects.count_text(people)} ({percent_text(classes / people)}) would be left.",
            source=_MOTWANI,
        )
    pairs = people * (people - 1)
    together = sum(n * (size - 1) for size, n in zip(crowds.size.tolist(), crowds.subjects.tolist(), strict=True))
    apart = (pairs - together) / pairs if pairs else 1.0
    differ = "certainly differ in" if attacker.missing.read_as == "wildcard" else "differ in"
    columns = f"{'at least one of ' if len(attacker.columns) > 1 else ''}{list_text(attacker.columns)}"
    yield SEPARATION.finding(
        policy,
        title=f"Pairs of {subjects.many} told apart (separation){attacker.title_suffix}",
        value=apart,
        known=attacker.columns,
        subjects=people,
        attacker=attacker.text,
        missing=attacker.missing.describe(),
        sentence=f"{capitalise_text(percent_text(apart))} of all pairs of {subjects.many} {differ} {columns}."
        if pairs
        else f"There is only one {subjects.one}, so there are no pairs to tell apart.",
        source=_MOTWANI,
    )


def _in_small_classes(few: int, people: int, k: float, subjects: Subjects) -> str:
    small = f"of fewer than {number_text(k)} {subjects.many}"
    if not few:
        return f"No {subjects.one} is in a class {small}"
    are_in = "is in a class" if few == 1 else "are in classes"
    return f"{few:,} of {subjects.count_text(people)} ({percent_text(few / people)}) {are_in} {small}"


def _common_values(attacker: Attacker) -> str:
    """What the members of a class have in common."""
    if attacker.is_upper_bound:
        return "the same values in every column except direct identifiers"
    if attacker.missing.read_as == "wildcard":
        return f"values of {list_text(attacker.columns)} that may be the same"
    return f"the same {list_text(attacker.columns)}"


def _unique_sentence(alone: int, people: int, attacker: Attacker, subjects: Subjects) -> str:
    if not alone:
        return f"No {subjects.one} can be singled out: for each, at least one other has {_common_values(attacker)}."
    share = percent_text(alone / people)
    return (
        f"{alone:,} of {subjects.count_text(people)} ({share}) can be singled out: no other {subjects.one} has "
        f"{_common_values(attacker)}."
    )


def _with_missing_as_values(table: Table, attacker: Attacker, measured: int, policy: Policy, run: Run) -> str:
    """How many were left out, and what the default reading of missing values, which never understates the risk, says
    instead."""
    crowds = count_class_sizes(table, attacker.columns, policy.subject, run)
    subjects = Subjects.of(policy)
    left_out = crowds.total - measured
    lack = "lacks a value and was" if left_out == 1 else "lack a value and were"
    gone = f" {left_out:,} of {subjects.count_text(crowds.total)} {lack} left out." if left_out else ""
    return (
        f"{gone} If missing values counted as values of their own, the smallest class would have "
        f"{subjects.count_text(crowds.smallest_size)}, and {percent_text(crowds.count_below(2) / crowds.total)} of the "
        f"{subjects.many} would be unique."
    )


# ---- the most exposed ------------------------------------------------------------------------------------------------


def _exposed_rows(table: Table, attacker: Attacker, k: float, policy: Policy, run: Run) -> tuple[ExposedSubject, ...]:
    """The first rows of the smallest classes."""
    if not run.exposed:
        return ()
    small = smallest_classes(table, attacker.columns, k, run.exposed, policy.subject, attacker.missing, run)
    if not small:
        return ()
    shown_columns = [c for c in table.columns if c in policy.roles and c not in policy.insensitive]
    rows = (
        read_row_values(table, [s.row for s in small], shown_columns, run).to_pylist()
        if run.reveal
        else [None] * len(small)
    )
    alone = [s.row for s in small if s.size == 1] if attacker.missing.is_own_value and not policy.subject else []
    blamed = _blamed_columns(table, attacker.columns, alone, run)
    return tuple(
        ExposedSubject(
            subject=f"row {s.row:,}",
            risk=1 / s.size,
            because=_exposure_reason(s.size, blamed.get(s.row), attacker, Subjects.of(policy)),
            learns=tuple(c for c in policy.sensitive if c not in attacker.columns),
            values={safe_text(c): "missing" if v is None else safe_text(v) for c, v in values.items()}
            if values is not None
            else None,
        )
        for s, values in zip(small, rows, strict=True)
    )


def _exposure_reason(size: int, blamed: str | None, attacker: Attacker, subjects: Subjects) -> str:
    who = "who" if subjects.many == "people" else "that"
    if size > 1:
        return f"one of {size} {subjects.many} {'with these values' if attacker.missing.is_own_value else f'{who} fit'}"
    if blamed:
        return f"unique because of {blamed}"
    return f"the only {subjects.one} {'with these values' if attacker.missing.is_own_value else f'{who} fits'}"


def _blamed_columns(table: Table, columns: tuple[str, ...], rows: list[int], run: Run) -> dict[int, str]:
    """The smallest sets of columns that make rows unique, where there are not too many rows and columns to search."""
    import pyarrow.compute as pc

    from unveil.classes.minimal_uniques import smallest_unique_set
    from unveil.classes.tally import tally_rows

    if not rows or not 1 < len(columns) <= _MOST_COLUMNS_BLAMED or table.rows > MOST_ROWS_SEARCHED:
        return {}
    found = tally_rows(table, columns, run=run)
    values = read_row_values(table, rows, columns, run)
    own = [pc.index_in(values[c].combine_chunks(), found.columns[c].values).fill_null(-1).to_pylist() for c in columns]
    blamed = {}
    for row, codes in zip(rows, zip(*own, strict=True), strict=True):
        run.check()
        chosen = smallest_unique_set(found.codes(columns), found.counts, codes)
        if chosen is not None:
            blamed[row] = list_text(columns[c] for c in chosen)
    return blamed
