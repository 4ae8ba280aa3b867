"""Make the recipe of a protection, and apply it to new rows.

New rows get the labels that the recipe says. By the rule of the recipe's method, rows of classes that fail are left
out, as many as the policy allows. The result is assessed like any other, by itself and together with the rows that were
released before: whoever has the earlier release can tell which rows are new, so both must be within tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

from unveil import questions
from unveil.assess import check_input
from unveil.assessment import Assessment
from unveil.case import Case
from unveil.errors import UnveilError
from unveil.policy import Policy, is_hierarchy_rule
from unveil.protection import Protection, ProtectionOffer
from unveil.protection_attempt import add_doubts
from unveil.recipe import Recipe, RecipeColumn
from unveil.release.table import Table
from unveil.run import Run
from unveil.settings import option_text
from unveil.wording import list_text, safe_text

if TYPE_CHECKING:
    from unveil.owner_key import OwnerKey
    from unveil.release.coarse_table import CoarseColumn
    from unveil.release.codes import Codes

__all__ = [
    "Unseen",
    "assess_with_released",
    "check_recipe_fits",
    "make_recipe",
    "offers_with_recipe",
    "recipe_offer",
    "released_tables",
]

Unseen = Literal["refuse", "root"]


# ---- made ------------------------------------------------------------------------------------------------------------


def offers_with_recipe(offered: Mapping[str, ProtectionOffer], method: str | None) -> dict[str, ProtectionOffer]:
    """The protections that can be written down as a recipe; refuse a method that cannot."""
    found = {name: offer for name, offer in offered.items() if offer.has_recipe}
    if method is not None and method not in found:
        raise _no_recipe_error(method, found)
    return found


def _no_recipe_error(method: str, others: Mapping[str, ProtectionOffer]) -> UnveilError:
    rest = [name for name in others if name != method]
    remedy = f"; choose from {list_text(rest)}" if rest else ""
    return UnveilError(
        f"what {safe_text(method)} makes of a row depends on other rows, so it cannot be written as a recipe{remedy}"
    )


def make_recipe(
    case: Case,
    policy: Policy,
    pseudonymise: Sequence[str],
    method: str,
    protection: Protection | None,
) -> Recipe:
    """The recipe of what was done to a case under a policy with a role for every column; without a protection, only
    identifiers were hidden."""
    from unveil.owner_key import load_owner_key

    table = case.release
    if not isinstance(table, Table):
        raise UnveilError(f"{safe_text(table.name)}: only what is done to tables can be written as a recipe")
    changes: Mapping[str, CoarseColumn] = MappingProxyType({})
    if protection is not None:
        if protection.recipe_columns is None:
            raise _no_recipe_error(method, {n: o for n, o in _all_offers().items() if o.has_recipe})
        changes = protection.recipe_columns
    columns = tuple(_recipe_column(name, policy, pseudonymise, changes.get(name)) for name in table.columns)
    files = [c for c, text in policy.hierarchy.items() if not is_hierarchy_rule(text)]
    return Recipe(
        method=method,
        columns=columns,
        policy=_policy_of_recipe(policy, columns),
        strictness=1.0 if protection is None else protection.strictness,
        hierarchy_hashes=MappingProxyType({c: case.hierarchies[c].digest for c in files}),
        key_id=load_owner_key().id if pseudonymise else None,
        name=f"recipe of {table.name}",
    )


def _recipe_column(name: str, policy: Policy, pseudonymise: Sequence[str], change: CoarseColumn | None) -> RecipeColumn:
    from unveil.release.value_rules import rule_of_step

    if name in pseudonymise:
        return RecipeColumn(name, "pseudonyms")
    if name in (policy.subject, *policy.ratings[:1]):
        return RecipeColumn(name, "random numbers")
    if name in policy.identifier or (change is not None and change.is_left_out):
        return RecipeColumn(name, "left out")
    if change is None or change.is_unchanged:
        return RecipeColumn(name, "unchanged")
    (step,) = change.steps
    assert step is not None
    return RecipeColumn(name, "coarser", rule_of_step(change.ladder, step))


def _policy_of_recipe(policy: Policy, columns: Sequence[RecipeColumn]) -> Policy:
    """The policy for new rows: every column has its role, so that none is guessed anew, and no rule makes another
    hierarchy for a column whose labels the recipe knows."""
    counted_by = (policy.subject, policy.weight, policy.household)
    unnamed = [c.name for c in columns if c.name not in (*policy.roles, *policy.ratings, *counted_by)]
    coarser = [c.name for c in columns if c.becomes == "coarser"]
    left = {c: text for c, text in policy.hierarchy.items() if c not in coarser or not is_hierarchy_rule(text)}
    return replace(policy, insensitive=(*policy.insensitive, *unnamed), hierarchy=left)


def _all_offers() -> dict[str, ProtectionOffer]:
    return {
        name: offer for question in questions.questions_about("table") for name, offer in question.protections.items()
    }


# ---- applied ---------------------------------------------------------------------------------------------------------


def check_recipe_fits(recipe: Recipe, case: Case) -> None:
    """Refuse a recipe for other columns, or by a method that there is not."""
    table = case.release
    if not isinstance(table, Table):
        raise UnveilError(f"{safe_text(table.name)}: a recipe is for tables")
    names = [column.name for column in recipe.columns]
    lacking, more = [c for c in names if c not in table.columns], [c for c in table.columns if c not in names]
    if lacking or more:
        what = f"lacks {list_text(lacking)}" if lacking else f"has {list_text(more)}, which the recipe does not know"
        raise UnveilError(f"{safe_text(table.name)}: {what}; {safe_text(recipe.name, 200)} is for {list_text(names)}")
    if recipe.method not in ("none", *_all_offers()):
        raise UnveilError(
            f"{safe_text(recipe.name, 200)}: this version of unveil has no method {safe_text(recipe.method)}"
        )


def released_tables(recipe: Recipe, released: Sequence[Any]) -> list[Table]:
    """The tables that were released before; refuse people who cannot be recognised among their rows."""
    unknown = [column.name for column in recipe.columns if column.becomes == "random numbers"]
    if released and unknown:
        raise UnveilError(
            f"{list_text(unknown)} gets new random numbers in every release, so nobody can tell who has rows in "
            "several; make the first release with pseudonyms for it"
        )
    before = [check_input(each, None)[0].release for each in released]
    if strange := [each for each in before if not isinstance(each, Table)]:
        raise UnveilError(f"{safe_text(strange[0].name)}: is not a table; name a release that was made by this recipe")
    return [each for each in before if isinstance(each, Table)]


def _check_key(recipe: Recipe, key: OwnerKey) -> None:
    """Refuse another key than that of the first release."""
    if key.id != recipe.key_id:
        raise UnveilError(
            f"{safe_text(recipe.name, 200)}: its pseudonyms were made with the key {safe_text(recipe.key_id)}, but the "
            f"current key is {safe_text(key.id or 'one that is not kept')}; set UNVEIL_KEY to the file of key "
            f"{safe_text(recipe.key_id)}"
        )


def recipe_offer(recipe: Recipe, released: Sequence[Table], unseen: Unseen) -> ProtectionOffer:
    """The protection that does what the recipe says."""
    from unveil.owner_key import load_owner_key

    if unseen not in get_args(Unseen):
        raise UnveilError(f"unseen must be one of {list_text(get_args(Unseen))}")
    if recipe.key_id is not None:
        _check_key(recipe, load_owner_key())

    def fit(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
        return _apply_recipe(recipe, case, policy, run, released, unseen) if strictness == 1 else None

    return ProtectionOffer("Apply the recipe", "Treat the columns as the recipe says.", fit, has_recipe=True)


def _apply_recipe(
    recipe: Recipe, case: Case, policy: Policy, run: Run, released: Sequence[Table], unseen: Unseen
) -> Protection | None:
    """What the recipe makes of new rows; None if it leaves out more rows than it may."""
    import numpy as np

    from unveil.release.change_text import describe_change, describe_kept_information
    from unveil.release.coarse_table import coarsen_case, describe_leaks, mean_kept_information

    table = case.release
    assert isinstance(table, Table)
    _check_hierarchies(recipe, case)
    for earlier in released:
        _check_was_made_by(recipe, earlier, case, policy)
    codes = table.codes([c.name for c in recipe.columns if c.name in policy.quasi_columns], policy.missing, run)
    columns = {
        c.name: _recode_column(c, codes[c.name], case, policy, table.name, unseen)
        for c in recipe.columns
        if c.name in codes
    }
    made = {name: c.ladder.hierarchy for name, c in columns.items() if c.ladder.hierarchy is not None}
    case = replace(case, hierarchies=MappingProxyType({**case.hierarchies, **made}))
    kept = np.arange(table.rows)
    offer = _all_offers().get(recipe.method)
    if offer is not None and offer.keep_rows is not None:
        coarse = coarsen_case(case, table, columns, kept)
        together = None if not released else _add_released(coarse.release, released)
        found = offer.keep_rows(coarse, together, policy, run, recipe.strictness)
        if found is None:
            return None
        kept = found
    information = mean_kept_information(columns, kept)
    gone, said = table.rows - len(kept), ["Nothing is coarser, as in the recipe."]
    if gone or not all(column.is_unchanged for column in columns.values()):
        said = [f"As the recipe says: {describe_change(columns, gone, table.rows)}"]
    said += [describe_kept_information(information)] if columns else []
    if released:
        said.append(f"The rows were also measured together with those of {list_text(t.name for t in released)}.")
    return Protection(
        sentence=" ".join(said),
        usefulness=information * len(kept) / max(1, table.rows),
        apply=partial(coarsen_case, case, table, columns, kept),
        doubt=describe_leaks(table, columns, policy),
        recipe_columns=columns,
        strictness=recipe.strictness,
    )


def _check_hierarchies(recipe: Recipe, case: Case) -> None:
    for column, digest in recipe.hierarchy_hashes.items():
        if column not in case.hierarchies or case.hierarchies[column].digest != digest:
            raise UnveilError(
                f"{safe_text(recipe.name, 200)}: the hierarchy of {safe_text(column)!r} is not the one that the recipe "
                "was written with; restore the file"
            )


def _check_was_made_by(recipe: Recipe, earlier: Table, case: Case, policy: Policy) -> None:
    """Refuse a table that holds values to which the recipe gives labels."""
    from unveil.release.codes import cast_to_text

    for column in recipe.columns:
        if column.rule is None or column.name not in earlier.columns:
            continue
        texts = cast_to_text(earlier.codes([column.name], policy.missing)[column.name].values).to_pylist()
        labels = column.rule.label_values(texts, case.hierarchies.get(column.name), policy.missing)
        if any(label not in (None, text) for text, label in zip(texts, labels, strict=True)):
            raise UnveilError(
                f"{safe_text(earlier.name)}: was not made by this recipe, which makes {safe_text(column.name)!r} "
                "coarser; name a release that was"
            )


def _recode_column(
    column: RecipeColumn, codes: Codes, case: Case, policy: Policy, table: str, unseen: Unseen
) -> CoarseColumn:
    """What becomes of a quasi-identifier."""
    import numpy as np
    import pyarrow as pa

    from unveil.release.coarse_table import CoarseColumn
    from unveil.release.coarsening import ColumnLadder, LadderStep, flat_ladder
    from unveil.release.codes import cast_to_text, rows_error
    from unveil.release.generalised_labels import ROOT_LABEL
    from unveil.release.hierarchy import Hierarchy

    flat = flat_ladder(column.name, codes)
    if column.rule is None:
        return CoarseColumn(flat, (None if column.becomes == "left out" else flat.steps[0],))
    texts = cast_to_text(codes.values).to_pylist()
    found = column.rule.label_values(texts, case.hierarchies.get(column.name), policy.missing)
    unknown = np.array([label is None for label in found], bool)
    if unknown.any() and unseen == "refuse":
        what = f"a value in {safe_text(column.name)!r} that the recipe has no label for"
        remedy = f"correct it, or show such values as * with {option_text('unseen', 'root')}"
        raise rows_error(table, codes.rows_with(unknown), what, remedy)
    labels = [ROOT_LABEL if label is None else label for label in found]
    shown = sorted(set(labels))
    place = {label: at for at, label in enumerate(shown)}
    becomes = np.array([place[label] for label in labels], np.int32)
    step = LadderStep(
        "coarser", becomes, pa.array(shown, pa.string()), np.full(len(shown), 1 / max(1, len(shown))), level=1
    )
    hierarchy = None
    if texts:
        rows = ((text, label, ROOT_LABEL) for text, label in zip(texts, labels, strict=True))
        hierarchy = Hierarchy.from_rows(rows, f"the hierarchy of {column.name}")
    ladder = ColumnLadder(column.name, codes.codes, (flat.steps[0], step), hierarchy, policy.missing)
    return CoarseColumn(ladder, (step,))


# ---- together with earlier rows --------------------------------------------------------------------------------------


def assess_with_released(
    assess_case: Callable[[Case], Assessment], released: Sequence[Table]
) -> Callable[[Case], Assessment]:
    """An assessment of new rows that also asks about old and new rows together. If those are over a tolerance, theirs
    is the assessment; their doubts are doubts of the new rows."""

    from unveil.release.row_order import shuffle_rows

    def assess_both(safer: Case) -> Assessment:
        alone = assess_case(safer)
        mixed = shuffle_rows(replace(safer, release=_add_released(safer.release, released)))
        found = assess_case(replace(mixed, original=None, truth=None))
        if alone.verdict.decision == "protect first" or found.verdict.decision == "protect first":
            return alone if alone.verdict.decision == "protect first" else found
        names = list_text(table.name for table in released)
        new = [doubt for doubt in found.verdict.reasons if doubt not in alone.verdict.reasons]
        doubts = [f"Together with {names}: {doubt}" for doubt in new if found.verdict.decision == "your call"]
        return add_doubts(alone, doubts)

    return assess_both


def _add_released(new: object, released: Sequence[Table]) -> Table:
    """The new rows, and after them those that were released before."""
    from unveil.release.stacked_tables import stack_tables

    assert isinstance(new, Table)
    for table in released:
        if set(table.columns) != set(new.columns):
            raise UnveilError(
                f"{safe_text(table.name)}: was not made by this recipe, which leaves {list_text(new.columns)}; name a "
                "release that was"
            )
    return stack_tables([new, *released], new.columns)
