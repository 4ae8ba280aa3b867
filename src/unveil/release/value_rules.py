"""How values get the labels of one level, written down so that values that nobody has seen yet get theirs.

A rule has a kind and a few parameters:

- ``intervals``: numbers in intervals of a ``width``; ``cuts``: in intervals that begin at these. ``whole``: the labels
  are those of whole numbers, and other numbers have none;
- ``ends``: numbers below ``low`` together and those from ``high`` on, others as they are; either may be empty;
- ``dates``: by a ``unit`` such as month;
- ``prefixes``: the first ``length`` characters of texts of ``shortest`` to ``longest`` characters;
- ``hierarchy``: a ``level`` of a hierarchy in a file;
- ``labels``: only what is listed.

Values whose label does not follow from that are listed with it (``labels``), whatever the kind of the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from unveil.errors import UnveilError
from unveil.policy import is_hierarchy_rule
from unveil.release.codes import arrow_integers, cast_to_text

if TYPE_CHECKING:
    from unveil.release.coarsening import ColumnLadder, LadderStep
    from unveil.release.hierarchy import Hierarchy

__all__ = ["ValueRule", "rule_of_step"]

_Labels: TypeAlias = list[str | None]


@dataclass(frozen=True)
class ValueRule:
    """A rule for the labels of one column: a kind, its parameters, and the labels of values that it does not cover."""

    kind: str
    parameters: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    labels: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def label_values(self, texts: Sequence[str], hierarchy: Hierarchy | None, missing: tuple[str, ...]) -> _Labels:
        """The label of each value; None if the rule gives it none, or one that would be read as missing."""
        found = _LABELLERS[self.kind](self.parameters, texts, hierarchy)
        return [
            self.labels.get(text, None if label is None or label.strip() in missing else label)
            for text, label in zip(texts, found, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """The rule as plain values; the values that are listed stand under their labels."""
        listed: dict[str, list[str]] = {}
        for text, label in self.labels.items():
            listed.setdefault(label, []).append(text)
        lists = [{"label": label, "values": sorted(texts)} for label, texts in sorted(listed.items())]
        return {"rule": self.kind, **self.parameters, **({"labels": lists} if lists else {})}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], where: str) -> ValueRule:
        """The inverse of :meth:`to_dict`; anything else is refused."""
        kind = data.get("rule")
        if not isinstance(kind, str) or kind not in _PARAMETERS:
            raise UnveilError(f"{where}: this version of unveil does not know its rule")
        wanted, given = _PARAMETERS[kind], {k: v for k, v in data.items() if k not in ("rule", "labels")}
        if set(given) != set(wanted) or not all(check(given[name]) for name, check in wanted.items()):
            raise UnveilError(f"{where}: the parameters of its rule {kind} are incomplete or malformed")
        labels = {
            text: each["label"] for each in _checked_lists(data.get("labels", []), where) for text in each["values"]
        }
        return cls(kind, MappingProxyType(given), MappingProxyType(labels))


def _checked_lists(lists: Any, where: str) -> list[dict[str, Any]]:
    """Labels, each with the values that get it."""
    fine = isinstance(lists, list) and all(
        isinstance(each, Mapping)
        and set(each) == {"label", "values"}
        and isinstance(each["label"], str)
        and isinstance(each["values"], list)
        and all(isinstance(text, str) for text in each["values"])
        for each in lists
    )
    texts = [text for each in lists for text in each["values"]] if fine else []
    if not fine or len(set(texts)) < len(texts):
        raise UnveilError(f"{where}: its labels are malformed")
    return list(lists)


# ---- the kinds -------------------------------------------------------------------------------------------------------


def _label_intervals(parameters: Mapping[str, Any], texts: Sequence[str], hierarchy: Hierarchy | None) -> _Labels:
    from unveil.release.generalised_labels import interval_label

    step, whole = parameters.get("width") or parameters["cuts"], parameters["whole"]

    def label(number: Fraction | None) -> str | None:
        if number is None or (whole and number.denominator != 1):
            return None
        return interval_label(number, step, whole, "recipe")

    return [label(_fraction(text)) for text in texts]


def _label_extremes(parameters: Mapping[str, Any], texts: Sequence[str], hierarchy: Hierarchy | None) -> _Labels:
    from unveil.release.top_bottom_coding import coded_label

    ends = parameters["low"] or None, parameters["high"] or None
    return [None if (number := _fraction(text)) is None else coded_label(text, number, ends) for text in texts]


def _label_dates(parameters: Mapping[str, Any], texts: Sequence[str], hierarchy: Hierarchy | None) -> _Labels:
    from unveil.release.hierarchy import date_label, is_date

    return [date_label(text, parameters["unit"]) if is_date(text) else None for text in texts]


def _label_prefixes(parameters: Mapping[str, Any], texts: Sequence[str], hierarchy: Hierarchy | None) -> _Labels:
    shortest, longest, length = (parameters[name] for name in ("shortest", "longest", "length"))
    return [text[:length].ljust(longest, "*") if shortest <= len(text) <= longest else None for text in texts]


def _label_by_hierarchy(parameters: Mapping[str, Any], texts: Sequence[str], hierarchy: Hierarchy | None) -> _Labels:
    from unveil.release.coarsening import labels_on_level

    if hierarchy is None or parameters["level"] > hierarchy.height:
        raise UnveilError(f"the recipe needs level {parameters['level']} of a hierarchy that is not there")
    return labels_on_level(hierarchy, texts, parameters["level"]) if texts else []


def _label_nothing(parameters: Mapping[str, Any], texts: Sequence[str], hierarchy: Hierarchy | None) -> _Labels:
    return [None] * len(texts)


def _fraction(text: str) -> Fraction | None:
    from unveil.release.generalised_labels import parse_fraction

    return parse_fraction(text.strip())


def _is_number(value: Any) -> bool:
    return isinstance(value, str) and _fraction(value) is not None


def _is_width(value: Any) -> bool:
    return _is_number(value) and (_fraction(value) or 0) > 0


def _is_end(value: Any) -> bool:
    return value == "" or _is_number(value)


def _are_cuts(value: Any) -> bool:
    if not isinstance(value, list) or not value or not all(map(_is_number, value)):
        return False
    numbers = [_fraction(text) or Fraction(0) for text in value]
    return all(a < b for a, b in pairwise(numbers))


def _is_unit(value: Any) -> bool:
    from unveil.release.hierarchy import DATE_UNITS

    return isinstance(value, str) and value in DATE_UNITS


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 < value < 10**6


_PARAMETERS: Mapping[str, Mapping[str, Callable[[Any], bool]]] = MappingProxyType(
    {
        "intervals": {"width": _is_width, "whole": _is_flag},
        "cuts": {"cuts": _are_cuts, "whole": _is_flag},
        "ends": {"low": _is_end, "high": _is_end},
        "dates": {"unit": _is_unit},
        "prefixes": {"length": _is_count, "shortest": _is_count, "longest": _is_count},
        "hierarchy": {"level": _is_count},
        "labels": {},
    }
)
_LABELLERS: Mapping[str, Callable[[Mapping[str, Any], Sequence[str], Hierarchy | None], _Labels]] = MappingProxyType(
    {
        "intervals": _label_intervals,
        "cuts": _label_intervals,
        "ends": _label_extremes,
        "dates": _label_dates,
        "prefixes": _label_prefixes,
        "hierarchy": _label_by_hierarchy,
        "labels": _label_nothing,
    }
)


# ---- from a step -----------------------------------------------------------------------------------------------------


def rule_of_step(ladder: ColumnLadder, step: LadderStep) -> ValueRule:
    """The rule that gives each value of a column its label on a step, and new values theirs."""
    texts = cast_to_text(ladder.steps[0].labels).to_pylist()
    labels = cast_to_text(step.labels).take(arrow_integers(step.becomes)).to_pylist()
    base = ValueRule("labels") if step.rare else _level_rule(ladder, step.level)
    placed = base.label_values(texts, ladder.hierarchy, ladder.missing)
    listed = {text: label for text, label, found in zip(texts, labels, placed, strict=True) if label != found}
    return ValueRule(base.kind, base.parameters, MappingProxyType({**base.labels, **listed}))


def _level_rule(ladder: ColumnLadder, level: int) -> ValueRule:
    """The rule of a level of the hierarchy; its values are listed if no other rule says the same of all of them."""
    hierarchy = ladder.hierarchy
    if hierarchy is None or not level:
        return ValueRule("labels")
    if ladder.rule is not None and not is_hierarchy_rule(ladder.rule):
        return ValueRule("hierarchy", MappingProxyType({"level": level}))
    values = hierarchy.values.to_pylist()
    labels = hierarchy.labels(level).take(arrow_integers(hierarchy.levels[level - 1].codes)).to_pylist()
    parameters = _level_parameters(ladder.rule or "", hierarchy, level, values, labels)
    if parameters is not None:
        rule = ValueRule(parameters[0], MappingProxyType(parameters[1]))
        if rule.label_values(values, hierarchy, ()) == labels:
            return rule
    fine = {value: label for value, label in zip(values, labels, strict=True) if label.strip() not in ladder.missing}
    return ValueRule("labels", labels=MappingProxyType(fine))


def _level_parameters(
    text: str, hierarchy: Hierarchy, level: int, values: list[str], labels: list[str]
) -> tuple[str, dict[str, Any]] | None:
    """The kind and the parameters of a level that a rule of a policy made."""
    from unveil.release.hierarchy import DATE_UNITS
    from unveil.release.top_bottom_coding import parse_coding_limits

    kind, _, numbers = text.partition(":")
    if level >= hierarchy.height:
        return None
    if kind == "dates":
        return "dates", {"unit": DATE_UNITS[level - hierarchy.height]}
    if kind == "prefixes":
        lengths = sorted(map(len, values))
        own = int(numbers.split(",")[level - 1]) if numbers else lengths[-1] - level
        return "prefixes", {"length": own, "shortest": max(1, lengths[0]), "longest": lengths[-1]}
    if kind in ("top", "bottom", "ends"):
        low, high = parse_coding_limits(kind, numbers.split(","), "recipe")[level - 1]
        return "ends", {"low": low or "", "high": high or ""}
    if kind not in ("intervals", "cuts", "quantiles"):
        return None
    whole = not any(label.startswith("[") and label.endswith(")") for label in labels) and all(
        (_fraction(value) or Fraction(0)).denominator == 1 for value in values
    )
    if kind == "intervals":
        return "intervals", {"width": numbers.split(",")[level - 1], "whole": whole}
    return "cuts", {"cuts": numbers.split(",") if kind == "cuts" else _first_values(values, labels), "whole": whole}


def _first_values(values: list[str], labels: list[str]) -> list[str]:
    """The least number under each label: quantiles begin at values."""
    first: dict[str, tuple[Fraction, str]] = {}
    for value, label in zip(values, labels, strict=True):
        number = _fraction(value) or Fraction(0)
        first[label] = min(first.get(label, (number, value.strip())), (number, value.strip()))
    return [text for _, text in sorted(first.values())]
