"""``unveil init``: a policy to start from."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, get_args

import click

from unveil.cli.messages import note_printer, progress_bar, quiet_option
from unveil.cli.output import check_output_files
from unveil.cli.reading import read_release, reading_options, reading_text
from unveil.errors import UnveilError
from unveil.policy import COLUMN_SETTINGS, Policy, Role
from unveil.questions import questions_about, risks_about
from unveil.release import Table
from unveil.settings import Setting, declared_settings, option_text
from unveil.toml_writer import to_toml
from unveil.wording import list_text, safe_text

if TYPE_CHECKING:
    from unveil.release.repeated_subjects import RepeatedSubjects

__all__ = ["command", "policy_text"]

_EPILOG = """\b
Examples:
  unveil init patients.csv
  unveil init patients.csv -o patients.toml
"""


@click.command("init", epilog=_EPILOG)
@click.argument("file", type=click.Path())
@reading_options
@click.option("-o", "--output", default="unveil.toml", show_default=True, metavar="FILE", help="Where to write it.")
@click.option("--force", is_flag=True, help="Overwrite an existing policy.")
@quiet_option
def command(file: str, output: str, force: bool, quiet: bool, **given: Any) -> None:
    """Write a commented policy for FILE, with a suggested role for every column.

    The suggestions are guesses and stay marked as guesses until you confirm them by editing the policy.
    """
    from unveil.release.delivery import open_atomic
    from unveil.release.repeated_subjects import find_repeated_subjects
    from unveil.release.roles import complete_roles

    check_output_files([output], [file])
    if os.path.exists(output) and not force:
        raise UnveilError(f"{safe_text(output, 200)} exists; pass --force to overwrite it or -o to write elsewhere")
    with progress_bar(reading_text(file), quiet):
        release = read_release(file, given)
        policy, columns = complete_roles(Policy(), release) if isinstance(release, Table) else (Policy(), ())
        rows = find_repeated_subjects(release, policy) if isinstance(release, Table) else None
    reasons = {c.name: c.why for c in columns}
    with open_atomic(output) as written:
        written.write(policy_text(policy, release.name, release.kind, reasons, rows).encode())
    use = "" if output == "unveil.toml" else f" --policy {safe_text(output, 200)}"
    note_printer(quiet)(
        f"policy written to {safe_text(output, 200)}; check it, then run: unveil assess {safe_text(file, 200)}{use}"
    )


def policy_text(
    policy: Policy, name: str, kind: str, reasons: dict[str, str], rows: RepeatedSubjects | None = None
) -> str:
    """A policy as commented TOML, with what there is to say if several rows seem to be one person."""
    parts = [_policy_head(policy, name, kind)]
    if kind == "table":
        parts += [_columns_section(policy, reasons, rows)]
    parts += [_tables_section(kind), _room_settings(policy, kind), _tolerance_section(policy, kind)]
    return "\n".join(part for part in parts if part)


def _policy_head(policy: Policy, name: str, kind: str) -> str:
    """The policy's own settings that say nothing about single columns, as they are."""
    lines = [f"# The policy for {safe_text(name)}. Every line can be changed; lines that begin with # are comments."]
    for own, setting in _shared_settings(kind).items():
        if own not in COLUMN_SETTINGS and not _is_table(setting):
            lines += ["", *_comment(setting), f"{own} = {to_toml(getattr(policy, own))}"]
    return "\n".join([*lines, ""])


def _tables_section(kind: str) -> str:
    """The policy's own settings that are tables, as comments; in TOML they follow everything at the top."""
    tables = {name: setting for name, setting in _shared_settings(kind).items() if _is_table(setting)}
    return "".join(
        "\n".join([*_comment(setting), f"# [{name}]", f"# {setting.example}", ""]) for name, setting in tables.items()
    )


def _shared_settings(kind: str) -> dict[str, Setting]:
    """The settings of the policy itself that say something about such a release."""
    return {name: s for name, s in declared_settings(Policy).items() if kind in (s.release_kinds or (kind,))}


def _is_table(setting: Setting) -> bool:
    return setting.kind.endswith("per column")


def _columns_section(policy: Policy, reasons: dict[str, str], rows: RepeatedSubjects | None) -> str:
    declared = declared_settings(Policy)
    lines = ["[columns]"]
    if policy.guessed:
        lines += [
            "# These roles are guesses. Take a column out of this list once you have checked its role below;",
            '# as long as any is listed, the verdict is never "release".',
            f"guessed = {to_toml(policy.guessed)}",
        ]
    for role in get_args(Role):
        lines += ["", *_comment(declared[role])]
        if role != "quasi":
            lines += _role_lines(role, getattr(policy, role), reasons)
            continue
        lines += ["# Several sets: quasi = [[...], [...]]"]
        if len(policy.quasi) > 1:
            lines += ["quasi = [", *(f"    {to_toml(group)}," for group in policy.quasi), "]"]
        else:
            lines += _role_lines("quasi", policy.quasi[0] if policy.quasi else (), reasons)
    person, ratings = (rows.person, rows.ratings) if rows and not rows.second else ("person", ())
    subject = "" if policy.subject else "# "
    lines += ["", *_comment(declared["subject"])]
    if rows:
        of = f"pair of {list_text([rows.person, rows.second])}" if rows.second else f"value of {safe_text(rows.person)}"
        lines += [f"# (each {of} is in {rows.rows:.1f} rows on average)"]
    lines += [f"{subject}subject = {to_toml(policy.subject or person)}"]
    for name in ("weight", "household"):
        guess = next((c for c, why in reasons.items() if option_text(name) in why), name)
        lines += ["", *_comment(declared[name]), f"# {name} = {to_toml(guess)}"]
    rated = "" if policy.ratings else "# "
    lines += ["", *_comment(declared["ratings"])]
    if ratings:
        lines += ["# (These columns then have no role above.)"]
    lines += [f"{rated}ratings = {to_toml(policy.ratings or ratings or ('person', 'item', 'value'))}", ""]
    return "\n".join(lines)


def _role_lines(role: str, names: Iterable[str], reasons: dict[str, str]) -> list[str]:
    rows = [f"    {to_toml(n)},{f'  # {safe_text(reasons[n])}' if reasons.get(n) else ''}" for n in names]
    return [f"{role} = [", *rows, "]"] if rows else [f"{role} = []"]


def _room_settings(policy: Policy, kind: str) -> str:
    """The settings of the rooms that are asked about such a release, as comments with their defaults."""
    lines: list[str] = []
    for question in questions_about(kind):
        chosen = policy.settings.get(question.name)
        all_of_them = {} if chosen is None else declared_settings(chosen)
        own = {
            name: setting for name, setting in all_of_them.items() if kind in (setting.release_kinds or question.kinds)
        }
        if own:
            lines += [f"[{question.name}]"]
        tables = {name: setting for name, setting in own.items() if _is_table(setting)}
        for name, setting in own.items():
            if name not in tables:
                value = getattr(chosen, name)
                lines += ["#", *_comment(setting)]
                lines += [f"# {name} = {to_toml(_example(setting) if value is None else value)}"]
        for name, setting in tables.items():
            lines += ["#", *_comment(setting), f"# [{question.name}.{name}]", f"# {setting.example}"]
        lines += [""] if own else []
    return "\n".join(lines)


def _comment(setting: Setting) -> list[str]:
    """What a setting means, and what it may be."""
    choices = f" One of {', '.join(setting.choices)}." if setting.kind == "text" and setting.choices else ""
    return _wrap_comment(setting.help + choices)


def _wrap_comment(text: str) -> list[str]:
    return textwrap.wrap(text, 100, initial_indent="# ", subsequent_indent="# ")


def _example(setting: Setting) -> object:
    """Something to write where there is no default."""
    return setting.example if setting.example is not None else 10 if setting.kind == "whole number" else ""


def _tolerance_section(policy: Policy, kind: str) -> str:
    """Every check, with what is tolerated now."""
    lines = [
        "[tolerance]",
        "# What is tolerated. Remove the # to override the preset; a check without a number is for information only.",
    ]
    for risk in risks_about(kind):
        if not risk.needs:
            value = policy.tolerance_for(risk)
            lines += ["#", *_wrap_comment(risk.summary)]
            lines += [f"# {risk.id} = {'' if value is None else f'{value:g}'}".rstrip()]
    return "\n".join(lines) + "\n"
