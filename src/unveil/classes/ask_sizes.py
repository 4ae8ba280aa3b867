"""The findings about class sizes: how many people look the same to one attacker."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from unveil.class_sizes import ClassSizes
from unveil.classes.ask_known_columns import MOTWANI
from unveil.classes.attacker import KnownColumnsAttacker, Subjects
from unveil.classes.risks import AT_RISK, DISTINCTION, REIDENTIFICATION, SEPARATION, UNIQUES, K
from unveil.classes.table_classes import count_class_sizes, read_row_values, smallest_classes
from unveil.finding import Curve, ExposedSubject, Finding
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.risk import Risk
from unveil.run import Run
from unveil.wording import capitalise_text, list_text, number_text, percent_text, safe_text, verb

__all__ = ["size_findings"]

_SWEENEY = "L. Sweeney, k-anonymity: a model for protecting privacy, IJUFKS 10(5), 2002"
_EL_EMAM = "K. El Emam, Guide to the De-Identification of Personal Health Information, 2013"
_MAX_COLUMNS_SEARCHED = 63  # columns up to which those that make a row unique are searched for


def size_findings(
    table: Table, attacker: KnownColumnsAttacker, class_sizes: ClassSizes, policy: Policy, run: Run
) -> Iterator[Finding]:
    """All findings about the sizes of the classes that an attacker sees."""
    subjects, k, people = Subjects.from_policy(policy), policy.threshold(K), class_sizes.total
    few, alone = class_sizes.count_below(k), class_sizes.count_below(2)
    finding = partial(_class_finding, attacker=attacker, policy=policy, subjects=people)
    if run.asks(K):
        yield _smallest_class_finding(table, attacker, class_sizes, policy, run)
    yield finding(
        UNIQUES,
        title=f"Unique {subjects.many}",
        value=alone / people,
        share=alone / people,
        sentence=_unique_sentence(alone, people, attacker, subjects),
    )
    if not attacker.is_upper_bound:
        yield from _distinction_findings(class_sizes, attacker, policy)
    in_small_classes = f"{subjects.many.capitalize()} in classes smaller than"
    yield finding(
        AT_RISK,
        title=f"{in_small_classes} {number_text(k)}",
        value=few / people,
        share=few / people,
        sentence=f"{_small_classes_text(few, people, k, subjects)}.",
        curves=(class_sizes.share_below_curve(subjects.many, f"{in_small_classes} k", k),),
    )
    found, title = (
        class_sizes.expected_reidentifications / people,
        f"{subjects.many.capitalize()} by the probability of being found",
    )
    yield finding(
        REIDENTIFICATION,
        title=REIDENTIFICATION.title,
        value=found,
        share=found,
        sentence=f"Someone who picks one of the matching {subjects.many} at random is right with a probability of "
        f"{percent_text(found)} on average.",
        baseline=1 / people,
        curves=(class_sizes.risk_curve(subjects.many, title, k),),
    )


def _smallest_class_finding(
    table: Table, attacker: KnownColumnsAttacker, class_sizes: ClassSizes, policy: Policy, run: Run
) -> Finding:
    subjects, k, people = Subjects.from_policy(policy), policy.threshold(K), class_sizes.total
    few = class_sizes.count_below(k)
    smallest, alike = subjects.count_text(class_sizes.smallest_size), _common_values_text(attacker)
    if few:
        sentence = f"{_small_classes_text(few, people, k, subjects)} with {alike}; the smallest class has {smallest}."
    else:
        sentence = f"Every class of {subjects.many} with {alike} has at least {smallest}."
    if not attacker.is_upper_bound and not attacker.missing.is_own_value:
        sentence += _missing_as_values_sentence(table, attacker, people, policy, run)
    return _class_finding(
        K,
        attacker=attacker,
        policy=policy,
        subjects=people,
        title=K.title,
        value=class_sizes.smallest_size,
        unit=subjects.many,
        interval=(float(class_sizes.smallest_size), float(people)),
        share=few / people,
        baseline=people,
        sentence=sentence,
        curves=(class_sizes.sizes_curve(subjects.many, f"{subjects.many.capitalize()} by class size", k),),
        exposed=_exposed_rows(table, attacker, k, policy, run),
        source=_SWEENEY,
    )


def _class_finding(
    risk: Risk,
    *,
    attacker: KnownColumnsAttacker,
    policy: Policy,
    title: str,
    value: float,
    subjects: int,
    sentence: str,
    unit: str | None = None,
    interval: tuple[float, float] | None = None,
    share: float | None = None,
    baseline: float | None = None,
    curves: tuple[Curve, ...] = (),
    exposed: tuple[ExposedSubject, ...] = (),
    source: str = _EL_EMAM,
) -> Finding:
    """A finding about the classes that an attacker sees: from 0 to this value if they bound the risk."""
    bound = attacker.is_upper_bound
    return risk.finding(
        policy,
        **attacker.finding_fields(title),
        value=value,
        unit=unit,
        method="bound" if bound else "exact",
        interval=interval or (0.0, value),
        subjects=subjects,
        share=(0.0, share) if bound and share is not None else share,
        may_decide=not bound,
        baseline=baseline,
        sentence=sentence,
        curves=curves,
        exposed=exposed,
        source=source,
    )


def _distinction_findings(class_sizes: ClassSizes, attacker: KnownColumnsAttacker, policy: Policy) -> Iterator[Finding]:
    """Distinction and separation. Where missing values are wildcards, classes overlap and there is no distinction. With
    only one person there are no pairs to separate."""
    subjects, people = Subjects.from_policy(policy), class_sizes.total
    finding = partial(_class_finding, attacker=attacker, policy=policy, subjects=people, source=MOTWANI)
    sizes = list(zip(class_sizes.size.tolist(), class_sizes.subjects.tolist(), strict=True))
    if attacker.missing.read_as != "wildcard":
        classes = sum(n // size for size, n in sizes)
        yield finding(
            DISTINCTION,
            title=f"{subjects.many.capitalize()} left without duplicates (distinction)",
            value=classes / people,
            sentence=f"If only one {subjects.one} with {_common_values_text(attacker)} were kept, {classes:,} of "
            f"{subjects.count_text(people)} ({percent_text(classes / people)}) would be left.",
        )
    pairs = people * (people - 1)
    if not pairs:
        return
    apart = (pairs - sum(n * (size - 1) for size, n in sizes)) / pairs
    differ = "certainly differ in" if attacker.missing.read_as == "wildcard" else "differ in"
    columns = f"{'at least one of ' if len(attacker.columns) > 1 else ''}{list_text(attacker.columns)}"
    yield finding(
        SEPARATION,
        title=f"Pairs of {subjects.many} told apart (separation)",
        value=apart,
        sentence=f"{capitalise_text(percent_text(apart))} of all pairs of {subjects.many} {differ} {columns}.",
    )


def _small_classes_text(few: int, people: int, k: float, subjects: Subjects) -> str:
    small = f"of fewer than {number_text(k)} {subjects.many}"
    if not few:
        return f"No {subjects.one} is in a class {small}"
    are_in = "is in a class" if few == 1 else "are in classes"
    return f"{few:,} of {subjects.count_text(people)} ({percent_text(few / people)}) {are_in} {small}"


def _common_values_text(attacker: KnownColumnsAttacker) -> str:
    """What the members of a class have in common."""
    if attacker.is_upper_bound:
        return "the same values in every column except direct identifiers"
    if attacker.missing.read_as == "wildcard":
        return f"values of {list_text(attacker.columns)} that may be the same"
    return f"the same {list_text(attacker.columns)}"


def _unique_sentence(alone: int, people: int, attacker: KnownColumnsAttacker, subjects: Subjects) -> str:
    if not alone:
        return (
            f"No {subjects.one} can be singled out: for each, at least one other has {_common_values_text(attacker)}."
        )
    share = percent_text(alone / people)
    return (
        f"{alone:,} of {subjects.count_text(people)} ({share}) can be singled out: no other {subjects.one} has "
        f"{_common_values_text(attacker)}."
    )


def _missing_as_values_sentence(
    table: Table, attacker: KnownColumnsAttacker, measured: int, policy: Policy, run: Run
) -> str:
    """How many were left out, and what the default reading of missing values, which never understates the risk, says
    instead."""
    class_sizes = count_class_sizes(table, attacker.columns, policy.subject, run)
    subjects = Subjects.from_policy(policy)
    left_out = class_sizes.total - measured
    lack = "lacks a value and was" if left_out == 1 else "lack a value and were"
    gone = f" {left_out:,} of {subjects.count_text(class_sizes.total)} {lack} left out." if left_out else ""
    unique = percent_text(class_sizes.count_below(2) / class_sizes.total)
    return (
        f"{gone} If missing values counted as values of their own, the smallest class would have "
        f"{subjects.count_text(class_sizes.smallest_size)}, and {unique} of the {subjects.many} would be unique."
    )


def _exposed_rows(
    table: Table, attacker: KnownColumnsAttacker, k: float, policy: Policy, run: Run
) -> tuple[ExposedSubject, ...]:
    """The first rows of the smallest classes."""
    if not run.exposed:
        return ()
    small = smallest_classes(table, attacker.columns, k, run.exposed, policy.subject, attacker.missing, run)
    if not small:
        return ()
    sensitive = tuple(c for c in policy.sensitive if c not in attacker.columns)
    shown_columns = [c for c in table.columns if c in policy.roles and c not in policy.insensitive]
    rows: list[dict[str, object]] = read_row_values(
        table, [s.row for s in small], shown_columns if run.reveal else sensitive, run
    ).to_pylist()
    alone = [s.row for s in small if s.size == 1] if attacker.missing.is_own_value and not policy.subject else []
    unique_on = _smallest_unique_sets(table, attacker.columns, alone, run)
    return tuple(
        ExposedSubject(
            subject=Subjects.from_policy(policy).row_text(s.row),
            risk=1 / s.size,
            because=_exposed_row_reason(s.size, unique_on.get(s.row), attacker, Subjects.from_policy(policy)),
            learns=tuple(c for c in sensitive if policy.subject or not _is_missing(values[c], policy)),
            values={safe_text(c): "missing" if v is None else safe_text(v) for c, v in values.items()}
            if run.reveal
            else None,
        )
        for s, values in zip(small, rows, strict=True)
    )


def _is_missing(value: object, policy: Policy) -> bool:
    """Whether there is nothing to learn."""
    return value is None or value != value or str(value).strip() in policy.missing


def _exposed_row_reason(size: int, unique_on: str | None, attacker: KnownColumnsAttacker, subjects: Subjects) -> str:
    alike = (
        "with these values"
        if attacker.missing.is_own_value
        else f"{subjects.relative_pronoun} {verb(size, 'fits', 'fit')}"
    )
    if size > 1:
        return f"one of {size} {subjects.many} {alike}"
    return f"unique because of {unique_on}" if unique_on else f"the only {subjects.one} {alike}"


def _smallest_unique_sets(table: Table, columns: tuple[str, ...], rows: list[int], run: Run) -> dict[int, str]:
    """The smallest sets of columns that make rows unique, where there are not too many columns to search."""
    import pyarrow.compute as pc

    from unveil.classes.minimal_uniques import smallest_unique_set
    from unveil.classes.tally import tally_rows

    if not rows or not 1 < len(columns) <= _MAX_COLUMNS_SEARCHED:
        return {}
    found = tally_rows(table, columns, run=run)
    values = read_row_values(table, rows, columns, run)
    own = [pc.index_in(values[c].combine_chunks(), found.columns[c].values).fill_null(-1).to_pylist() for c in columns]
    unique_on = {}
    for row, codes in zip(rows, zip(*own, strict=True), strict=True):
        run.check()
        chosen = smallest_unique_set(found.codes(columns), found.counts, codes)
        if chosen is not None:
            unique_on[row] = list_text(columns[c] for c in chosen)
    return unique_on
