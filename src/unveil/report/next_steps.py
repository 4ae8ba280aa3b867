"""What an owner can do after a verdict, and the command for it.

Commands can be copied: they repeat what was typed or, if nothing was, the policy of the assessment as options. A policy
that options cannot express is referred to as ``unveil.toml``, which the page prints at its end.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from unveil import questions
from unveil.assessment import Assessment, TypedCommand
from unveil.errors import UnveilError
from unveil.finding import Finding
from unveil.holding import Holding
from unveil.policy import Policy
from unveil.release.ask import REPEATED_PEOPLE
from unveil.release.kinds import kinds_text
from unveil.release.roles import quote_names
from unveil.release.standard_input import STANDARD_INPUT, STANDARD_INPUT_NAME
from unveil.release.write import choose_writer
from unveil.settings import Setting, declared_settings, option_text
from unveil.wording import list_text, safe_text

__all__ = ["NextStep", "next_steps", "policy_options_text", "protected_name"]

_MAX_OPTIONS = 400  # characters; more are better written to a file
_FALLBACK_ENDINGS = {"table": ".csv", "transactions": ".dat", "graph": ".edges"}


@dataclass(frozen=True)
class NextStep:
    """Something to do, as a sentence, and the command that does it if there is one."""

    sentence: str
    command: str | None = None


def next_steps(assessment: Assessment) -> list[NextStep]:
    """What to do about the verdict, in order."""
    steps = {"protect first": _steps_to_protect, "your call": _steps_to_decide, "release": _steps_to_release}
    found = steps[assessment.verdict.decision](assessment)
    return [s if s.command else NextStep(f"{s.sentence.removesuffix(':').removesuffix('.')}.") for s in found]


def _steps_to_protect(assessment: Assessment) -> Iterator[NextStep]:
    yield NextStep("Do not release this version.")
    failing = [f for f in assessment.findings if f.decides and f.status == "over"]
    decided = assessment.deciding_finding
    if decided is not None and decided.is_unreachable:
        beyond = "below what guessing reaches" if decided.direction == "lower" else "above what all of the data has"
        yield NextStep(f"Decide first whether a tolerance {beyond} is meant.")
        return
    if any(f.id == REPEATED_PEOPLE.id and f.value for f in assessment.findings):
        yield NextStep("Settle first whether several rows belong to one person: every class size depends on it.")
    if len(assessment.protections) > 1:
        yield NextStep("None of the protections tried meets the tolerances: release less, or in less detail.")
    elif not any(q.protected_risks for q in questions.questions_about(assessment.release.kind)):
        of = kinds_text([assessment.release.kind])
        yield NextStep(
            f"unveil has no protection against the risks of {of} yet: change what would be released, then assess it "
            "again."
        )
    elif assessment.unprotectable:
        yield NextStep(f"{assessment.unprotectable[0].upper()}{assessment.unprotectable[1:]}.")
    elif not _is_protectable(failing, assessment):
        yield from _steps_about_roles(assessment)
        yield NextStep(
            "Release coarser values, or less: unveil has no protection against this yet. Then assess the new file:",
            _command("assess", assessment),
        )
    else:
        yield from _steps_about_roles(assessment)
        yield NextStep("Make a safer version, which is then assessed again:", _command("protect", assessment))


def _is_protectable(failing: Sequence[Finding], assessment: Assessment) -> bool:
    """Whether protections lower all risks that fail."""
    lowered = {r.id for q in questions.questions_about(assessment.release.kind) for r in q.protected_risks}
    return all(f.id in lowered for f in failing)


def _steps_to_decide(assessment: Assessment) -> Iterator[NextStep]:
    yield from _steps_about_roles(assessment)
    if assessment.suggestion and _suggested_options(assessment):
        yield NextStep("Assess again with all roles given:", _command("assess", assessment))
    if assessment.checks_off:
        yield NextStep(f"Turn on again what the policy turns off: {list_text(assessment.checks_off, 12)}.")
    yield NextStep("Decide every point that remains, and record who decided it and why.")


def _steps_to_release(assessment: Assessment) -> Iterator[NextStep]:
    if assessment.not_asked:
        yield NextStep("Not all questions were asked: run unveil assess on each file before you publish it.")
    else:
        yield NextStep("Publish exactly this file. Assess it again after any change to it.")


def _steps_about_roles(assessment: Assessment) -> Iterator[NextStep]:
    """Guessed roles have to be confirmed by somebody who knows the data."""
    if assessment.suggestion is None:
        return
    suspected = [c.name for c in assessment.columns if c.role == "identifier" and c.origin == "guessed"]
    if suspected:
        seem, them = ("seems to name", "it") if len(suspected) == 1 else ("seem to name", "them")
        yield NextStep(f"{list_text(suspected)} {seem} people: leave {them} out, as unveil protect does.")
    if _suggested_options(assessment):
        yield NextStep("Some roles are guesses: correct any that are wrong in the next command.")
    else:
        command = None
        if (name := _file_name(assessment)) is not None:
            command = " ".join(
                ["unveil init", shlex.quote(name), *(assessment.typed.reading if assessment.typed else ())]
            )
        yield NextStep("Some roles are guesses: write a policy, and correct any that are wrong in it:", command)


# ---- commands --------------------------------------------------------------------------------------------------------


def _command(verb: str, assessment: Assessment) -> str | None:
    """The command that protects or assesses the release of an assessment under the same policy; None if the release has
    no file, or if values from the data were typed."""
    name = _file_name(assessment)
    if name is None or (assessment.typed is not None and assessment.typed.is_secret):
        return None
    protecting = verb == "protect"
    if assessment.typed is not None:
        options = _typed_options(assessment, assessment.typed, protecting)
    else:
        repeated = _repeated_options(assessment)
        options = ["--policy unveil.toml" if repeated is None else repeated]
        options += [f"{option} FILE" for option in _held_options(assessment, protecting)]
    if protecting:
        options.append(f"-o {shlex.quote(protected_name(name, assessment.release.kind))}")
    line = " ".join(["unveil", verb, shlex.quote(name), *filter(None, options)])
    return line if safe_text(line, len(line)) == line else None


def _file_name(assessment: Assessment) -> str | None:
    """The file of the release, as it was typed if it was; None if it has none."""
    name = assessment.release.name if assessment.typed is None else assessment.typed.file
    return None if name in (STANDARD_INPUT_NAME, STANDARD_INPUT) or name.endswith(" in memory") else name


def _typed_options(assessment: Assessment, typed: TypedCommand, protecting: bool) -> list[str]:
    """What was typed, with the roles that were guessed, and without what the command does not take."""
    left_out, roles = set[str](), [_suggested_options(assessment)]
    if assessment.suggestion:
        left_out |= {option_text(role) for role in ("identifier", "quasi", "sensitive")}
        if not roles[0]:  # the policy that unveil init writes
            roles, left_out = ["--policy unveil.toml"], left_out | {"--policy", option_text("insensitive")}
    left_out |= {h.option for h, _ in questions.all_holdings().values() if not _takes_holding(h, protecting)}
    options = [text for name, texts in typed.options.items() if name not in left_out for text in texts]
    return [*roles, *options, *typed.reading]


def _repeated_options(assessment: Assessment) -> str | None:
    """The policy of the assessment as options, with the roles that were guessed; None if a file says it better."""
    policy, suggested = dict(assessment.provenance.policy), _suggested_options(assessment)
    if assessment.suggestion and not suggested:
        return None
    if suggested:
        policy |= {"identifier": [], "quasi": [], "sensitive": [], "guessed": []}
    given = policy_options_text(policy, assessment.release.kind)
    return given if given is None else f"{suggested} {given}".strip()


def _suggested_options(assessment: Assessment) -> str:
    """The options that state guessed roles; empty if there are none, or if they are too long to type."""
    text = assessment.suggestion or ""
    return "" if text.startswith("unveil ") or len(text) > _MAX_OPTIONS else text


def _held_options(assessment: Assessment, protecting: bool) -> list[str]:
    """The options for the files that the attacker held; where they lie is not known here."""
    held = questions.all_holdings()
    names = [name if name in held else name.rpartition(" ")[0] for name in assessment.provenance.beside]
    found = [held[name][0] for name in names if name in held]
    return [h.option for h in found if _takes_holding(h, protecting)]


def _takes_holding(held: Holding, protecting: bool) -> bool:
    return not (held.only_after_protection if protecting else held.only_for_protection)


def protected_name(name: str, kind: str) -> str:
    """The file beside this one to which a safer release may be written."""
    path = PurePath(name)
    try:
        choose_writer(kind, name)
    except UnveilError:
        return str(path.with_name(f"{path.stem or 'release'}-protected{_FALLBACK_ENDINGS.get(kind, '.csv')}"))
    return str(path.with_name(f"{path.stem}-protected{path.suffix}"))


def policy_options_text(policy: Mapping[str, Any], kind: str) -> str | None:
    """A policy, as plain values, as the command-line options for a kind of release; None if options cannot say it."""
    usual, options = Policy().to_dict(), []
    for name, setting in declared_settings(Policy).items():
        if policy[name] != usual[name] and not (name == "subject" and policy["ratings"]):
            options.append(_option_texts(name, setting, policy[name]))
    for question in questions.questions_about(kind):
        if question.settings is None:
            continue
        for name, setting in declared_settings(question.settings).items():
            value = policy[question.name][name]
            if value != usual[question.name][name] and kind in (setting.release_kinds or question.kinds):
                options.append(None if setting.secret else _option_texts(name, setting, value))
    for risk_id, limit in policy["tolerance"].items():
        options.append([f"--tolerance {risk_id}={'off' if limit is False else repr(limit)}"])
    if any(texts is None for texts in options):
        return None
    line = " ".join(dict.fromkeys(text for texts in options if texts is not None for text in texts))
    return line if safe_text(line, _MAX_OPTIONS) == line else None


def _option_texts(name: str, setting: Setting, value: Any) -> list[str] | None:
    """A setting as it is typed, once or several times; None if it cannot be."""
    option = option_text(name)
    if not setting.option or value in (None, False, [], {}):
        return None
    if setting.kind == "flag":
        return [option]
    if setting.kind == "columns":
        values = [",".join(quote_names(tuple(value)))]
    elif setting.kind == "sets of columns":
        values = [",".join(quote_names(tuple(group))) for group in value]
    elif setting.kind == "share per column":
        values = [f"{what}={share:g}" for what, share in value.items()]
    elif setting.kind in ("text per column", "texts per column"):
        if any("=" in column for column in value):
            return None
        values = [
            f"{c}={text}" for c, texts in value.items() for text in ([texts] if isinstance(texts, str) else texts)
        ]
    else:
        values = [str(v) for v in value] if setting.kind == "texts" else [str(value)]
    return [f"{option} {shlex.quote(v)}" for v in values]
