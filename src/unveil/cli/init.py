"""``unveil init``: a policy to start from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unveil.cli.options import reading_options, release_from
from unveil.cli.telling import note, progress
from unveil.errors import UnveilError
from unveil.policy import PRESETS, Policy
from unveil.release import Table
from unveil.toml import toml
from unveil.wording import shown

if TYPE_CHECKING:
    from unveil.release.several import Several

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
@click.option("--quiet", is_flag=True, help="Say nothing on standard error but errors.")
def command(file: str, output: str, force: bool, quiet: bool, **given: Any) -> None:
    """Write a commented policy for FILE, with a suggested role for every column.

    The suggestions are guesses and stay marked as guesses until you confirm them by editing the policy.
    """
    from unveil.release.roles import complete
    from unveil.release.several import several
    from unveil.release.target import atomic

    if Path(output).exists() and not force:
        raise UnveilError(f"{shown(output, 200)} exists; pass --force to overwrite it or -o to write elsewhere")
    with progress(f"reading {shown(file)}", quiet):
        release = release_from(file, given)
        policy, columns = complete(Policy(), release) if isinstance(release, Table) else (Policy(), ())
        rows = several(release, policy) if isinstance(release, Table) else None
    reasons = {c.name: c.why for c in columns}
    with atomic(output) as written:
        written.write(policy_text(policy, release.name, release.kind, reasons, rows).encode())
    use = "" if output == "unveil.toml" else f" --policy {shown(output, 200)}"
    note(quiet)(f"policy written to {shown(output, 200)}; check it, then run: unveil assess {shown(file, 200)}{use}")


def policy_text(policy: Policy, name: str, kind: str, reasons: dict[str, str], rows: Several | None = None) -> str:
    """A policy as commented TOML, with what there is to say if several rows seem to be one person."""
    others = ", ".join(p for p in PRESETS if p != "default")
    parts = [_HEAD.format(name=shown(name), presets=others, missing=toml(policy.missing))]
    if kind == "table":
        parts.append(_columns(policy, reasons, rows))
    parts.append(_tolerances(policy, kind))
    return "\n".join(parts)


_HEAD = """\
# What unveil asks of {name}. Every line can be changed; lines that begin with # are comments.

# Tolerances with a public source; others: {presets}
preset = "default"

# Seed of everything that is sampled: same data, policy and seed give the same numbers.
seed = 0

# Text that stands for a missing or suppressed value.
missing = {missing}
"""


def _columns(policy: Policy, reasons: dict[str, str], rows: Several | None) -> str:
    lines = ["[columns]"]
    if policy.guessed:
        lines += [
            "# These roles are guesses. Take a column out of this list once you have checked its role below;",
            '# as long as any is listed, the verdict is never "release".',
            f"guessed = {toml(policy.guessed)}",
        ]
    lines += ["", "# Columns that name people and must not be in the release:"]
    lines += _role("identifier", policy.identifier, reasons)
    lines += ["", "# What an attacker may know about a person. Several sets: quasi = [[...], [...]]"]
    if len(policy.quasi) > 1:
        lines += ["quasi = [", *(f"    {toml(group)}," for group in policy.quasi), "]"]
    else:
        lines += _role("quasi", policy.quasi[0] if policy.quasi else (), reasons)
    lines += ["", "# What nobody should learn about a person:", *_role("sensitive", policy.sensitive, reasons)]
    lines += ["", "# Columns that help no attacker:", *_role("insensitive", policy.insensitive, reasons)]
    person, ratings = (rows.person, rows.ratings) if rows else ("person", ())
    subject = "" if policy.subject else "# "
    lines += ["", "# The column that says which rows are the same person, if several can be:"]
    if rows:
        lines += [f"# (each value of {shown(rows.person)} is in {rows.rows:.1f} rows on average)"]
    lines += [f"{subject}subject = {toml(policy.subject or person)}"]
    rated = "" if policy.ratings else "# "
    lines += ["", "# Where each row says that a person rated an item: person, item, and perhaps value and date."]
    if ratings:
        lines += ["# (None of these has a role above then.)"]
    lines += [f"{rated}ratings = {toml(policy.ratings or ratings or ('person', 'item', 'value'))}", ""]
    return "\n".join(lines)


def _role(role: str, names: Iterable[str], reasons: dict[str, str]) -> list[str]:
    rows = [f"    {toml(n)},{f'  # {shown(reasons[n])}' if reasons.get(n) else ''}" for n in names]
    return [f"{role} = [", *rows, "]"] if rows else [f"{role} = []"]


def _tolerances(policy: Policy, kind: str) -> str:
    from unveil.assess import QUESTIONS

    names = [finding for question in QUESTIONS if kind in question.kinds for finding in question.findings]
    lines = ["[tolerance]", "# What is tolerated; these override the preset, and false turns one off."]
    tolerated = {name: policy.tolerated(name) for name in names}
    lines += [f"# {name} = {'false' if value is None else f'{value:g}'}" for name, value in tolerated.items()]
    return "\n".join(lines) + "\n"
