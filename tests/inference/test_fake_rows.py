"""Holes and their fillings: the theorems of chapter 6 on random relations, and fake rows counted once more."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from reference.naive_belief_gains import gains
from reference.naive_inference import closure, subsets
from reference.random_relations import SetData, TableData, relation_from_sets, relation_from_table, set_data, table_data
from unveil.errors import UnveilError
from unveil.inference.belief_gains import measure_gains
from unveil.inference.closed_sets import find_closed_sets, find_minimal_non_faces, find_simplices
from unveil.inference.fake_rows import add_individual, fill_with_fakes, give_attributes, is_free_set
from unveil.inference.privacy_score import score
from unveil.inference.relation import Relation

SOME = settings(max_examples=200, deadline=None)


def free_sets(data: SetData) -> list[frozenset[int]]:
    """The sets of which somebody has all attributes but any one, and lacks that one (the hypothesis of theorem 6.4)."""
    return [
        one
        for one in subsets(frozenset(range(len(data.danger))))
        if all(any(one - {x} <= row and x not in row for row in data.rows) for x in one)
    ]


@SOME
@given(set_data(6))
def test_free_sets_are_generators_and_holes(data: SetData) -> None:
    relation = relation_from_sets(data)
    found = {one for one in subsets(frozenset(range(len(data.danger)))) if is_free_set(relation, one)}
    assert found == set(free_sets(data))
    generators = {k for some in find_closed_sets(relation).generators for k in some}
    holes = find_minimal_non_faces(find_simplices(relation)[0], len(data.danger))
    assert found == generators | set(holes)


@SOME
@given(set_data(6))
def test_theorem_6_4_nothing_in_a_free_set_follows_from_a_part_of_it(data: SetData) -> None:
    for one in free_sets(data):
        for known in subsets(one):
            if known != one:
                assert not (closure(data.individuals, known) - known) & one


@SOME
@given(set_data(6), st.integers(0, 1000))
def test_theorem_6_5_and_corollary_6_6_of_a_filled_hole(data: SetData, pick: int) -> None:
    """Nobody's score rises, the one who was added scores 0, and nothing follows from any part of the hole."""
    some = free_sets(data)
    hole, relation = some[pick % len(some)], relation_from_sets(data)
    filled = add_individual(relation, hole)
    before, after = score(relation).lower, score(filled).lower
    assert (after[:-1] <= before).all()
    assert after[-1] == 0
    for known in subsets(hole):
        assert not filled.inferred_attributes(known)
        assert filled.risk_weight(known) == 0


@SOME
@given(set_data(6), st.integers(0, 7), st.integers(0, 63))
def test_given_attributes_are_had_and_nothing_else_changes(data: SetData, person: int, mask: int) -> None:
    person %= len(data.rows)
    more = frozenset(a for a in range(len(data.danger)) if mask >> a & 1)
    changed = give_attributes(relation_from_sets(data), person, more)
    for i, row in enumerate(data.rows):
        assert changed.attributes_of(i) == (row | more if i == person else row)


def test_filling_by_changing_somebody_can_raise_a_score() -> None:
    relation = Relation.from_sets(["ACE", "ABD", "BCF"])
    worse = give_attributes(relation, 0, {0, 1, 2})
    assert score(worse).lower[0] == 0.75 > score(relation).lower[0]


def test_adding_a_person_can_raise_a_partial_gain() -> None:
    """Knowing fact 0 leaves one half for value 0; the more rows have another value, the more that is a gain."""
    facts, values = np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 1, 1], np.int32)
    before, after = (
        float(measure_gains([facts[:n]], values[:n], facts=1, fewest=1, gain=0.5).best[1, 0]) for n in (3, 4)
    )
    assert (before, after) == (pytest.approx(1 / 6), pytest.approx(1 / 4))


def test_tables_are_filled_by_rows_only() -> None:
    relation = Relation.from_columns([np.array([0, 1], np.int32)], [1.0], [1.0])
    for fill in (lambda: give_attributes(relation, 0, {1}), lambda: add_individual(relation, {1})):
        with pytest.raises(UnveilError, match="column"):
            fill()


@settings(max_examples=150, deadline=None)
@given(table_data(), st.integers(1, 3), st.integers(1, 3), st.integers(0, 99))
def test_nothing_is_certain_about_real_rows_after_fakes(data: TableData, facts: int, fewest: int, seed: int) -> None:
    assume(len(data.columns) > 1)
    *known, own = (np.array(column, np.int32) for column in data.columns)
    known = [
        np.where(column < 0, size, column).astype(np.int32) for column, size in zip(known, data.sizes, strict=False)
    ]
    fakes = fill_with_fakes(known, own, facts=facts, fewest=fewest, rng=np.random.default_rng(seed))
    rows = [*zip(*known, strict=True), *map(tuple, fakes.facts.tolist())]
    values = [None if v < 0 else str(v) for v in (*own.tolist(), *fakes.values.tolist())]
    found = gains([tuple(map(str, row)) for row in rows], values, min(facts, len(known)), fewest)
    assert not any(found[str(i)][-1][1] for i in range(len(own)))
    before = gains(
        [tuple(map(str, row)) for row in rows[: len(own)]], values[: len(own)], min(facts, len(known)), fewest
    )
    if not any(series[-1][1] for series in before.values()):
        assert not len(fakes.values)
    assert set(fakes.values.tolist()) <= set(own[own >= 0].tolist())
    for c, column in enumerate(known):
        assert set(fakes.facts[:, c].tolist()) <= set(column.tolist())


@SOME
@given(table_data(missing=False), st.integers(0, 99))
def test_no_fake_row_raises_a_real_persons_exact_score(data: TableData, seed: int) -> None:
    rng = np.random.default_rng(seed)
    fake = [[*column, int(rng.integers(size))] for column, size in zip(data.columns, data.sizes, strict=True)]
    before, after = (score(relation_from_table(data._replace(columns=c))).lower for c in (data.columns, fake))
    assert (after[:-1] <= before).all()
