"""Protect a release: try every protection on offer, assess each result in full, and take the most useful within
tolerance.

The result shows risk and usefulness side by side: what was tried, how useful it leaves the data, and the verdict after
it. If the result of a protection is still over a tolerance, the protection is tried again a few times with more
strictness, unless the strictest attempt is over as well.

A release with nothing over a tolerance gets harmless protections only. If no harmless one is on offer, an open finding
counts as over.

Rows of tables are written in random order, because the order may undo what was made coarser.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from unveil import questions
from unveil.assess import ResolvedCase, assess, assess_resolved, check_input, make_run, resolve
from unveil.assessment import Assessment, ProtectionResult
from unveil.case import Case
from unveil.errors import UnveilError
from unveil.policy import Policy
from unveil.protection import Protection, ProtectionOffer
from unveil.recipe import Recipe
from unveil.recipe_protection import (
    Unseen,
    assess_with_released,
    check_recipe_fits,
    make_recipe,
    offers_with_recipe,
    recipe_offer,
)
from unveil.release import Release, Table, Transactions
from unveil.release.ask import REPEATED_PEOPLE
from unveil.release.kinds import KIND_SINGULARS
from unveil.run import Progress, Run
from unveil.settings import declared_settings, make_settings, plain_settings
from unveil.wording import list_text, percent_text, safe_text

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ProtectedRelease", "offered_protections", "policy_for_what_is_left", "protect"]

_STRICTNESS_STEPS = (1.0, 0.95, 0.9, 0.8, 0.6, 0.4)
_LOW_USEFULNESS = 0.1  # usefulness below which a person has to decide
_KEPT_ORDER = "Rows keep their order, which may tell more than the values do: shuffle them, unless you need it."
_DECISION_RANK = {"release": 0, "your call": 1, "protect first": 2}


@dataclass(frozen=True, eq=False, repr=False)
class ProtectedRelease:
    """A safer release: the case (with the original and the truth, which stay with the owner), its assessment, and the
    assessment of the original. ``case`` is None where no protection reaches what is tolerated; ``blocking_findings``
    are then the findings that the protection which came closest leaves beyond their tolerance, or that it leaves
    unanswered, and ``closest_method`` is its name; None where nothing was even made. ``caveats`` are what an owner
    should know about the protection that was chosen."""

    case: Case | None
    assessment: Assessment
    before: Assessment
    closest_method: str | None = None
    blocking_findings: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    make_recipe: Callable[[], Recipe] | None = None

    @property
    def release(self) -> Release:
        """The release that may be published."""
        if self.case is None:
            way = f"; still over: {list_text(self.blocking_findings)}" if self.blocking_findings else ""
            name = safe_text(self.before.release.name)
            raise UnveilError(f"{name}: none of the protections tried meets the tolerances{way}")
        return self.case.release

    def mapping(self) -> pa.Table:
        """What each item became: columns item and pseudonym, the latter missing if the item was left out, and release,
        which marks the release that the mapping belongs to.

        Keep it secret. Only baskets of items have a mapping.
        """
        from unveil.release.item_mapping import mapping_table

        release = self.release
        assert self.case is not None
        original, truth = self.case.original, self.case.truth
        if not isinstance(original, Transactions) or not isinstance(release, Transactions) or truth is None:
            raise UnveilError(f"{safe_text(release.name)}: only baskets of items have a mapping")
        return mapping_table(original, release, truth)

    def recipe(self) -> Recipe:
        """What was done to each column of a table, to be done to new rows: ``protect(june, recipe=made.recipe())``."""
        name = safe_text(self.release.name)
        if self.make_recipe is None:
            raise UnveilError(f"{name}: only what is done to tables can be written as a recipe")
        return self.make_recipe()

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
    with_recipe: bool = False,
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
        The only protection to try. By default all are tried, if the release is over a tolerance at all.
    pseudonymise
        Columns that are replaced by pseudonyms under the owner's key. Other declared identifiers are left out.
    keep_order
        Whether the rows of a table stay in their order, with the verdict ``your call``. By default they are shuffled.
    with_recipe
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
    earlier = check_recipe_fits(recipe, case, released) if recipe is not None else []
    if (keep_order or pseudonymise) and not isinstance(case.release, Table):
        wish = "keep their order" if keep_order else "get pseudonyms by their key"
        raise UnveilError(f"{safe_text(case.release.name)}: only the rows of a table can {wish}")
    run = make_run(case, policy, reveal=reveal, exposed=exposed, progress=progress)
    resolved = resolve(case, policy, run)
    before = assess_resolved(resolved, run)
    case, policy = _same_attackers(resolved)
    make = partial(make_recipe, case, policy, pseudonymise)
    case, policy, hidden = _hide_identifiers(case, policy, pseudonymise)
    offered = offered_protections(case, policy, method)
    if recipe is not None:
        method, offered = "recipe", {"recipe": recipe_offer(recipe, earlier, unseen)}
    elif with_recipe:
        offered = offers_with_recipe(offered, method)

    def assess_again(safer: Case) -> Assessment:
        left = policy_for_what_is_left(policy, case.release, safer.release)
        return assess(safer, left, reveal=reveal, exposed=exposed, progress=progress)

    start = before if not hidden else assess_again(case)
    over = start.verdict.decision == "protect first" or (
        _has_open_finding(start) and not any(o.is_harmless for o in offered.values())
    )
    aim = _aim_at_bounds(policy)
    to_try = [method] if method is not None else [name for name, offer in offered.items() if over != offer.is_harmless]
    reorder = (lambda made: made) if keep_order or not isinstance(case.release, Table) else _shuffle_rows
    doubt = " ".join([*_repeated_people_doubts(before), *([_KEPT_ORDER] if keep_order else [])])
    if not to_try and not over:
        done = _reorder_only(case, before, start, reorder, assess_again, hidden, doubt)
        return replace(done, make_recipe=partial(make, "none", None))
    assess_result = assess_with_released(assess_again, earlier, _with_reasons) if earlier else assess_again
    tried = [_try_offer(name, offered[name], case, aim, run, start, assess_result, reorder) for name in to_try]
    tried = [t.with_doubts(doubt).with_prefix(hidden) for t in tried]
    made = [t for t in tried if t.assessment is not None]
    best = min((t for t in made if not t.blocking_findings(start)), key=_Attempt.sort_key, default=None)
    weighed = (_unchanged_result(before), *(t.to_result(before, t is best) for t in tried))
    if best is None or best.assessment is None:
        closest = min(made, key=lambda t: (len(t.blocking_findings(start)), t.sort_key()), default=None)
        stopped = (None, ()) if closest is None else (closest.name, closest.blocking_findings(start))
        return ProtectedRelease(None, replace(before, protections=weighed), before, *stopped)
    caveats = (best.offer.caveat,) if best.offer.caveat else ()
    return ProtectedRelease(
        best.case,
        replace(best.assessment, protections=weighed),
        before,
        caveats=caveats,
        make_recipe=partial(make, best.name, best.protection) if recipe is None else lambda: recipe,
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
            raise UnveilError("released rows are measured together with new ones only under the recipe of both")
        return policy, pseudonymise
    if policy is not None or method is not None or pseudonymise:
        raise UnveilError("a recipe says the policy, the method and the pseudonyms; leave them out")
    return recipe.policy, recipe.pseudonymised


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
    after = _with_reasons(start if moved is case else assess_again(moved), [doubt] if doubt else [])
    name, title = ("identifiers", "Hide identifiers") if hidden else ("none", "As it is")
    done = _protection_result(name, title, sentence, 1.0, before, after, chosen=True)
    weighed = (_unchanged_result(before), done) if hidden else (done,)
    return ProtectedRelease(moved, replace(after, protections=weighed), before)


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
        if declaration.kind in ("text per column", "texts per column"):
            values = getattr(chosen, name)
            kept[name] = {
                column: value
                for column, value in values.items()
                if column in after.columns and not _has_new_labels(column, before, after, policy)
            }
    return make_settings(type(chosen), plain_settings(replace(chosen, **kept)), "policy")


def _has_new_labels(column: str, before: Table, after: Table, policy: Policy) -> bool:
    """Whether a column has values that were not there before."""
    import pyarrow.compute as pc

    was, now = (t.codes([column], policy.missing)[column].values for t in (before, after))
    return bool(was.type != now.type or not pc.all(pc.is_in(now, value_set=was)).as_py())


# ---- what was tried --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Attempt:
    """An offer and its outcome; there is none if no protection of its kind reaches the tolerance."""

    name: str
    offer: ProtectionOffer
    protection: Protection | None = None
    case: Case | None = None
    assessment: Assessment | None = None

    @property
    def rank(self) -> int:
        """0 if the result may be released, 1 if that is the owner's call, 2 if it is still over a tolerance."""
        return 2 if self.assessment is None else _DECISION_RANK[self.assessment.verdict.decision]

    def with_doubts(self, doubt: str) -> _Attempt:
        """The same attempt; its verdict is ``your call`` if there is this or another doubt that the assessment does not
        see."""
        if self.protection is None or self.assessment is None:
            return self
        doubts = [said for said in (self.protection.doubt, doubt) if said]
        if self.protection.usefulness < _LOW_USEFULNESS:
            left = percent_text(self.protection.usefulness)
            doubts.append(f"The protected data keeps only {left} of its usefulness. {self.protection.sentence}")
        return replace(self, assessment=_with_reasons(self.assessment, doubts))

    def with_prefix(self, hidden: str) -> _Attempt:
        """The same attempt; it also says what became of identifiers."""
        if not hidden or self.protection is None:
            return self
        return replace(self, protection=replace(self.protection, sentence=f"{hidden} {self.protection.sentence}"))

    @property
    def is_over(self) -> bool:
        """Whether there is a result, and it is over a tolerance."""
        return self.assessment is not None and self.rank == 2

    def may_improve(self, before: Assessment) -> bool:
        """Whether more strictness could help: a deciding finding is not within its tolerance.

        An open bound that has not moved does not count, since it will not move.
        """
        deciding = [] if self.assessment is None else [f for f in self.assessment.findings if f.decides]
        still = {(f.id, f.value, "open") for f in before.findings if f.method == "bound"}
        moved = [f for f in deciding if (f.id, f.value, f.status) not in still]
        return any(f.status != "within" or f.method == "truncated" for f in moved)

    def blocking_findings(self, before: Assessment) -> tuple[str, ...]:
        """The findings that rule the result out: those over their tolerance, and those that had a value before and have
        none now, although there is still something to be known."""
        findings = () if self.assessment is None else self.assessment.findings
        over = [f.id for f in findings if f.decides and f.status == "over"]
        lost = _answered_findings(before) - _answered_findings(self.assessment)
        if self.assessment is not None and not any(c.role == "quasi" for c in self.assessment.columns):
            lost = set() if any(c.role == "quasi" for c in before.columns) else lost
        return tuple(dict.fromkeys([*over, *sorted(risk_id for risk_id, _, _ in lost)]))

    def sort_key(self) -> tuple[int, float]:
        """Lower is better: first by verdict, then by usefulness."""
        return self.rank, 0.0 if self.protection is None else -self.protection.usefulness

    def to_result(self, before: Assessment, chosen: bool) -> ProtectionResult:
        """The outcome for the report."""
        if self.protection is None or self.assessment is None:
            said = "Nothing of this kind that was tried meets the tolerances and leaves something to release."
            return ProtectionResult(id=self.name, title=self.offer.title, sentence=said)
        said = f"{self.protection.sentence} {self.protection.doubt}".strip()
        return _protection_result(
            self.name, self.offer.title, said, self.protection.usefulness, before, self.assessment, chosen
        )


def _with_reasons(assessment: Assessment, doubts: Sequence[str]) -> Assessment:
    """The assessment with further doubts; the verdict is ``your call`` then, unless it is ``protect first``."""
    verdict = assessment.verdict
    if not doubts or verdict.decision == "protect first":
        return assessment
    reasons = (*(verdict.reasons if verdict.decision == "your call" else ()), *doubts)
    changed = replace(verdict, decision="your call", sentence=" ".join(reasons), reasons=reasons)
    return replace(assessment, verdict=changed, doubts=(*assessment.doubts, *doubts))


def _try_offer(
    name: str,
    offer: ProtectionOffer,
    case: Case,
    policy: Policy,
    run: Run,
    before: Assessment,
    assess_again: Callable[[Case], Assessment],
    reorder: Callable[[Case], Case],
) -> _Attempt:
    """Try an offer with as much strictness as it needs for a result that is not over a tolerance."""

    @cache
    def attempt(strictness: float) -> _Attempt:
        run.progress(f"{offer.title.lower()}, aiming at {strictness:.0%}", None)
        protection = offer.fit(case, policy, run, strictness)
        if protection is None:
            return _Attempt(name, offer)
        safer = reorder(protection.apply())
        return _Attempt(name, offer, protection, safer, assess_again(safer))

    best = attempt(_STRICTNESS_STEPS[0])
    if offer.is_harmless or (best.is_over and attempt(_STRICTNESS_STEPS[-1]).is_over):
        return best
    for strictness in _STRICTNESS_STEPS[1:]:
        if not best.may_improve(before):
            break
        tried = attempt(strictness)
        if tried.protection is None:
            break
        if tried.rank < best.rank:
            best = tried
    return best


def _answered_findings(assessment: Assessment | None) -> set[tuple[str, str | None, tuple[str, ...] | None]]:
    """The deciding findings that have a value: id, column, and what is known unless that is columns of a table, of
    which a protection may leave some out."""
    if assessment is None:
        return set()
    answered = [f for f in assessment.findings if f.decides and f.value is not None]
    return {(f.id, f.column, None if assessment.columns else f.known) for f in answered}


def _has_open_finding(assessment: Assessment) -> bool:
    return any(f.decides and f.status == "open" for f in assessment.findings)


def _unchanged_result(before: Assessment) -> ProtectionResult:
    decided = before.deciding_finding
    about = f" The share harmed is about this risk: {decided.title}." if decided and decided.share else ""
    return _protection_result("none", "As it is", f"Nothing changes.{about}", 1.0, before, before, chosen=False)


def _protection_result(
    name: str, title: str, sentence: str, usefulness: float, before: Assessment, after: Assessment, chosen: bool
) -> ProtectionResult:
    return ProtectionResult(
        id=name,
        title=title,
        sentence=sentence,
        usefulness=usefulness,
        decision=after.verdict.decision,
        harmed=_share_harmed(before, after),
        chosen=chosen,
    )


def _share_harmed(before: Assessment, after: Assessment) -> tuple[float, float] | None:
    """The share that the risk which decided before harms after: the same risk for every protection."""
    decided = before.deciding_finding
    if decided is None:
        return None
    same = [f.share for f in after.findings if (f.id, f.column) == (decided.id, decided.column) and f.share]
    return max(same, default=None)
