"""What the attributes of a release weigh: how likely each is known, and how dangerous it is if it is learned.

Quasi-identifiers are known and harmless, sensitive values are unknown and dangerous; all items of baskets are both
known and dangerous, unless some are named as sensitive. The policy sets other weights for a column, for a value
(``column=value``, which overrides the column) or for an item. What has no weight of its own follows ``score_weights``:

- **rarity**: a sensitive value that a share s of the people has is dangerous by 1 − s, times the danger of its column.
  The labels on the levels of its hierarchy can be learned, too. A label that a share s has weighs 1 − s in all, shared
  out over the levels: each adds what it says more than the coarser one. So a value weighs the same with and without.
- **k-anonymity**: the weights of section 5.1 of White's thesis: every sensitive value is dangerous by 1.
- **complementary**: l = 1 − d, for whichever of the two is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from unveil.arrays import Floats, Int32s, Ints
from unveil.case import Case
from unveil.errors import UnveilError
from unveil.inference.fact_columns import FactColumn, cut_column, read_facts
from unveil.inference.learned_values import value_shares
from unveil.inference.relation import Relation
from unveil.inference.sensitive_targets import people_of_rows, sensitive_targets
from unveil.inference.settings import InferenceSettings
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.release.transactions import Transactions
from unveil.run import Run
from unveil.wording import did_you_mean, safe_text

__all__ = ["WeighedRelation", "check_weights", "weigh_items", "weigh_table"]


class Weights(NamedTuple):
    """The likelihood and the danger of each attribute of a column."""

    likelihood: Floats
    danger: Floats


@dataclass(frozen=True, eq=False)
class WeighedRelation:
    """A relation with the column of each attribute (none for items), and the row of each individual."""

    relation: Relation
    column_of: tuple[str, ...]
    label_of: tuple[str, ...]
    row_of: Ints


class _WeighedColumn(NamedTuple):
    """A column as attributes."""

    name: str
    codes: Int32s
    labels: tuple[str, ...]
    weights: Weights


def weigh_table(case: Case, table: Table, known: tuple[str, ...], policy: Policy, run: Run) -> WeighedRelation:
    """The columns as attributes. Several rows of a person are one individual, who has what any of the rows has. People
    without a sensitive value in some row are then left out: they neither support nor refute anything."""
    chosen, person = policy.settings_for(InferenceSettings), people_of_rows(table, policy, run)
    facts = read_facts(case, table, known, policy, run)
    targets = [sensitive_targets(case, table, c, policy, run) for c in policy.sensitive if c not in known]
    targets = [levels for levels in targets if (levels[0].codes >= 0).any()]
    rows = np.arange(table.rows)
    if policy.missing_as == "excluded":
        rows = np.flatnonzero(np.all([fact.codes >= 0 for fact in facts], axis=0))
    if person is not None:
        incomplete = np.unique(np.concatenate([person[levels[0].codes < 0] for levels in targets]))
        rows = rows[~np.isin(person[rows], incomplete)]
    who = np.arange(len(rows), dtype=np.int32) if person is None else person[rows]
    columns = [_weigh_fact(fact, rows, chosen) for fact in facts]
    columns += [column for levels in targets for column in _weigh_target(levels, rows, who, chosen)]
    weights = [[c.weights.likelihood for c in columns], [c.weights.danger for c in columns]]
    if person is None:
        relation = Relation.from_columns(
            [c.codes for c in columns], *weights, sizes=[len(c.labels) for c in columns],
            danger_offset=chosen.score_offset,
        )  # fmt: skip
    else:
        begins, attributes, first = _join_rows(columns, who)
        relation = Relation.from_items(
            begins, attributes, sum(len(c.labels) for c in columns), *map(np.concatenate, weights),
            danger_offset=chosen.score_offset,
        )  # fmt: skip
        rows = rows[first]
    names = tuple(c.name for c in columns for _ in c.labels)
    return WeighedRelation(relation, names, tuple(label for c in columns for label in c.labels), rows)


def weigh_items(transactions: Transactions, policy: Policy) -> WeighedRelation:
    """The items as attributes."""
    chosen = policy.settings_for(InferenceSettings)
    labels = tuple(transactions.labels.to_pylist())
    shares = transactions.counts / max(1, transactions.baskets)
    sensitive = np.isin(np.array(labels, object), list(chosen.sensitive_items)) | (not chosen.sensitive_items)
    knowable = ~sensitive | (not chosen.sensitive_items)
    rarity = 1 - shares if chosen.score_weights == "rarity" else np.ones(len(labels))
    half = chosen.score_weights == "complementary" and not chosen.sensitive_items
    weights = _weigh(
        [(label,) for label in labels],
        chosen,
        np.full(len(labels), 0.5) if half else knowable.astype(np.float64),
        np.full(len(labels), 0.5) if half else np.where(sensitive, rarity, 0.0),
    )
    relation = Relation.from_items(
        transactions.indptr.astype(np.int64), transactions.items, len(labels), *weights,
        danger_offset=chosen.score_offset,
    )  # fmt: skip
    return WeighedRelation(relation, labels, labels, np.arange(transactions.baskets))


def check_weights(release: Table | Transactions, policy: Policy) -> None:
    """Refuse a weight for a column, a value or an item that is not there."""
    chosen = policy.settings_for(InferenceSettings)
    if isinstance(release, Table):
        for setting in ("likelihood", "danger"):
            for key in getattr(chosen, setting):
                _check_table_key(f"[inference.{setting}] names {safe_text(key)!r}", key, release, policy)
        return
    there = {*release.labels.to_pylist()}
    if there and there <= {*chosen.sensitive_items}:
        raise UnveilError("sensitive_items names every item, so that nothing is left to be known; name fewer, or none")
    for setting in ("likelihood", "danger", "sensitive_items"):
        for name in getattr(chosen, setting):
            if name not in there:
                place = setting if setting == "sensitive_items" else f"[inference.{setting}]"
                raise UnveilError(f"{place} names {safe_text(name)!r}, but no basket has such an item")


def _check_table_key(names: str, key: str, table: Table, policy: Policy) -> None:
    if key in table.columns:
        return
    column = next((c for c in sorted(table.columns, key=len, reverse=True) if key.startswith(f"{c}=")), None)
    if column is None:
        hint = did_you_mean(key.partition("=")[0], table.columns)
        raise UnveilError(f"{names}, but there is no such column{hint}")
    codes, value = table.codes([column], policy.missing)[column], key.removeprefix(f"{column}=")
    fact = cut_column(column, codes)
    if value not in (*fact.labels, *fact.ranges, "missing"):
        raise UnveilError(f"{names}, but no row has this value")


# ---- columns ---------------------------------------------------------------------------------------------------------


def _weigh_fact(fact: FactColumn, rows: Ints, chosen: InferenceSettings) -> _WeighedColumn:
    """A column that is known and harmless, unless the policy says otherwise."""
    ones = np.ones(len(fact.labels))
    weights = _weigh_values(fact, fact.labels, chosen, ones, 0 * ones)
    return _WeighedColumn(fact.name, fact.codes[rows], fact.labels, weights)


def _weigh_target(
    levels: Sequence[FactColumn], rows: Ints, who: Int32s, chosen: InferenceSettings
) -> Iterator[_WeighedColumn]:
    """A sensitive column, and by rarity the levels of its hierarchy, unless its values were cut into ranges."""
    fact = replace(levels[0], codes=levels[0].codes[rows])
    shares = value_shares(fact.codes, who, len(fact.labels))
    if chosen.score_weights != "rarity":
        weights = _weigh_values(fact, fact.labels, chosen, 0 * shares, np.ones_like(shares))
        yield _WeighedColumn(fact.name, fact.codes, fact.labels, weights)
        return
    scale = chosen.danger.get(fact.name, 1.0)
    weights = _weigh_values(fact, fact.labels, chosen, 0 * shares, scale * (1 - shares), column_danger=False)
    finer = _WeighedColumn(fact.name, fact.codes, fact.labels, weights)
    for level in () if fact.is_cut else levels[1:]:
        coarser = _weigh_level(replace(level, codes=level.codes[rows]), who, scale)
        yield _subtract_coarser_danger(finer, coarser)
        finer = coarser
    yield finer


def _weigh_level(level: FactColumn, who: Int32s, scale: float) -> _WeighedColumn:
    """The labels on a level of a hierarchy: the rarer, the more dangerous."""
    shares = value_shares(level.codes, who, len(level.labels))
    return _WeighedColumn(level.name, level.codes, level.labels, Weights(0 * shares, scale * (1 - shares)))


def _subtract_coarser_danger(finer: _WeighedColumn, coarser: _WeighedColumn) -> _WeighedColumn:
    """A level with the danger of the next coarser one taken off: who learns the value learns its labels as well."""
    of_value = np.zeros(len(finer.labels))
    there = finer.codes >= 0
    of_value[finer.codes[there]] = coarser.weights.danger[coarser.codes[there]]
    return finer._replace(weights=finer.weights._replace(danger=np.maximum(0, finer.weights.danger - of_value)))


def _weigh_values(
    fact: FactColumn,
    labels: Sequence[str],
    chosen: InferenceSettings,
    likelihood: Floats,
    danger: Floats,
    column_danger: bool = True,
) -> Weights:
    """Weights of a column's values. ``column_danger``: whether the danger of the column has still to be looked up. The
    weight of a value applies to the range that it is in."""
    name = fact.name
    given = chosen.danger if column_danger else {k: v for k, v in chosen.danger.items() if k != name}
    inside: dict[int, list[str]] = {}
    for text, code in fact.ranges.items():
        if (key := f"{name}={text}") in given or key in chosen.likelihood:
            inside.setdefault(code, []).append(key)
    keys = [(f"{name}={label}", *inside.get(code, ()), name) for code, label in enumerate(labels)]
    return _weigh(keys, chosen, likelihood, danger, given)


def _weigh(
    keys: Sequence[tuple[str, ...]],
    chosen: InferenceSettings,
    likelihood: Floats,
    danger: Floats,
    dangers: Mapping[str, float] | None = None,
) -> Weights:
    """The weights that the policy gives each attribute, or else those given here. ``keys`` are the names under which
    the policy may have an attribute, the most special first."""
    own_likelihood = _look_up(keys, chosen.likelihood)
    own_danger = _look_up(keys, chosen.danger if dangers is None else dangers)
    if chosen.score_weights == "complementary":
        likelihood = np.where(np.isnan(own_danger), likelihood, 1 - own_danger)
        danger = np.where(np.isnan(own_likelihood), danger, 1 - own_likelihood)
    return Weights(
        np.where(np.isnan(own_likelihood), likelihood, own_likelihood),
        np.where(np.isnan(own_danger), danger, own_danger),
    )


def _look_up(keys: Sequence[tuple[str, ...]], given: Mapping[str, float]) -> Floats:
    if not given:
        return np.full(len(keys), np.nan)
    return np.array([next((given[key] for key in own if key in given), np.nan) for own in keys])


# ---- several rows per person -----------------------------------------------------------------------------------------


def _join_rows(columns: Sequence[_WeighedColumn], who: Int32s) -> tuple[Ints, Ints, Ints]:
    """The attributes of each person, those of all rows together: where they begin, one list after the other, and the
    first row of each person."""
    _, first, number = np.unique(who, return_index=True, return_inverse=True)
    begins = np.append(0, np.cumsum([len(c.labels) for c in columns]))
    size = int(begins[-1])
    parts = [
        number[there] * size + begin + c.codes[there]
        for begin, c in zip(begins[:-1].tolist(), columns, strict=True)
        for there in [np.flatnonzero(c.codes >= 0)]
    ]
    pairs = np.unique(np.concatenate(parts))
    return np.searchsorted(pairs, np.arange(len(first) + 1) * size), pairs % max(1, size), first
