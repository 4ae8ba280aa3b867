"""Options that several commands share: how to read a file, and what the policy is."""

from __future__ import annotations

import csv
import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import click

from unveil.case import Case
from unveil.errors import UnveilError
from unveil.policy import PRESETS, Policy, is_rule
from unveil.release import Release, Table, Transactions
from unveil.wording import shown

__all__ = [
    "case_from",
    "holding_options",
    "policy_from",
    "policy_options",
    "reading_options",
    "release_from",
    "sources_from",
    "table_from",
    "table_options",
    "table_policy_from",
]

_Command = TypeVar("_Command", bound=Callable[..., Any])

_SHAPE: tuple[Callable[[_Command], _Command], ...] = (
    click.option(
        "--kind",
        type=click.Choice(["table", "transactions", "graph", "matrix"]),
        help="What the file holds, if it is unclear.",
    ),
    click.option("--directed", is_flag=True, help="Edges point from the first node to the second."),
)

_READING: tuple[Callable[[_Command], _Command], ...] = (
    click.option("--delimiter", metavar="CHAR", help="What separates the values; found out by default."),
    click.option("--encoding", help="The text's encoding; UTF-8 by default."),
    click.option("--quote", metavar="CHAR", help='What surrounds quoted values; " by default.'),
    click.option("--header/--no-header", default=None, help="Whether the first line names the columns; it should."),
    click.option("--strip", is_flag=True, help="Drop spaces around values."),
    click.option("--memory-limit", metavar="SIZE", help="How much memory the engine may use, such as 4GB."),
    click.option(
        "--spill",
        type=click.Path(exists=True, file_okay=False, writable=True),
        help="Directory for what does not fit in memory.",
    ),
)

_POLICY: tuple[Callable[[_Command], _Command], ...] = (
    click.option(
        "--policy",
        "policy_file",
        type=click.Path(dir_okay=False),
        help="Policy to use; unveil.toml in the current directory by default.",
    ),
    click.option("--no-policy", is_flag=True, help="Do not look for unveil.toml."),
    click.option(
        "--quasi",
        multiple=True,
        metavar="COLUMNS",
        help="What an attacker knows, comma-separated; repeat it for further sets.",
    ),
    click.option("--identifier", multiple=True, metavar="COLUMNS", help="Columns that name people."),
    click.option("--sensitive", multiple=True, metavar="COLUMNS", help="Columns nobody should learn."),
    click.option("--insensitive", multiple=True, metavar="COLUMNS", help="Columns that tell nobody anything."),
    click.option("--subject", metavar="COLUMN", help="Column that says which rows are the same person."),
    click.option(
        "--ratings",
        metavar="COLUMNS",
        help="Every row says that a person rated, bought or visited something: the columns of person, item and "
        "optionally value and date.",
    ),
    click.option("--missing", multiple=True, metavar="TEXT", help='Text that stands for "missing"; repeatable.'),
    click.option(
        "--missing-as",
        type=click.Choice(["value", "wildcard", "excluded"]),
        help="What a missing quasi-identifier is: a value of its own (default), one that fits anything, or a reason to "
        "leave out the row.",
    ),
    click.option(
        "--hierarchy",
        multiple=True,
        metavar="COLUMN=WHAT",
        help="What the values of a column are kinds of: a file in ARX's format, prefixes, prefixes:4,2, "
        "intervals:5,10,20 or dates. Repeatable.",
    ),
    click.option(
        "--ruled-out",
        multiple=True,
        metavar="COLUMN=VALUE",
        help="A sensitive value that the attacker can rule out; repeatable.",
    ),
    click.option(
        "--compare",
        multiple=True,
        metavar="COLUMN=HOW",
        help="How like values of a column are: equal (default), 2 for at most 2 apart, ~5 for alike up to 5 apart, 30d "
        "for days, support for any value. Repeatable.",
    ),
    click.option(
        "--strict",
        is_flag=True,
        help="Also hold each sensitive column against the tolerance for someone who knows the other sensitive ones.",
    ),
    click.option("--preset", type=click.Choice(list(PRESETS)), help="Tolerances with a public source."),
    click.option(
        "--tolerance",
        multiple=True,
        metavar="FINDING=VALUE",
        help="What is tolerated, such as classes.k=11; =off turns it off. Of baskets, a bare number is the share of "
        "items cracked.",
    ),
    click.option(
        "--things-known",
        type=click.IntRange(min=1),
        metavar="NUMBER",
        help="How many random quasi-identifiers or ratings of a person the attacker knows; 4 by default.",
    ),
    click.option("--seed", type=click.IntRange(min=0), help="Seed of everything that is sampled."),
)

_BASKET: tuple[Callable[[_Command], _Command], ...] = (
    click.option(
        "--width",
        metavar="WIDTH",
        help="How well item frequencies are known: median-gap (default), mean-gap, or a share of the baskets.",
    ),
    click.option(
        "--pairs-known",
        type=click.IntRange(min=1),
        metavar="NUMBER",
        help="How many of the most frequent pairs of items the attacker knows; 20 by default, which then only informs.",
    ),
    click.option(
        "--items-known",
        type=click.IntRange(1, 9),
        metavar="NUMBER",
        help="How many items of one basket the attacker knows; 2 by default.",
    ),
)

_HOLDING: tuple[Callable[[_Command], _Command], ...] = (
    click.option("--beliefs", metavar="FILE", help="What the attacker believes of baskets: columns item, low, high."),
    click.option(
        "--itemsets",
        metavar="WHICH",
        help="Sets of items to protect: pairs, top:10 (pairs without the most frequent tenth), a size such as 3, or a "
        "file with a column items (names separated by blanks) and optionally sigma, tau and class.",
    ),
    click.option(
        "--never",
        metavar="FILE",
        help="Items that the attacker knows are never bought together: columns item, other.",
    ),
    click.option(
        "--population",
        metavar="WHICH",
        help="Whom the people of a table are among: a file with the same columns, their number such as 83000000, or "
        "the share of them that was sampled such as .01.",
    ),
    click.option("--similar", metavar="FILE", help="Similar baskets that the attacker holds, with the items' names."),
)


def _all(options: tuple[Callable[[Any], Any], ...], command: Any) -> Any:
    return functools.reduce(lambda made, option: option(made), reversed(options), command)


def reading_options(command: _Command) -> _Command:
    """Add the options that say how to read a file."""
    made: _Command = _all((*_SHAPE, *_READING), command)
    return made


def policy_options(command: _Command) -> _Command:
    """Add the options that make up a policy."""
    made: _Command = _all((*_POLICY, *_BASKET), command)
    return made


def table_options(command: _Command) -> _Command:
    """Add the options of both kinds that say something of tables."""
    made: _Command = _all((*_POLICY, *_READING), command)
    return made


def _itemsets_file(given: Mapping[str, Any]) -> str | None:
    """The file that lists itemsets, where one is named and not a kind of them."""
    from unveil.policy import is_itemsets

    which: str | None = given.get("itemsets")
    return None if which is None or is_itemsets(which) else which


def _population_file(given: Mapping[str, Any]) -> str | None:
    """The file with the population, where it is one and not a number."""
    which: str | None = given.get("population")
    return None if which is None or _number(which) is not None else which


def holding_options(command: _Command) -> _Command:
    """Add the options that name what the attacker holds."""
    made: _Command = _all(_HOLDING, command)
    return made


def sources_from(file: str, given: Mapping[str, Any], policy: Policy) -> list[str | None]:
    """Every file that is read, which results must not overwrite."""
    held = (given.get(name) for name in ("policy_file", *_BASKETS, *_TABLES))
    named = (said for said in policy.hierarchy.values() if not is_rule(said))
    return [file, _itemsets_file(given), _population_file(given), *held, *named]


def case_from(file: str, given: Mapping[str, Any]) -> Case:
    """Read the release, and what the attacker holds."""
    from unveil.release.read import read

    holds: dict[str, Release] = {}
    if given["beliefs"] and given["similar"]:
        raise UnveilError("--beliefs and --similar exclude each other; give one")
    release = release_from(file, given)
    if not isinstance(release, Transactions):
        for name in ("width", "itemsets", "pairs_known", "items_known"):
            if given[name]:
                option = f"--{name.replace('_', '-')}"
                raise UnveilError(f"{option} is for baskets of items; {shown(release.name)} was read as {release.kind}")
    wanted = {name: given.get(name) for name in (*_BASKETS, *_TABLES)} | {"itemsets": _itemsets_file(given)}
    for name, held in wanted.items():
        if held:
            if not isinstance(release, Transactions):
                raise UnveilError(f"--{name} is for baskets of items; {shown(release.name)} was read as {release.kind}")
            holds[name] = read(held, "transactions") if name in _BASKETS else _table(held)
    if isinstance(release, Table) and any("=" not in text for text in given["tolerance"]):
        raise UnveilError("a bare --tolerance is for baskets of items; write linkage.success=.1 or classes.k=5")
    if given.get("population") and not isinstance(release, Table):
        raise UnveilError(f"--population is for tables of people; {shown(release.name)} was read as {release.kind}")
    if population := _population_file(given):
        holds["population"] = _table(population, given)
    original, mapping = holds.pop("original", None), holds.pop("mapping", None)
    if (original is None) != (mapping is None):
        raise UnveilError("--original and --mapping go together: the baskets before, and what each item became")
    if isinstance(release, Transactions) and isinstance(original, Transactions) and isinstance(mapping, Table):
        from unveil.release.mapping import truth_from

        return Case(release, original, truth_from(mapping, original, release), MappingProxyType(holds))
    return Case(release, holds=MappingProxyType(holds))


def _table(file: str, given: Mapping[str, Any] | None = None) -> Release:
    """A table whose first line is its header, whatever that looks like; read as the release is, if that is given."""
    from unveil.engine import Engine
    from unveil.release.read import read
    from unveil.release.source import stem

    said: dict[str, Any] = {}
    if given and (given["memory_limit"] or given["spill"]):
        said["engine"] = Engine(given["memory_limit"], given["spill"])
    if stem(Path(file)) in (".csv", ".tsv", ".txt", ""):
        said |= {"header": True}
        said |= {name: given[name] for name in ("encoding", "strip") if given[name]} if given else {}
    return read(file, "table", **said)


def release_from(file: str, given: Mapping[str, Any]) -> Release:
    """Read the release that the command line names."""
    from unveil.engine import Engine
    from unveil.release.read import read

    options = {name: given[name] for name in ("delimiter", "encoding", "quote", "header") if given[name] is not None}
    options |= {name: True for name in ("strip", "directed") if given.get(name)}
    if options.get("delimiter") == "\\t":
        options["delimiter"] = "\t"
    if given["memory_limit"] or given["spill"]:
        options["engine"] = Engine(given["memory_limit"], given["spill"])
    return read(file, given["kind"] or ("table" if given.get("ratings") else None), **options)


def table_from(file: str, given: Mapping[str, Any]) -> Table:
    """Read a table of people that the command line names."""
    release = release_from(file, {**given, "kind": "table"})
    assert isinstance(release, Table)
    return release


def policy_from(given: Mapping[str, Any], tell: Callable[[str], None]) -> Policy:
    """The policy file's policy, overridden by what the command line says."""
    policy = _policy_file(given, tell)
    said: dict[str, Any] = {}
    for name in ("identifier", "sensitive", "insensitive"):
        if given[name]:
            said[name] = tuple(column for text in given[name] for column in _names(text))
    if given["ratings"]:
        said["ratings"] = _names(given["ratings"])
    if given["quasi"]:
        said["quasi"] = tuple(_names(text) for text in given["quasi"])
    for name in ("subject", "preset", "seed", "pairs_known", "items_known", "things_known", "missing_as"):
        if given.get(name) is not None:
            said[name] = given[name]
    if given["missing"]:
        said["missing"] = tuple(given["missing"])
    if given.get("itemsets") and not _itemsets_file(given):
        said["itemsets"] = given["itemsets"]
    if given.get("width") is not None:
        width = _number(given["width"])
        said["width"] = given["width"] if width is None else width
    if given["strict"]:
        said["strict"] = True
    if given.get("population") and not _population_file(given):
        said["population"] = _number(given["population"])
    if given["hierarchy"]:
        pairs = (_pair(text, "--hierarchy zip=prefixes, or diagnosis=diagnosis.csv") for text in given["hierarchy"])
        said["hierarchy"] = {**policy.hierarchy, **dict(pairs)}
    if given["compare"]:
        pairs = (_pair(text, "--compare birth=30d") for text in given["compare"])
        said["compare"] = {**policy.compare, **dict(pairs)}
    if given["ruled_out"]:
        ruled = {column: list(values) for column, values in policy.ruled_out.items()}
        for text in given["ruled_out"]:
            column, value = _pair(text, "--ruled-out diagnosis=flu")
            ruled.setdefault(column, []).append(value)
        said["ruled_out"] = ruled
    if given["tolerance"]:
        named = dict(pair for text in given["tolerance"] for pair in _tolerance(text))
        said["tolerance"] = MappingProxyType({**policy.tolerance, **named})
    return _overridden(policy, said)


def table_policy_from(given: Mapping[str, Any], tell: Callable[[str], None]) -> Policy:
    """The same where only tables are spoken of."""
    for text in given["tolerance"]:
        if "=" not in text:
            raise UnveilError(f"--tolerance {shown(text)}: of what? Write linkage.matched=.1, or classes.k=11")
    return policy_from(given, tell)


def _overridden(policy: Policy, said: dict[str, Any]) -> Policy:
    """Columns named on the command line lose the role that the file gave them, and are no guess any more."""
    named = {c for role in ("identifier", "sensitive", "insensitive") for c in said.get(role, ())}
    named |= {c for group in said.get("quasi", ()) for c in group}
    for role in ("identifier", "sensitive", "insensitive"):
        said.setdefault(role, tuple(c for c in getattr(policy, role) if c not in named))
    kept = (tuple(c for c in group if c not in named) for group in policy.quasi)
    said.setdefault("quasi", tuple(group for group in kept if group))
    guessed = tuple(c for c in policy.guessed if c not in named)
    return replace(policy, **said, guessed=guessed)


def _policy_file(given: Mapping[str, Any], tell: Callable[[str], None]) -> Policy:
    if given["policy_file"]:
        return Policy.from_toml(given["policy_file"])
    here = Path("unveil.toml")
    if given["no_policy"] or not here.exists():
        return Policy()
    tell("using the policy in unveil.toml")
    return Policy.from_toml(here)


def _names(text: str) -> tuple[str, ...]:
    """Comma-separated names; one that holds a comma stands in double quotes."""
    names = tuple(n.strip() for n in next(csv.reader([text], skipinitialspace=True), []))
    if not names or not all(names):
        raise UnveilError(f"{shown(text)!r} is not a list of columns; write a,b,c")
    return names


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _pair(text: str, example: str) -> tuple[str, str]:
    name, found, value = text.partition("=")
    if not (found and name and value):
        raise UnveilError(f"{shown(text)!r} does not say of which column; write {example}")
    return name, value


def _tolerance(text: str) -> list[tuple[str, float | None]]:
    """The findings and what is tolerated of them; a bare number is the share of items that may be cracked."""
    name, found, value = text.partition("=")
    if found and value == "off":
        return [(name, None)]
    try:
        return [(name, _share(value))] if found else [(each, _share(name)) for each in _ITEMS]
    except ValueError:
        example = "write classes.k=11, or classes.k=off" if not found else "the value must be a number or off"
        raise UnveilError(f"--tolerance {shown(text)}: {example}") from None


def _share(text: str) -> float:
    """A number; 10% is .1."""
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)


_BASKETS = ("similar", "original")
_TABLES = ("beliefs", "never", "categories", "mapping")
_ITEMS = ("items.expected_cracks", "items.correlation", "items.never_together")
