"""What findings claim, computed from raw rows the slow, obvious way."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

from contract.cases import Attacked
from reference.exact_linkage import exact_probabilities
from reference.naive_models import class_measures, earth_mover_distance, line_distances, recursive_c, tree_distances
from unveil import Finding, Policy
from unveil.risk import Risk

__all__ = ["Crowd", "Values", "crowd", "found_by_facts", "is_missing", "tolerated", "values_of"]

Row = Mapping[str, Any]
MISSING = ("", "?", "NA", "*")


def tolerated(policy: Policy, risk: Risk) -> float | None:
    """What a policy tolerates: its own number, its preset's, the one of the risk that this one follows, the default."""
    if risk.id in policy.tolerance:
        return policy.tolerance[risk.id]
    if policy.preset in risk.presets:
        return risk.presets[policy.preset]
    return risk.tolerance if risk.tolerance_from is None else tolerated(policy, risk.tolerance_from)


def is_missing(value: Any) -> bool:
    """Whether a value stands for nothing."""
    return value is None or value in MISSING


# ---- who looks the same ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Crowd:
    """The people by the number of their first row, from 1, their rows, and the people who look like each of them."""

    first: list[int]
    rows: list[list[Row]]
    peers: list[list[int]]

    @property
    def sizes(self) -> list[int]:
        return [len(p) for p in self.peers]

    @property
    def n(self) -> int:
        return len(self.first)

    def below(self, k: float) -> float:
        """The share of people in classes smaller than k."""
        return sum(size < k for size in self.sizes) / self.n

    @property
    def found(self) -> float:
        """How often a random choice among those who look the same is right."""
        return sum(1 / size for size in self.sizes) / self.n

    @property
    def classes(self) -> int:
        return len({tuple(p) for p in self.peers})

    @property
    def told_apart(self) -> float:
        """The share of pairs who do not look the same."""
        return sum(self.n - size for size in self.sizes) / (self.n * (self.n - 1))


def crowd(rows: Sequence[Row], columns: Sequence[str], policy: Policy, exact: Sequence[str] = ()) -> Crowd:
    """Who looks the same in these columns; missing values of the ``exact`` ones are values whatever the policy says."""
    reading = policy.missing_as
    people: dict[Any, list[int]] = {}
    for k, row in enumerate(rows):
        if reading == "excluded" and any(is_missing(row[c]) for c in columns):
            continue
        people.setdefault(k if policy.subject is None else row[policy.subject], []).append(k)

    def like(a: Row, b: Row) -> bool:
        wild = reading == "wildcard"
        known = all(a[c] == b[c] or (wild and (is_missing(a[c]) or is_missing(b[c]))) for c in columns)
        return known and all(a[c] == b[c] or (is_missing(a[c]) and is_missing(b[c])) for c in exact)

    def same(a: Iterable[int], b: Iterable[int]) -> bool:
        """Whether everything that one of them shows is shown by the other."""
        return all(any(like(rows[i], rows[j]) for j in b) for i in a) and all(
            any(like(rows[i], rows[j]) for i in a) for j in b
        )

    own = list(people.values())
    return Crowd(
        [r[0] + 1 for r in own],
        [[rows[k] for k in r] for r in own],
        [[j for j, other in enumerate(own) if same(r, other)] for r in own],
    )


# ---- what a class gives away -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Values:
    """The values of everybody who has any in a sensitive column, and those of all people of their class."""

    own: list[list[Any]]
    peers: list[list[list[Any]]]

    @property
    def n(self) -> int:
        return len(self.own)

    @property
    def table(self) -> list[Any]:
        """All values; each different value of a person counts once."""
        return [v for values in self.own for v in values]

    @property
    def around(self) -> list[list[Any]]:
        """All values in everybody's class."""
        return [[v for values in some for v in values] for some in self.peers]

    def measured(self, name: str, few: int = 2, distance: Callable[[list[Any]], Any] | None = None) -> list[float]:
        """A measure of everybody's class."""
        return [self._measure(name, some, few, distance) for some in self.peers]

    def _measure(
        self, name: str, peers: list[list[Any]], few: int, distance: Callable[[list[Any]], Any] | None
    ) -> float:
        some = [v for values in peers for v in values]
        if name == "t" and distance is not None:
            return self._moved(some, distance)
        if name == "alpha":
            return max(Counter(some).values()) / len(peers)
        if is_shared(peers) and name in ("l_distinct", "l_entropy", "recursive_c"):
            return math.inf if name == "recursive_c" else 1
        if name == "recursive_c":
            return recursive_c(some, few)
        key = {"t": "t_equal", "delta_disclosure": "delta", "l_distinct": "distinct", "l_entropy": "entropy_l"}
        return class_measures(some, self.table)[key.get(name, name)]

    def _moved(self, some: list[Any], distance: Callable[[list[Any]], Any]) -> float:
        kinds = sorted(set(self.table), key=lambda v: (len(v), v))
        inside, whole = Counter(some), Counter(self.table)
        p, q = ([c[v] / c.total() for v in kinds] for c in (inside, whole))
        return earth_mover_distance(p, q, distance(kinds))

    @property
    def pairs(self) -> list[tuple[Any, list[Any], int]]:
        """Every value of everybody, all values in their class, and the number of people in it."""
        around = zip(self.own, self.around, self.peers, strict=True)
        return [(v, some, len(peers)) for values, some, peers in around for v in values]

    @property
    def guessed(self) -> float:
        """How often the most frequent value of a class is one of the person's."""
        found = [max(Counter(v for x in some for v in x).values()) / len(some) for some in self.peers]
        return sum(found) / self.n

    @property
    def homogeneous(self) -> float:
        return sum(map(is_shared, self.peers)) / self.n

    def people_revealed_without(self, ruled: set[str]) -> float:
        """The share of people who have the only value left in their class once some are ruled out."""
        left = [set(some) - ruled for some in self.around]
        return sum(len(some) == 1 and some <= set(own) for own, some in zip(self.own, left, strict=True)) / self.n


def is_shared(peers: list[list[Any]]) -> bool:
    """Whether everybody in a class has some value in common."""
    return bool(set.intersection(*map(set, peers)))


def values_of(seen: Crowd, column: str) -> Values:
    """The values of a sensitive column; each different value of a person counts once, and missing ones do not."""
    each = [sorted({r[column] for r in rows if not is_missing(r[column])}) for rows in seen.rows]
    there = [person for person, values in enumerate(each) if values]
    return Values([each[p] for p in there], [[each[q] for q in seen.peers[p] if each[q]] for p in there])


def distance_between(attacked: Attacked, column: str) -> Callable[[list[Any]], Any] | None:
    """How far apart values of a column are; None if all are equally far apart."""
    if column in attacked.policy.hierarchy:  # of this form only: prefixes:2,1

        def tree(kinds: list[Any]) -> Any:
            levels = [[kinds.index(next(k for k in kinds if k[:n] == v[:n])) for v in kinds] for n in (2, 1, 0)]
            return tree_distances(levels)

        return tree
    values = {r[column] for r in attacked.rows} - {None}
    return (lambda kinds: line_distances(len(kinds))) if all(v.isdigit() for v in values) else None


# ---- who is found by a few facts -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """For every person with any facts: whether everything is learned about them (by their own record or an equal one),
    whether they are found, and unique; about how many guessing learns everything; and the number of the first row of
    each."""

    first: list[int]
    learned: list[float]
    own: list[float]
    unique: list[float]
    guessing: float


def found_by_facts(attacked: Attacked, known: int) -> Found:
    """What someone achieves who knows so many random facts about each person, or all there are."""
    policy, rows = attacked.policy, attacked.rows
    people: dict[Any, list[int]] = {}
    for k, row in enumerate(rows):
        people.setdefault(k if policy.subject is None else row[policy.subject], []).append(k)

    def facts(mine: list[int]) -> dict[Any, Any]:
        if policy.ratings:
            _, item, *more = policy.ratings
            return {rows[k][item]: tuple(rows[k][c] for c in more) for k in mine}
        columns = max(policy.quasi, key=len)
        if policy.subject is None:
            return {c: rows[mine[0]][c] for c in columns if not is_missing(rows[mine[0]][c])}
        return {(c, rows[k][c]): 1 for k in mine for c in columns if not is_missing(rows[k][c])}

    released = [c for c in rows[0] if c not in policy.identifier and c != policy.subject]
    shows = [sorted(str([None if is_missing(rows[k][c]) else rows[k][c] for c in released]) for k in own)
             for own in people.values()]  # fmt: skip
    records = [facts(own) for own in people.values()]
    numbers = {f: i for i, f in enumerate(sorted({f for r in records for f in r}, key=str))}
    coded = [{numbers[f]: v for f, v in r.items()} for r in records]
    found, equal = [], []
    for i, record in enumerate(coded):
        if record:
            own, _, unique, _ = map(float, exact_probabilities(coded, i, min(known, len(record))))  # type: ignore[arg-type]
            equal.append(shows.count(shows[i]))
            found.append((next(iter(list(people.values())[i])) + 1, min(1.0, own * equal[-1]), own, unique))
    guessing = sum(equal) / len(equal) / len(records)
    return Found(*(list(x) for x in zip(*found, strict=True)), guessing)


# ---- decisions -------------------------------------------------------------------------------------------------------


def harmful(finding: Finding, x: float) -> bool:
    """Whether a value violates the tolerance of a finding."""
    assert finding.tolerance is not None
    return x > finding.tolerance if finding.direction == "lower" else x < finding.tolerance


def average_risk(rows: Sequence[Row], columns: Sequence[str], policy: Policy, size: int) -> float:
    """The average re-identification risk with the most helpful columns of this many."""
    return max(crowd(rows, some, policy).found for some in combinations(columns, min(size, len(columns))))


def permanent(weights: Sequence[Sequence[float]]) -> float:
    """The weight of all assignments."""
    n = range(len(weights))
    return sum(math.prod(weights[i][p[i]] for i in n) for p in permutations(n))
