"""Attacks on records, against adversaries that look at every record, and the cases of Merener 2012."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations, permutations, product
from math import comb, exp, isnan, log

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import naive_attack
from reference.hypotheses import is_pseudometric
from reference.selection import select_attributes
from unveil import Run, UnveilError, slices
from unveil.intervals import estimate_mean
from unveil.linkage.attack import adversaries as module
from unveil.linkage.attack.adversaries import (
    Adversary,
    attributes_only_adversary,
    bayesian_adversary,
    eccentricity_adversary,
    entropic_adversary,
    least_support_adversary,
    likeliest_adversary,
    scoreboard_adversary,
)
from unveil.linkage.attack.auxiliary import Auxiliary, Knowledge, draw_knowledge
from unveil.linkage.attack.experiment import Outcome, attack_records, attack_with_knowledge
from unveil.linkage.equal_records import count_copies
from unveil.linkage.records import Records, records_from_codes, records_from_ratings
from unveil.linkage.similarity import (
    Similarity,
    any_value,
    equal_values,
    linear_similarity,
    within_distance,
)
from unveil.release.codes import encode_column

Rows = Sequence[Sequence[float | None]]

# Sets of bits for every attribute or for none, lists as soon as possible or never, the smallest slices, in threads.
WAYS = (
    {"_MAX_WORDS_PER_HOLDER": 0.0},
    {"_MAX_WORDS_PER_HOLDER": 1e9, "_MIN_LIST": 1, "_LIST_RATIO": 0.0},
    {"_MAX_WORDS_PER_HOLDER": 1e9, "_MIN_LIST": 4, "_SLICE_STEPS": 1},
    {"_MAX_WORDS_PER_HOLDER": 2.0, "_MIN_LIST": 1, "_LIST_RATIO": 0.0, "_SLICE_STEPS": 1},
    {"_MAX_WORDS_PER_HOLDER": 0.0, "_SLICE_STEPS": 1},
)
ways = st.sampled_from(WAYS)
SIMILARITIES = (
    equal_values(),
    within_distance(1),
    within_distance(2, closed=False),
    linear_similarity(3),
    any_value(),
)


@contextmanager
def computed(way: dict[str, float]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in way.items():
            patch.setattr(module, name, value)
        yield


def made(rows: Rows, similarities: Sequence[Similarity] | Similarity = SIMILARITIES[0]) -> Records:
    columns = list(zip(*rows, strict=True))
    sims = [similarities] * len(columns) if isinstance(similarities, Similarity) else similarities
    coded = {f"c{i}": encode_column(pa.chunked_array([pa.array(c, pa.float64())])) for i, c in enumerate(columns)}
    return records_from_codes(coded, {f"c{i}": s for i, s in enumerate(sims)})


def plain(records: Records) -> list[dict[int, int]]:
    """Records as dictionaries."""
    cuts = zip(records.indptr, records.indptr[1:], strict=False)
    return [dict(zip(records.attribute[a:b].tolist(), records.value[a:b].tolist(), strict=True)) for a, b in cuts]


def sims(records: Records) -> list[list[list[float]]]:
    each = zip(records.similarities, records.values, strict=True)
    return [s.matrix(own).tolist() for s, own in each]


@st.composite
def tables(draw: st.DrawFn, least: int = 1) -> Records:
    """Up to ten records of up to five attributes with many nulls and equal records."""
    width = draw(st.integers(1, 5))
    row = st.tuples(*(st.sampled_from([None, 0.0, 0.0, 1.0, 2.0, 4.0]) for _ in range(width)))
    rows = draw(st.lists(row, min_size=least, max_size=10))
    chosen = draw(st.lists(st.sampled_from(SIMILARITIES), min_size=width, max_size=width))
    return made(rows, chosen)


@st.composite
def knowledges(draw: st.DrawFn, records: Records) -> Knowledge:
    columns = draw(st.one_of(st.none(), st.just(records.names[: max(1, records.c - 1)])))
    rare = draw(st.sampled_from([None, None, 0.0, 0.5, 1.0]))
    errors = draw(
        st.sampled_from([(0.0, 0.0, 0.0), (0.3, 0.3, 0.3), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)])
    )
    return Knowledge(columns, rare, *errors)


def expected(
    adversary: Adversary, records: Records, known: list[tuple[int, int]], columns: set[int]
) -> dict[int, float]:
    """What the reference does."""
    rows, alike, sight = plain(records), sims(records), adversary.evidence
    if adversary.name in ("scoreboard", "smallest"):
        attack = naive_attack.scoreboard_attack if adversary.name == "scoreboard" else naive_attack.smallest_candidates
        return attack(rows, alike, known, sight.alpha)
    if adversary.name == "bare":
        return naive_attack.least_support_holders(rows, alike, known)
    if adversary.name == "eccentric":
        return naive_attack.eccentricity_attack(rows, alike, known, adversary.phi)
    if adversary.name == "entropic":
        return naive_attack.entropy_attack(rows, alike, known)
    attack = {"bayesian": naive_attack.bayesian_attack, "likeliest": naive_attack.likeliest_records}[adversary.name]
    return attack(rows, alike, known, sight.wrong, sight.elsewhere, sight.alpha, columns)


def things(known: Auxiliary, t: int, m: int) -> list[tuple[int, int]]:
    pairs = zip(known.attribute[t, :m].tolist(), known.value[t, :m].tolist(), strict=True)
    return [(i, v) for i, v in pairs if i >= 0]


ADVERSARIES = (
    scoreboard_adversary(),
    scoreboard_adversary(0.6),
    least_support_adversary(),
    least_support_adversary(0.6),
    attributes_only_adversary(),
    eccentricity_adversary(0),
    eccentricity_adversary(0.7),
    entropic_adversary(),
    bayesian_adversary(),
    likeliest_adversary(),
    bayesian_adversary(0.2),
    likeliest_adversary(0.2),
    bayesian_adversary(0.1, 0.3, 0.6),
    likeliest_adversary(0.1, 0.3, 0.6),
)


# ---- every adversary, against the reference --------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(st.data(), tables(), ways, st.integers(0, 99), st.sampled_from(["alike", "sum", "support"]))
def test_adversaries_do_as_they_say(data: st.DataObject, records: Records, way: dict, seed: int, sim: str) -> None:
    knowledge = data.draw(knowledges(records))
    sigma, ms = data.draw(st.sampled_from([0.25, 0.5, 1.0])), [1, 2, 4]
    chosen = data.draw(st.lists(st.sampled_from(ADVERSARIES), min_size=1, max_size=4, unique=True))
    known = draw_knowledge(records, np.arange(records.n), 4, np.random.default_rng(seed), knowledge)
    with computed(way):
        found = attack_with_knowledge(records, known, chosen, ms, sigma=sigma, sim=sim, least=0.6)
        without = attack_with_knowledge(records, known, chosen, ms)
    rows, alike, columns = plain(records), sims(records), set(known.columns.tolist())
    outcomes = iter(zip(found, without, strict=True))
    for adversary in chosen:
        for m in ms:
            outcome, same = next(outcomes)
            there = [t for t in range(records.n) if known.usable[t] >= m]
            assert outcome.rows.tolist() == there and outcome.excluded == records.n - len(there)
            assert outcome.found.tolist() == same.found.tolist() and same.similar is None
            for k, t in enumerate(there):
                output = expected(adversary, records, things(known, t, m), columns)
                equals = [r for r, y in enumerate(rows) if y == rows[t]]
                close = [naive_attack.record_similarity(rows[t], rows[r], alike, sim, 0.6) for r in output]
                agree = [
                    sum(alike[i][v][rows[r][i]] >= 0.6 - 1e-9 for i, v in rows[t].items() if i in rows[r])
                    for r in output
                ]
                assert outcome.found[k] == pytest.approx(output.get(t, 0), abs=1e-7)
                assert outcome.equal_found[k] == pytest.approx(sum(output.get(r, 0) for r in equals), abs=1e-7)
                reached = sum(p for p, s in zip(output.values(), close, strict=True) if s >= sigma - 1e-9)
                assert outcome.similar[k] == pytest.approx(reached, abs=1e-7)
                learned = sum(p * a for p, a in zip(output.values(), agree, strict=True))
                assert outcome.learned[k] == pytest.approx(learned, abs=1e-6)
                if adversary.evidence.kind == "candidates":
                    d_x = naive_attack.fitting_records(rows, alike, things(known, t, m), adversary.evidence.alpha)
                    assert outcome.size[k] == len(d_x)
                elif adversary.output == "any":
                    entropy = -sum(p * log(p) for p in output.values() if p > 0)
                    assert outcome.size[k] == pytest.approx(exp(entropy) if output else 0, rel=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.data(), tables(least=2), st.integers(0, 99))
def test_the_order_of_rows_and_columns_changes_nothing(data: st.DataObject, records: Records, seed: int) -> None:
    known = draw_knowledge(
        records, np.arange(records.n), 3, np.random.default_rng(seed), data.draw(knowledges(records))
    )
    rows = np.array(data.draw(st.permutations(range(records.n))))
    columns = np.array(data.draw(st.permutations(range(records.c))))
    other = select_attributes(records.select(rows), columns.tolist())
    new_row, new_column = np.argsort(rows), np.append(np.argsort(columns), -1).astype(np.int32)
    moved = Auxiliary(
        new_row[known.targets], known.usable, new_column[known.attribute], known.value, new_column[known.columns]
    )
    one = attack_with_knowledge(records, known, ADVERSARIES, [1, 3], sigma=0.5)
    two = attack_with_knowledge(other, moved, ADVERSARIES, [1, 3], sigma=0.5)
    for a, b in zip(one, two, strict=True):
        for name in ("found", "equal_found", "size", "similar", "learned"):
            if a.adversary.evidence.kind == "candidates":
                assert getattr(a, name).tolist() == getattr(b, name).tolist()
            assert getattr(a, name) == pytest.approx(getattr(b, name), rel=1e-9)
        assert a.equal_success.value == pytest.approx(b.equal_success.value, nan_ok=True)


def test_many_records_of_both_kinds_agree_with_the_reference() -> None:
    """More than one word of bits, long lists, and attributes with and without sets of bits at once."""
    rng = np.random.default_rng(5)
    table = np.where(rng.random((300, 8)) < 0.6, rng.integers(0, [2, 2, 3, 3, 5, 40, 100, 300], (300, 8)), np.nan)
    records = made(
        [[None if isnan(x) else x for x in row] for row in table], [equal_values()] * 6 + [within_distance(20)] * 2
    )
    known = draw_knowledge(records, np.arange(300), 5, rng, Knowledge(wrong_rate=0.1, elsewhere_rate=0.1))
    chosen, ms = (
        (
            scoreboard_adversary(),
            least_support_adversary(),
            attributes_only_adversary(),
            entropic_adversary(),
            likeliest_adversary(0.1, 0.1),
        ),
        [1, 2, 5],
    )
    results = []
    for way in (
        {},
        {"_MAX_WORDS_PER_HOLDER": 0.0},
        {"_MAX_WORDS_PER_HOLDER": 1e9},
        {"_MAX_WORDS_PER_HOLDER": 20.0, "_MIN_LIST": 1},
        {"_SLICE_STEPS": 1},
    ):
        with computed(way):
            results.append(attack_with_knowledge(records, known, chosen, ms, sigma=0.3))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            for name in ("found", "size", "similar", "learned"):
                assert getattr(a, name).tolist() == getattr(b, name).tolist()
    columns = set(known.columns.tolist())
    for outcome in results[0]:
        for k in range(0, len(outcome.rows), 60):
            t = int(outcome.rows[k])
            output = expected(outcome.adversary, records, things(known, t, outcome.known), columns)
            assert outcome.found[k] == pytest.approx(output.get(t, 0), abs=1e-7)


# ---- what is known ---------------------------------------------------------------------------------------------------


def test_every_set_of_attributes_is_as_likely() -> None:
    """Chi-square over the 15 pairs of 6 attributes; 36.1 is exceeded once in a thousand times."""
    records = made([[1.0] * 6 + [None]] * 3)
    known = draw_knowledge(records, np.zeros(6_000, int), 4, np.random.default_rng(1))
    pairs = Counter(frozenset(row[:2].tolist()) for row in known.attribute)
    assert len(pairs) == 15 and all(6 not in p and len(p) == 2 for p in pairs)
    assert sum((n - 400) ** 2 / 400 for n in pairs.values()) < 36.1
    orders = Counter(tuple(row.tolist()) for row in known.attribute)
    assert len(orders) == 360 and sum((n - 6_000 / 360) ** 2 / (6_000 / 360) for n in orders.values()) < 446


def test_one_order_serves_every_number_of_things() -> None:
    records = made([[1.0, 2.0, 3.0, None, 5.0, 6.0]] * 2)
    few, many = (draw_knowledge(records, [0, 1] * 20, m, np.random.default_rng(3)) for m in (5, 9))
    assert many.max_known == 5 and few.attribute.tolist() == many.attribute.tolist()
    errors = draw_knowledge(records, [0, 1] * 20, 5, np.random.default_rng(3), Knowledge(wrong_rate=0.5))
    assert errors.attribute.tolist() == few.attribute.tolist()


def test_only_some_columns() -> None:
    records = made([[1.0, 2.0, None, 4.0], [1.0, None, None, None]])
    known = draw_knowledge(records, [0, 1], 3, np.random.default_rng(0), Knowledge(columns=("c3", "c2", "c1")))
    assert known.usable.tolist() == [2, 0] and known.max_known == 2
    assert sorted(known.attribute[0].tolist()) == [1, 3] and known.attribute[1].tolist() == [-1, -1]
    found = attack_with_knowledge(records, known, [least_support_adversary()], [1, 2, 3])
    assert [(len(o.rows), o.excluded) for o in found] == [(1, 1), (1, 1), (0, 2)]
    with pytest.raises(UnveilError, match="no attribute is called x"):
        draw_knowledge(records, [0], 1, np.random.default_rng(0), Knowledge(columns=("x",)))


def test_something_rare_is_known() -> None:
    """Supports 4, 3, 2, 2, 1: with τ = .5 of five attributes those of rank 3 and more, which are c2, c3 and c4."""
    rows = [[1.0, 1.0, 1.0, None, None], [1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0, None, 1.0, None], [1.0] + [None] * 4]
    records = made(rows)
    known = draw_knowledge(records, [0, 1, 2, 3] * 500, 3, np.random.default_rng(0), Knowledge(rare_rank=0.5))
    assert known.usable[:4].tolist() == [3, 5, 3, 0]
    first = Counter(known.attribute[1::4, 0].tolist())
    assert set(first) == {2, 3, 4} and all(abs(n - 500 / 3) < 45 for n in first.values())
    assert set(known.attribute[0::4, 0].tolist()) == {2} and set(known.attribute[3::4, 0].tolist()) == {-1}
    # s̃ may contain the rare one: then one thing less is known; of m − 1 = 2 out of 3 that is so in 2/3
    short = float((known.attribute[0::4, 1:] < 0).any(axis=1).mean())
    assert abs(short - 2 / 3) < 0.1
    assert draw_knowledge(records, [0], 1, np.random.default_rng(0), Knowledge(rare_rank=0.9)).usable.tolist() == [0]


def test_errors_come_as_often_as_said() -> None:
    """Within four standard errors of what is expected; wrong values are right by chance as often as records agree."""
    rows = [[float(x) for x in row] + [None] * 4 for row in np.random.default_rng(0).integers(0, 4, (40, 4))]
    rows += [[None] * 4 + [1.0, 2.0, 3.0, 1.0]]
    records = made(rows)
    exact = draw_knowledge(records, np.arange(40).repeat(50), 4, np.random.default_rng(1))
    agree = np.mean([(np.bincount(column) ** 2).sum() / 1_600 for column in records.array[:40, :4].T])
    for know, moved, changed in (
        (Knowledge(elsewhere_rate=0.25), 0.25, 0.0),
        (Knowledge(wrong_rate=0.4), 0.0, 0.4 * (1 - agree)),
        (Knowledge(noise_rate=0.3, tolerance=within_distance(1)), 0.0, 0.3),
    ):
        known = draw_knowledge(records, np.arange(40).repeat(50), 4, np.random.default_rng(1), know)
        away = known.attribute >= 4
        assert abs(away.mean() - moved) < 4 * (0.25 / 8_000) ** 0.5 and all(len(set(r)) == 4 for r in known.attribute)
        stayed = ~away
        assert (known.attribute[stayed] == exact.attribute[stayed]).all()
        differ = (known.value != exact.value)[stayed]
        assert abs(differ.mean() - changed) < 4 * (0.25 / 8_000) ** 0.5
        if know.noise_rate:
            assert (np.abs(known.value - exact.value)[differ.reshape(known.value.shape)] == 1).all()


def test_noise_needs_values_that_are_alike() -> None:
    records = made([[1.0, 2.0], [1.0, 3.0]])
    known = draw_knowledge(
        records, [0, 1], 2, np.random.default_rng(0), Knowledge(noise_rate=1.0)
    )  # equal values only: no other
    exact = draw_knowledge(records, [0, 1], 2, np.random.default_rng(0))
    assert known.value.tolist() == exact.value.tolist()


@settings(max_examples=150, deadline=None)
@given(st.data(), tables(), st.integers(0, 99))
def test_errors_are_those_of_a_loop_over_things(data: st.DataObject, records: Records, seed: int) -> None:
    """One thing after the other: from elsewhere as long as the target lacks a column that was not drawn yet."""
    knowledge = replace(data.draw(knowledges(records)), rare_rank=None)
    if records.c == 0 or not len(records.value):
        return
    rows, errors = np.arange(records.n), np.random.default_rng(seed)
    sure = draw_knowledge(
        records, rows, 3, np.random.default_rng(1), replace(knowledge, elsewhere_rate=0, wrong_rate=0, noise_rate=0)
    )
    found = draw_knowledge(records, rows, 3, np.random.default_rng(1), knowledge, errors=errors)
    random, ranges = np.random.default_rng(seed).random((*sure.attribute.shape, 5)), records.code_ranges(1.0)
    for t, own in enumerate(plain(records)):
        taken = set(own)
        for j, (i, v) in enumerate(zip(sure.attribute[t].tolist(), sure.value[t].tolist(), strict=True)):
            elsewhere, which, of_all, wrong, noise = random[t, j]
            free = [c for c in sure.columns.tolist() if c not in taken]
            if i >= 0:
                away = elsewhere < knowledge.elsewhere_rate and bool(free)
                if away:
                    i = free[int(which * len(free))]
                    taken.add(i)
                if away or wrong < knowledge.wrong_rate:
                    codes = sorted(r[i] for r in plain(records) if i in r)
                    v = codes[int(of_all * len(codes))]
                elif noise < knowledge.noise_rate:
                    at = ranges.starts[i] + v
                    others = [u for u in range(ranges.low[at], ranges.high[at] + 1) if u != v]
                    v = others[int(of_all * len(others))] if others else v
            assert (found.attribute[t, j], found.value[t, j]) == (i, v)


@settings(max_examples=60, deadline=None)
@given(tables(), ways)
def test_holders_are_found_by_planes_and_by_search(records: Records, way: dict) -> None:
    with computed(way):
        index, _ = module.posting_index(records)
    attribute = np.repeat(np.arange(records.c, dtype=np.int32), [len(own) + 1 for own in records.values])
    code = np.concatenate([np.arange(len(own) + 1, dtype=np.int32) for own in records.values])
    ends = index.starts[attribute + 1]
    slow = [
        begin + np.searchsorted(index.code[begin:end], least)
        for begin, end, least in zip(index.starts[attribute], ends, code, strict=True)
    ]
    assert module.search_holders(index, attribute, code).tolist() == slow


@pytest.mark.parametrize("name", ["elsewhere", "wrong", "noise"])
def test_a_probability_is_one(name: str) -> None:
    with pytest.raises(UnveilError, match=f"{name} must be a probability"):
        Knowledge(**{f"{name}_rate": 1.5})


def test_perturbed_records_have_the_same_support() -> None:
    both = made([[1.0, 2.0], [3.0, None], [1.5, 2.0], [None, 2.0]])
    with pytest.raises(UnveilError, match="must have values exactly where"):
        draw_knowledge(both.select([0, 1]), [0], 1, np.random.default_rng(0), perturbed=both.select([2, 3]))
    other = made([[1.5, 2.0], [3.0, None]])
    with pytest.raises(UnveilError, match="same codes"):
        draw_knowledge(both.select([0, 1]), [0], 1, np.random.default_rng(0), perturbed=other)


# ---- what theory says ------------------------------------------------------------------------------------------------


def test_the_likelihood_is_a_probability() -> None:
    """It sums to 1 over all that could be known of a record, in any order; of one that lacks two attributes or more, or
    none."""
    records = made([[0.0, 1.0, None, None, None], [0.0, None, 2.0, 1.0, None], [1.0, 1.0, 3.0, 1.0, 0.0]])
    rows, alike = plain(records), sims(records)
    values = [sorted({y[i] for y in rows if i in y}) for i in range(5)]
    for row, m in product(range(3), (1, 2)):
        total = 0.0
        for s in permutations(range(5), m):
            for code in product(*(values[i] for i in s)):
                known = list(zip(s, code, strict=True))
                total += exp(naive_attack.likelihood(rows, alike, known, row, 0.3, 0.2, 1.0, set(range(5))))
        assert total == pytest.approx(1)


@settings(max_examples=40, deadline=None)
@given(tables())
def test_nobody_who_knows_exact_values_does_better_than_the_smallest_candidate(records: Records) -> None:
    """All targets and all sets of two attributes, each with its probability: Â reaches the sum over everything that
    could be known of the highest joint probability, which is the most that anyone can."""
    records = Records(
        records.indptr, records.attribute, records.value, records.names, records.values, (equal_values(),) * records.c
    )
    rows = plain(records)
    drawn = [(t, s) for t, y in enumerate(rows) for s in combinations(sorted(y), 2)]
    if not drawn:
        return
    attributes = np.array([s for _, s in drawn], np.int32)
    value = np.array([[rows[t][i] for i in s] for t, s in drawn], np.int32)
    targets = np.array([t for t, _ in drawn])
    known = Auxiliary(targets, records.support[targets], attributes, value, np.arange(records.c))
    found = attack_with_knowledge(
        records,
        known,
        [least_support_adversary(), likeliest_adversary(), bayesian_adversary(), scoreboard_adversary()],
        [2],
    )
    weight = np.array([1 / comb(len(rows[t]), 2) for t in targets])
    reached = [float(weight @ o.found) for o in found]
    best = Counter[tuple[tuple[int, int], ...]]()
    for (t, s), w in zip(drawn, weight, strict=True):
        x = tuple((i, rows[t][i]) for i in s)
        best[x] = max(best[x], w)
    assert reached[0] == pytest.approx(sum(best.values())) and reached[1] == pytest.approx(reached[0])
    assert reached[2] <= reached[0] + 1e-9 and reached[3] <= reached[0] + 1e-9


def test_scoreboard_succeeds_once_in_as_many_as_there_are_candidates() -> None:
    """Theorem 11: E[1/|D_x|], which is at least 1/E[|D_x|]."""
    rng = np.random.default_rng(2)
    records = made(rng.integers(0, 2, (60, 8)).astype(float).tolist())
    for outcome in attack_records(records, [scoreboard_adversary()], [1, 3, 6], rng=rng):
        assert outcome.success.value == pytest.approx(float((1 / outcome.size).mean()))
        assert outcome.success.value >= 1 / outcome.size.mean()


# ---- the cases of Merener 2012, section 3.1 --------------------------------------------------------------------------


def pair(rows: Rows, perturbed: Rows, similarity: Similarity) -> tuple[Records, Records]:
    both = made([*rows, *perturbed], similarity)
    n = len(rows)
    return both.select(np.arange(n)), both.select(np.arange(n, 2 * n))


def values(found: Sequence[Outcome]) -> list[tuple[str, float, float]]:
    return [(o.adversary.name, o.equal_success.value, o.similar_success.value) for o in found]


def test_case_1_is_not_cured_by_least_support() -> None:
    n, c = 20, 6
    rows = [[float(k)] * c for k in range(1, n + 1)]
    between = [[2 * ((k + 1) // 2) - 0.5] * c for k in range(1, n + 1)]
    records, perturbed = pair(rows, between, within_distance(0.6, closed=False))
    found = attack_records(
        records, [scoreboard_adversary(0.6), least_support_adversary(0.6)], [1, 3, 6],
        rng=np.random.default_rng(0), perturbed=perturbed, sigma=0.1, sim="sum", least=0.6,
    )  # fmt: skip
    for name, success, similar in values(found):
        assert (success, similar) == (0.5, 0.5), name
    assert all((o.size == 2).all() for o in found)
    assert not is_pseudometric(records.similarities[0], records.values[0])


def test_case_2_is_similar_up_to_a_half() -> None:
    n, c = 20, 8
    rows = [[k / 2] * c for k in range(1, n + 1)]
    between = [[(k + 1) // 2 - 0.25] * c for k in range(1, n + 1)]
    records, perturbed = pair(rows, between, linear_similarity(1))
    for sigma, reached in ((0.25, 1.0), (0.5, 1.0), (0.625, 0.5)):
        found = attack_records(
            records, [scoreboard_adversary(0.75), least_support_adversary(0.75)], [1, 4, 8],
            rng=np.random.default_rng(0), perturbed=perturbed, sigma=sigma, sim="sum",
        )  # fmt: skip
        for name, success, similar in values(found):
            assert (success, similar) == (0.5, reached), name
    assert is_pseudometric(records.similarities[0], records.values[0])


@pytest.mark.parametrize("similarity", [equal_values(), within_distance(1, closed=False)])
def test_case_3_is_cured_by_least_support(similarity: Similarity) -> None:
    """A record of 100 attributes shows 15 of the first 19 only with probability C(19, 15)/C(100, 15) < 10⁻¹³."""
    n, c, short = 20, 100, 19
    rows = [
        [float(k)] * (c if long else short) + [None] * (0 if long else c - short) for k in range(n) for long in (0, 1)
    ]
    records = made(rows, similarity)
    found = attack_records(
        records,
        [scoreboard_adversary(), least_support_adversary(), likeliest_adversary()],
        [15],
        rng=np.random.default_rng(0),
        sigma=0.2,
        sim="sum",
    )
    assert values(found) == [("scoreboard", 0.75, 0.75), ("smallest", 1.0, 1.0), ("likeliest", 1.0, 1.0)]
    board = found[0]
    assert [(p.low, p.high, p.success.value) for p in board.success_by_support(2)] == [(19, 19, 0.5), (100, 100, 1.0)]


def test_attributes_learned() -> None:
    """Corollary 5: whoever is named agrees with the target in what is known, at least."""
    rng = np.random.default_rng(4)
    records = made(rng.integers(0, 3, (80, 12)).astype(float).tolist())
    found = attack_records(
        records,
        [scoreboard_adversary(), least_support_adversary(), eccentricity_adversary(0)],
        [3, 6, 12],
        rng=rng,
        sigma=0.5,
    )
    for outcome in found[:6]:
        assert (outcome.learned >= outcome.known).all() and outcome.learned.mean() <= 12
        assert ((outcome.similar == 1) | (outcome.equal_found < 1)).all()


# ---- edges -----------------------------------------------------------------------------------------------------------


def test_equal_records_reveal_as_much() -> None:
    records = made([[1.0, 2.0], [1.0, 2.0], [1.0, 3.0], [None, None]])
    assert count_copies(records).tolist() == [2, 2, 1, 1]
    found = attack_records(
        records,
        [
            scoreboard_adversary(),
            least_support_adversary(),
            eccentricity_adversary(),
            eccentricity_adversary(0),
            likeliest_adversary(),
        ],
        [2],
        rng=np.random.default_rng(0),
    )
    for outcome in found:
        assert outcome.excluded == 1 and outcome.rows.tolist() == [0, 1, 2]
        if outcome.adversary == eccentricity_adversary():  # nobody stands out among equals
            assert outcome.equal_found.tolist()[:2] == [0, 0]
        else:
            assert outcome.equal_found.tolist() == [1, 1, 1] and outcome.found.tolist() == [0.5, 0.5, 1]
        assert outcome.equal_baseline == pytest.approx(5 / 3 / 4) and outcome.baseline == 1 / 4


def test_columns_with_one_value_tell_nothing() -> None:
    records = made([[7.0, 7.0]] * 5)
    for outcome in attack_records(records, ADVERSARIES, [1, 2], rng=np.random.default_rng(0)):
        nobody = outcome.adversary.phi > 0
        assert outcome.found == pytest.approx([0.0 if nobody else 0.2] * 5)


def test_one_record_is_found() -> None:
    for outcome in attack_records(made([[1.0, None]]), ADVERSARIES, [1, 2], rng=np.random.default_rng(0)):
        assert (outcome.equal_found.tolist(), outcome.excluded) == (([1.0], 0) if outcome.known == 1 else ([], 1))
        assert outcome.baseline == 1 or not len(outcome.rows)


@pytest.mark.parametrize("rows", [[[None, None]] * 3, [[None]]])
def test_records_without_attributes_are_no_targets(rows: Rows) -> None:
    for outcome in attack_records(made(rows), ADVERSARIES, [1], rng=np.random.default_rng(0), sigma=0.5):
        assert (
            outcome.excluded == len(rows) and isnan(outcome.equal_success.value) and outcome.success_by_support() == ()
        )
        assert outcome.equal_success.interval == (0, 1) and not len(outcome.size)


def test_no_records_at_all() -> None:
    nothing = np.empty(0, np.int32)
    records = Records(np.zeros(1, np.int64), nothing, nothing, ("a",), (pa.array([1]),), (equal_values(),))
    assert all(not len(o.rows) for o in attack_records(records, ADVERSARIES, [1], rng=np.random.default_rng(0)))


def test_nobody_has_what_is_known() -> None:
    """All that is known is wrong: an empty set of candidates is a failure, and so is its posterior."""
    records = made([[0.0, 0.0], [1.0, 1.0]])
    known = Auxiliary(
        np.array([0]), np.array([2]), np.array([[0, 1]], np.int32), np.array([[0, 1]], np.int32), np.arange(2)
    )
    found = attack_with_knowledge(
        records,
        known,
        [scoreboard_adversary(), least_support_adversary(), likeliest_adversary(), bayesian_adversary(0.1)],
        [1, 2],
        sigma=0.5,
    )
    assert [o.equal_found.tolist() for o in found] == [
        [1],
        [0],
        [1],
        [0],
        [1],
        [0],
        [pytest.approx(0.95, abs=0.06)],
        [0.5],
    ]
    assert [o.size.tolist() for o in found[:4]] == [[1], [0], [1], [0]]


def test_no_more_is_known_than_was_drawn() -> None:
    records = made([[1.0, 2.0, 3.0]] * 2)
    known = draw_knowledge(records, [0, 1], 2, np.random.default_rng(0))
    with pytest.raises(UnveilError, match="only 2 things"):
        attack_with_knowledge(records, known, ms=[3])
    assert attack_with_knowledge(records, known, ms=[2, 4])[1].excluded == 2


def test_targets_may_be_chosen_or_drawn() -> None:
    records = made([[float(k), k % 2] for k in range(30)])
    some = attack_records(records, ms=[1], rng=np.random.default_rng(0), targets=[3, 17])[0]
    assert some.rows.tolist() == [3, 17]
    drawn = attack_records(records, ms=[1], rng=np.random.default_rng(0), targets=10)[0]
    assert len(set(drawn.rows.tolist())) == 10
    assert len(attack_records(records, ms=[1], rng=np.random.default_rng(0), targets=99)[0].rows) == 30
    again = attack_records(records, ms=[1], rng=np.random.default_rng(0), targets=10)[0]
    assert (again.rows.tolist(), again.found.tolist()) == (drawn.rows.tolist(), drawn.found.tolist())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"ms": []}, "things known must be 1 or more"),
        ({"ms": [0, 2]}, "things known must be 1 or more"),
        ({"targets": 0}, "at least one target"),
        ({"targets": [7]}, "record numbers from 0 to"),
        ({"targets": [-1]}, "record numbers from 0 to"),
        ({"sigma": 2}, "between 0 and 1"),
        ({"sigma": 0.5, "sim": "x"}, "compare records by alike, sum and support"),
        ({"confidence": 1}, "confidence"),
        ({"knowledge": Knowledge(noise_rate=0.5, alpha=0)}, "above 0"),
    ],
)
def test_what_cannot_be(arguments: dict, said: str) -> None:
    with pytest.raises(UnveilError, match=said):
        _ = attack_records(made([[1.0], [2.0]]), **{"ms": [1], "rng": np.random.default_rng(0), **arguments})[0].success


@pytest.mark.parametrize(
    ("adversary", "said"),
    [
        (lambda: scoreboard_adversary(0), "above 0"),
        (lambda: least_support_adversary(2), "at most 1"),
        (lambda: eccentricity_adversary(-1), "0 or more"),
        (lambda: bayesian_adversary(1), "below 1"),
        (lambda: likeliest_adversary(0, 0.1), "must also expect wrong values"),
        (lambda: Knowledge(rare_rank=2), "share from 0 to 1"),
    ],
)
def test_adversaries_that_cannot_be(adversary: object, said: str) -> None:
    with pytest.raises(UnveilError, match=said):
        adversary()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("adversary", [scoreboard_adversary(), entropic_adversary()])
def test_it_can_be_stopped(adversary: Adversary, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "MAX_THREADS", threads)
    records, done = made([[float(k), k % 3] for k in range(64)]), list[float]()
    run = Run(progress=lambda doing, fraction: (done.append(fraction or 0), run.cancelled.set()))
    with computed({"_SLICE_STEPS": 1}), pytest.raises(KeyboardInterrupt):
        attack_records(records, [adversary], [1], rng=np.random.default_rng(0), run=run)
    assert len(done) < 64


def test_ratings_with_few_per_person(monkeypatch: pytest.MonkeyPatch) -> None:
    user, film = np.arange(400).repeat(3), np.random.default_rng(0).integers(0, 150, 1200)
    key = np.unique(user * 150 + film)
    coded = (encode_column(pa.chunked_array([pa.array(x)])) for x in (key // 150, key % 150, key % 5))
    records = records_from_ratings(*coded)
    assert not records.is_dense
    with computed({"_SLICE_STEPS": 1}):
        one = attack_records(
            records, [least_support_adversary(), attributes_only_adversary()], [1, 2, 3], rng=np.random.default_rng(0)
        )
        monkeypatch.setattr(slices, "MAX_THREADS", 1)
        two = attack_records(
            records, [least_support_adversary(), attributes_only_adversary()], [1, 2, 3], rng=np.random.default_rng(0)
        )
    for a, b in zip(one, two, strict=True):
        assert a.equal_found.tolist() == b.equal_found.tolist()
    assert one[0].success.value < one[1].success.value < 1
    assert repr(one[0]).startswith("smallest, who knows 1 thing, finds ")


# ---- how sure --------------------------------------------------------------------------------------------------------


def test_intervals_cover_the_mean() -> None:
    """Values are fractions with mean .7; of 400 intervals of confidence .9 at least 337 cover it with probability .999
    if each does with .9, and nearly all of the sure ones."""
    rng, wilson, sure = np.random.default_rng(6), 0, 0
    for _ in range(400):
        found = estimate_mean(rng.choice([0.0, 0.5, 1.0], 60, p=[0.2, 0.2, 0.6]), 0.9)
        wilson += found.interval[0] <= 0.7 <= found.interval[1]
        sure += found.sure[0] <= 0.7 <= found.sure[1]
        assert found.interval[1] - found.interval[0] < found.sure[1] - found.sure[0]
    assert wilson >= 337 and sure >= 395


def test_wilsons_interval() -> None:
    """Of the paper's 150 targets, 110 found: .657 to .798."""
    found = estimate_mean([1] * 110 + [0] * 40)
    assert found.interval == pytest.approx((0.6574, 0.7977), abs=1e-4)
    assert estimate_mean([1.0] * 150).interval == pytest.approx((0.97503, 1), abs=1e-5)
    assert estimate_mean([0.5]).sure == (0, 1) and estimate_mean([]).count == 0


def test_posterior_is_calibrated() -> None:
    """The likeliest record is right as often as its probability says, when errors are what it expects. The difference
    of the two has mean 0; its average over 3,000 targets is within four standard errors."""
    rng = np.random.default_rng(8)
    table = np.where(rng.random((300, 10)) < rng.random((300, 1)), rng.integers(0, 3, (300, 10)), np.nan)
    records = made([[None if isnan(x) else x for x in row] for row in table])
    targets = rng.integers(0, 300, 3_000)
    outcomes = attack_records(
        records, [bayesian_adversary(0.2, 0.1), likeliest_adversary(0.2, 0.1), scoreboard_adversary(),
        least_support_adversary(), entropic_adversary(), eccentricity_adversary(0)], [3],
        rng=rng, targets=targets, knowledge=Knowledge(wrong_rate=0.2, elsewhere_rate=0.1),
    )  # fmt: skip
    best = outcomes[1].success.value
    assert all(o.success.value <= best + 0.02 for o in outcomes)
    # Σ over records of P(y | x)² is what drawing from the posterior achieves on average, given x
    known = draw_knowledge(
        records, targets[:200], 3, np.random.default_rng(1), Knowledge(wrong_rate=0.2, elsewhere_rate=0.1)
    )
    rows, alike, columns = plain(records), sims(records), set(known.columns.tolist())
    gap = []
    for t in np.flatnonzero(known.usable >= 3)[:60]:
        output = naive_attack.bayesian_attack(rows, alike, things(known, t, 3), 0.2, 0.1, 1.0, columns)
        gap.append(output[int(known.targets[t])] - sum(p * p for p in output.values()))
    assert abs(np.mean(gap)) < 4 * np.std(gap) / len(gap) ** 0.5
