"""The role of each column: identifier, quasi-identifier, sensitive or insensitive.

The policy assigns roles. Where it does not, a role is suggested from the column's name, type and number of distinct
values. A suggestion stays visible as a guess: with guessed roles the verdict is never ``release``.

- If the policy names no quasi-identifiers, the role of every column that it does not name is guessed.
- If it names some, the other columns are assumed to tell an attacker nothing, unless their name says otherwise or they
  are nearly unique; the roles of those stay guesses until the policy assigns them.
"""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, get_args

from unveil.errors import UnveilError
from unveil.policy import Column, Policy, Role
from unveil.release.column_profile import ColumnProfile, cast_to_numbers, profile_columns
from unveil.release.column_topics import AMBIGUOUS_TOPICS, TOPICS, find_topics
from unveil.release.table import Table
from unveil.release.value_topics import are_round_amounts, are_test_results, is_flag, recognise_topic
from unveil.run import Run
from unveil.settings import option_text
from unveil.wording import count_text, list_text, safe_text

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "RoleGuess",
    "check_column",
    "complete_roles",
    "likely_attackers",
    "quote_names",
    "role_options",
    "suggest_roles",
    "too_many_guesses",
]


_MEASUREMENT_SHARE = 0.5
_HEALTH_TABLE = 3  # columns named after health from which a table is about health
_VALUE_TEXTS = {
    "email": "email addresses",
    "url": "web addresses",
    "ip address": "IP addresses",
    "device": "addresses of devices",
    "social security": "social security numbers",
    "phone": "phone numbers",
    "account": "account numbers",
    "health": "codes of diagnoses",
}
_BOOKKEEPING = {"sampling weight": "weight", "household number": "household"}  # topics that a setting declares
_LIKELY_KNOWLEDGE = {
    "a neighbour": ("region", "place", "person"),
    "a colleague": ("person", "work"),
    "someone who knows when it happened": ("person", "time"),
    "someone who has seen the person": ("person", "body"),
}
"""The topics that someone is likely to know about; without a column about the last, it is not worth a set."""
_MOST_KNOWN = 12  # guessed quasi-identifiers from which nobody is likely to know all
_MAX_COMMAND_LINE = 1000
_NAME_SIMILARITY = 0.7  # similarity from which a name is offered as a correction


def complete_roles(policy: Policy, table: Table, run: Run | None = None) -> tuple[Policy, tuple[Column, ...]]:
    """The policy with a role for every column, and the columns with the origin of their roles."""
    _check_policy_columns(policy, table)
    _check_subject_complete(policy, table, run)
    there = set(table.columns)
    policy = replace(
        policy,
        identifier=tuple(c for c in policy.identifier if c in there),
        guessed=tuple(c for c in policy.guessed if c in there),
    )
    counted_by = (policy.subject, policy.weight, policy.household)
    unnamed = [c for c in table.columns if c not in (*policy.roles, *policy.ratings, *counted_by)]
    guesses = suggest_roles(table, policy.missing, run) if unnamed else {}
    if policy.quasi or policy.ratings:
        guesses = {name: guess for name, guess in guesses.items() if guess.is_evident}
    columns = tuple(
        _column_role(name, policy, guesses.get(name) if name in unnamed else None) for name in table.columns
    )
    return _add_guesses(policy, [c for c in columns if c.name in unnamed and c.origin == "guessed"]), columns


def _column_role(name: str, policy: Policy, guess: RoleGuess | None) -> Column:
    role = policy.roles.get(name)
    if role is not None and name in policy.guessed:
        return Column(name, role, "guessed", "suggested, not yet confirmed")
    if role is not None:
        return Column(name, role, "given")
    if name == policy.subject:
        return Column(name, "insensitive", "assumed", "says which rows belong to the same person")
    if name == policy.weight:
        return Column(name, "insensitive", "assumed", "says how many people a row stands for")
    if name == policy.household:
        return Column(name, "insensitive", "assumed", "says which people live in the same household")
    if name in policy.ratings:
        return Column(name, "quasi", "assumed", "what someone may know about a person")
    if guess is not None:
        return Column(name, guess.role, "guessed", guess.why)
    return Column(name, "insensitive", "assumed", "not named in the policy")


def _add_guesses(policy: Policy, guesses: list[Column]) -> Policy:
    """The policy with the guesses added. Guessed quasi-identifiers form a set only if the owner gave none: the
    attacker's knowledge must not change behind the owner's back."""

    def columns_guessed(role: Role) -> tuple[str, ...]:
        return tuple(c.name for c in guesses if c.role == role)

    quasi = () if policy.quasi or policy.ratings else columns_guessed("quasi")
    return replace(
        policy,
        identifier=policy.identifier + columns_guessed("identifier"),
        quasi=policy.quasi + ((quasi,) if quasi else ()),
        sensitive=policy.sensitive + columns_guessed("sensitive"),
        insensitive=policy.insensitive + columns_guessed("insensitive"),
        guessed=policy.guessed + tuple(c.name for c in guesses),
    )


@dataclass(frozen=True)
class RoleGuess:
    """A suggested role and the reason. ``is_evident``: the column's name says so, or its values are nearly unique."""

    role: Role
    why: str
    is_evident: bool = False


def suggest_roles(table: Table, missing: tuple[str, ...], run: Run | None = None) -> dict[str, RoleGuess]:
    """A suggested role for every column."""
    profiles, encoded = profile_columns(table, missing, run), table.codes(table.columns, missing, run)
    guesses = {name: _suggest_role(p, encoded[name].values) for name, p in profiles.items()}
    about_health = [name for name in guesses if "health" in find_topics(name)]
    if len(about_health) >= _HEALTH_TABLE:
        flags = [c for c, g in guesses.items() if not g.is_evident and is_flag(encoded[c].values)]
        guesses |= dict.fromkeys(flags, RoleGuess("sensitive", "yes or no, in a table about health"))
    return guesses


def _suggest_role(column: ColumnProfile, values: pa.Array) -> RoleGuess:
    if column.distinct <= 1:
        return RoleGuess("insensitive", "the same in every row")
    if (seen := recognise_topic(values)) is not None:
        return RoleGuess(TOPICS[seen].role, f"its values look like {_VALUE_TEXTS[seen]}", is_evident=True)
    if are_test_results(values):
        return RoleGuess("sensitive", "its values look like results of a test", is_evident=True)
    called = find_topics(column.name)
    if column.type not in ("number", "whole number") and not is_flag(values):
        called = {topic: word for topic, word in called.items() if topic not in AMBIGUOUS_TOPICS}
    different = count_text(column.distinct, "different value")
    if column.type == "date":
        return RoleGuess("quasi", f"a date with {different}", is_evident=True)
    hit = {role: [word for topic, word in called.items() if TOPICS[topic].role == role] for role in get_args(Role)}
    if hit["identifier"] and not (hit["quasi"] or hit["sensitive"]) and column.distinct > 2:
        return RoleGuess("identifier", f"its name contains {hit['identifier'][0]!r}", is_evident=True)
    for role in ("sensitive", "quasi"):
        if hit[role]:
            return RoleGuess(role, f"its name contains {hit[role][0]!r}", is_evident=True)
    for topic, setting in _BOOKKEEPING.items():
        if topic in called:
            return RoleGuess("insensitive", f"seems to be a {topic}; if it is, say so with {option_text(setting)}")
    if are_round_amounts(cast_to_numbers(values)):
        return RoleGuess("sensitive", "its values look like amounts of money", is_evident=True)
    if column.is_nearly_unique and column.type in ("text", "whole number"):
        return RoleGuess("identifier", f"{different} in {count_text(column.rows, 'row')}", is_evident=True)
    if column.type == "number" or column.distinct > _MEASUREMENT_SHARE * column.rows:
        return RoleGuess("insensitive", f"a measurement with {different}")
    return RoleGuess("quasi", f"{different} that others may know")


def likely_attackers(columns: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """What different people are likely to know of many columns, by the names of the columns: a neighbour, a colleague,
    someone who knows when something happened, someone who has seen the person."""
    topics = {name: find_topics(name).keys() for name in columns}
    sets: dict[str, tuple[str, ...]] = {}
    for who, known in _LIKELY_KNOWLEDGE.items():
        about = tuple(name for name, found in topics.items() if found & set(known))
        if any(known[-1] in topics[name] for name in about) and about not in sets.values():
            sets[who] = about
    return sets


def too_many_guesses(policy: Policy) -> tuple[str, ...]:
    """The guessed quasi-identifiers, if they are more than anyone is likely to know at once."""
    guessed = tuple(c for c in policy.quasi_columns if c in policy.guessed)
    return guessed if len(guessed) > _MOST_KNOWN else ()


def role_options(policy: Policy, columns: Iterable[Column]) -> str | None:
    """The command-line options that confirm the guesses; None if they are too long or cannot be typed. A column that
    is guessed to be a quasi-identifier joins every set that the policy gives."""
    guessed = tuple(c.name for c in columns if c.role == "quasi" and c.name not in policy.roles)
    groups = [(*group, *guessed) for group in policy.quasi]
    said = [f"{option_text('quasi')} {shlex.quote(','.join(quote_names(group)))}" for group in groups]
    for role in ("identifier", "sensitive", "insensitive"):
        names = tuple(c for c in getattr(policy, role) if role != "insensitive" or c in policy.guessed)
        if names:
            said.append(f"--{role} {shlex.quote(','.join(quote_names(names)))}")
    line = " ".join(said)
    return line if policy.quasi and safe_text(line, _MAX_COMMAND_LINE) == line else None


def quote_names(names: tuple[str, ...]) -> list[str]:
    """Names for a comma-separated list; a name that contains a comma or a quote is put in double quotes."""
    return ['"' + n.replace('"', '""') + '"' if set(n) & set(',"') else n for n in names]


def _check_policy_columns(policy: Policy, table: Table) -> None:
    """Refuse a policy that names a column that is not there, except an identifier, which should be gone."""
    named = [c for c, role in policy.roles.items() if role != "identifier"]
    for name in [*named, *([policy.subject] if policy.subject else []), *policy.ratings]:
        check_column(table, name)


def check_column(table: Table, name: str) -> None:
    """Refuse a column that is not there."""
    if name in table.columns:
        return
    folded = {c.casefold(): c for c in table.columns}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=_NAME_SIMILARITY)
    hint = f"did you mean {safe_text(folded[close[0]])!r}?" if close else f"there are {list_text(table.columns)}"
    raise UnveilError(f"{safe_text(table.name)}: no column is called {safe_text(name)!r}; {hint}")


def _check_subject_complete(policy: Policy, table: Table, run: Run | None) -> None:
    """Refuse rows without a subject: people could not be counted."""
    if policy.subject is None:
        return
    gone = int((table.codes([policy.subject], policy.missing, run)[policy.subject].codes < 0).sum())
    if gone:
        raise UnveilError(
            f"{safe_text(table.name)}: {count_text(gone, 'row has', 'rows have')} no value in "
            f"{safe_text(policy.subject)!r}, the column that says whose row it is; fill in the value, or leave out "
            "subject"
        )
