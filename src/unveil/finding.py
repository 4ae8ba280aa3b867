"""A finding: one measured risk, with how it was measured and what is tolerated.

A number alone decides nothing. A finding says who would attack and with what knowledge, how the number was obtained
(exactly, as a bound, by simulation, or as an estimate), how far it can be off, what guessing alone would achieve, how
many people are harmed, and where it stands against the tolerance:

- *over*   – every value the interval allows violates the tolerance,
- *within* – none does,
- *open*   – the interval straddles the tolerance, or there is no valid interval (estimates),
- *failed* – the question could not be answered,
- none     – there is no tolerance: the finding is for information only.

Estimates inform, they never decide.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from itertools import groupby
from typing import Any, Literal, TypeAlias

from unveil.wording import at_least_text, at_most_text, number_text, percent_text, range_text, unit_noun

__all__ = [
    "TOLERANCE_SLACK",
    "Curve",
    "Direction",
    "Drawing",
    "ExposedSubject",
    "Finding",
    "GraphChart",
    "LatticeChart",
    "LinkChart",
    "Method",
    "Status",
]

Method = Literal["exact", "bound", "simulation", "estimate", "truncated"]
Status = Literal["over", "within", "open", "failed"]
Direction = Literal["lower", "higher"]

TOLERANCE_SLACK = 1e-9
"""A number meets a tolerance that it exceeds by less than this share of it: sums of floating-point numbers are no more
exact. Counts below a thousand million are compared exactly."""

_MAX_LINES = 6  # a chart with more lines cannot be read
_ID_PATTERN = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+")


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Aggregates for one chart, and the sentence that says how to read it.

    ``low`` and ``high`` are a band around ``y``; ``mark`` is a place on the x axis worth a line (a tolerance).
    ``levels`` are places on the y axis worth a line, each with what it says (guessing, a tolerance); of lines only.
    ``series`` names for each point the line it belongs to, all points of one line together; without it there is one
    line. A logarithmic ``y_scale`` is for lines through positive values, without levels; a ``fitted`` one, for lines,
    need not begin at 0. Only aggregates belong here: a
    curve is embedded in every report.
    """

    title: str
    kind: Literal["bars", "line"]
    x_label: str
    y_label: str
    x: tuple[float | str, ...]
    y: tuple[float, ...]
    reading: str
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None
    x_scale: Literal["linear", "log", "category"] = "linear"
    mark: float | None = None
    mark_label: str = ""
    series: tuple[str, ...] | None = None
    levels: tuple[tuple[float, str], ...] = ()
    y_scale: Literal["linear", "log", "fitted"] = "linear"

    def __post_init__(self) -> None:
        lengths = {len(v) for v in (self.x, self.y, self.low, self.high, self.series) if v is not None}
        if len(lengths) != 1:
            raise ValueError(f"the columns of the curve {self.title!r} differ in length")
        numbers = [v for column in (self.x, self.y, self.low or (), self.high or (), (self.mark or 0,)) for v in column]
        numbers += [y for y, _ in self.levels]
        if not all(math.isfinite(v) for v in numbers if not isinstance(v, str)):
            raise ValueError(f"the curve {self.title!r} has a point that is not finite")
        if self.series is not None:
            _check_series(self, self.series)
        if self.levels and self.kind != "line":
            raise ValueError(f"the curve {self.title!r} has levels, which are drawn among lines only")
        if self.y_scale == "log":
            _check_logarithms(self)
        if self.y_scale == "fitted" and self.kind != "line":
            raise ValueError(f"the curve {self.title!r} has bars, which begin at 0")


@dataclass(frozen=True, kw_only=True)
class LinkChart:
    """Who may be whom, for one picture: entries on the left, pseudonyms on the right, a probability on every pair.

    ``risk`` is the probability of a crack of each entry; ``pairs`` holds (left, right, probability). The names in
    ``left`` and ``right`` are numbers, and ``true`` is none, unless the owner asked to reveal. Whoever makes links that
    reveal nothing sees to it that neither the numbering nor a risk equal to one pair's probability tells the true pair.
    """

    title: str
    kind: Literal["links"] = "links"
    left_label: str
    right_label: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    risk: tuple[float, ...]
    pairs: tuple[tuple[int, int, float], ...]
    true: tuple[tuple[int, int], ...] | None = None
    reading: str

    def __post_init__(self) -> None:
        if self.kind != "links":
            raise ValueError(f"{self.title!r} is not of the kind links but {self.kind!r}")
        if len(self.risk) != len(self.left):
            raise ValueError(f"the links {self.title!r} need one risk for each entry")
        if not all(0 <= p <= 1 for p in (*self.risk, *(p for _, _, p in self.pairs))):
            raise ValueError(f"the links {self.title!r} have a probability outside 0 to 1")
        left, right = range(len(self.left)), range(len(self.right))
        for ends in ([(i, j) for i, j, _ in self.pairs], self.true or ()):
            if not all(i in left and j in right for i, j in ends):
                raise ValueError(f"the links {self.title!r} have a pair that is not there")
            if len(set(ends)) != len(ends):
                raise ValueError(f"the links {self.title!r} have a pair twice")


@dataclass(frozen=True, kw_only=True)
class LatticeChart:
    """Sets of attributes ordered by inclusion, for one picture: the people who have each, the smallest sets that each
    follows from, and pairs of a set and one directly below it.

    Attributes are named by columns and numbers, unless the owner asked to reveal.
    """

    title: str
    kind: Literal["lattice"] = "lattice"
    sets: tuple[tuple[str, ...], ...]
    people: tuple[int, ...]
    follows_from: tuple[tuple[tuple[str, ...], ...], ...]
    edges: tuple[tuple[int, int], ...]
    reading: str

    def __post_init__(self) -> None:
        if self.kind != "lattice":
            raise ValueError(f"{self.title!r} is not of the kind lattice but {self.kind!r}")
        if not len(self.sets) == len(self.people) == len(self.follows_from):
            raise ValueError(f"the lattice {self.title!r} needs people and what it follows from for each set")
        for upper, lower in self.edges:
            if not (0 <= upper < len(self.sets) and 0 <= lower < len(self.sets)):
                raise ValueError(f"the lattice {self.title!r} has an edge to a set that is not there")
            if not set(self.sets[lower]) < set(self.sets[upper]):
                raise ValueError(f"the lattice {self.title!r} has an edge to a set that is not smaller")


@dataclass(frozen=True, kw_only=True)
class GraphChart:
    """A small graph with two kinds of nodes, for one picture: so many on the inside, numbered from 0, so many on the
    outside, numbered from there on, and pairs of nodes. Nodes have no names."""

    title: str
    kind: Literal["graph"] = "graph"
    inner_label: str
    outer_label: str
    inner: int
    outer: int
    edges: tuple[tuple[int, int], ...]
    reading: str

    def __post_init__(self) -> None:
        if self.kind != "graph":
            raise ValueError(f"{self.title!r} is not of the kind graph but {self.kind!r}")
        nodes = range(self.inner + self.outer)
        if min(self.inner, self.outer) < 0 or not all(a in nodes and b in nodes and a != b for a, b in self.edges):
            raise ValueError(f"the graph {self.title!r} has an edge between nodes that are not there")
        if len({frozenset(edge) for edge in self.edges}) != len(self.edges):
            raise ValueError(f"the graph {self.title!r} has an edge twice")


Drawing: TypeAlias = Curve | LinkChart | LatticeChart | GraphChart
"""What a finding can show as a picture."""


@dataclass(frozen=True, kw_only=True)
class ExposedSubject:
    """One of the most exposed subjects: a row, item or node number, never its name or values.

    ``learns`` names what an attacker would learn (column names); ``values`` is filled only when the owner asked to
    reveal.
    """

    subject: str
    risk: float
    because: str
    learns: tuple[str, ...] = ()
    values: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One measured risk. The field names are the stable keys of the JSON form.

    ``column`` is the column that the finding is about and ``known`` what the attacker knows, where there can be
    several of them: findings of one risk differ in these. A ``value`` may be infinite (``"infinite"`` in JSON).
    Rooms make findings with :meth:`unveil.risk.Risk.finding`.
    """

    id: str
    question: str
    column: str | None = None
    known: tuple[str, ...] | None = None
    title: str
    value: float | None
    unit: str
    method: Method | None
    interval: tuple[float, float] | None = None
    confidence: float | None = None
    subjects: int
    share: tuple[float, float] | None = None
    tolerance: float | None = None
    direction: Direction
    decides: bool
    status: Status | None = field(init=False)
    attacker: str
    missing: str = ""
    baseline: float | None = None
    sentence: str
    curves: tuple[Drawing, ...] = ()
    exposed: tuple[ExposedSubject, ...] = ()
    source: str = ""
    seconds: float = 0.0

    def __post_init__(self) -> None:
        _check_finding(self)
        object.__setattr__(self, "status", _derive_status(self))

    @property
    def harmed_share(self) -> float:
        """The share of subjects that are harmed for certain: the lower end of ``share``."""
        return self.share[0] if self.share else 0.0

    @property
    def is_unreachable(self) -> bool:
        """Whether someone who knows nothing is already over the tolerance, so that no protection of the same subjects
        can meet it. A baseline of another kind, such as chance, depends on the release."""
        from unveil.questions import all_risks

        risk = all_risks().get(self.id)
        if self.tolerance is None or self.baseline is None or (risk is not None and risk.baseline_name):
            return False
        return _is_over(self, self.baseline)

    def text_in_unit(self, x: float) -> str:
        """``x`` as text in this finding's unit."""
        return percent_text(x) if self.unit == "share" else number_text(x)

    @property
    def value_text(self) -> str:
        """The value with its interval, for people."""
        if self.value is None:
            return "not measured"
        text = self.text_in_unit(self.value)
        if self.tolerance is not None and self.value != self.tolerance and text == self.text_in_unit(self.tolerance):
            text = f"{100 * self.value:.6g}%" if self.unit == "share" else f"{self.value:,.6f}".rstrip("0").rstrip(".")
        if self.interval is None:
            return text
        if self.method == "bound":
            low, high = self.interval
            if self.text_in_unit(low) == self.text_in_unit(high):
                return text
            if self.value not in (low, high):
                return text
            worst = high if self.direction == "lower" else low
            if self.tolerance is not None and self.value == worst:  # "at most 40%, must be at most 10%" would not do
                return " to ".join(text if x == self.value else self.text_in_unit(x) for x in (low, high))
            if self.unit == "share" and text == percent_text(self.value):
                return at_least_text(low) if self.value == low else at_most_text(high)
            return f"at {'least' if self.value == low else 'most'} {text}"
        return range_text(self.value, self.interval, lambda x: text if x == self.value else self.text_in_unit(x))

    @property
    def unit_text(self) -> str:
        """The unit after :attr:`value_text`, for people; nothing after a percentage or where nothing was measured."""
        if self.value is None or self.unit == "share":
            return ""
        return unit_noun(self.value_text, self.unit)

    @property
    def tolerance_text(self) -> str:
        """The tolerance with its direction, for people."""
        if self.tolerance is None:
            return "no tolerance set"
        return f"{'at most' if self.direction == 'lower' else 'at least'} {self.text_in_unit(self.tolerance)}"

    def __repr__(self) -> str:
        tolerated = self.tolerance_text if self.tolerance is None else f"must be {self.tolerance_text}"
        return (
            f"{self.title}: {self.value_text} [{self.method or 'failed'}]"
            f", {tolerated}{f': {self.status}' if self.status else ''}\n  {self.sentence}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain JSON values, keys in the published order."""
        plain = {f.name: _to_plain(getattr(self, f.name)) for f in fields(self)}
        return plain | {"value": "infinite"} if self.value == math.inf else plain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Finding:
        """The inverse of :meth:`to_dict`; the status is derived anew."""
        values = {k: v for k, v in data.items() if k != "status"}
        values["value"] = math.inf if values["value"] == "infinite" else values["value"]
        for name in ("interval", "share", "known"):
            values[name] = None if values.get(name) is None else tuple(values[name])
        values["curves"] = tuple(_drawing_from(_with_tuples(c)) for c in values.get("curves", ()))
        values["exposed"] = tuple(ExposedSubject(**_with_tuples(e)) for e in values.get("exposed", ()))
        return cls(**values)


def _check_finding(finding: Finding) -> None:
    """A finding that contradicts itself is a programming error: stop it here."""
    if not _ID_PATTERN.fullmatch(finding.id):
        raise ValueError(f"{finding.id!r} is not a finding id")
    numbers = [finding.tolerance, *(finding.interval or ()), *(finding.share or ())]
    if finding.value != math.inf:
        numbers.append(finding.value)
    if any(x is not None and not math.isfinite(x) for x in numbers):
        raise ValueError(f"{finding.id}: a number is not finite")
    if finding.share is not None and not 0 <= finding.share[0] <= finding.share[1] <= 1:
        raise ValueError(f"{finding.id}: {finding.share} is not an interval of shares")
    if finding.interval is not None and finding.interval[0] > finding.interval[1]:
        raise ValueError(f"{finding.id}: {finding.interval} is not an interval")
    if finding.method in ("simulation", "bound") and finding.interval is None:
        raise ValueError(f"{finding.id}: a {finding.method} needs its interval")
    if (finding.method is None) != (finding.value is None):
        raise ValueError(f"{finding.id}: a value needs its method, and a method its value")
    if finding.method == "estimate" and finding.decides:
        raise ValueError(f"{finding.id}: an estimate cannot decide")


def _check_series(curve: Curve, series: tuple[str, ...]) -> None:
    """Several lines are drawn only as lines over numbers, few enough to tell apart, and each in one piece."""
    if curve.kind != "line" or curve.x_scale == "category" or any(isinstance(x, str) for x in curve.x):
        raise ValueError(f"the curve {curve.title!r} has several lines: it needs the kind line and numbers as places")
    pieces = [line for line, _ in groupby(series)]
    if len(set(pieces)) != len(pieces):
        raise ValueError(f"the curve {curve.title!r} has a line whose points do not stand together")
    if len(pieces) > _MAX_LINES:
        raise ValueError(f"the curve {curve.title!r} has {len(pieces)} lines; {_MAX_LINES} can be read")


def _check_logarithms(curve: Curve) -> None:
    """Only positive values have logarithms, and bars would have nowhere to begin."""
    values = (*curve.y, *(curve.low or ()), *(curve.high or ()))
    if curve.kind != "line" or curve.levels or not all(v > 0 for v in values):
        raise ValueError(f"the curve {curve.title!r} is logarithmic: it needs lines of positive values, without levels")


def _is_over(finding: Finding, x: float) -> bool:
    """Whether a number violates the finding's tolerance by more than rounding may add."""
    limit = finding.tolerance
    assert limit is not None
    slack = TOLERANCE_SLACK * max(abs(limit), abs(x)) if math.isfinite(x) else 0.0
    return x > limit + slack if finding.direction == "lower" else x < limit - slack


def _derive_status(finding: Finding) -> Status | None:
    if finding.value is None:
        return "failed"
    if finding.tolerance is None:
        return None
    if finding.interval is None and finding.method not in ("exact",):
        return "open"
    low, high = finding.interval or (finding.value, finding.value)
    harmful = [_is_over(finding, x) for x in (low, high)]
    return "over" if all(harmful) else "open" if any(harmful) else "within"


def _to_plain(value: Any) -> Any:
    if isinstance(value, (Curve, LinkChart, LatticeChart, GraphChart, ExposedSubject)):
        return {f.name: _to_plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple):
        return [_to_plain(v) for v in value]
    return dict(value) if isinstance(value, Mapping) else value


def _drawing_from(data: Mapping[str, Any]) -> Drawing:
    kinds: dict[str, type[Drawing]] = {"links": LinkChart, "lattice": LatticeChart, "graph": GraphChart}
    return kinds.get(data["kind"], Curve)(**data)


def _with_tuples(data: Mapping[str, Any]) -> dict[str, Any]:
    return {k: _as_tuple(v) for k, v in data.items()}


def _as_tuple(value: Any) -> Any:
    return tuple(_as_tuple(v) for v in value) if isinstance(value, list) else value
