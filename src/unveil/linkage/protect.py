"""How to protect tables from someone who knows a few facts about a person: coarser columns, merged rare values, fewer
rows; and ratings: coarser values and dates, fewer items, fewer people.

:mod:`unveil.linkage.protections.greedy_search` chooses what is done, :mod:`unveil.release.coarsening` says
what columns can become. Nothing here is random but the attacks that are simulated, and the choice among those who are
equally likely to be found, which comes from the operating system; rows are shuffled afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.errors import UnveilError
from unveil.linkage.finding_text import MAX_ROWS, MIN_COLUMNS
from unveil.linkage.risks import EVERYTHING_LEARNED, SUCCESS
from unveil.linkage.settings import LinkageSettings
from unveil.policy import Policy
from unveil.protection import Protection, ProtectionOffer
from unveil.release.table import Table
from unveil.risk import Risk
from unveil.run import Run
from unveil.wording import capitalise_text, count_text, list_text, number_text, percent_text, safe_text

if TYPE_CHECKING:
    from unveil.linkage.protections.plan_search import PlanSearch, ProtectionPlan
    from unveil.linkage.protections.ratings_search import RatingsSearch
    from unveil.linkage.protections.table_search import TableSearch
    from unveil.release.coarse_table import CoarseColumn
    from unveil.release.coarsening import LadderStep

__all__ = ["PROTECTIONS", "apply_plan", "coarse_columns", "describe_plan", "plan_search", "targeted_risk"]

_MAX_NAMED_COLUMNS = 1000


def _make_protection(
    case: Case, policy: Policy, run: Run, strictness: float, kinds: Sequence[str] = ()
) -> Protection | None:
    """A protection by moves of some kinds, by default all."""
    from unveil.linkage.protections.greedy_search import smallest_plan
    from unveil.release.coarse_table import describe_leaks

    table, search = _protectable_table(case), plan_search(case, policy, run)
    aim = strictness * min(policy.threshold(targeted_risk(policy)), search.success_bound(search.unchanged_plan))
    plan = smallest_plan(search, aim, kinds or search.kinds, lambda done: run.progress("choosing a protection", done))
    if plan is None:
        return None
    return Protection(
        sentence=f"{describe_plan(search, plan)} {_describe_kept_data(search, plan)}",
        usefulness=search.plan_usefulness(plan),
        apply=partial(apply_plan, case, table, search, plan),
        doubt=describe_leaks(table, coarse_columns(search, plan), policy),
        recipe_columns=None if policy.ratings or len(plan.left_out_ids) else coarse_columns(search, plan),
        strictness=strictness,
    )


def _protectable_table(case: Case) -> Table:
    """The table, if it can be protected."""
    table = case.release
    assert isinstance(table, Table)
    if case.original is not None:
        raise UnveilError("this release is already protected; protect the original instead")
    return table


def _known_columns(policy: Policy) -> tuple[str, ...]:
    """The columns that an attacker may know; of several sets of quasi-identifiers, the largest."""
    return policy.ratings[1:] or max(policy.quasi, key=len, default=())


def targeted_risk(policy: Policy) -> Risk:
    """The risk that protections lower: people found, or those about whom everything is learned if at most as many of
    them are tolerated."""
    found, learned = policy.tolerance_for(SUCCESS), policy.tolerance_for(EVERYTHING_LEARNED)
    return EVERYTHING_LEARNED if learned is not None and (found is None or learned <= found) else SUCCESS


# ---- the search ------------------------------------------------------------------------------------------------------


def plan_search(case: Case, policy: Policy, run: Run) -> PlanSearch:
    """The search for a plan. A run makes it once, because all protections evaluate the same plans."""
    make = _make_ratings_search if policy.ratings else _make_rows_search
    return run.once(("linkage search", case), lambda: make(case, policy, run))


def _make_rows_search(case: Case, policy: Policy, run: Run) -> TableSearch:
    from unveil.grouping import class_ids
    from unveil.linkage.protections.table_search import TableSearch
    from unveil.release.coarsening import column_ladders

    table, columns, settings = case.release, _known_columns(policy), policy.settings_for(LinkageSettings)
    assert isinstance(table, Table)
    names = [c for c in table.columns if c not in (*columns, *policy.identifier)]
    return TableSearch(
        column_ladders(table, columns, case.hierarchies, policy, run),
        settings.known,
        settings.similarities(columns),
        run,
        targeted_risk(policy) is EVERYTHING_LEARNED,
        class_ids([own.codes for own in table.codes(names, policy.missing, run).values()], table.rows)[0],
    )


def _make_ratings_search(case: Case, policy: Policy, run: Run) -> RatingsSearch:
    from unveil.linkage.protections.ratings_search import RatingsSearch
    from unveil.release.coarsening import column_ladders, flat_ladder

    table, settings = case.release, policy.settings_for(LinkageSettings)
    assert isinstance(table, Table)
    person, item, *others = policy.ratings
    codes = table.codes([person, item], policy.missing, run)
    return RatingsSearch(
        [flat_ladder(item, codes[item]), *column_ladders(table, others, case.hierarchies, policy, run)],
        settings.known,
        settings.similarities(_known_columns(policy)),
        run,
        targeted_risk(policy) is EVERYTHING_LEARNED,
        codes[person],
    )


# ---- in words --------------------------------------------------------------------------------------------------------


def describe_plan(search: PlanSearch, plan: ProtectionPlan) -> str:
    """What a plan does, column by column."""
    coarser, out = list[str](), list[str]()
    for i, ladder in enumerate(search.ladders):
        if plan.levels[i] == ladder.left_out_level:
            out.append(ladder.name)
        elif description := search.step(plan, i).description:
            coarser.append(f"{safe_text(ladder.name)} {description}")
    ratings = _is_ratings(search)
    parts = [", ".join(coarser)] if coarser else []
    others = _describe_dropped_items(search, plan) if ratings else _describe_merged_values(search, plan)
    parts += others if parts else [capitalise_text(text) for text in others]  # a column's name stays as it is
    if out:
        parts.append(f"{list_text(out, _MAX_NAMED_COLUMNS)} left out")
    if gone := len(plan.left_out_ids):
        who = count_text(search.size, "person") if ratings else count_text(search.size, "row")
        parts.append(f"{number_text(gone)} of {who} left out")
    text = "; ".join(parts)
    return f"{text}." if text else "Nothing is changed."


def _is_ratings(search: PlanSearch) -> bool:
    return "people" in search.kinds


def _describe_merged_values(search: PlanSearch, plan: ProtectionPlan) -> list[str]:
    """Which rare values become one."""
    steps = [(search.ladders[i].name, search.step(plan, i).rare) for i in search.kept_columns(plan)]
    rare = [f"{number_text(count)} of {safe_text(name)}" for name, count in steps if count]
    return [f"rare values grouped: {list_text(rare, _MAX_NAMED_COLUMNS)}"] if rare else []


def _describe_dropped_items(search: PlanSearch, plan: ProtectionPlan) -> list[str]:
    """Which items are left out, and how many people rated nothing else."""
    from unveil.linkage.protections.ratings_search import ITEM_COLUMN, RatingsSearch

    assert isinstance(search, RatingsSearch)
    least = plan.rare[ITEM_COLUMN]
    if not least:
        return []
    items = search.raters_per_item
    dropped = f"{number_text(int((items < least).sum()))} of {count_text(len(items), 'item')} left out"
    empty = len(search.kept_ids(plan)) - len(search.people_with_ratings(plan))
    lost = f", and with them {count_text(empty, 'person')} who rated nothing else" if empty else ""
    return [f"{dropped} (rated by fewer than {count_text(least, 'person')}){lost}"]


def _describe_kept_data(search: PlanSearch, plan: ProtectionPlan) -> str:
    """What is left of the data."""
    information = percent_text(search.kept_information(plan))
    if not _is_ratings(search):
        return f"The quasi-identifiers keep {information} of their information."
    names = list_text(ladder.name for ladder in search.ladders)
    kept = percent_text(len(search.kept_rows(plan)) / search.rows)
    they = "keeps {} of its" if len(search.ladders) == 1 else "keep {} of their"
    return f"{kept} of the ratings are kept; {names} {they.format(information)} information."


def _step_of(search: PlanSearch, plan: ProtectionPlan, column: int) -> LadderStep | None:
    """What becomes of a column; None if it is left out."""
    left_out = plan.levels[column] == search.ladders[column].left_out_level
    return None if left_out else search.step(plan, column)


# ---- the table -------------------------------------------------------------------------------------------------------


def apply_plan(case: Case, table: Table, search: PlanSearch, plan: ProtectionPlan) -> Case:
    """The case with the protected table, the original beside it."""
    import numpy as np

    from unveil.release.coarse_table import coarsen_case

    return coarsen_case(case, table, coarse_columns(search, plan), np.sort(search.row[search.kept_rows(plan)]))


def coarse_columns(search: PlanSearch, plan: ProtectionPlan) -> dict[str, CoarseColumn]:
    """What becomes of each column."""
    from unveil.release.coarse_table import CoarseColumn

    return {ladder.name: CoarseColumn(ladder, (_step_of(search, plan, i),)) for i, ladder in enumerate(search.ladders)}


def _has_ratings(case: Case, policy: Policy) -> bool:
    return bool(policy.ratings)


def _has_records(case: Case, policy: Policy) -> bool:
    """Whether rows are people about whom enough may be known to find them, and what is tolerated of that is said."""
    return (
        not policy.ratings
        and policy.subject is None
        and len(_known_columns(policy)) >= MIN_COLUMNS
        and isinstance(case.release, Table)
        and case.release.rows <= MAX_ROWS
        and policy.tolerance_for(targeted_risk(policy)) is not None
    )


def _has_ratings_or_records(case: Case, policy: Policy) -> bool:
    return _has_ratings(case, policy) or _has_records(case, policy)


PROTECTIONS = MappingProxyType(
    {
        "columns": ProtectionOffer(
            "Coarsen or drop columns",
            "Coarsen columns an attacker may know, or leave them out.",
            partial(_make_protection, kinds=("columns",)),
            has_recipe=True,
            applies_to=_has_ratings_or_records,
        ),
        "values": ProtectionOffer(
            "Group rare values",
            "Group rare values; not for ratings.",
            partial(_make_protection, kinds=("values",)),
            has_recipe=True,
            applies_to=_has_records,
        ),
        "rows": ProtectionOffer(
            "Leave out rows",
            "Leave out the rows most likely to be found; not for ratings.",
            partial(_make_protection, kinds=("rows",)),
            applies_to=_has_records,
        ),
        "items": ProtectionOffer(
            "Leave out rare items",
            "Leave out rare items; for ratings only.",
            partial(_make_protection, kinds=("items",)),
            applies_to=_has_ratings,
        ),
        "people": ProtectionOffer(
            "Leave out people",
            "Leave out the people most likely to be found; for ratings only.",
            partial(_make_protection, kinds=("people",)),
            applies_to=_has_ratings,
        ),
        "mixed": ProtectionOffer(
            "Combine these methods",
            "Combine these methods step by step.",
            _make_protection,
            applies_to=_has_ratings_or_records,
        ),
    }
)
