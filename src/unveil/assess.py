"""Who asks: every question that applies, then the verdict.

This file (with ``protect.py``) is the only one that knows every room. A new room adds its question to ``QUESTIONS``
and its tolerances to the presets of ``policy.py``; nothing else changes.
"""

from __future__ import annotations

import datetime
import shlex
import time
from collections.abc import Iterator
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from unveil.assessment import Assessment, Column, Provenance, Summary
from unveil.case import Case
from unveil.classes.ask import QUESTION as CLASSES
from unveil.errors import UnveilError
from unveil.finding import Finding
from unveil.items.ask import QUESTION as ITEMS
from unveil.linkage.ask import QUESTION as LINKAGE
from unveil.matching.ask import QUESTION as MATCHING
from unveil.network.ask import QUESTION as NETWORK
from unveil.policy import PRESETS, Policy
from unveil.question import Question
from unveil.release import Release
from unveil.release.ask import QUESTION as RELEASE
from unveil.release.roles import command_line, complete
from unveil.release.table import Table
from unveil.run import Progress, Run
from unveil.verdict import decide
from unveil.wording import counted, listed, shown

__all__ = ["QUESTIONS", "assess", "ready", "run_for"]

QUESTIONS: tuple[Question, ...] = (RELEASE, CLASSES, LINKAGE, ITEMS, NETWORK, MATCHING)

_ERROR_RATE = 0.05
_LIBRARIES = ("unveil", "numpy", "pyarrow", "duckdb")


def assess(
    release: Release | Case,
    policy: Policy | None = None,
    *,
    reveal: bool = False,
    exposed: int = 10,
    progress: Progress | None = None,
) -> Assessment:
    """Attack a release with every question that applies to it, and decide.

    Parameters
    ----------
    release
        What would be published, or a :class:`Case` that adds what else is known.
    policy
        Column roles, the attacker's knowledge, tolerances, seed. Without one, roles are guessed and the verdict is
        never ``release``.
    reveal
        Let the findings name subjects and values. Off by default: the result can then be passed on.
    exposed
        How many of the most exposed subjects each finding lists.
    progress
        Called with what is being done and the fraction done.
    """
    case, policy = _checked(release, policy)
    started, clock = datetime.datetime.now(datetime.UTC), time.perf_counter()
    asked_for = policy
    applicable = [q for q in QUESTIONS if case.release.kind in q.kinds]
    for question in applicable:
        if question.check is not None:
            question.check(case, policy)
    run = run_for(case, policy, reveal=reveal, exposed=exposed, progress=progress)
    case, policy, columns = ready(case, policy, run)
    findings = tuple(f for q in applicable for f in _answers(q, case, policy, run))
    return Assessment(
        release=Summary(case.release.kind, case.release.name, case.release.size, case.release.notes),
        verdict=decide(findings, _doubts(case, policy, findings)),
        findings=findings,
        columns=columns,
        suggestion=_suggestion(case, policy),
        provenance=Provenance(
            sha256=case.release.digest,
            beside=MappingProxyType(_beside(case)),
            versions=MappingProxyType(_versions()),
            policy=MappingProxyType(_told(asked_for, reveal)),
            seed=policy.seed,
            started=started.isoformat(timespec="seconds"),
            seconds=round(time.perf_counter() - clock, 3),
        ),
    )


def run_for(
    case: Case, policy: Policy, *, reveal: bool = False, exposed: int = 10, progress: Progress | None = None
) -> Run:
    """The run in which questions are asked of a case: each of m sampled findings that decide holds with a confidence of
    1 − .05/m, so that all of them hold together with 95 %."""
    asked = [f for q in QUESTIONS if case.release.kind in q.kinds for f in q.sampled]
    sampled = sum(policy.tolerated(f) is not None for f in asked)
    run = Run(policy.seed, exposed, reveal, 1 - _ERROR_RATE / max(sampled, 1))
    return run if progress is None else replace(run, progress=progress)


def ready(case: Case, policy: Policy, run: Run) -> tuple[Case, Policy, tuple[Column, ...]]:
    """What questions are asked of: the case with the hierarchies that the policy names, and the policy with a role for
    every column of a table."""
    from unveil.release.hierarchies import hierarchies

    if not isinstance(case.release, Table):
        return case, policy, ()
    policy, columns = complete(policy, case.release, run)
    tables = [t for t in (case.release, *case.holds.values()) if isinstance(t, Table)]
    made = {**hierarchies(policy.hierarchy, tables, policy, run), **case.hierarchies}
    for column in policy.sensitive:
        if column in made:
            made[column].check(case.release.codes([column], policy.missing, run)[column].values)
    return replace(case, hierarchies=MappingProxyType(made)), policy, columns


def _beside(case: Case) -> dict[str, str]:
    """The hash of everything that was read beside the release."""
    held = {"original": case.original, **case.holds}
    found = {name: release.digest for name, release in held.items() if release is not None}
    return found | {f"hierarchy of {column}": made.digest for column, made in case.hierarchies.items()}


def _told(policy: Policy, reveal: bool) -> dict[str, Any]:
    """The policy as the result may tell it: sensitive values that it names are hidden."""
    told = policy.to_dict()
    if not reveal:
        told["ruled_out"] = {column: ["hidden"] * len(v) for column, v in policy.ruled_out.items()}
    return told


def _suggestion(case: Case, policy: Policy) -> str | None:
    """How to turn guesses into given roles."""
    if not policy.guessed:
        return None
    return command_line(policy) or f"unveil init {shlex.quote(shown(case.release.name))}"


def _versions() -> dict[str, str]:
    import platform
    from importlib.metadata import version

    return {"python": platform.python_version()} | {name: version(name) for name in _LIBRARIES}


def _checked(release: Release | Case, policy: Policy | None) -> tuple[Case, Policy]:
    """What was handed in, if it can be assessed."""
    case = release if isinstance(release, Case) else Case(release)
    if not isinstance(case.release, Release):
        raise UnveilError(f"cannot assess a {type(case.release).__name__}: give what unveil.read(...) returns")
    if policy is not None and not isinstance(policy, Policy):
        raise UnveilError(f"the policy is a {type(policy).__name__}: make it with unveil.Policy(...)")
    policy = policy or Policy()
    known = {q.name for q in QUESTIONS}
    for name in policy.require:
        if name not in known:
            raise UnveilError(f"policy: no question is called {shown(name)!r}; choose from {listed(sorted(known))}")
    if not isinstance(case.release, Table) and (policy.roles or policy.subject or policy.hierarchy):
        raise UnveilError(
            f"{shown(case.release.name)}: was read as {case.release.kind}, which has no columns; leave out the roles, "
            "or say --kind table"
        )
    return case, policy


def _doubts(case: Case, policy: Policy, findings: tuple[Finding, ...]) -> list[str]:
    """Why a person has to decide, whatever was measured."""
    doubts = []
    answered = {f.question for f in findings if f.decides}
    unanswered = [name for name in policy.require if name not in answered]
    if unanswered:
        doubts.append(f"Required, but nothing there could be held against a tolerance: {listed(unanswered)}.")
    unmeasured = [name for name in _tolerances_set(case, policy) if not _measured(name, findings)]
    if unmeasured:
        doubts.append(f"There is a tolerance for it, but it was not measured: {listed(unmeasured)}.")
    if isinstance(case.release, Table) and policy.missing_as == "excluded" and policy.subject is None:
        left = case.release.rows - min((f.subjects for f in findings if f.id == "classes.k"), default=case.release.rows)
        if left:
            doubts.append(f"{left:,} of {counted(case.release.rows, 'row')} lack a quasi-identifier and were left out.")
    if isinstance(case.release, Table) and not (policy.quasi or policy.ratings):
        doubts.append("Nobody said what an attacker may know.")
    doubts += _estimated(case, policy, findings)
    if policy.ratings and all(policy.tolerated(f"linkage.{name}") is None for name in ("success", "own_row")):
        found = next((f.value_text for f in findings if f.id == "linkage.success"), "an unknown share")
        doubts.append(
            f"Someone who knows {counted(policy.things_known, 'rating')} of a person finds {found} of the people, and "
            "nobody said how many may be found: linkage.success has no tolerance."
        )
    if policy.guessed:
        doubts.append(f"Nobody said what these columns are: {listed(policy.guessed)}; their roles are guesses.")
    return doubts


def _tolerances_set(case: Case, policy: Policy) -> list[str]:
    """The findings about such a release that only the policy holds against a tolerance, not the preset."""
    asked = {f for q in QUESTIONS if case.release.kind in q.kinds for f in q.findings}
    preset = PRESETS[policy.preset].tolerance
    return [n for n, value in policy.tolerance.items() if value is not None and n in asked and preset.get(n) is None]


def _estimated(case: Case, policy: Policy, findings: tuple[Finding, ...]) -> list[str]:
    """What only the policy holds against a tolerance, and could only be estimated."""
    names = _tolerances_set(case, policy)
    return [
        f"{f.title}: {f.value_text}, tolerated {f.tolerance_text}, but that is an estimate, which decides nothing."
        for f in findings
        if f.id in names and f.method == "estimate" and not f.decides
    ]


def _measured(name: str, findings: tuple[Finding, ...]) -> bool:
    return any(f.id == name or f.id.startswith(f"{name}.") for f in findings)


def _answers(question: Question, case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
    """The question's findings, each with the seconds it took; a question that breaks is itself a finding."""
    run.progress(question.title, None)
    clock = time.perf_counter()
    answers, answered = iter(question.ask(case, policy, run)), 0
    while True:
        try:
            finding = next(answers)
        except StopIteration:
            return
        except (UnveilError, MemoryError) as error:
            yield _failed(question, answered, str(error) or "not enough memory", case, policy)
            return
        answered += 1
        now = time.perf_counter()
        yield replace(finding, seconds=round(now - clock, 3))
        clock = now


def _failed(question: Question, answered: int, why: str, case: Case, policy: Policy) -> Finding:
    """Instead of the answers that are missing."""
    return Finding(
        id=f"{question.name}.failed",
        question=question.name,
        title=question.title,
        value=None,
        unit="",
        method=None,
        subjects=0,
        direction="lower",
        decides=any(policy.tolerated(f) is not None for f in question.findings),
        attacker="",
        sentence=f"{'The rest' if answered else 'This'} could not be measured: {why}.",
    )
