"""Explanations against all subsets of what an individual has."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from reference.naive_inference import closure, risk_weight, subsets
from reference.random_relations import TableData, relation_from_table, table_data
from unveil.inference.explanations import explain
from unveil.inference.privacy_score import score
from unveil.inference.relation import Relation


@settings(max_examples=300, deadline=None)
@given(table_data())
def test_the_three_inferences_are_the_best_of_all_subsets(data: TableData) -> None:
    relation, people = relation_from_table(data), data.individuals
    scores = score(relation).lower
    for i, (has, _) in enumerate(people):
        telling = [
            (known, risk_weight(people, known, data.likelihood, data.danger, 1.0))
            for known in subsets(has)
            if all(data.likelihood[x] > 0 for x in known)
            and any(data.danger[x] > 0 for x in closure(people, known) - known)
        ]
        found = explain(relation, i)
        assert found.is_complete
        if not telling:
            assert found[:3] == (None, None, None) and scores[i] == 0
            continue
        assert found.shortest and found.likeliest and found.most_dangerous
        assert found.most_dangerous.weight == max(weight for _, weight in telling) == scores[i]
        fewest = min(len(known) for known, _ in telling)
        assert len(found.shortest.known) == fewest
        assert found.shortest.weight == max(weight for known, weight in telling if len(known) == fewest)
        likeliest = max(relation.likelihood_of(known) for known, _ in telling)
        assert found.likeliest.likelihood == likeliest
        for one in found[:3]:
            assert one.learned == tuple(sorted(closure(people, frozenset(one.known)) - set(one.known)))
            assert one.people == sum(set(one.known) <= other for other, _ in people)
            assert one.weight == one.likelihood * one.danger


def test_too_much_work_is_admitted_and_what_was_found_is_given() -> None:
    relation = Relation.from_matrix(np.random.default_rng(0).random((400, 30)) < 0.6, 0.9, 0.5)
    short, full = explain(relation, 0, most_work=20_000), explain(relation, 0)
    assert not short.is_complete and full.is_complete
    assert explain(relation, 0, most_known=1).is_complete
    assert full.most_dangerous is not None
    assert full.most_dangerous.weight == score(relation).lower[0]
