"""The policy: what each column is, what the attacker knows, what is tolerated.

A policy is plain data: written in ``unveil.toml``, given on the command line, or made in Python. Anything wrong in it
is refused when it is made, not when it is used. It has a part that all rooms share, and settings of single rooms, which
those rooms declare (``[linkage] known = 4``).

Tolerances are named after risks (``classes.k``). They come from the risk's own declaration or a preset and can be
overridden one by one; ``false`` turns one off, and the finding is then for information only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from unveil.errors import UnveilError
from unveil.settings import check_value, declared_settings, make_settings, plain_settings, setting, setting_place
from unveil.toml_reader import parse_toml
from unveil.wording import did_you_mean, list_text, safe_text

if TYPE_CHECKING:
    from unveil.risk import Risk

__all__ = ["COLUMN_SETTINGS", "PRESETS", "RULE_EXAMPLES", "Column", "Policy", "Role", "is_hierarchy_rule"]

Role = Literal["identifier", "quasi", "sensitive", "insensitive"]
_S = TypeVar("_S")


@dataclass(frozen=True)
class Column:
    """A column's role and where it comes from: *given* by the policy, *assumed* (not named there, so taken to tell
    an attacker nothing) or *guessed* from its name and values."""

    name: str
    role: Role
    origin: Literal["given", "assumed", "guessed"]
    why: str = ""


PRESETS: Mapping[str, str] = MappingProxyType(
    {
        "default": "Classes of at least 5, as is widespread for health data (El Emam, Guide to the "
        "De-Identification of Personal Health Information, 2013); a tenth of the items, the example of Lakshmanan, "
        "Ng and Ramesh, On disclosure risk analysis of anonymized itemsets, ACM TKDD 2(3), 2008.",
        "ema-0070": "European Medicines Agency, external guidance on the implementation of Policy 0070: a risk of at "
        "most .09; for a single person, classes of 11 (1/11 = .0909, rounded).",
        "health-canada": "Health Canada, guidance on the Public Release of Clinical Information: a risk of at most "
        ".09; for a single person, classes of 11 (1/11 = .0909, rounded).",
        "cms-11": "US Centers for Medicare & Medicaid Services, cell size suppression policy: no cell of 1 to 10 "
        "people is shown.",
        "frequency-3": "Minimum frequency rule of official statistics with threshold 3 (ESSnet Handbook on Statistical "
        "Disclosure Control).",
    }
)
"""The published source of each preset. Risks declare their tolerance in it."""

_MAX_POLICY_BYTES = 1_000_000
_RULES: Mapping[str, tuple[str, tuple[str, ...]]] = MappingProxyType(
    {  # how a rule goes on after its name, and examples
        "prefixes": (r"(:\d+(,\d+)*)?", ("prefixes", "prefixes:4,2")),
        "intervals": (r":[\d.]+(,[\d.]+)*", ("intervals:5,10,20",)),
        "cuts": (r":-?[\d.]+(,-?[\d.]+)*", ("cuts:18,65",)),
        "quantiles": (r":\d+(,\d+)*", ("quantiles:8,4,2",)),
        "top": (r":-?[\d.]+(,-?[\d.]+)*", ("top:90",)),
        "bottom": (r":-?[\d.]+(,-?[\d.]+)*", ("bottom:18",)),
        "ends": (r":-?[\d.]+,-?[\d.]+", ("ends:18,90",)),
        "dates": ("", ("dates",)),
        "frequency": ("", ("frequency",)),
    }
)
_RULE_PATTERN = re.compile("|".join(name + rest for name, (rest, _) in _RULES.items()))
RULE_EXAMPLES = " or ".join(", ".join(e for _, own in _RULES.values() for e in own).rsplit(", ", 1))
"""Every rule for making a hierarchy, as it may be written."""


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What is asked of a release.

    ``quasi`` holds sets of quasi-identifiers: each set is one attacker's knowledge, and all must hold. ``settings``
    maps the name of a room to its settings; in Python, plain values do: ``settings={"linkage": {"known": 3}}``.
    :meth:`settings_for` returns them as the room declares them.
    """

    identifier: tuple[str, ...] = setting(
        (),
        kind="columns",
        release_kinds=("table",),
        metavar="COLUMNS",
        help="Columns that name people and must not be in the release.",
    )
    quasi: tuple[tuple[str, ...], ...] = setting(
        (),
        kind="sets of columns",
        release_kinds=("table",),
        metavar="COLUMNS",
        help="What an attacker may know about a person; each set of columns is one attacker.",
    )
    sensitive: tuple[str, ...] = setting(
        (),
        kind="columns",
        release_kinds=("table",),
        metavar="COLUMNS",
        help="Columns whose values nobody should learn.",
    )
    insensitive: tuple[str, ...] = setting(
        (),
        kind="columns",
        release_kinds=("table",),
        metavar="COLUMNS",
        help="Columns that are of no use to an attacker.",
    )
    subject: str | None = setting(
        None,
        kind="column",
        release_kinds=("table",),
        metavar="COLUMN",
        help="Column that identifies the person, if a person can have several rows.",
    )
    rows_are_people: bool = setting(
        False,
        kind="flag",
        release_kinds=("table",),
        help="Every row is a different person, even if values that recur suggest otherwise.",
    )
    weight: str | None = setting(
        None,
        kind="column",
        release_kinds=("table",),
        metavar="COLUMN",
        help="Column that says how many people in the population a row stands for: its sampling weight.",
    )
    household: str | None = setting(
        None,
        kind="column",
        release_kinds=("table",),
        metavar="COLUMN",
        help="Column that says which people live in the same household.",
    )
    ratings: tuple[str, ...] = setting(
        (),
        kind="columns",
        release_kinds=("table",),
        metavar="COLUMNS",
        help="For tables in which each row is one rating, purchase or visit: the columns for person, item and, "
        "optionally, value and date.",
    )
    missing: tuple[str, ...] = setting(
        ("", "?", "NA", "*"),
        kind="texts",
        release_kinds=("table",),
        metavar="TEXT",
        help="Text that stands for a missing or suppressed value.",
    )
    missing_as: str = setting(
        "value",
        kind="text",
        release_kinds=("table",),
        choices=("value", "wildcard", "excluded"),
        help="How to treat a missing value in a quasi-identifier: as a value of its own, as one that matches anything, "
        "or by leaving out the row.",
    )
    hierarchy: Mapping[str, str] = setting(
        {},
        kind="text per column",
        release_kinds=("table",),
        metavar="COLUMN=WHAT",
        example='zip = "prefixes"',
        expected_form="a file name or a rule such as prefixes",
        help=f"The hierarchy of a column's values: a file in ARX's format, nested lists as .json, {RULE_EXAMPLES}.",
    )
    preset: str = setting(
        "default", kind="text", choices=tuple(PRESETS), help="Published set of tolerances to start from."
    )
    tolerance: Mapping[str, float | None] = field(default_factory=lambda: MappingProxyType({}))
    require: tuple[str, ...] = setting(
        (), kind="texts", metavar="QUESTION", help="A question that must be answered before the verdict can be release."
    )
    seed: int = setting(0, kind="whole number", at_least=0, metavar="NUMBER", help="Seed for all sampling.")
    guessed: tuple[str, ...] = setting(
        (), kind="columns", option=False, help="Columns whose role nobody has confirmed yet."
    )
    settings: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        values: dict[str, Any] = {
            name: check_value(name, declaration, getattr(self, name))
            for name, declaration in declared_settings(self).items()
        }
        values["tolerance"] = MappingProxyType(dict(_flat_tolerances(self.tolerance)))
        if values["ratings"] and values["subject"] is None:
            values["subject"] = values["ratings"][0]
        values["settings"] = MappingProxyType(_room_settings(self.settings))
        for name, value in values.items():
            object.__setattr__(self, name, value)
        _check_policy(self)

    @property
    def quasi_columns(self) -> tuple[str, ...]:
        """All quasi-identifiers, whatever the set."""
        return tuple(dict.fromkeys(c for group in self.quasi for c in group))

    @property
    def roles(self) -> dict[str, Role]:
        """The role of every column that has one."""
        named: dict[str, Role] = dict.fromkeys(self.identifier, "identifier")
        named |= dict.fromkeys(self.quasi_columns, "quasi")
        named |= dict.fromkeys(self.sensitive, "sensitive")
        named |= dict.fromkeys(self.insensitive, "insensitive")
        return named

    def settings_for(self, kind: type[_S]) -> _S:
        """The settings of the room that declares this class."""
        return next(found for found in self.settings.values() if isinstance(found, kind))

    def tolerance_for(self, risk: Risk | str) -> float | None:
        """The tolerance of a risk; None where there is none, or where it was turned off."""
        found = _risk(risk)
        if found.id in self.tolerance:
            return self.tolerance[found.id]
        if found.tolerance_from is not None and self.preset not in found.presets:
            return self.tolerance_for(found.tolerance_from)
        return self.preset_tolerance(found)

    def preset_tolerance(self, risk: Risk | str) -> float | None:
        """The tolerance of a risk before the policy overrides it."""
        found = _risk(risk)
        if found.tolerance_from is not None and self.preset not in found.presets:
            return self.preset_tolerance(found.tolerance_from)
        return found.presets.get(self.preset, found.tolerance)

    def threshold(self, risk: Risk | str) -> float:
        """The number that separates few from enough: the tolerance, or the preset's where it was turned off."""
        tolerated = self.tolerance_for(risk)
        return (self.preset_tolerance(risk) or 1) if tolerated is None else tolerated

    def threshold_of(self, quantity: str) -> float:
        """The number that separates few from enough of what some risk measures."""
        from unveil.questions import all_risks

        return self.threshold(next(risk for risk in all_risks().values() if risk.quantity == quantity))

    def to_dict(self) -> dict[str, Any]:
        """The policy as plain JSON values, in the shape of a policy file; a tolerance that is off is ``false``."""
        return {
            **plain_settings(self),
            "tolerance": {k: False if v is None else v for k, v in self.tolerance.items()},
            **{room: plain_settings(chosen) for room, chosen in self.settings.items()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], where: str = "policy") -> Policy:
        """A policy from plain values, such as :meth:`to_dict` or a TOML file gives; roles may be under ``columns``."""
        from unveil.questions import room_settings

        known, rooms = [f.name for f in fields(cls) if f.name != "settings"], room_settings()
        try:
            data = _columns_at_top(data)
            for key in data:
                if key not in known and key not in rooms:
                    raise UnveilError(f"unknown setting {safe_text(key)!r}{_current_place(str(key), [*known, *rooms])}")
            own = {key: value for key, value in data.items() if key in known}
            return cls(**own, settings={key: value for key, value in data.items() if key in rooms})
        except UnveilError as error:
            raise UnveilError(f"{where}: {error}") from None

    @classmethod
    def from_toml(cls, path: str | Path) -> Policy:
        """Read ``unveil.toml``."""
        from unveil.release.source_file import load_bytes

        data = parse_toml(load_bytes(Path(path)), safe_text(Path(path).name), "policy", _MAX_POLICY_BYTES)
        return cls.from_dict({**data, **_files_beside(Path(path), data)}, where=safe_text(Path(path).name))


COLUMN_SETTINGS = tuple(
    name for name, s in declared_settings(Policy).items() if s.kind in ("column", "columns", "sets of columns")
)
"""The settings that name columns; a policy file may have them under ``[columns]``."""


def _columns_at_top(data: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with those under ``[columns]`` moved to the top."""
    plain = dict(data)
    columns = plain.pop("columns", {})
    if not isinstance(columns, Mapping):
        raise UnveilError("[columns] must be a table such as [columns] with quasi = [...] under it")
    for column in columns:
        if column not in COLUMN_SETTINGS:
            hint = did_you_mean(column, COLUMN_SETTINGS)
            raise UnveilError(f"unknown setting {safe_text(column)!r} in [columns]{hint}")
    if twice := sorted(set(columns) & set(plain)):
        raise UnveilError(f"{list_text(twice)} is both at the top and under [columns]; keep one")
    return plain | dict(columns)


def is_hierarchy_rule(text: str) -> bool:
    """Whether a text is a rule for making a hierarchy, and not the name of a file with one.

    >>> (is_hierarchy_rule("prefixes"), is_hierarchy_rule("intervals:5,10"), is_hierarchy_rule("dates"),
    ...  is_hierarchy_rule("zip.csv"))
    (True, True, True, False)
    """
    return bool(_RULE_PATTERN.fullmatch(text))


def _risk(risk: Risk | str) -> Risk:
    from unveil.questions import find_risk

    return find_risk(risk) if isinstance(risk, str) else risk


def _current_place(key: str, known: Iterable[str]) -> str:
    """Where a setting stands now, or what was probably meant."""
    from unveil.questions import room_settings

    places = [
        setting_place(room, name, declaration)
        for room, kind in room_settings().items()
        for name, declaration in declared_settings(kind).items()
        if key == name or key in declaration.former_names
    ]
    if places:
        return f"; write {' or '.join(places)}"
    return did_you_mean(key, known)


def _files_beside(path: Path, data: Mapping[str, Any]) -> dict[str, Any]:
    """Files that a policy names lie beside it, whatever the current directory."""
    named = data.get("hierarchy")
    if not isinstance(named, Mapping):
        return {}
    return {
        "hierarchy": {
            column: str(path.parent / text) if isinstance(text, str) and text and not _like_rule(text) else text
            for column, text in named.items()
        }
    }


def _like_rule(text: str) -> bool:
    return text.partition(":")[0] in _RULES


def _room_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of all rooms, defaults where nothing was given."""
    from unveil.questions import room_settings

    rooms = room_settings()
    for room, values in given.items():
        if room not in rooms:
            raise UnveilError(f"unknown room {safe_text(room)!r} in settings{did_you_mean(room, rooms)}")
        if not isinstance(values, (Mapping, rooms[room])):
            raise UnveilError(f"[{room}] must be a table of settings")
    return {
        room: chosen if isinstance(chosen := given.get(room, {}), kind) else make_settings(kind, chosen, room)
        for room, kind in rooms.items()
    }


def _flat_tolerances(value: object, prefix: str = "") -> Iterable[tuple[str, float | None]]:
    """Flatten ``classes.k = 5`` (which TOML reads as nested tables) and check each number."""
    if not isinstance(value, Mapping):
        raise UnveilError("[tolerance] must be a table such as [tolerance] with classes.k = 5 under it")
    for key, v in value.items():
        name = f"{prefix}{key}"
        if isinstance(v, Mapping):
            yield from _flat_tolerances(v, f"{name}.")
        elif v is False or v is None:
            yield name, None
        elif isinstance(v, bool) or not isinstance(v, (int, float)):
            raise UnveilError(f"the tolerance of {safe_text(name)} must be a number, or false to turn it off")
        else:
            yield name, v


def _check_policy(policy: Policy) -> None:
    """Refuse settings that do not go together."""
    from unveil.questions import find_risk

    for name, value in policy.tolerance.items():
        risk = find_risk(name)
        if value is not None:
            risk.check_tolerance(value)
    if policy.rows_are_people and policy.subject is not None:
        raise UnveilError("rows_are_people contradicts subject and ratings; leave out one of them")
    if policy.subject is not None and (policy.weight is not None or policy.household is not None):
        raise UnveilError("weight and household are for tables with one row per person; leave out subject")
    if policy.missing_as == "wildcard" and policy.subject is not None:
        raise UnveilError('missing_as = "wildcard" is for tables with one row per person; leave out subject')
    for column, text in policy.hierarchy.items():
        if _like_rule(text) and not is_hierarchy_rule(text):
            raise UnveilError(
                f"the hierarchy of {safe_text(column)}: {safe_text(text)!r} is not a rule; write {RULE_EXAMPLES}"
            )
    _check_ratings(policy)
    _check_roles(policy)
    for chosen in policy.settings.values():
        if hasattr(chosen, "check"):
            chosen.check(policy)


def _check_ratings(policy: Policy) -> None:
    if not policy.ratings:
        return
    if len(policy.ratings) not in (2, 3, 4) or len(set(policy.ratings)) < len(policy.ratings):
        raise UnveilError("ratings must name two to four columns: person, item, and optionally value and date")
    if policy.subject != policy.ratings[0]:
        raise UnveilError("the first column of ratings says whose they are, as subject does; leave out subject")


def _check_roles(policy: Policy) -> None:
    seen: dict[str, str] = {}
    claims = [(c, role) for role in ("identifier", "sensitive", "insensitive") for c in getattr(policy, role)]
    claims += [(c, "quasi") for c in policy.quasi_columns]
    claims += [(c, name) for name in ("weight", "household") if (c := getattr(policy, name)) is not None]
    for column, role in claims:
        if column in seen:
            both = f"both {seen[column]} and {role}" if seen[column] != role else f"{role} twice"
            raise UnveilError(f"column {safe_text(column)!r} is named as {both}; keep one role")
        seen[column] = role
    if any(not group for group in policy.quasi):
        raise UnveilError("a set of quasi-identifiers is empty; name its columns or remove it")
    if len({frozenset(group) for group in policy.quasi}) < len(policy.quasi):
        raise UnveilError("a set of quasi-identifiers is named twice; keep one")
    if any(len(set(group)) < len(group) for group in policy.quasi):
        raise UnveilError("a set of quasi-identifiers names a column twice; keep one")
