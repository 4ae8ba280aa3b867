"""How far off are counts made on the release? By one column, by two, and by random ranges of one to three columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import sqrt

import numpy as np

from unveil.arrays import Bools, Floats
from unveil.usefulness.use_measure import UseMeasure
from unveil.usefulness.value_groups import ComparedColumn
from unveil.wording import count_text, list_text, percent_text

__all__ = ["column_distance", "count_errors", "pair_distance", "query_errors"]

_MAX_PAIR_WORK = 200_000_000  # rows × pairs of columns
_MAX_QUERY_WORK = 100_000_000  # rows × queries
_QUERIES = (50, 400)  # the fewest and the most
_LEAST_COUNT = 0.01  # of the rows: the error of a smaller count is divided by that


def count_errors(columns: Sequence[ComparedColumn], rng: np.random.Generator) -> list[UseMeasure]:
    """The three measures, as far as there are columns for them."""
    found = [_describe_distances("columns", "one column", [column_distance(c) for c in columns], columns)]
    rows = max(len(columns[0].group_of_row), len(columns[0].label_of_row), 1)
    pairs = list(combinations(columns, 2))
    if pairs and rows * len(pairs) <= _MAX_PAIR_WORK:
        distances = [pair_distance(a, b) for a, b in pairs]
        found.append(_describe_distances("pairs", "two columns", distances, pairs))
    queries = int(np.clip(_MAX_QUERY_WORK // rows, *_QUERIES))
    return [*found, _describe_queries(query_errors(columns, queries, rng), columns)]


def column_distance(column: ComparedColumn) -> float:
    """Half the sum of the absolute differences of all groups' shares before and after."""
    before = np.bincount(column.group_of_row, minlength=column.groups)
    after = np.bincount(column.label_of_row, minlength=len(column.group_shares)) @ column.group_shares
    return _half_difference(before, after)


def pair_distance(first: ComparedColumn, second: ComparedColumn) -> float:
    """The same for the groups of two columns at once."""
    before = _cross_counts(first.group_of_row, second.group_of_row, first.groups, second.groups)
    labels = len(first.group_shares), len(second.group_shares)
    if labels[0] * labels[1] <= max(1 << 16, 4 * len(first.label_of_row)):
        both = _cross_counts(first.label_of_row, second.label_of_row, *labels)
        after = first.group_shares.T @ both @ second.group_shares
    else:
        after = first.group_shares[first.label_of_row].T @ second.group_shares[second.label_of_row]
    return _half_difference(before, after)


def _cross_counts(first: np.ndarray, second: np.ndarray, height: int, width: int) -> Floats:
    found: Floats = np.bincount(first * width + second, minlength=height * width).reshape(height, width).astype(float)
    return found


def _half_difference(before: np.ndarray, after: np.ndarray) -> float:
    shares = [counts / max(1.0, float(counts.sum())) for counts in (before, after)]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def query_errors(columns: Sequence[ComparedColumn], queries: int, rng: np.random.Generator) -> Floats:
    """The errors of random counts, each over ranges of groups of one to three columns, as a share of what the original
    gives, or of a hundredth of its rows if that is more. If columns have new labels, each count is over at least one
    of them."""
    rows = len(columns[0].group_of_row)
    changed = np.flatnonzero([c.has_new_labels for c in columns])
    errors = np.empty(queries)
    for query in range(queries):
        first = int(rng.choice(changed)) if len(changed) else int(rng.integers(len(columns)))
        others = rng.permutation([c for c in range(len(columns)) if c != first])
        chosen = [first, *others[: int(rng.integers(0, 3))].tolist()]
        true, estimated = np.ones(rows, np.bool_), np.ones(len(columns[0].label_of_row))
        for column in (columns[i] for i in chosen):
            wanted = _random_range(column.groups - 1, rng)
            true &= wanted[column.group_of_row]
            estimated *= (column.group_shares @ wanted)[column.label_of_row]
        count = int(true.sum())
        errors[query] = abs(float(estimated.sum()) - count) / max(count, _LEAST_COUNT * rows, 1)
    return errors


def _random_range(groups: int, rng: np.random.Generator) -> Bools:
    """A range of neighbouring groups: any from one to half of them; never the missing values."""
    width = int(rng.integers(1, max(2, groups // 2 + 1)))
    begin = int(rng.integers(0, max(1, groups - width + 1)))
    found = np.zeros(groups + 1, np.bool_)
    found[begin : begin + width] = True
    return found


def _describe_distances(
    measure_id: str,
    by: str,
    distances: Sequence[float],
    what: Sequence[ComparedColumn] | Sequence[tuple[ComparedColumn, ComparedColumn]],
) -> UseMeasure:
    mean, worst = float(np.mean(distances)), int(np.argmax(distances))
    named = what[worst]
    names = [named.name] if isinstance(named, ComparedColumn) else [column.name for column in named]
    most = f", most for {list_text(names)} ({percent_text(distances[worst])})" if distances[worst] else ""
    said = f"Shares counted by {by} are off by {percent_text(mean)} on average{most}."
    return UseMeasure(measure_id, f"Shares by {by} off by", 0.0, mean, said, is_comparison=True)


def _describe_queries(errors: Floats, columns: Sequence[ComparedColumn]) -> UseMeasure:
    """The median, between two order statistics that it lies between in 95% of all draws."""
    ordered = np.sort(errors)
    n, half = len(ordered), 1.96 * sqrt(len(ordered)) / 2
    low, high = ordered[max(0, int(n / 2 - half))], ordered[min(n - 1, int(np.ceil(n / 2 + half)))]
    median = float(np.median(ordered))
    of = "one column" if len(columns) == 1 else f"one to {'two' if len(columns) == 2 else 'three'} columns"
    coarser = ", at least one of them with new labels," if any(c.has_new_labels for c in columns) else ""
    said = (
        f"Half of {count_text(n, 'random count')} over ranges of {of}{coarser} are off by at most "
        f"{percent_text(median)} (95% interval {percent_text(float(low))} to {percent_text(float(high))})."
    )
    return UseMeasure(
        "queries", "Random counts off by", 0.0, median, said, interval=(float(low), float(high)), is_comparison=True
    )
