"""Settings: what a policy can say, declared once, as the fields of a frozen dataclass.

A field made by :func:`setting` carries its kind, its limits and its help. From that follow the check of a value from
TOML or Python (:func:`check_value`), the option on the command line (``cli/policy.py``), the JSON Schema
(``report/schema.py``), the table in ``docs/policy.md`` and the comments of ``unveil init``::

    @dataclass(frozen=True, kw_only=True)
    class LinkageSettings:
        known: int = setting(4, kind="whole number", at_least=1, metavar="NUMBER", help="How many facts ...")
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from unveil.errors import UnveilError
from unveil.wording import did_you_mean, list_text, number_text, safe_text

__all__ = [
    "Kind",
    "Setting",
    "check_value",
    "declared_settings",
    "make_settings",
    "option_text",
    "plain_settings",
    "setting",
    "setting_place",
]

_S = TypeVar("_S")

Kind = Literal[
    "flag",
    "whole number",
    "share",
    "text",
    "column",
    "columns",
    "sets of columns",
    "texts",
    "text per column",
    "texts per column",
    "share per column",
]


@dataclass(frozen=True)
class Setting:
    """What is known about one setting.

    ``choices``: texts that it may be (a share may also be one of them). ``pattern``: what a text must look like;
    ``expected_form`` says that in words. ``release_kinds``: the kinds of release it says something about; without any,
    all that its room is asked of. ``option``: whether the command line has it. ``former_names``: the names it had
    before. ``secret``: it holds values that people in the data have; results and ``repr`` hide them. ``protecting``: it
    says something to protections only.
    """

    kind: Kind
    help: str
    metavar: str = ""
    at_least: float | None = None
    at_most: float | None = None
    greater_than: float | None = None
    choices: tuple[str, ...] = ()
    pattern: str = ""
    expected_form: str = ""
    example: object = None
    release_kinds: tuple[str, ...] = ()
    option: bool = True
    former_names: tuple[str, ...] = ()
    secret: bool = False
    protecting: bool = False


def setting(default: Any, *, kind: Kind, help: str, **more: Any) -> Any:
    """A field of a dataclass of settings; the keywords are those of :class:`Setting`."""
    declaration = Setting(kind, help, **more)
    own: dict[str, Any] = {"metadata": {"setting": declaration}, "repr": not declaration.secret}
    if isinstance(default, Mapping):
        return dataclasses.field(default_factory=lambda: MappingProxyType(dict(default)), **own)
    return dataclasses.field(default=default, **own)


def declared_settings(settings: Any) -> dict[str, Setting]:
    """The settings of a dataclass or of one of its instances, by name."""
    return {f.name: f.metadata["setting"] for f in dataclasses.fields(settings) if "setting" in f.metadata}


def make_settings(kind: type[_S], given: Mapping[str, Any], room: str) -> _S:
    """The settings of a room from plain values, each checked."""
    known = declared_settings(kind)
    for name in given:
        if name not in known:
            renamed = [setting_place(room, new, known[new]) for new in known if name in known[new].former_names]
            hint = f"; write {' or '.join(renamed)}" if renamed else did_you_mean(str(name), known)
            raise UnveilError(f"unknown setting {safe_text(name)!r} in [{room}]{hint}")
    return kind(**{name: check_value(f"{room}.{name}", known[name], value) for name, value in given.items()})


def setting_place(room: str, name: str, declaration: Setting) -> str:
    """How a setting of a room is written in a policy file.

    >>> setting_place("linkage", "known", Setting("whole number", ""))
    'known = ... under [linkage]'
    """
    return f"[{room}.{name}]" if declaration.kind.endswith("per column") else f"{name} = ... under [{room}]"


def plain_settings(settings: Any) -> dict[str, Any]:
    """Settings as plain JSON values."""
    return {name: _plain_value(getattr(settings, name)) for name in declared_settings(settings)}


def check_value(name: str, declaration: Setting, value: Any) -> Any:
    """The value in its proper form, whatever reasonable form it was given in; refuse what it cannot be.

    >>> check_value("linkage.known", Setting("whole number", "", at_least=1), 4)
    4
    >>> check_value("sensitive", Setting("columns", ""), "diagnosis")
    ('diagnosis',)
    >>> check_value("linkage.known", Setting("whole number", "", at_least=1), 0)
    Traceback (most recent call last):
    ...
    unveil.errors.UnveilError: linkage.known must be a whole number, 1 or more
    """
    return value if value is None else _CHECKS[declaration.kind](name, declaration, value)


def option_text(name: str, value: str = "") -> str:
    """How a setting is typed on the command line; rooms name settings, not options.

    >>> option_text("missing_as", "excluded")
    '--missing-as excluded'
    """
    return f"--{name.replace('_', '-')} {value}".rstrip()


def _check_flag(name: str, declaration: Setting, value: Any) -> bool:
    if not isinstance(value, bool):
        raise UnveilError(f"{name} must be true or false")
    return value


def _check_whole_number(name: str, declaration: Setting, value: Any) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is not int or not _within_limits(declaration, value):
        raise UnveilError(f"{name} must be a whole number{_limits_text(declaration)}")
    return value


def _check_share(name: str, declaration: Setting, value: Any) -> float | str:
    if isinstance(value, str) and (value in declaration.choices or _fits_pattern(declaration, value)):
        return value
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 1 or not _within_limits(declaration, value):
        either = f"{declaration.expected_form or ' or '.join(declaration.choices)}, or " if declaration.choices else ""
        bounds = "above 0 and up to 1" if declaration.greater_than == 0 else "between 0 and 1"
        raise UnveilError(f"{name} must be {either}a share {bounds} such as {declaration.example or 0.1}")
    return float(value)


def _check_text(name: str, declaration: Setting, value: Any) -> str:
    if not isinstance(value, str) or (declaration.choices and value not in declaration.choices):
        what = f"one of {list_text(declaration.choices, 12)}" if declaration.choices else "a text"
        raise UnveilError(f"{name} must be {declaration.expected_form or what}")
    if declaration.pattern and not _fits_pattern(declaration, value):
        raise UnveilError(f"{name} must be {declaration.expected_form}")
    return value


def _fits_pattern(declaration: Setting, value: str) -> bool:
    return bool(declaration.pattern) and re.fullmatch(declaration.pattern, value) is not None


def _check_column(name: str, declaration: Setting, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise UnveilError(f"{name} must be the name of one column")
    return value


def _check_names(name: str, declaration: Setting, value: Any) -> tuple[str, ...]:
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, (list, tuple)) or not all(isinstance(v, str) for v in items):
        raise UnveilError(f"{name} must be a list of names")
    return tuple(items)


def _check_sets_of_columns(name: str, declaration: Setting, value: Any) -> tuple[tuple[str, ...], ...]:
    """One set (a list of names) or several (a list of lists)."""
    if isinstance(value, (list, tuple)) and any(isinstance(v, (list, tuple)) for v in value):
        return tuple(_check_names(f"each set of {name}", declaration, v) for v in value)
    columns = _check_names(name, declaration, value)
    return (columns,) if columns else ()


def _check_text_per_column(name: str, declaration: Setting, value: Any) -> Mapping[str, str]:
    items = _check_table(name, declaration, value)
    for column, text in items.items():
        if not isinstance(text, (str, int, float)) or isinstance(text, bool) or not str(text):
            raise UnveilError(f"{name} for {safe_text(column)} must be {declaration.expected_form or 'a text'}")
        if declaration.pattern and not re.fullmatch(declaration.pattern, str(text)):
            raise UnveilError(
                f"{name} for {safe_text(column)} cannot be {safe_text(text)!r}; write {declaration.expected_form}"
            )
    return MappingProxyType({column: str(text) for column, text in items.items()})


def _check_texts_per_column(name: str, declaration: Setting, value: Any) -> Mapping[str, tuple[str, ...]]:
    items = _check_table(name, declaration, value)
    checked = {column: _check_names(f"{name} for {safe_text(column)}", declaration, v) for column, v in items.items()}
    return MappingProxyType({column: texts for column, texts in checked.items() if texts})


def _check_share_per_column(name: str, declaration: Setting, value: Any) -> Mapping[str, float]:
    """A share for each column, item, or value of a column, which is written ``column=value``."""
    checked = {}
    for key, share in _check_table(name, declaration, value).items():
        try:
            checked[key] = float(share)
        except (TypeError, ValueError):
            checked[key] = -1.0
        if isinstance(share, bool) or not 0 <= checked[key] <= 1:
            raise UnveilError(f"{name} for {safe_text(key)} must be a number from 0 to 1, such as 0.5")
    return MappingProxyType(checked)


def _check_table(name: str, declaration: Setting, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UnveilError(f"[{name}] must be a table such as [{name}] with {declaration.example} under it")
    return value


_CHECKS: Mapping[Kind, Callable[[str, Setting, Any], Any]] = {
    "flag": _check_flag,
    "whole number": _check_whole_number,
    "share": _check_share,
    "text": _check_text,
    "column": _check_column,
    "columns": _check_names,
    "sets of columns": _check_sets_of_columns,
    "texts": _check_names,
    "text per column": _check_text_per_column,
    "texts per column": _check_texts_per_column,
    "share per column": _check_share_per_column,
}


def _within_limits(declaration: Setting, value: float) -> bool:
    low, high, above = declaration.at_least, declaration.at_most, declaration.greater_than
    return (low is None or value >= low) and (high is None or value <= high) and (above is None or value > above)


def _limits_text(declaration: Setting) -> str:
    if declaration.at_least is not None and declaration.at_most is not None:
        return f" from {number_text(declaration.at_least)} to {number_text(declaration.at_most)}"
    return f", {number_text(declaration.at_least)} or more" if declaration.at_least is not None else ""


def _plain_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _plain_value(v) for k, v in value.items()}
    return [_plain_value(v) for v in value] if isinstance(value, tuple) else value
