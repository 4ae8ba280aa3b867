"""What each column is: identifier, quasi-identifier, sensitive or insensitive.

The policy says so. Where it does not, a role is suggested from the column's name, type and number of different values,
and a suggestion stays visible as a guess: with guessed roles there is no verdict ``release``.

- Nothing said about quasi-identifiers: every column that the policy does not name is guessed.
- Quasi-identifiers given: columns that the policy does not name are assumed to tell an attacker nothing, unless their
  name says otherwise or they are nearly unique; those stay guesses until the policy gives them a role.
"""

from __future__ import annotations

import difflib
import re
import shlex
from dataclasses import dataclass, replace

from unveil.errors import UnveilError
from unveil.policy import Column, Policy, Role
from unveil.release.profile import Profile, profile
from unveil.release.table import Table
from unveil.run import Run
from unveil.wording import counted, listed, shown

__all__ = ["Guess", "check_column", "command_line", "complete", "quoted", "suggest", "words"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORDS: dict[Role, frozenset[str]] = {
    "identifier": _words(
        "name firstname lastname surname forename givenname familyname fullname maiden email mail phone telephone "
        "mobile fax ssn sin nino nhs passport licence license iban account address street url ip mac imei vin plate "
        "id uid uuid guid mrn patient subject person customer client member user username login record rec"
    ),
    "sensitive": _words(
        "diagnosis diagnoses diagnose disease illness condition icd icd10 symptom treatment drug medication salary "
        "income wage wages pay earnings cost charge debt loan credit balance capital religion faith belief party vote "
        "orientation hiv disability offence offense crime conviction outcome result grade score"
    ),
    "quasi": _words(
        "geburtsdatum geschlecht alter wohnort beruf "
        "age birth birthdate birthday dob born sex gender zip zipcode postcode postal plz city town municipality "
        "county state region district country nationality citizenship native race ethnicity ethnic language marital "
        "married relationship children household education degree school occupation job profession employer work "
        "workclass industry department ward date day month year time admitted admission discharge discharged death "
        "died weight height latitude longitude lat lon lng location place hours"
    ),
}
_MANY = 0.5
_LONGEST = 1000
_LIKE = 0.7  # how like a name must be to be meant


def complete(policy: Policy, table: Table, run: Run | None = None) -> tuple[Policy, tuple[Column, ...]]:
    """The policy with a role for every column, and the roles with their origin."""
    _check_names(policy, table)
    _check_subject(policy, table, run)
    there = set(table.columns)
    policy = replace(
        policy,
        identifier=tuple(c for c in policy.identifier if c in there),
        guessed=tuple(c for c in policy.guessed if c in there),
    )
    unnamed = [c for c in table.columns if c not in (*policy.roles, *policy.ratings, policy.subject)]
    guesses = suggest(table, policy.missing, run) if unnamed else {}
    if policy.quasi or policy.ratings:
        guesses = {name: guess for name, guess in guesses.items() if guess.telling}
    columns = tuple(_column(name, policy, guesses.get(name) if name in unnamed else None) for name in table.columns)
    return _with_guesses(policy, [c for c in columns if c.name in unnamed and c.origin == "guessed"]), columns


def _column(name: str, policy: Policy, guess: Guess | None) -> Column:
    role = policy.roles.get(name)
    if role is not None and name in policy.guessed:
        return Column(name, role, "guessed", "suggested, not yet confirmed")
    if role is not None:
        return Column(name, role, "given")
    if name == policy.subject:
        return Column(name, "insensitive", "given", "says which rows are the same person")
    if name in policy.ratings:
        return Column(name, "quasi", "given", "what someone may know of a person")
    if guess is not None:
        return Column(name, guess.role, "guessed", guess.why)
    return Column(name, "insensitive", "assumed", "not named in the policy")


def _with_guesses(policy: Policy, guesses: list[Column]) -> Policy:
    """The policy with the guesses in it. Guessed quasi-identifiers make a set only where none was given: what an
    attacker knows is not changed behind the owner's back."""

    def named(role: Role) -> tuple[str, ...]:
        return tuple(c.name for c in guesses if c.role == role)

    quasi = () if policy.quasi or policy.ratings else named("quasi")
    return replace(
        policy,
        identifier=policy.identifier + named("identifier"),
        quasi=policy.quasi + ((quasi,) if quasi else ()),
        sensitive=policy.sensitive + named("sensitive"),
        insensitive=policy.insensitive + named("insensitive"),
        guessed=policy.guessed + tuple(c.name for c in guesses),
    )


@dataclass(frozen=True)
class Guess:
    """A suggested role, why, and whether the column tells so itself: by its name, or because it is nearly unique."""

    role: Role
    why: str
    telling: bool = False


def suggest(table: Table, missing: tuple[str, ...], run: Run | None = None) -> dict[str, Guess]:
    """A role for every column, with the reason."""
    return {name: _suggest(p) for name, p in profile(table, missing, run).items()}


def _suggest(column: Profile) -> Guess:
    if column.distinct <= 1:
        return Guess("insensitive", "the same in every row")
    called = words(column.name)
    hit = {role: sorted(called & known) for role, known in _WORDS.items()}
    if hit["identifier"] and not (hit["quasi"] or hit["sensitive"]) and column.distinct > 2:
        return Guess("identifier", f"called {hit['identifier'][0]!r}", telling=True)
    for role in ("sensitive", "quasi"):
        if hit[role]:
            return Guess(role, f"called {hit[role][0]!r}", telling=True)
    different = counted(column.distinct, "different value")
    if column.type == "date":
        return Guess("quasi", f"a date with {different}", telling=True)
    if column.nearly_unique and column.type in ("text", "whole number"):
        return Guess("identifier", f"{different} in {counted(column.rows, 'row')}", telling=True)
    if column.type == "number" or column.distinct > _MANY * column.rows:
        return Guess("insensitive", f"a measurement with {different}")
    return Guess("quasi", f"{different} that others may know")


def words(name: str) -> set[str]:
    """What a column is called, word by word.

    >>> sorted(words("dateOf_Birth"))
    ['birth', 'date', 'of']
    """
    return set(re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()))


def command_line(policy: Policy) -> str | None:
    """The options that would say what was guessed here; None if they do not fit on a line or cannot be typed."""
    said = [f"--quasi {shlex.quote(','.join(quoted(group)))}" for group in policy.quasi]
    for role in ("identifier", "sensitive", "insensitive"):
        names = tuple(c for c in getattr(policy, role) if role != "insensitive" or c in policy.guessed)
        if names:
            said.append(f"--{role} {shlex.quote(','.join(quoted(names)))}")
    line = " ".join(said)
    return line if policy.quasi and shown(line, _LONGEST) == line else None


def quoted(names: tuple[str, ...]) -> list[str]:
    """Names for a comma-separated list; one that holds a comma or a quote stands in double quotes."""
    return ['"' + n.replace('"', '""') + '"' if set(n) & set(',"') else n for n in names]


def _check_names(policy: Policy, table: Table) -> None:
    """Every column that the policy names must be there, but for identifiers: those should be gone."""
    named = [c for c, role in policy.roles.items() if role != "identifier"]
    for name in [*named, *([policy.subject] if policy.subject else []), *policy.ratings, *policy.compare]:
        check_column(table, name)


def check_column(table: Table, name: str) -> None:
    """Refuse a column that is not there."""
    if name in table.columns:
        return
    folded = {c.casefold(): c for c in table.columns}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=_LIKE)
    hint = f"did you mean {shown(folded[close[0]])!r}?" if close else f"there are {listed(table.columns)}"
    raise UnveilError(f"{shown(table.name)}: no column is called {shown(name)!r}; {hint}")


def _check_subject(policy: Policy, table: Table, run: Run | None) -> None:
    """Every row must belong to someone: people cannot be counted otherwise."""
    if policy.subject is None:
        return
    gone = int((table.codes([policy.subject], policy.missing, run)[policy.subject].codes < 0).sum())
    if gone:
        raise UnveilError(
            f"{shown(table.name)}: {counted(gone, 'row')} without a value in {shown(policy.subject)!r}, which says "
            "whose row it is; fill it in, or leave out subject"
        )
