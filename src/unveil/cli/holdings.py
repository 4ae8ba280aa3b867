"""Options that name what the attacker holds, taken from what the rooms declare, and the case they lead to."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import click

from unveil import questions
from unveil.case import Case
from unveil.cli.policy import check_settings_fit, renamed_option
from unveil.cli.reading import add_options, read_graph, read_release
from unveil.errors import UnveilError
from unveil.holding import Holding
from unveil.policy import Policy, is_hierarchy_rule
from unveil.questions import all_holdings
from unveil.release import Graph, Release, Table
from unveil.release.kinds import check_kind, kinds_text
from unveil.settings import declared_settings, option_text
from unveil.wording import list_text, safe_text

__all__ = ["files_read", "holding_options", "read_case", "read_holdings", "read_table_beside"]

_TEXT_ENDINGS = (".csv", ".tsv", ".txt", "")

_Command = TypeVar("_Command", bound=Callable[..., Any])


def holding_options(
    *rooms: str,
    protecting: bool = False,
    other_names: Mapping[str, str] = MappingProxyType({}),
    without: Sequence[str] = (),
) -> Callable[[_Command], _Command]:
    """Add an option for everything an attacker may hold, as these rooms declare it; by default all rooms.
    ``protecting`` adds what only protections read, and leaves out what belongs to a protected release. ``other_names``
    are further options for some of it, which only this command has; ``without`` names what it does not read."""

    def decorate(command: _Command) -> _Command:
        names = {held.name: held for q in questions.QUESTIONS if not rooms or q.name in rooms for held in q.holdings}
        chosen = [held for held in names.values() if _is_offered(held, protecting) and held.name not in without]
        hidden = [renamed_option(old, held.name) for held in chosen for old in held.former_names]
        return add_options((*(_holding_option(held, other_names.get(held.name)) for held in chosen), *hidden), command)

    return decorate


def _is_offered(held: Holding, protecting: bool) -> bool:
    return not (held.only_after_protection if protecting else held.only_for_protection)


def _release_kinds(held: Holding) -> tuple[str, ...]:
    return all_holdings()[held.name][1]


def _holding_option(held: Holding, other_name: str | None) -> Callable[[Any], Any]:
    kinds = list_text(kinds_text([kind]).split()[0].capitalize() for kind in _release_kinds(held))
    repeatable = " Repeatable." if held.repeatable else ""
    text = f"{kinds}: {held.help[0].lower()}{held.help[1:]}{repeatable}"
    names = [held.option, *([other_name] if other_name else [])]
    return click.option(*names, held.name, metavar="FILE", multiple=held.repeatable, help=text)


def _named_files(given: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The files that the options name, by the name of what is held."""
    named = {name: given.get(name) or () for name in all_holdings()}
    return {name: (file,) if isinstance(file, str) else tuple(file) for name, file in named.items() if file}


def files_read(file: str, given: Mapping[str, Any], policy: Policy) -> list[str | None]:
    """Every file that is read, which results must not overwrite."""
    held = [name for files in _named_files(given).values() for name in files]
    hierarchies = [text for text in policy.hierarchy.values() if not is_hierarchy_rule(text)]
    return [file, given.get("policy_file"), *held, *hierarchies]


def read_case(file: str, given: Mapping[str, Any]) -> Case:
    """Read the release, and what the attacker holds."""
    release = read_release(file, given)
    check_settings_fit(release, given)
    return read_holdings(Case(release), given)


def read_holdings(case: Case, given: Mapping[str, Any]) -> Case:
    """The case with everything that the options name."""
    from unveil.assess import sort_holdings

    held, named = dict[str, Release](), _named_files(given)
    for declaration, beside in (all_holdings()[name] for name in named):
        check_kind(declaration.option, beside, case.release.name, case.release.kind)
    for name, files in named.items():
        declaration, _ = all_holdings()[name]
        found = [_read_held_file(declaration, each, case, given) for each in files]
        held |= {f"{name} {k}": each for k, each in enumerate(found, 1)} if declaration.repeatable else {name: found[0]}
    return sort_holdings(replace(case, holds=MappingProxyType({**case.holds, **held})))


def _read_held_file(held: Holding, file: str, case: Case, given: Mapping[str, Any]) -> Release:
    """A file that the attacker holds. A table beside a table is read as that one is; the first line of text names its
    columns, whatever it looks like."""
    from unveil.release.read import read
    from unveil.release.source_file import format_ending

    if held.kind == "ledger":
        from unveil.dp.curator import answers_table
        from unveil.ledger import Ledger

        assert isinstance(case.release, Table)
        return answers_table(Ledger.open(file), case.release)
    if held.kind == "graph" or (held.kind == "same" and isinstance(case.release, Graph)):
        return read_graph(file, given)
    if held.kind == "transactions" or (held.kind == "same" and not isinstance(case.release, Table)):
        return read(file, "transactions", max_size=given.get("max_size"))
    _check_is_file(held, file)
    if not isinstance(case.release, Table):
        is_text = format_ending(Path(file)) in _TEXT_ENDINGS
        return read(file, "table", max_size=given.get("max_size"), **({"header": True} if is_text else {}))
    return read_table_beside(file, given)


def read_table_beside(file: str, given: Mapping[str, Any]) -> Release:
    """A table, read as the one beside it; the first line of text names its columns, whatever it looks like."""
    from unveil.release.source_file import format_ending

    is_text = format_ending(Path(file)) in _TEXT_ENDINGS
    header = True if is_text and given.get("header") is None else given.get("header")
    return read_release(file, {**given, "kind": "table", "header": header, "sheet": None})


def _check_is_file(held: Holding, file: str) -> None:
    """A number where a file is wanted was an option's other meaning once: name the option that takes it."""
    from unveil.questions import room_settings

    if os.path.exists(file) or not file.replace(".", "", 1).rstrip("%").isdigit():
        return
    declarations = [each for kind in room_settings().values() for each in declared_settings(kind).items()]
    options = [
        option_text(name, "NUMBER") for name, declaration in declarations if held.name in declaration.former_names
    ]
    if options:
        raise UnveilError(f"{held.option} {safe_text(file)}: takes a file; write {' or '.join(options)}")
