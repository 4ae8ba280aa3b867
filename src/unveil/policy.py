"""The policy: what each column is, what the attacker knows, what is tolerated.

A policy is plain data: written in ``unveil.toml``, given on the command line, or made in Python. Whatever is wrong in
it is said when it is made, not when it is used.

Tolerances are named after findings (``classes.k``). They come from a preset and can be overridden one by one; ``false``
turns one off, and the finding then only informs.
"""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from unveil.errors import UnveilError
from unveil.wording import listed, shown

__all__ = ["PRESETS", "Column", "Policy", "Preset", "Role", "is_itemsets", "is_rule"]

Role = Literal["identifier", "quasi", "sensitive", "insensitive"]


@dataclass(frozen=True)
class Column:
    """A column's role and where it comes from: *given* by the policy, *assumed* (not named there, so taken to tell
    an attacker nothing) or *guessed* from its name and values."""

    name: str
    role: Role
    origin: Literal["given", "assumed", "guessed"]
    why: str = ""


@dataclass(frozen=True)
class Preset:
    """A set of tolerances with its public source; None: the finding informs unless the policy sets a tolerance."""

    tolerance: Mapping[str, float | None]
    source: str


_DEFAULT: dict[str, float | None] = {
    "release.identifiers": 0,
    "classes.k": 5,
    "classes.uniques": None,
    "classes.at_risk": None,
    "classes.reidentification": None,
    "classes.l_distinct": 2,
    "classes.l_entropy": None,
    "classes.t": None,
    "classes.homogeneity": None,
    "classes.known_columns": None,
    "classes.intersection": 0,
    "classes.population_uniques": None,
    "classes.k_map": None,
    "classes.presence": None,
    "classes.known_items": None,
    "linkage.success": None,
    "linkage.own_row": None,
    "linkage.unicity": None,
    "linkage.sparsity": None,
    "linkage.success_bound": None,
    "linkage.matched": None,
    "items.point_knowledge": None,
    "items.expected_cracks": 0.1,
    "items.o_estimate": None,
    "items.alpha_max": None,
    "items.sample_knowledge": None,
    "items.itemsets_vulnerable": 0.1,
    "items.correlation": 0.1,
    "items.never_together": 0.1,
    "matching.expected_cracks": 0.1,
    "matching.degree_of_anonymity": None,
    "matching.o_estimate": None,
    "matching.heuristic": None,
    "matching.bethe": None,
    "network.degree_k": 5,
    "network.degree_unique": None,
}


_ITEMSETS = re.compile(r"pairs|top:\d\d?|[1-9]\d?")
_RULES = ("prefixes", "intervals", "dates")
_RULE = re.compile(r"prefixes(:\d+(,\d+)*)?|intervals:[\d.]+(,[\d.]+)*|dates")
_PEOPLE = 10**12
_COMPARED = re.compile(r"equal|support|~?(\d+(\.\d*)?|\.\d+)|(\d+(\.\d*)?|\.\d+)d")
_GAPS = ("median-gap", "mean-gap")
_MISSING = ("value", "wildcard", "excluded")
_COUNTS = (
    "release.identifiers",
    "classes.k",
    "classes.k_map",
    "classes.known_items",
    "classes.l_distinct",
    "network.degree_k",
)
_NUMBERS = ("classes.l_entropy",)  # all others are shares


def _preset(source: str, **classes: float) -> Preset:
    return Preset(MappingProxyType({**_DEFAULT, **{f"classes.{k}": v for k, v in classes.items()}}), source)


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "default": _preset(
            "Classes of at least 5, as is widespread for health data (El Emam, Guide to the De-Identification of "
            "Personal Health Information, 2013); a tenth of the items, the example of Lakshmanan, Ng and Ramesh, "
            "On disclosure risk analysis of anonymized itemsets, ACM TKDD 2(3), 2008."
        ),
        "ema-0070": _preset(
            "European Medicines Agency, external guidance on the implementation of Policy 0070: a risk of at most .09; "
            "for a single person, classes of 11 (1/11 = .0909, rounded).",
            k=11,
            reidentification=0.09,
        ),
        "health-canada": _preset(
            "Health Canada, guidance on the Public Release of Clinical Information: a risk of at most .09; for a "
            "single person, classes of 11 (1/11 = .0909, rounded).",
            k=11,
            reidentification=0.09,
        ),
        "cms-11": _preset(
            "US Centers for Medicare & Medicaid Services, cell size suppression policy: no cell of 1 to 10 people is "
            "shown.",
            k=11,
        ),
        "frequency-3": _preset(
            "Minimum frequency rule of official statistics with threshold 3 (ESSnet Handbook on Statistical "
            "Disclosure Control).",
            k=3,
        ),
    }
)


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What is asked of a release.

    ``quasi`` holds sets of quasi-identifiers: each set is one attacker's knowledge, and all must hold. ``subject`` is
    the column that says which rows are the same person. ``ratings``: every row says that a person has something to do
    with an item; the columns of person, item and optionally value and date. ``guessed`` names the columns whose role
    nobody gave. ``require`` names questions without whose answer there is no ``release``. ``may_be_wrong``: the
    attacker may have excluded what is true. ``width``: how well the frequencies of items are known, as a share of the
    baskets or a gap. ``itemsets``: which sets of items are to be protected (``pairs``, ``top:10`` for pairs without the
    most frequent tenth of the items, ``3`` for sets of three), so that few are cracked with probability ``danger`` or
    more. ``pairs_known``: how many of the pairs that are bought together most often the attacker knows.
    ``items_known``: how many items of one basket they know; ``things_known``: how many random columns of a person.

    ``missing_as``: a missing quasi-identifier is a ``value`` of its own, a ``wildcard`` that fits anything, or its row
    is ``excluded``. ``hierarchy``: for some columns, the file that says what their values are kinds of, or a rule to
    make one (see :mod:`unveil.release.hierarchies`). ``ruled_out``: for sensitive columns, the values that an attacker
    can rule out. ``compare``: how like values of some columns are, as ``--compare`` has it. ``strict``: what each
    sensitive column gives away is also held against the tolerance for someone who knows all other sensitive columns.
    ``population``: how many people the rows are a random sample of, or which share of the population they are.
    """

    identifier: tuple[str, ...] = ()
    quasi: tuple[tuple[str, ...], ...] = ()
    sensitive: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()
    subject: str | None = None
    ratings: tuple[str, ...] = ()
    missing: tuple[str, ...] = ("", "?", "NA", "*")
    missing_as: str = "value"
    hierarchy: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    ruled_out: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    compare: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    strict: bool = False
    population: float | None = None
    preset: str = "default"
    tolerance: Mapping[str, float | None] = field(default_factory=lambda: MappingProxyType({}))
    require: tuple[str, ...] = ()
    may_be_wrong: bool = False
    width: str | float = "median-gap"
    itemsets: str | None = None
    danger: float = 0.5
    pairs_known: int | None = None
    items_known: int = 2
    things_known: int = 4
    seed: int = 0
    guessed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        for name, value in _values(given).items():
            object.__setattr__(self, name, value)
        _check(self)

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

    def tolerated(self, finding_id: str) -> float | None:
        """The tolerance of a finding; None where there is none, or where it was turned off."""
        if finding_id in self.tolerance:
            return self.tolerance[finding_id]
        return PRESETS[self.preset].tolerance.get(finding_id)

    def wanted(self, finding_id: str) -> float:
        """The tolerance that defines a small crowd: the policy's, or the preset's where it was turned off."""
        tolerated = self.tolerated(finding_id)
        return (PRESETS[self.preset].tolerance[finding_id] or 1) if tolerated is None else tolerated

    def to_dict(self) -> dict[str, Any]:
        """The policy as plain JSON values; an overridden tolerance that is off is ``false``."""
        plain = {f.name: _plain(getattr(self, f.name)) for f in fields(self)}
        plain["tolerance"] = {k: False if v is None else v for k, v in self.tolerance.items()}
        return plain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], where: str = "policy") -> Policy:
        """A policy from plain values, such as :meth:`to_dict` or a TOML file gives."""
        known = [f.name for f in fields(cls)]
        try:
            for key in data:
                if key not in known:
                    raise UnveilError(f"unknown setting {shown(key)!r}{_near(str(key), known)}")
            return cls(**data)
        except UnveilError as error:
            raise UnveilError(f"{where}: {error}") from None

    @classmethod
    def from_toml(cls, path: str | Path) -> Policy:
        """Read ``unveil.toml``."""
        from unveil.release.source import load

        name = shown(Path(path).name)
        try:
            data = tomllib.loads(load(Path(path)).decode())
        except UnicodeDecodeError:
            raise UnveilError(f"{name}: not UTF-8 text; save the policy as UTF-8") from None
        except tomllib.TOMLDecodeError as error:
            at = str(error).rpartition("(at ")[2].rstrip(")")
            raise UnveilError(f"{name}: not valid TOML near {at}; quote names that hold spaces or dots") from None
        columns = data.pop("columns", {})
        if not isinstance(columns, dict):
            raise UnveilError(f"{name}: [columns] must be a table such as [columns] with quasi = [...] below it")
        twice = sorted(set(columns) & set(data))
        if twice:
            raise UnveilError(f"{name}: {listed(twice)} stands both at the top and under [columns]; keep one")
        return cls.from_dict({**data, **columns, **_beside(Path(path), data)}, where=name)


def _beside(path: Path, data: Mapping[str, Any]) -> dict[str, Any]:
    """Files that a policy names lie beside it, whatever the current directory."""
    named = data.get("hierarchy")
    if not isinstance(named, Mapping):
        return {}
    return {
        "hierarchy": {
            column: str(path.parent / said) if isinstance(said, str) and not is_rule(said) else said
            for column, said in named.items()
        }
    }


def _values(data: Mapping[str, Any]) -> dict[str, Any]:
    """The settings in their proper form, whatever reasonable form they were given in."""
    values = dict(data)
    for name in ("identifier", "sensitive", "insensitive", "ratings", "missing", "require", "guessed"):
        values[name] = _strings(name, values[name])
    values["quasi"] = _sets(values["quasi"])
    if values["ratings"] and values["subject"] is None:
        values["subject"] = values["ratings"][0]
    values["tolerance"] = MappingProxyType(dict(_tolerances(values["tolerance"])))
    for name, example in (
        ("hierarchy", 'zip = "prefixes"'),
        ("ruled_out", 'diagnosis = ["flu"]'),
        ("compare", 'birth = "30d"'),
    ):
        if not isinstance(values[name], Mapping):
            raise UnveilError(f"[{name}] must be a table such as [{name}] with {example} below it")
    values["hierarchy"] = MappingProxyType(dict(values["hierarchy"]))
    values["compare"] = MappingProxyType({c: str(said) for c, said in values["compare"].items()})
    ruled = {column: _strings(f"ruled_out of {shown(column)}", v) for column, v in values["ruled_out"].items()}
    values["ruled_out"] = MappingProxyType({column: v for column, v in ruled.items() if v})
    return values


def _strings(name: str, value: object) -> tuple[str, ...]:
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, (list, tuple)) or not all(isinstance(v, str) for v in items):
        raise UnveilError(f"{name} must be a list of names")
    return tuple(items)


def _sets(value: object) -> tuple[tuple[str, ...], ...]:
    """One set (a list of names) or several (a list of lists)."""
    if isinstance(value, (list, tuple)) and any(isinstance(v, (list, tuple)) for v in value):
        return tuple(_strings("each set of quasi", v) for v in value)
    columns = _strings("quasi", value)
    return (columns,) if columns else ()


def _tolerances(value: object, prefix: str = "") -> Iterable[tuple[str, float | None]]:
    """Flatten ``classes.k = 5`` (which TOML reads as nested tables) and check each number."""
    if not isinstance(value, Mapping):
        raise UnveilError("[tolerance] must be a table such as [tolerance] with classes.k = 5 below it")
    for key, v in value.items():
        name = f"{prefix}{key}"
        if isinstance(v, Mapping):
            yield from _tolerances(v, f"{name}.")
        elif v is False or v is None:
            yield name, None
        elif isinstance(v, bool) or not isinstance(v, (int, float)):
            raise UnveilError(f"the tolerance of {shown(name)} must be a number, or false to turn it off")
        else:
            yield name, v


def _check(policy: Policy) -> None:
    if not isinstance(policy.preset, str) or policy.preset not in PRESETS:
        raise UnveilError(f"unknown preset {shown(policy.preset)!r}; choose one of {listed(PRESETS)}")
    if isinstance(policy.seed, bool) or not isinstance(policy.seed, int) or policy.seed < 0:
        raise UnveilError("seed must be a whole number, 0 or more")
    if not isinstance(policy.may_be_wrong, bool):
        raise UnveilError("may_be_wrong must be true or false")
    if isinstance(policy.width, str) and policy.width not in _GAPS:
        raise UnveilError(f"width must be {' or '.join(_GAPS)}, or a share of the baskets such as 0.01")
    if not isinstance(policy.width, str) and not _is_share(policy.width):
        raise UnveilError(f"width must be a share of the baskets between 0 and 1, or {' or '.join(_GAPS)}")
    if policy.itemsets is not None and not (isinstance(policy.itemsets, str) and is_itemsets(policy.itemsets)):
        raise UnveilError("itemsets must be pairs, top:10 (pairs without the most frequent tenth) or a size such as 3")
    if policy.pairs_known is not None and (
        isinstance(policy.pairs_known, bool) or not isinstance(policy.pairs_known, int) or policy.pairs_known < 1
    ):
        raise UnveilError("pairs_known must be a whole number, 1 or more")
    if type(policy.items_known) is not int or policy.items_known not in range(1, 10):
        raise UnveilError("items_known must be a whole number from 1 to 9")
    if type(policy.things_known) is not int or policy.things_known < 1:
        raise UnveilError("things_known must be a whole number, 1 or more")
    if policy.missing_as not in _MISSING:
        raise UnveilError(f"missing_as must be one of {listed(_MISSING)}")
    if policy.missing_as == "wildcard" and policy.subject is not None:
        raise UnveilError('missing_as = "wildcard" is for tables with one row per person; leave out subject')
    if not isinstance(policy.strict, bool):
        raise UnveilError("strict must be true or false")
    _check_population(policy.population)
    _check_hierarchies(policy)
    if not _is_share(policy.danger) or policy.danger == 0:
        raise UnveilError("danger must be a probability above 0 and up to 1")
    if policy.subject is not None and not isinstance(policy.subject, str):
        raise UnveilError("subject must be the name of one column")
    _check_ratings(policy)
    known = PRESETS["default"].tolerance
    for name, value in policy.tolerance.items():
        if name not in known:
            raise UnveilError(f"no finding is called {shown(name)!r}{_near(name, list(known))}")
        if value is not None:
            _check_tolerance(name, value)
    _check_roles(policy)


def _check_ratings(policy: Policy) -> None:
    if not policy.ratings:
        return
    if len(policy.ratings) not in (2, 3, 4) or len(set(policy.ratings)) < len(policy.ratings):
        raise UnveilError("ratings must name two to four columns: person, item, and optionally value and date")
    strange = [c for c in policy.compare if c in policy.ratings[:2]]
    if strange:
        raise UnveilError(f"compare names {listed(strange)}; of ratings only values and dates are compared")
    if policy.subject != policy.ratings[0]:
        raise UnveilError("the first column of ratings says whose they are, as subject does; leave out subject")


def _check_population(given: object) -> None:
    if given is None or (_is_share(given) and isinstance(given, (int, float)) and given >= 1 / _PEOPLE):
        return
    if isinstance(given, bool) or not isinstance(given, (int, float)) or given != given or given != given // 1:
        raise UnveilError(
            "population must be a number of people such as 83000000, or a share of them up to 1 such as .01"
        )
    if given < 1:
        raise UnveilError("population must be above 0")
    if given > _PEOPLE:
        raise UnveilError("there are no populations of so many people")


def _check_hierarchies(policy: Policy) -> None:
    for column, said in policy.hierarchy.items():
        if not isinstance(said, str) or not said:
            raise UnveilError(f"the hierarchy of {shown(column)} must be a file name or a rule such as prefixes")
        if said.partition(":")[0] in _RULES and not is_rule(said):
            raise UnveilError(
                f"the hierarchy of {shown(column)}: {shown(said)!r} is not a rule; write prefixes, prefixes:4,2, "
                "intervals:5,10,20 or dates"
            )
    for column, said in policy.compare.items():
        if not _COMPARED.fullmatch(said):
            raise UnveilError(
                f"compare: {shown(column)} cannot be compared as {shown(said)!r}; write equal, support, a number such "
                "as 2, ~5, or 30d for days"
            )
    strange = [c for c in policy.ruled_out if c not in policy.sensitive]
    if strange:
        raise UnveilError(f"ruled_out names {listed(strange)}, which is not among the sensitive columns")


def is_rule(text: str) -> bool:
    """Whether a text is a rule for making a hierarchy, and not the name of a file with one.

    >>> is_rule("prefixes"), is_rule("intervals:5,10"), is_rule("dates"), is_rule("zip.csv")
    (True, True, True, False)
    """
    return bool(_RULE.fullmatch(text))


def is_itemsets(text: str) -> bool:
    """Whether a text names a kind of itemsets."""
    return bool(_ITEMSETS.fullmatch(text))


def _is_share(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


def _check_tolerance(name: str, value: float) -> None:
    if not math.isfinite(value) or value < 0:
        raise UnveilError(f"the tolerance of {name} must be 0 or more")
    if name in _COUNTS and value != int(value):
        raise UnveilError(f"the tolerance of {name} must be a whole number")
    if name not in (*_COUNTS, *_NUMBERS) and value > 1:
        raise UnveilError(f"the tolerance of {name} is a share between 0 and 1; write 0.05 for 5%")


def _check_roles(policy: Policy) -> None:
    seen: dict[str, str] = {}
    claims = [(c, role) for role in ("identifier", "sensitive", "insensitive") for c in getattr(policy, role)]
    claims += [(c, "quasi") for c in policy.quasi_columns]
    for column, role in claims:
        if column in seen:
            both = f"both {seen[column]} and {role}" if seen[column] != role else f"{role} twice"
            raise UnveilError(f"column {shown(column)!r} is named as {both}; keep one role")
        seen[column] = role
    if any(not group for group in policy.quasi):
        raise UnveilError("a set of quasi-identifiers is empty; name its columns or remove it")
    if len({frozenset(group) for group in policy.quasi}) < len(policy.quasi):
        raise UnveilError("a set of quasi-identifiers is named twice; keep one")
    if any(len(set(group)) < len(group) for group in policy.quasi):
        raise UnveilError("a set of quasi-identifiers names a column twice; keep one")


def _near(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; known are {listed(known, 12)}"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, tuple) else value
