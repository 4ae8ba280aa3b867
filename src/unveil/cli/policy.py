"""Options that make up a policy, taken from what the policy and the rooms declare, and the policy they lead to."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import click
from click.core import ParameterSource

from unveil import questions
from unveil.cli.reading import add_options
from unveil.errors import UnveilError
from unveil.policy import Policy
from unveil.release import Release
from unveil.release.kinds import check_kind
from unveil.settings import Setting, check_value, declared_settings, option_text
from unveil.wording import safe_text

__all__ = [
    "check_settings_fit",
    "column_names",
    "make_policy",
    "parse_goal",
    "policy_options",
    "refuse_policy_options",
    "renamed_option",
    "secret_options",
]

_Command = TypeVar("_Command", bound=Callable[..., Any])
_ROLES = ("identifier", "sensitive", "insensitive")
_REPEATED = ("columns", "sets of columns", "texts", "text per column", "texts per column", "share per column")


class _OwnedSetting(NamedTuple):
    """A setting and the room that declares it; no room for those of the policy itself."""

    name: str
    room: str | None
    setting: Setting
    default: object
    release_kinds: tuple[str, ...]


def _owned_settings() -> Iterator[_OwnedSetting]:
    """Every setting that the command line has, those of the policy first."""
    kinds = tuple(dict.fromkeys(kind for q in questions.QUESTIONS for kind in q.kinds))
    owners: list[tuple[str | None, type, tuple[str, ...]]] = [(None, Policy, kinds)]
    owners += [(q.name, q.settings, q.kinds) for q in questions.QUESTIONS if q.settings is not None]
    for room, owner, asked_of in owners:
        fields = owner.__dataclass_fields__  # type: ignore[attr-defined]
        for name, setting in declared_settings(owner).items():
            if setting.option:
                yield _OwnedSetting(name, room, setting, fields[name].default, setting.release_kinds or asked_of)


def secret_options() -> set[str]:
    """The names of options whose values come from the data."""
    return {each.name for each in _owned_settings() if each.setting.secret}


def refuse_policy_options(*others: str, instead: str) -> None:
    """Refuse options that make up a policy, and others, if they were typed beside an option that says all of it."""
    context = click.get_current_context()
    refused = {each.name for each in _owned_settings()} | {"policy_file", "no_policy", "tolerance", *others}
    for option in context.command.params:
        if option.name in refused and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"{option.opts[0]} cannot be combined with {instead}, which sets it; leave it out.", context
            )


# ---- options ---------------------------------------------------------------------------------------------------------


def policy_options(
    *rooms: str | None, kind: str | None = None, protecting: bool = False, verdict: bool = True
) -> Callable[[_Command], _Command]:
    """Add the options that make up a policy: those of the policy itself, and of these rooms, by default all (None
    stands for no room). With a kind of release, only those that say something about it. Some are for commands that
    protect. Without a ``verdict``, a command says in its own way what is tolerated, and requires nothing."""

    def decorate(command: _Command) -> _Command:
        owned = [
            each
            for each in _owned_settings()
            if (each.room is None or not rooms or each.room in rooms)
            and (kind is None or kind in each.release_kinds)
            and (protecting or not each.setting.protecting)
            and (verdict or each.name != "require")
        ]
        names = list(dict.fromkeys(each.name for each in owned))
        made = [_setting_option([each for each in owned if each.name == name]) for name in names]
        former = {old: each.name for each in owned for old in each.setting.former_names if old not in names}
        taken = questions.all_holdings()
        hidden = [renamed_option(old, new) for old, new in former.items() if old not in taken]
        tolerated = [_GOAL if protecting else _TOLERANCE] if verdict else []
        return add_options((*_POLICY_FILE, *made, *tolerated, *hidden), command)

    return decorate


_POLICY_FILE = (
    click.option(
        "--policy",
        "policy_file",
        type=click.Path(dir_okay=False),
        help="Policy to use; unveil.toml in the current directory by default.",
    ),
    click.option("--no-policy", is_flag=True, help="Do not look for unveil.toml."),
)
_TOLERANCE_HELP = "such as classes.k=11 or items.expected_cracks=10%. Repeatable."
_TOLERANCE = click.option(
    "--tolerance", multiple=True, metavar="FINDING=VALUE", help=f"What is tolerated, {_TOLERANCE_HELP}"
)
_GOAL = click.option(
    "--goal",
    "--tolerance",
    "tolerance",
    multiple=True,
    metavar="FINDING=VALUE",
    help=f"What must hold of the result, instead of what the policy tolerates, {_TOLERANCE_HELP}",
)


def _setting_option(owners: list[_OwnedSetting]) -> Callable[[Any], Any]:
    """One option for the settings of one name, whichever rooms have it."""
    name, setting = owners[0].name, owners[0].setting
    text = " ".join(_option_help(each, alone=len(owners) == 1) for each in owners)
    if setting.kind == "flag":
        return click.option(option_text(name), is_flag=True, help=text)
    metavar = setting.metavar or None
    repeated = setting.kind in _REPEATED
    return click.option(option_text(name), type=_option_type(owners), metavar=metavar, multiple=repeated, help=text)


def _option_help(each: _OwnedSetting, alone: bool) -> str:
    default = each.default
    shown_default = isinstance(default, (int, float, str)) and not isinstance(default, bool)
    text = f"{each.setting.help.removesuffix('.')}; {default} by default." if shown_default else each.setting.help
    text += {"columns": " Comma-separated.", "sets of columns": " Comma-separated; repeat it for further sets."}.get(
        each.setting.kind, " Repeatable." if each.setting.kind in _REPEATED else ""
    )
    return text if alone else f"[{each.room}] {text}"


def _option_type(owners: list[_OwnedSetting]) -> click.ParamType[Any] | None:
    setting = owners[0].setting
    if setting.kind == "whole number":
        return _WholeNumber()
    if setting.kind == "share":
        return _Share(setting)
    return click.Choice(setting.choices) if setting.kind == "text" and setting.choices else None


class _WholeNumber(click.ParamType[int]):
    name = "whole number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return int(value)
        except ValueError:
            hint = "; it takes a number, not a file" if os.path.exists(str(value)) else ""
            self.fail(f"{safe_text(value)!r} is not a whole number{hint}.", param, ctx)


class _Share(click.ParamType[float | str]):
    name = "share"

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        try:
            return _parse_number(str(value))
        except ValueError:
            pass
        try:
            return str(check_value("it", self.setting, str(value)))
        except UnveilError:
            forms = self.setting.expected_form or ", ".join(self.setting.choices)
            either = f"{forms}, or " if forms else ""
            self.fail(f"{safe_text(value)!r} is not {either}a number such as 0.1 or 10%.", param, ctx)


def renamed_option(old: str, new: str, verb: str = "is now") -> Callable[[Any], Any]:
    """An option that was renamed: refused, with or without a value, with its new name."""

    def refuse(ctx: click.Context, param: click.Parameter, value: Any) -> None:
        if value:
            raise click.UsageError(f"{option_text(old)} {verb} {option_text(new)}.", ctx)

    return click.option(
        option_text(old), hidden=True, expose_value=False, is_flag=False, flag_value="given", callback=refuse
    )


# ---- the policy ------------------------------------------------------------------------------------------------------


def make_policy(given: Mapping[str, Any], tell: Callable[[str], None]) -> Policy:
    """The policy file's policy, overridden by what the command line says."""
    policy = _read_policy_file(given, tell)
    changed: dict[str, Any] = {}
    in_rooms: dict[str, dict[str, Any]] = {}
    for each in _owned_settings():
        value = given.get(each.name)
        if value is None or value == () or value is False:
            continue
        before = getattr(policy if each.room is None else policy.settings[each.room], each.name)
        parsed = _parse_setting(each, value, before)
        if each.room is None:
            changed[each.name] = parsed
        elif _fits_setting(each, parsed) or not _is_shared(each.name):
            in_rooms.setdefault(each.room, {})[each.name] = parsed
    if given.get("tolerance"):
        named = dict(map(_parse_tolerance, given["tolerance"]))
        changed["tolerance"] = MappingProxyType({**policy.tolerance, **named})
    checked = {
        room: replace(policy.settings[room], **{name: _check_room_value(room, name, v) for name, v in values.items()})
        for room, values in in_rooms.items()
    }
    return _override_policy(policy, changed | {"settings": {**policy.settings, **checked}})


def _check_room_value(room: str, name: str, value: Any) -> Any:
    return check_value(f"{room}.{name}", declared_settings(questions.room_settings()[room])[name], value)


def _is_shared(name: str) -> bool:
    return sum(each.name == name for each in _owned_settings()) > 1


def _fits_setting(each: _OwnedSetting, value: Any) -> bool:
    """Whether a room takes a value of an option that several rooms have."""
    try:
        check_value(each.name, each.setting, value)
    except UnveilError:
        return False
    return True


def check_settings_fit(release: Release, given: Mapping[str, Any]) -> None:
    """Refuse options of rooms that are not asked about this kind of release."""
    owned = list(_owned_settings())
    for each in owned:
        value = given.get(each.name)
        if each.room is None or value is None or value == () or value is False:
            continue
        kinds = [kind for other in owned if other.name == each.name for kind in other.release_kinds]
        check_kind(option_text(each.name), kinds, release.name, release.kind)
        if release.kind in each.release_kinds and each.setting.kind == "whole number":
            _check_room_value(each.room, each.name, value)


def _parse_setting(each: _OwnedSetting, value: Any, before: Any) -> Any:
    """What the command line says, in the form of the setting; per column, added to what the policy file says."""
    kind, example = each.setting.kind, f"{option_text(each.name)} {_example(each.setting)}"
    if kind == "columns":
        return tuple(column for text in value for column in column_names(text))
    if kind == "sets of columns":
        return tuple(map(column_names, value))
    if kind == "text per column":
        return {**before, **dict(_split_pair(text, example) for text in value)}
    if kind == "share per column":  # of a column, an item, or column=value
        pairs = (_split_pair(text, example, last=True) for text in value)
        return {**before, **dict(pairs)}
    if kind == "texts per column":
        texts = {column: list(already) for column, already in before.items()}
        for text in value:
            column, one = _split_pair(text, example)
            texts.setdefault(column, []).append(one)
        return texts
    return tuple(value) if kind == "texts" else value


def _example(setting: Setting) -> str:
    """The example of a setting per column, as it is typed: ``zip = "prefixes"`` is zip=prefixes."""
    return str(setting.example).translate(str.maketrans("", "", ' "[]'))


def _override_policy(policy: Policy, changed: dict[str, Any]) -> Policy:
    """Columns named on the command line lose the role that the file gave them, and are no guess any more."""
    named = {c for role in _ROLES for c in changed.get(role, ())}
    named |= {c for group in changed.get("quasi", ()) for c in group}
    for role in _ROLES:
        changed.setdefault(role, tuple(c for c in getattr(policy, role) if c not in named))
    kept = (tuple(c for c in group if c not in named) for group in policy.quasi)
    changed.setdefault("quasi", tuple(group for group in kept if group))
    guessed = tuple(c for c in policy.guessed if c not in named)
    return replace(policy, **changed, guessed=guessed)


def _read_policy_file(given: Mapping[str, Any], tell: Callable[[str], None]) -> Policy:
    if given["policy_file"]:
        return Policy.from_toml(given["policy_file"])
    here = Path("unveil.toml")
    if given["no_policy"] or not here.exists():
        return Policy()
    tell("using the policy in unveil.toml")
    return Policy.from_toml(here)


def column_names(text: str) -> tuple[str, ...]:
    """Comma-separated names; one that contains a comma stands in double quotes."""
    try:
        names = tuple(n.strip() for n in next(csv.reader([text], skipinitialspace=True), []))
    except csv.Error:  # a line break outside quotes
        names = ()
    if not names or not all(names):
        raise UnveilError(f"{safe_text(text)!r} is not a list of columns; write a,b,c")
    return names


def _split_pair(text: str, example: str, last: bool = False) -> tuple[str, str]:
    """What stands before and after the first ``=``, or the last."""
    name, found, value = text.rpartition("=") if last else text.partition("=")
    if not (found and name and value):
        raise UnveilError(f"{safe_text(text)!r} does not say for which column; write {example}")
    return name, value


def _parse_tolerance(text: str) -> tuple[str, float | None]:
    """A risk, and what is tolerated of it."""
    name, found, value = text.partition("=")
    if not found:
        raise UnveilError(f"--tolerance {safe_text(text)}: for what? Write classes.k=11, or items.expected_cracks=10%")
    if value == "off":
        return name, None
    if "." not in name:
        raise UnveilError(
            f"--tolerance {safe_text(text)}: {safe_text(name)} is not a finding; how values are compared is said with "
            f"--compare {safe_text(text)}"
        )
    try:
        return name, _parse_number(value)
    except ValueError:
        raise UnveilError(f"--tolerance {safe_text(text)}: the value must be a number or off") from None


def parse_goal(text: str) -> tuple[str, list[float]]:
    """A risk, and several values that are tolerated of it: ``network.degree_k=2,5,10``."""
    name, found, values = text.partition("=")
    try:
        limits = [_parse_number(value.strip()) for value in values.split(",") if value.strip()]
    except ValueError:
        limits = []
    if not found or not limits:
        raise UnveilError(f"--goal {safe_text(text)}: write a finding and numbers, such as network.degree_k=2,5,10")
    return name, limits


def _parse_number(text: str) -> float:
    """A number; 10% is .1."""
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)
