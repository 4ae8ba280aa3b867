"""Who asks: every question that applies, then the verdict.

Rooms are known here only through :data:`unveil.questions.QUESTIONS`.
"""

from __future__ import annotations

import datetime
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from unveil import questions
from unveil.assessment import Assessment, Column, Summary
from unveil.case import Case
from unveil.errors import UnveilError, describe_failure
from unveil.finding import Finding
from unveil.holding import Holding
from unveil.owner_key import load_owner_key
from unveil.policy import Policy
from unveil.provenance import make_provenance
from unveil.question import Artefact, Question
from unveil.release import Release
from unveil.release.kinds import KIND_SINGULARS
from unveil.release.roles import complete_roles, role_options
from unveil.release.table import Table
from unveil.risk import Risk
from unveil.run import Progress, Run
from unveil.settings import option_text
from unveil.verdict import decide_verdict
from unveil.wording import count_text, did_you_mean, list_text, safe_text

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ResolvedCase", "assess", "assess_resolved", "check_input", "make_run", "resolve", "sort_holdings"]

_ERROR_RATE = 0.05
_LONGEST_CHECK = 200  # characters of a check with its title


@dataclass(frozen=True, eq=False)
class ResolvedCase:
    """What questions are asked of: the case with the hierarchies that the policy names, the policy with a role for
    every column of a table, the columns with the origin of their roles, and the policy as it was given; and what
    stopped the checks of some questions, by the names of these."""

    case: Case
    policy: Policy
    columns: tuple[Column, ...]
    given: Policy
    failed_checks: Mapping[str, Exception]


def assess(
    release: Any,
    policy: Policy | None = None,
    *,
    only: str | Sequence[str] | None = None,
    reveal: bool = False,
    exposed: int = 10,
    progress: Progress | None = None,
) -> Assessment:
    """Attack a release with every question that applies to it, and decide.

    Parameters
    ----------
    release
        What would be published: what :func:`unveil.read` returns, or a pandas, polars or pyarrow frame or a networkx
        graph; or a :class:`Case` that adds what else is known.
    policy
        Column roles, the attacker's knowledge, tolerances, seed. Without one, roles are guessed and the verdict is
        never ``release``.
    only
        Questions (``"classes"``) or single risks (``"classes.k"``) to ask about; all by default. Checks that are left
        out although the policy has a tolerance for them keep the verdict from being ``release``.
    reveal
        Let the findings name subjects and values. Off by default: the result can then be passed on.
    exposed
        How many of the most exposed subjects each finding lists.
    progress
        Called with what is being done and the fraction done.
    """
    case, policy = check_input(release, policy)
    run = make_run(case, policy, only=only, reveal=reveal, exposed=exposed, progress=progress)
    return assess_resolved(resolve(case, policy, run), run)


def check_input(release: Any, policy: Policy | None) -> tuple[Case, Policy]:
    """The case and the policy, if they can be assessed. Frames in the case become tables."""
    case = release if isinstance(release, Case) else Case(release)
    case = replace(
        case,
        release=_as_release(case.release),
        original=None if case.original is None else _as_release(case.original),
        holds=MappingProxyType({name: _as_release(held) for name, held in case.holds.items()}),
    )
    case = sort_holdings(case)
    if policy is not None and not isinstance(policy, Policy):
        raise UnveilError(f"the policy is a {type(policy).__name__}: make it with unveil.Policy(...)")
    policy = policy or Policy()
    names = [q.name for q in questions.QUESTIONS]
    for name in policy.require:
        if name not in names:
            raise UnveilError(f"policy: no question is called {safe_text(name)!r}{did_you_mean(name, names)}")
    held = questions.all_holdings()
    for name in case.holds:
        if name not in held and name.rpartition(" ")[0] not in held:
            raise UnveilError(f"nothing an attacker may hold is called {safe_text(name)!r}{did_you_mean(name, held)}")
    if not isinstance(case.release, Table) and (
        policy.roles or policy.subject or policy.weight or policy.household or policy.hierarchy
    ):
        raise UnveilError(
            f"{safe_text(case.release.name)}: was read as {KIND_SINGULARS[case.release.kind]}, which has no columns; "
            f"leave out the roles, or read it as a table ({option_text('kind', 'table')})"
        )
    return case, policy


def _as_release(source: Any) -> Release:
    """What was read, or a frame or graph in memory as a release."""
    from unveil.release.read import kind_in_memory, read

    if isinstance(source, Release):
        return source
    if kind_in_memory(source) is None:
        raise UnveilError(f"cannot assess a {type(source).__name__}: give what unveil.read(...) returns, or a frame")
    return read(source)


def sort_holdings(case: Case) -> Case:
    """The case with what is held in its place: the original, and the truth that a holding says. What is neither stays
    what the attacker holds."""
    held, truths = dict(case.holds), list[tuple[Holding, Release]]()
    for name, (declaration, _) in questions.all_holdings().items():
        if name not in held or not (declaration.is_original or declaration.read_truth):
            continue
        release = held.pop(name)
        kind = case.release.kind if declaration.kind == "same" else declaration.kind
        if release.kind != kind:
            raise UnveilError(f"{safe_text(release.name)}: {safe_text(name)} must be {KIND_SINGULARS[kind]}")
        if (case.original if declaration.is_original else case.truth) is not None:
            raise UnveilError(f"{safe_text(release.name)}: the case says what {safe_text(name)} says; give it once")
        if declaration.is_original:
            case = replace(case, original=release)
        else:
            truths.append((declaration, release))
    case = replace(case, holds=MappingProxyType(held))
    for declaration, release in truths:
        assert declaration.read_truth is not None
        case = replace(case, truth=declaration.read_truth(release, case))
    return case


def make_run(
    case: Case,
    policy: Policy,
    *,
    only: str | Sequence[str] | None = None,
    reveal: bool = False,
    exposed: int = 10,
    progress: Progress | None = None,
) -> Run:
    """The run in which questions are asked of a case: each of m sampled findings that decide holds with a confidence of
    1 − .05/m, so that all of them hold together with 95%."""
    run = Run(policy.seed, exposed, reveal, only=_selected_risks(only))
    asked = [risk for risk in questions.risks_about(case.release.kind) if run.asks(risk)]
    sampled = sum(risk.sampled and policy.tolerance_for(risk) is not None for risk in asked)
    run = replace(run, confidence=1 - _ERROR_RATE / max(sampled, 1))
    return run if progress is None else replace(run, progress=progress)


def _selected_risks(only: str | Sequence[str] | None) -> frozenset[str] | None:
    """The ids of the risks that the names of questions and risks stand for."""
    if only is None:
        return None
    ids: set[str] = set()
    by_question = {q.name: [risk.id for risk in q.risks] for q in questions.QUESTIONS}
    for name in [only] if isinstance(only, str) else only:
        if name in by_question:
            ids.update(by_question[name])
        elif name in questions.all_risks():
            ids.add(name)
        else:
            known = [*by_question, *questions.all_risks()]
            raise UnveilError(f"no question is called {safe_text(name)!r}{did_you_mean(name, known)}")
    return frozenset(ids)


def resolve(case: Case, policy: Policy, run: Run) -> ResolvedCase:
    """Refuse what cannot be asked, and work out what the policy leaves open: roles and hierarchies."""
    from unveil.release.policy_hierarchies import load_hierarchies

    failed = MappingProxyType(_failed_checks(case, policy, run))
    if not isinstance(case.release, Table):
        return ResolvedCase(case, policy, (), policy, failed)
    completed, columns = complete_roles(policy, case.release, run)
    tables = [t for t in (case.release, *case.holds.values()) if isinstance(t, Table)]
    found = {**load_hierarchies(completed.hierarchy, tables, completed, run), **case.hierarchies}
    for column in completed.sensitive:
        if column in found:
            codes = case.release.codes([column], completed.missing, run)[column]
            found[column].check_column(codes, case.release.name, column)
    return ResolvedCase(replace(case, hierarchies=MappingProxyType(found)), completed, columns, policy, failed)


def _failed_checks(case: Case, policy: Policy, run: Run) -> dict[str, Exception]:
    """What stopped the checks of questions, other than input that they refuse."""
    failed = dict[str, Exception]()
    for question in _asked_questions(case, run):
        try:
            if question.check is not None:
                question.check(case, policy)
        except UnveilError:
            raise
        except Exception as error:
            failed[question.name] = error
    return failed


def assess_resolved(resolved: ResolvedCase, run: Run, *, purpose: Risk | None = None) -> Assessment:
    """Ask all questions of the run, and decide. Commands that exist for one risk decide on it alone
    (``purpose``), which then needs a tolerance; elsewhere a check that was left out is a reason to doubt."""
    case, policy, key = resolved.case, resolved.policy, load_owner_key()
    started, clock = datetime.datetime.now(datetime.UTC), time.perf_counter()
    findings, artefacts = _ask_all(resolved, run)
    collected = list(_collect_doubts(case, policy, findings, run, purpose))
    doubts = tuple(doubt for doubt in collected if isinstance(doubt, str))
    findings += tuple(failure for failure in collected if isinstance(failure, Finding))
    return Assessment(
        release=Summary(case.release.kind, case.release.name, case.release.size, case.release.notes),
        verdict=decide_verdict(findings, doubts),
        findings=findings,
        columns=resolved.columns,
        suggestion=_suggest_roles(resolved),
        provenance=make_provenance(
            case, resolved.given, key, run, started, seconds=round(time.perf_counter() - clock, 3)
        ),
        not_asked=tuple(_unasked_names(case, run)),
        checks_off=tuple(risk.id for risk in _checks_off(case, policy)),
        doubts=doubts,
        artefacts=MappingProxyType(artefacts),
        unprotectable=next(filter(None, (q.why_unprotectable(case, policy) for q in _asked_questions(case, run))), ""),
    )


def _asked_questions(case: Case, run: Run) -> list[Question]:
    return [q for q in questions.questions_about(case.release.kind) if run.asks(*q.risks)]


def _ask_all(resolved: ResolvedCase, run: Run) -> tuple[tuple[Finding, ...], dict[str, Callable[[], pa.Table]]]:
    findings: list[Finding] = []
    artefacts: dict[str, Callable[[], pa.Table]] = {}
    for question in _asked_questions(resolved.case, run):
        for answer in _ask_question(question, resolved, run):
            if isinstance(answer, Artefact):
                artefacts[answer.name] = answer.table
            elif run.only is None or answer.id in run.only or answer.value is None:
                findings.append(answer)
    return tuple(findings), artefacts


def _ask_question(question: Question, resolved: ResolvedCase, run: Run) -> Iterator[Finding | Artefact]:
    """The question's findings, each with the seconds it took; a question that breaks is itself a finding."""
    run.progress(question.title, None)
    clock, answered = time.perf_counter(), 0
    try:
        if question.name in resolved.failed_checks:
            raise resolved.failed_checks[question.name]
        for answer in question.ask(resolved.case, resolved.policy, run):
            if isinstance(answer, Artefact):
                yield answer
                continue
            answered += 1
            now = time.perf_counter()
            yield replace(answer, seconds=round(now - clock, 3))
            clock = now
    except Exception as error:
        asked = [risk for risk in question.risks if run.asks(risk)]
        expected = isinstance(error, (UnveilError, MemoryError))
        decides = not expected or any(resolved.policy.tolerance_for(risk) is not None for risk in asked)
        title = f"Part of “{question.title}”" if answered else question.title
        what = f"{'The rest' if answered else 'This'} could not be measured"
        yield _failure_finding(question, title, what, error, decides)


def _failure_finding(question: Question, title: str, what: str, error: Exception, decides: bool) -> Finding:
    """What stands in place of the answers that are missing."""
    why = str(error) if isinstance(error, UnveilError) else describe_failure(error)
    return Finding(
        id=f"{question.name}.failed",
        question=question.name,
        title=title,
        value=None,
        unit="",
        method=None,
        subjects=0,
        direction="lower",
        decides=decides,
        attacker="",
        sentence=f"{what}: {why}.",
    )


# ---- doubts ----------------------------------------------------------------------------------------------------------


def _collect_doubts(
    case: Case, policy: Policy, findings: tuple[Finding, ...], run: Run, purpose: Risk | None
) -> Iterator[str | Finding]:
    """Why someone has to decide, whatever was measured; a question that breaks while it says so is a finding."""
    answered = {f.question for f in findings if f.decides}
    unanswered = [name for name in policy.require if name not in answered]
    if unanswered:
        yield f"The policy requires an answer, but no finding has a tolerance to compare with: {list_text(unanswered)}."
    own = [risk for risk in _own_tolerances(case, policy) if run.asks(risk)]
    unmeasured = [risk.id for risk in own if risk.id not in {f.id for f in findings}]
    if unmeasured:
        yield f"Not measured, although the policy sets a tolerance: {list_text(unmeasured)}."
    yield from _estimate_doubts(own, findings)
    for question in _asked_questions(case, run):
        yield from _question_doubts(question, case, policy, findings)
    yield from _checks_off_doubts(case, policy)
    if purpose is not None and not any(f.decides for f in findings if f.id == purpose.id):
        why = "has no tolerance" if policy.tolerance_for(purpose) is None else "could not be measured exactly"
        yield f"{purpose.id} {why}, so nothing decides."
    if purpose is None and (unasked := [risk.id for risk in _unasked_checks(case, policy, run)]):
        yield f"Not asked, although there is a tolerance: {list_text(unasked)}."


def _question_doubts(
    question: Question, case: Case, policy: Policy, findings: tuple[Finding, ...]
) -> Iterator[str | Finding]:
    try:
        yield from question.doubts(case, policy, findings)
    except Exception as error:
        what = "Reasons to doubt these findings could not be looked for"
        failure = _failure_finding(question, "Doubt about what was found", what, error, decides=True)
        yield failure.sentence if failure.id in {f.id for f in findings} else failure


def _own_tolerances(case: Case, policy: Policy) -> list[Risk]:
    """The risks of such a release for which only the policy has a tolerance, not its preset."""
    risks = questions.risks_about(case.release.kind)
    return [r for r in risks if policy.tolerance.get(r.id) is not None and policy.preset_tolerance(r) is None]


def _estimate_doubts(own: Iterable[Risk], findings: tuple[Finding, ...]) -> Iterator[str]:
    """What only the policy holds against a tolerance, and could only be estimated."""
    ids = {risk.id for risk in own}
    for f in findings:
        if f.id in ids and f.method == "estimate" and not f.decides:
            yield f"{f.title}: {f.value_text}, must be {f.tolerance_text}; this is an estimate, so it cannot decide."


def _unasked_checks(case: Case, policy: Policy, run: Run) -> list[Risk]:
    """The checks that were left out although there is a tolerance for them."""
    risks = _measurable_risks(case)
    return [risk for risk in risks if not run.asks(risk) and policy.tolerance_for(risk) is not None]


def _checks_off_doubts(case: Case, policy: Policy) -> Iterator[str]:
    """Which checks of the preset the policy turns off, or lets every release pass."""
    checks = _checks_off(case, policy)
    off = [f"{risk.id} ({risk.title})" for risk in checks if policy.tolerance_for(risk) is None]
    if off:
        yield (
            f"The policy turns off {count_text(len(off), 'check')} of the preset {policy.preset}: "
            f"{list_text(off, 12, _LONGEST_CHECK)}."
        )
    if passed := [f"{risk.id} ({risk.title})" for risk in checks if policy.tolerance_for(risk) is not None]:
        yield (
            f"The policy sets a tolerance that every release meets for {count_text(len(passed), 'check')} of the "
            f"preset {policy.preset}: {list_text(passed, 12, _LONGEST_CHECK)}."
        )


def _checks_off(case: Case, policy: Policy) -> list[Risk]:
    """The checks of the preset that the policy turns off, or that no release can fail."""
    risks = _measurable_risks(case)
    limits = {risk: policy.tolerance_for(risk) for risk in risks if policy.preset_tolerance(risk) is not None}
    return [risk for risk, limit in limits.items() if limit is None or risk.is_always_met(limit)]


def _measurable_risks(case: Case) -> list[Risk]:
    """The risks of which the case holds what it takes to measure them."""
    return [r for r in questions.risks_about(case.release.kind) if not r.needs or case.held_releases(r.needs)]


def _unasked_names(case: Case, run: Run) -> Iterator[str]:
    """The names of questions that were not asked at all although they could be, and the ids of single risks that were
    not."""
    measurable = _measurable_risks(case)
    for question in questions.questions_about(case.release.kind):
        if not run.asks(*question.risks):
            if any(risk in measurable for risk in question.risks):
                yield question.name
        else:
            about = questions.risks_about(case.release.kind)
            yield from (risk.id for risk in question.risks if risk in about and not run.asks(risk))


def _suggest_roles(resolved: ResolvedCase) -> str | None:
    """How to turn guesses into given roles."""
    if not resolved.policy.guessed:
        return None
    name = safe_text(resolved.case.release.name)
    return role_options(resolved.policy, resolved.columns) or f"unveil init {shlex.quote(name)}"
