"""The smallest sets that imply an attribute, against all subsets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.naive_inference import subsets
from reference.poset_algorithms import minimal_implying_sets
from reference.random_relations import (
    SetData,
    TableData,
    relation_from_sets,
    relation_from_table,
    set_data,
    table_data,
)
from unveil.errors import UnveilError
from unveil.inference.implying_sets import find_implying_sets
from unveil.inference.relation import Relation


@settings(max_examples=300, deadline=None)
@given(table_data(), st.integers(0, 20), st.integers(0, 3), st.integers(1, 3))
def test_implying_sets_are_all_minimal_ones(data: TableData, target: int, most: int, support: int) -> None:
    relation, people = relation_from_table(data), data.individuals
    target %= len(data.danger)
    column = next(c for c in range(len(data.sizes)) if target < sum(data.sizes[: c + 1]))
    values = set(range(sum(data.sizes[:column]), sum(data.sizes[: column + 1])))
    implying = {}
    for known in subsets(frozenset(range(len(data.danger))) - values, most):
        those = [(has, may) for has, may in people if known <= has]
        number = sum(target in has for has, _ in those)
        if number >= support and all(target in may for _, may in those):
            implying[known] = number, len(those) - number
    minimal = {known: counts for known, counts in implying.items() if not any(other < known for other in implying)}
    found = find_implying_sets(relation, target, most_known=most, least_support=support)
    assert {frozenset(one.known): (one.support, one.unknown) for one in found} == minimal
    assert [len(one.known) for one in found] == sorted(len(one.known) for one in found)


@settings(max_examples=300, deadline=None)
@given(set_data(7), st.integers(0, 6))
def test_the_documents_algorithms_find_the_same_sets(data: SetData, target: int) -> None:
    target %= len(data.danger)
    found = find_implying_sets(relation_from_sets(data), target, most_known=len(data.danger))
    assert {frozenset(one.known) for one in found} == minimal_implying_sets(data.rows, target)


def test_only_some_attributes_may_be_looked_among() -> None:
    relation = Relation.from_sets(["abcd", "abce", "abfg", "bcfg"])
    assert [one.known for one in find_implying_sets(relation, 2, among=[4, 5])] == [(4,)]
    assert [one.known for one in find_implying_sets(relation, 1)] == [()]  # everybody has it


def test_what_cannot_be_searched_is_refused() -> None:
    relation = Relation.from_matrix(np.random.default_rng(0).random((50, 30)) < 0.5)
    with pytest.raises(UnveilError, match="not an attribute"):
        find_implying_sets(relation, 30)
    with pytest.raises(UnveilError, match="more than 100 sets"):
        find_implying_sets(relation, 0, most_sets=100)
