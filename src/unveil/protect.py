"""Protect a release: try every protection on offer, assess each result in full, and take the most useful within
tolerance.

The result shows risk and usefulness side by side: what was tried, how useful it leaves the data, and the verdict after
it.

A release with nothing over a tolerance gets harmless protections only. If no harmless one is on offer, an open finding
counts as over.

Rows of tables are written in random order, because the order may undo what was made coarser.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from unveil import questions
from unveil.assess import ResolvedCase, assess, assess_resolved, check_input, make_run, resolve
from unveil.assessment import Assessment
from unveil.case import Case
from unveil.errors import UnveilError
from unveil.owner_wishes import owner_wishes
from unveil.policy import Policy
from unveil.protection import ProtectionOffer
from unveil.protection_attempt import (
    Attempt,
    add_doubts,
    has_open_finding,
    protection_result,
    try_offer,
    unchanged_result,
)
from unveil.protection_front import add_comparisons
from unveil.recipe import Recipe
from unveil.recipe_protection import (
    Unseen,
    assess_with_released,
    check_recipe_fits,
    make_recipe,
    offers_with_recipe,
    recipe_offer,
    released_tables,
)
from unveil.release import Release, Table
from unveil.release.ask import REPEATED_PEOPLE
from unveil.release.kinds import KIND_SINGULARS
from unveil.run import Progress, Run
from unveil.settings import declared_settings, make_settings, plain_settings
from unveil.wording import list_text, safe_text, verb

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.usefulness.use_measure import UseMeasure

__all__ = ["ProtectedRelease", "offered_protections", "policy_for_what_is_left", "protect"]

_KEPT_ORDER = "Rows keep their order, which may tell more than the values do: shuffle them, unless you need it."


@dataclass(frozen=True, eq=False, repr=False)
class ProtectedRelease:
    """A safer release, or why there is none.
    ``case`` is the safer release with the original and the truth, which stay with the owner; None if there is none.
    ``assessment`` is that of the safer release; without one, that of the original, with what was tried.
    ``before`` is the assessment of the original.
    ``closest_method`` is, without a case, the protection that came closest; None if none made anything.
    ``blocking_findings`` are the findings that it leaves over their tolerance, or unanswered.
    ``caveats`` are what an owner should know about the protection that was chosen.
    ``advice`` says, without a case, how far the closest protection gets, and what would make the goal reachable.
    """

    case: Case | None
    assessment: Assessment
    before: Assessment
    closest_method: str | None = None
    blocking_findings: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    _make_recipe: Callable[[], Recipe] | None = None

    @property
    def release(self) -> Release:
        """The release that may be published."""
        if self.case is None:
            reasons = f"; still over: {list_text(self.blocking_findings)}" if self.blocking_findings else ""
            name = safe_text(self.before.release.name)
            raise UnveilError(f"{name}: none of the protections tried meets the tolerances{reasons}")
        return self.case.release

    def mapping(self) -> pa.Table:
        """What each item or node became: columns item or node, pseudonym, which is missing if it was left out, and
        release, which marks the release that the mapping belongs to.

        Keep it secret. Only baskets of items and graphs have a mapping.
        """
        from unveil.release.secret_mapping import Labelled, mapping_table

        release = self.release
        assert self.case is not None
        original, truth = self.case.original, self.case.truth
        if not isinstance(original, Labelled) or not isinstance(release, Labelled) or truth is None:
            raise UnveilError(f"{safe_text(release.name)}: only baskets of items and graphs have a mapping")
        return mapping_table(original, release, truth)

    def recipe(self) -> Recipe:
        """What was done to each column of a table, to be done to new rows: ``protect(june, recipe=made.recipe())``."""
        name = safe_text(self.release.name)
        if self._make_recipe is None:
            raise UnveilError(f"{name}: only what is done to tables can be written as a recipe")
        return self._make_recipe()

    def assessment_of_file(self, name: str, data: bytes) -> Assessment:
        """The assessment under the name and the hash of the file that the release is written to."""
        summary = replace(self.assessment.release, name=name)
        provenance = self.assessment.provenance.with_digest(hashlib.sha256(data).hexdigest())
        return replace(self.assessment, release=summary, provenance=provenance)

    def __repr__(self) -> str:
        return repr(self.assessment)

    def _repr_html_(self) -> str:
        from unveil.report.html import render_fragment

        return render_fragment(self.assessment, self.before, self.caveats)


def protect(
    release: Any,
    policy: Policy | None = None,
    *,
    method: str | None = None,
    pseudonymise: Sequence[str] = (),
    keep_order: bool = False,
    predict: str | None = None,
    recipe_methods_only: bool = False,
    recipe: Recipe | None = None,
    released: Sequence[Any] = (),
    unseen: Unseen = "refuse",
    reveal: bool = False,
    exposed: int = 10,
    progress: Progress | None = None,
) -> ProtectedRelease:
    """Make a release safer: try all protections, assess each result, and take the most useful one within tolerance.

    Parameters
    ----------
    release
        What would be published: what :func:`unveil.read` returns, or a pandas, polars or pyarrow frame or a networkx
        graph; or a :class:`Case` that also holds what the attacker has.
    policy
        What the attacker knows and what is tolerated.
    method
        The only protection to try. By default all are tried but those that must be named, if the release is over a
        tolerance at all.
    pseudonymise
        Columns that are replaced by pseudonyms under the owner's key. Other declared identifiers are left out.
    keep_order
        Whether the rows of a table stay in their order, with the verdict ``your call``. By default they are shuffled.
    predict
        A column: measure how well it can be predicted from the others, before and after (needs scikit-learn).
    recipe_methods_only
        Whether to try only protections that can be written as a recipe, see :meth:`ProtectedRelease.recipe`.
    recipe
        The recipe of an earlier release: do the same to these rows, under the policy of the recipe.
    released
        The tables that were made by this recipe before. Old and new rows must be within tolerance together as well.
    unseen
        What becomes of values that the recipe has no label for: they are refused, or shown as the root.
    reveal, exposed, progress
        As for :func:`unveil.assess`.
    """
    policy, pseudonymise = _policy_and_pseudonyms(recipe, policy, method, pseudonymise, released)
    case, policy = check_input(release, policy)
    _check_prediction(case, predict)
    if recipe is not None:
        check_recipe_fits(recipe, case)
    earlier = released_tables(recipe, released) if recipe is not None else []
    if (keep_order or pseudonymise) and not isinstance(case.release, Table):
        wish = "keep their order" if keep_order else "get pseudonyms by their key"
        raise UnveilError(f"{safe_text(case.release.name)}: only the rows of a table can {wish}")
    run = make_run(case, policy, reveal=reveal, exposed=exposed, progress=progress)
    resolved = resolve(case, policy, run)
    before = assess_resolved(resolved, run)
    case, policy = _same_attackers(resolved)
    make = partial(make_recipe, case, policy, pseudonymise)
    identifiers = policy.identifier
    case, policy, hidden = _hide_identifiers(case, policy, pseudonymise)
    _check_wishes(case, policy)
    offered = offered_protections(case, policy, method)
    if recipe is not None:
        method, offered = "recipe", {"recipe": recipe_offer(recipe, earlier, unseen)}
    elif recipe_methods_only:
        offered = offers_with_recipe(offered, method)

    def assess_again(safer: Case) -> Assessment:
        left = policy_for_what_is_left(policy, case.release, safer.release)
        return assess(safer, left, reveal=reveal, exposed=exposed, progress=progress)

    def measure_use(safer: Case) -> tuple[UseMeasure, ...]:
        if not isinstance(case.release, Table):
            asked = questions.questions_about(case.release.kind)
            return tuple(measure for question in asked for measure in question.measure_use(case, safer, run))
        from unveil.usefulness.measure import measure_use

        return tuple(measure_use(case, safer, policy, run, (*identifiers, *pseudonymise), predict))

    start = before if not hidden else assess_again(case)
    over = start.verdict.decision == "protect first" or (
        has_open_finding(start) and not any(o.is_harmless for o in offered.values())
    )
    aim = _aim_at_bounds(policy)
    to_try = [method] if method is not None else _names_to_try(offered, over, case, policy)
    reorder = (lambda made: made) if keep_order or not isinstance(case.release, Table) else _shuffle_rows
    doubt = " ".join([*_repeated_people_doubts(before), *([_KEPT_ORDER] if keep_order else [])])
    if not to_try and not over:
        done = _reorder_only(case, before, start, reorder, assess_again, hidden, doubt)
        return replace(done, _make_recipe=partial(make, "none", None))
    assess_result = assess_with_released(assess_again, earlier) if earlier else assess_again
    tried = [try_offer(name, offered[name], case, aim, run, start, assess_result, reorder) for name in to_try]
    tried = [t.with_doubts(doubt).with_identifier_sentence(hidden) for t in tried]
    tried = [t.with_use(measure_use(t.case)) if t.case is not None else t for t in tried]
    fine = (t for t in tried if t.assessment is not None and not t.blocking_findings(start))
    best = min(fine, key=Attempt.sort_key, default=None)
    weighed = add_comparisons((unchanged_result(before, start), *(t.to_result(start, t is best) for t in tried)))
    if best is None or best.assessment is None:
        return _explain_failure(tried, start, case, aim, run, replace(before, protections=weighed), before)
    caveats = (best.offer.caveat,) if best.offer.caveat else ()
    return ProtectedRelease(
        best.case,
        replace(best.assessment, protections=weighed),
        before,
        caveats=caveats,
        _make_recipe=partial(make, best.name, best.protection) if recipe is None else lambda: recipe,
    )


def _policy_and_pseudonyms(
    recipe: Recipe | None,
    policy: Policy | None,
    method: str | None,
    pseudonymise: Sequence[str],
    released: Sequence[Any],
) -> tuple[Policy | None, Sequence[str]]:
    """The policy and the columns that get pseudonyms; a recipe says both, and nothing may contradict it."""
    if recipe is None:
        if released:
            raise UnveilError("released needs recipe: earlier rows are checked only under the recipe that made them")
        return policy, pseudonymise
    if policy is not None or method is not None or pseudonymise:
        raise UnveilError("a recipe sets the policy, the method and the pseudonyms; leave them out")
    return recipe.policy, recipe.pseudonymised_columns


def _explain_failure(
    tried: Sequence[Attempt],
    start: Assessment,
    case: Case,
    policy: Policy,
    run: Run,
    assessment: Assessment,
    before: Assessment,
) -> ProtectedRelease:
    """What comes closest, how far it gets, and what would make the goal reachable."""
    made = [t for t in tried if t.assessment is not None]
    closest = min(made, key=lambda t: (len(t.blocking_findings(start)), t.sort_key()), default=None)
    if closest is None:
        blocking = tuple(dict.fromkeys(f.id for f in start.findings if f.decides and f.status == "over"))
    else:
        blocking = closest.blocking_findings(start)
    asked = questions.questions_about(case.release.kind)
    advice = [hint for question in asked for hint in question.hints(case, policy, blocking, run)]
    if closest is not None:
        advice = [*closest.describe_shortfalls(start), *advice]
    elif not tried:
        advice = [*dict.fromkeys(_describe_untouched(start)), *advice]
    elif blocking and not any("no quasi-identifier is released" in hint for hint in advice):
        is_over, it = ("is over its tolerance", "it") if len(blocking) == 1 else ("are over their tolerances", "them")
        advice = [f"{list_text(blocking)} {is_over}, and no protection that was tried brings {it} within", *advice]
    name = None if closest is None else closest.name
    return ProtectedRelease(None, assessment, before, name, blocking, advice=tuple(advice))


def _describe_untouched(start: Assessment) -> Iterator[str]:
    """What is over its tolerance, where no protection is for that."""
    for f in start.findings:
        if f.decides and f.status == "over":
            yield f"{f.id} is {f.value_text} and must be {f.tolerance_text}, and no protection changes that"


def _repeated_people_doubts(before: Assessment) -> list[str]:
    """That several rows may belong to one person: the column that showed it may be gone after protection."""
    return [f.sentence for f in before.findings if f.id == REPEATED_PEOPLE.id and f.value]


def _aim_at_bounds(policy: Policy) -> Policy:
    """The policy that protections aim at: no more is tolerated of a risk than of one that is never higher."""
    tolerance, risks = dict(policy.tolerance), questions.all_risks().values()
    for bound in risks:
        below = [r for r in risks if r.upper_bound and r.upper_bound == bound.quantity]
        limits = [limit for r in (bound, *below) if (limit := policy.tolerance_for(r)) is not None]
        if below and limits:
            tolerance[bound.id] = min(limits)
    return replace(policy, tolerance=tolerance)


def _check_wishes(case: Case, policy: Policy) -> None:
    """Refuse wishes about columns that are not there."""
    if not isinstance(case.release, Table):
        return
    for name, columns in owner_wishes(policy).named_columns():
        if strange := [c for c in columns if c not in policy.quasi_columns]:
            are = verb(len(strange), "is", "are")
            raise UnveilError(f"{name} names {list_text(strange)}, which {are} not among the quasi-identifiers")


def _check_prediction(case: Case, predict: str | None) -> None:
    """Refuse to predict what cannot be predicted."""
    if predict is None:
        return
    if not isinstance(case.release, Table) or predict not in case.release.columns:
        raise UnveilError(f"{safe_text(case.release.name)}: there is no column {safe_text(predict)!r} to predict")
    from unveil.usefulness.prediction import check_learner

    check_learner()


def _hide_identifiers(case: Case, policy: Policy, pseudonymise: Sequence[str]) -> tuple[Case, Policy, str]:
    """The case without declared identifiers, and what became of them."""
    if not isinstance(case.release, Table):
        return case, policy, ""
    from unveil.owner_key import load_owner_key
    from unveil.release.pseudonyms import hide_identifiers

    return hide_identifiers(case, policy, pseudonymise, load_owner_key() if pseudonymise else None)


def _shuffle_rows(case: Case) -> Case:
    from unveil.release.row_order import shuffle_rows

    return shuffle_rows(case)


def _reorder_only(
    case: Case,
    before: Assessment,
    start: Assessment,
    reorder: Callable[[Case], Case],
    assess_again: Callable[[Case], Assessment],
    hidden: str,
    doubt: str,
) -> ProtectedRelease:
    """The release as it is, but for identifiers and the order of its rows."""
    moved = reorder(case)
    order = "" if moved is case else "The rows are in random order." if hidden else "Only the order of rows changes."
    sentence = f"{hidden} {order}".strip() or "Nothing changes."
    after = add_doubts(start if moved is case else assess_again(moved), [doubt] if doubt else [])
    name, title = ("identifiers", "Hide identifiers") if hidden else ("none", "As it is")
    done = protection_result(name, title, sentence, 1.0, start, after, chosen=True)
    weighed = (unchanged_result(before, start), done) if hidden else (done,)
    return ProtectedRelease(moved, replace(after, protections=weighed), before)


def _names_to_try(offered: Mapping[str, ProtectionOffer], over: bool, case: Case, policy: Policy) -> list[str]:
    """Harmless protections suffice where nothing is over its tolerance, and do not help elsewhere."""
    suited = {name: offer for name, offer in offered.items() if over != offer.is_harmless}
    return [name for name, offer in suited.items() if not offer.only_if_named(case, policy)]


def offered_protections(case: Case, policy: Policy, method: str | None = None) -> dict[str, ProtectionOffer]:
    """The protections that suit a case, by name; refuse a method that is not among them."""
    asked = questions.questions_about(case.release.kind)
    kind = case.release.kind
    there = {n: o for q in asked for n, o in q.protections.items() if kind in (o.release_kinds or q.kinds)}
    offered = {name: offer for name, offer in there.items() if offer.applies_to(case, policy)}
    if not there:
        raise UnveilError(
            f"{safe_text(case.release.name)}: there is no protection for {KIND_SINGULARS[case.release.kind]} yet"
        )
    if method is not None and method not in offered:
        of = "for such data " if method in there else ""
        raise UnveilError(f"no protection {of}is called {safe_text(method)!r}; choose from {list_text(offered)}")
    return offered


def _same_attackers(resolved: ResolvedCase) -> tuple[Case, Policy]:
    """The case and the policy with which every protected release is attacked: the same attackers before and after."""
    policy = resolved.policy
    return resolved.case, replace(policy, guessed=tuple(c for c in policy.guessed if c in policy.roles))


# ---- tables ----------------------------------------------------------------------------------------------------------


def policy_for_what_is_left(policy: Policy, before: Release, after: Release) -> Policy:
    """The policy for what is left of a table: without the columns that are gone, and without settings for columns that
    have new labels now. Their hierarchies are in the case."""
    if not isinstance(before, Table) or not isinstance(after, Table):
        return policy
    there = set(after.columns)
    groups = (tuple(c for c in group if c in there) for group in policy.quasi)
    quasi = {frozenset(group): group for group in groups if group}
    return replace(
        policy,
        quasi=tuple(quasi.values()),
        sensitive=tuple(c for c in policy.sensitive if c in there),
        insensitive=tuple(c for c in policy.insensitive if c in there),
        ratings=tuple(c for c in policy.ratings if c in there),
        hierarchy={},
        settings={room: _for_columns(chosen, before, after, policy) for room, chosen in policy.settings.items()},
    )


def _for_columns(chosen: Any, before: Table, after: Table, policy: Policy) -> Any:
    """A room's settings, those per column only for columns that are still there with the values they had."""
    kept: dict[str, Any] = {}
    for name, declaration in declared_settings(chosen).items():
        values = getattr(chosen, name)
        if declaration.kind == "share per column":
            kept[name] = {what: value for what, value in values.items() if _still_means(what, before, after, policy)}
        if declaration.kind in ("text per column", "texts per column"):
            kept[name] = {
                column: value
                for column, value in values.items()
                if column in after.columns and not _has_new_labels(column, before, after, policy)
            }
    return make_settings(type(chosen), plain_settings(replace(chosen, **kept)), "policy")


def _still_means(what: str, before: Table, after: Table, policy: Policy) -> bool:
    """Whether a column, or a value written ``column=value``, still means what it meant."""
    if what in before.columns:
        return what in after.columns
    column = what.partition("=")[0]
    return column in after.columns and not _has_new_labels(column, before, after, policy)


def _has_new_labels(column: str, before: Table, after: Table, policy: Policy) -> bool:
    """Whether a column has values that were not there before."""
    import pyarrow.compute as pc

    was, now = (t.codes([column], policy.missing)[column].values for t in (before, after))
    return bool(was.type != now.type or not pc.all(pc.is_in(now, value_set=was)).as_py())
