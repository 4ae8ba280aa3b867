"""Someone with baskets of their own who compares what is bought together: the search against trying all assignments,
the attack against a release with known structure, and what it does to verdicts."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

import unveil
from reference.pair_score import best_assignments, pair_score
from unveil import Case, Policy, Transactions
from unveil.items.ask_similar import SAMPLE_SHARE
from unveil.items.item_changes import ItemChange, apply_change, identity_change, pseudonymise_baskets
from unveil.items.pair_attack import AttackTarget, attack_by_pairs, draw_baskets, named_baskets
from unveil.items.pair_matching import PairProblem, PairShares, climb_by_exchanges, match_items

SIMILAR = "items.similar_pairs"


def baskets_with_structure(seed: int, baskets: int = 600, items: int = 24) -> Transactions:
    """Items that all have the same frequency, up to chance, but that go together in their own ways."""
    rng = np.random.default_rng(seed)
    taste = rng.normal(size=(items, 3))
    taste *= 1.6 / np.linalg.norm(taste, axis=1, keepdims=True)
    chance = 1 / (1 + np.exp(1.2 - rng.normal(size=(baskets, 3)) @ taste.T))
    inside = rng.random((baskets, items)) < chance
    inside[~inside.any(axis=1), 0] = True
    return Transactions.from_baskets([[f"i{i}" for i in np.flatnonzero(row)] for row in inside])


def shares(table: np.ndarray, baskets: int) -> PairShares:
    return PairShares(table.T @ table / baskets, baskets)


def target(case: Case, limit: int = 2000) -> AttackTarget:
    from unveil.items.attacker_beliefs import find_change

    original = case.release if case.original is None else case.original
    assert isinstance(original, Transactions) and isinstance(case.release, Transactions)
    return AttackTarget(case.release, original, find_change(case), limit)


def sample(data: Transactions, share: float, seed: int = 0) -> Transactions:
    """A random sample with the items' names."""
    rows = [data.labels.take(data.items[a:b]).to_pylist() for a, b in zip(data.indptr, data.indptr[1:], strict=False)]
    chosen = np.random.default_rng(seed).permutation(len(rows))[: round(share * len(rows))]
    return Transactions.from_baskets([rows[i] for i in chosen])


# ---- the search ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_score_gains_and_exchanges_against_adding_up_terms(seed: int) -> None:
    rng = np.random.default_rng(seed)
    own, released = (shares((rng.random((n, 6)) < 0.5).astype(float), n) for n in (30, 200))
    problem = PairProblem.from_shares(own, released)
    baskets = 1 / (1 / 30 + 1 / 200)
    assigned = rng.permutation(6)
    expected = pair_score(own.shares, released.shares, baskets, tuple(assigned.tolist()))
    assert problem.score(assigned) == pytest.approx(expected)
    climbed, gain = climb_by_exchanges(problem, assigned)
    assert problem.score(climbed) >= problem.score(assigned)
    for r in range(6):
        for s in range(r):
            other = climbed.copy()
            other[[r, s]] = other[[s, r]]
            assert gain[r, s] == pytest.approx(problem.score(other) - problem.score(climbed), abs=1e-6)
            assert gain[r, s] <= 1e-6, "no exchange raises the score"


@pytest.mark.parametrize(("m", "n"), [(4, 6), (6, 4)])
def test_pairs_with_an_empty_place_do_not_count(m: int, n: int) -> None:
    """The score differs between assignments as the squared differences of all pairs that have both sides do."""
    rng = np.random.default_rng(m)
    own = shares((rng.random((50, m)) < 0.5).astype(float), 50)
    released = shares((rng.random((90, n)) < 0.4).astype(float), 90)
    problem, baskets = PairProblem.from_shares(own, released), 1 / (1 / 50 + 1 / 90)

    def by_hand(assigned: np.ndarray) -> float:
        there = [(i, k) for i, k in enumerate(assigned.tolist()) if i < m and k < n]
        mine, theirs = own.associations, released.associations
        pairs = sum((mine[i, j] - theirs[k, q]) ** 2 for i, k in there for j, q in there if i != j)
        return float(-baskets * pairs + problem.fit[np.arange(6), assigned].sum())

    ways = [rng.permutation(6) for _ in range(30)]
    apart = [problem.score(way) - by_hand(way) for way in ways]
    assert apart == pytest.approx([apart[0]] * 30)
    climbed, gain = climb_by_exchanges(problem, ways[0])
    for r, s in ((0, 1), (2, 5), (4, 5)):
        other = climbed.copy()
        other[[r, s]] = other[[s, r]]
        assert gain[r, s] == pytest.approx(problem.score(other) - problem.score(climbed), abs=1e-6)


def test_the_search_finds_the_best_of_all_assignments() -> None:
    """In 20 random problems with six items; no assignment ever scores higher, and at most one search may fall short."""
    missed = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        data = (rng.random((400, 6)) < rng.uniform(0.2, 0.7, 6)).astype(float)
        data[:, 1] = np.where(rng.random(400) < 0.7, data[:, 0], data[:, 1])
        data[:, 4] = np.where(rng.random(400) < 0.5, data[:, 3], data[:, 4])
        own, released = shares(data[:60], 60), shares(data, 400)
        best, where = best_assignments(own.shares, released.shares, 1 / (1 / 60 + 1 / 400))
        found = match_items(own, released, rng)
        assert found.score <= best + 1e-6
        assert pair_score(
            own.shares, released.shares, 1 / (1 / 60 + 1 / 400), tuple(found.assigned.tolist())
        ) == pytest.approx(found.score)
        missed += tuple(found.assigned.tolist()) not in where
    assert missed <= 1


def test_the_order_in_which_items_are_given_decides_nothing() -> None:
    """Items that nobody can tell apart are named by chance: one of eight is right on average, by whichever order."""
    alike = PairShares(np.full((8, 8), 0.1) + 0.2 * np.eye(8), 100)
    right = [(match_items(alike, alike, np.random.default_rng(s)).assigned == np.arange(8)).sum() for s in range(60)]
    assert 0.5 < np.mean(right) < 1.5, "the mean of 60 has a standard deviation of 0.13: it fails by chance once in 10⁴"
    assert np.allclose(match_items(alike, alike, np.random.default_rng(1)).confidence, 1 / 8)


@pytest.mark.parametrize(("mine", "theirs"), [(range(3, 24), range(24)), (range(24), range(2, 24))])
def test_items_that_only_one_side_has(mine: range, theirs: range) -> None:
    data = baskets_with_structure(3, baskets=2000)
    whole = np.zeros((data.baskets, 24))
    whole[np.repeat(np.arange(data.baskets), np.diff(data.indptr)), data.items] = 1
    own, released = shares(whole[:600][:, list(mine)], 600), shares(whole[:, list(theirs)], 2000)
    found = match_items(own, released, np.random.default_rng(0), starts=20)
    assert len(found.assigned) == len(mine) and found.weights.shape == (len(mine), len(theirs))
    named = found.assigned[found.assigned >= 0]
    assert len(set(named.tolist())) == len(named) == min(len(mine), len(theirs))
    right = sum(a >= 0 and theirs[a] == i for i, a in zip(mine, found.assigned.tolist(), strict=True))
    assert right >= 0.8 * len(named)


def test_confidence_is_right_where_the_attack_works() -> None:
    """Of the items that the attack is 90% sure of, 90% are right, over ten releases; it is no more than an estimate."""
    sure = right = 0
    for seed in range(10):
        data = baskets_with_structure(seed)
        held = draw_baskets(data, np.random.default_rng(seed).permutation(data.baskets)[:200])
        found = attack_by_pairs(target(Case(data)), held, np.random.default_rng(seed))
        sure, right = sure + int(found.sure.sum()), right + int((found.sure & found.right).sum())
    assert sure >= 100
    assert right >= 0.9 * sure


# ---- the attack ------------------------------------------------------------------------------------------------------


def renamed(data: Transactions, change: ItemChange | None = None) -> Case:
    """The case of baskets that were changed and renamed."""
    change = change or identity_change(data.counts)
    release, place = pseudonymise_baskets(apply_change(data, change))
    return Case(release, data, np.where(change.becomes >= 0, place[change.becomes], -1))


@pytest.mark.parametrize("how", ["renamed", "left out", "merged", "recounted"])
def test_protections_are_attacked_with_what_is_known_about_them(how: str) -> None:
    data = baskets_with_structure(1, baskets=3000)
    change = identity_change(data.counts)
    becomes = np.arange(24)
    if how == "left out":
        becomes = np.where(becomes < 4, -1, becomes - 4)
        change = ItemChange(becomes, data.counts[4:])
    if how == "merged":
        union = len(np.unique(np.repeat(np.arange(3000), np.diff(data.indptr))[data.items < 3]))
        change = ItemChange(np.maximum(becomes - 2, 0), np.append(union, data.counts[3:]))
    if how == "recounted":
        change = ItemChange(becomes, np.full(24, int(np.median(data.counts))))
    case = renamed(data, change)
    held = draw_baskets(data, np.random.default_rng(0).permutation(3000)[:1000])
    tries = [attack_by_pairs(target(case), held, np.random.default_rng(seed), starts=20) for seed in range(5)]
    found = max(tries, key=lambda each: each.right.sum())  # pseudonyms are drawn anew: a search may end too early
    n = len(case.release.labels)  # type: ignore[attr-defined]
    assert len(found.right) == n == len(change.counts)
    assert found.right.sum() >= 0.8 * n
    assert found.reachable >= found.right.sum()


def test_moved_counts_are_expected_in_the_attackers_table() -> None:
    """The attacker's table after the change is that of the release, but for chance, if they hold all baskets."""
    data = baskets_with_structure(2, baskets=20_000, items=6)
    case = renamed(data, ItemChange(np.arange(6), data.counts + np.array([900, -900, 0, 500, -500, 0])))
    goal = target(case)
    expected, items = goal.carry_shares(draw_baskets(data, np.arange(data.baskets)))
    actual, pseudonyms = goal.released_shares()
    assert items.tolist() == pseudonyms.tolist()
    assert np.abs(expected.shares - actual.shares).max() < 0.01, "five standard deviations are 0.006"


def test_only_the_most_frequent_items_are_attacked_beyond_a_limit() -> None:
    data = baskets_with_structure(4)
    held = draw_baskets(data, np.arange(300))
    found = attack_by_pairs(target(Case(data), limit=10), held, np.random.default_rng(0))
    assert found.attacked == 10
    assert found.right.sum() <= 10
    assert set(np.flatnonzero(found.named)) <= set(np.argsort(-data.counts, kind="stable")[:10].tolist())


def test_items_that_the_release_lacks_are_never_right() -> None:
    data = baskets_with_structure(5)
    rows = [["x1", "x2", "i1"], ["x1", "i2"], ["i3", "i1"]]
    similar = Transactions.from_baskets(rows)
    from unveil.items.attacker_files import similar_codes

    held = named_baskets(similar, similar_codes(similar, data), len(data.labels))
    found = attack_by_pairs(target(Case(data)), held, np.random.default_rng(0))
    assert found.seen == 3
    assert found.right.sum() <= 3


# ---- the verdict -----------------------------------------------------------------------------------------------------

DATA = baskets_with_structure(11, baskets=1500)


def test_similar_baskets_that_name_nearly_everything_said_release() -> None:
    """Frequencies hardly differ, so few items are expected to be identified by them, but all pairs name most."""
    found = unveil.assess(Case(DATA, holds={"similar": sample(DATA, 0.2)}), only="items")
    assert found["items.expected_cracks"].status == "within"
    f = found[SIMILAR]
    assert (f.status, f.decides, f.method) == ("over", True, "bound")
    assert f.value is not None and f.value >= 0.8 * 24
    assert f.interval is not None and f.interval[0] == f.value <= f.interval[1]
    assert (found.verdict.decision, found.verdict.because) == ("protect first", SIMILAR)
    assert f.sentence.startswith(f"The attack names {f.value:.0f} of 24 items correctly")


def test_an_attack_that_fails_does_not_decide_against_the_release() -> None:
    """Independent items of equal frequency: there is nothing to find, and the verdict stays with the rest."""
    rng = np.random.default_rng(0)
    rows = [[f"i{i}" for i in np.flatnonzero(rng.random(40) < 0.3)] or ["i0"] for _ in range(400)]
    data = Transactions.from_baskets(rows)
    other = Transactions.from_baskets(
        [[f"i{i}" for i in np.flatnonzero(rng.random(40) < 0.3)] or ["i0"] for _ in range(40)]
    )
    policy = Policy(tolerance={"items.expected_cracks": 0.3})
    found = unveil.assess(Case(data, holds={"similar": other}), policy, only="items")
    assert found[SIMILAR].status == "within"
    assert "finds no assignment that scores higher" in found[SIMILAR].sentence
    assert SIMILAR not in (found.verdict.because or "")


def test_without_similar_baskets_a_sample_informs() -> None:
    found = unveil.assess(DATA, Policy(tolerance={"items.expected_cracks": 0.999}), only="items")
    f = found[SIMILAR]
    assert (f.decides, f.status, f.method) == (False, None, "simulation")
    assert f.value is not None and f.value >= 12
    assert "10% sample of the original baskets" in f.sentence
    assert f.curves[0].x == (0.01, 0.02, 0.05, SAMPLE_SHARE, 0.2, 0.5)
    assert found.verdict.decision == "release", "it informs, and nothing else is over"
    decided = unveil.assess(DATA, Policy(tolerance={"items.expected_cracks": 1.0, SIMILAR: 0.1}), only="items")
    assert decided[SIMILAR].status == "over"


def test_protections_are_attacked_with_similar_baskets() -> None:
    """Whatever was changed, most items are named again: no protection may be called good enough."""
    made = unveil.protect(Case(DATA, holds={"similar": sample(DATA, 0.3)}), method="recount")
    assert made.case is None
    assert SIMILAR in made.blocking_findings


def test_the_same_seed_gives_the_same_attack() -> None:
    case = Case(DATA, holds={"similar": sample(DATA, 0.05)})
    first, second = (unveil.assess(case, only=SIMILAR)[SIMILAR] for _ in range(2))
    assert replace(first, seconds=0) == replace(second, seconds=0)


# ---- what a sample is worth ------------------------------------------------------------------------------------------


def test_a_small_sample_was_said_to_be_enough_because_its_intervals_are_wide() -> None:
    """Ten items far apart: a one-basket sample is right about most of them, and identifies next to nothing."""
    from unveil.items.attacker_beliefs import beliefs_from_sample
    from unveil.items.sample_similarity import sample_knowledge
    from unveil.matching.solver import solve

    rng = np.random.default_rng(0)
    rows = [[f"i{k}" for k in range(10) if rng.random() < (k + 1) / 12] or ["i9"] for _ in range(500)]
    data = Transactions.from_baskets(rows)
    found = sample_knowledge(data, np.random.default_rng(1), (0.01, 0.1, 1.0), replicates=4)
    exact = solve(beliefs_from_sample(Case(data), data.counts, data.baskets).candidates, may_exclude_truth=True)
    assert found.cracks.mean[2] == pytest.approx(exact.expected_cracks), "a sample of everything knows the frequencies"
    assert found.cracks.mean[0] < 5 < found.cracks.mean[2]
    assert (found.cracks.low <= found.cracks.mean).all() and (found.cracks.mean <= found.cracks.high).all()
    told = unveil.assess(data, only="items")["items.sample_knowledge"]
    assert "enough" not in told.sentence
    assert told.curves[0].y_label == "items identified on average"
    assert told.unit == "items"


def test_the_toss_of_a_coin_between_tied_items_was_counted_as_a_name() -> None:
    """Twelve items in six pairs that are always bought together: any of a pair may be named for the other."""
    rng = np.random.default_rng(1)
    bought = [[x for g in range(6) if rng.random() < 0.1 + 0.12 * g for x in (f"a{g}", f"b{g}")] for _ in range(400)]
    filled = [basket for basket in bought if basket]
    case = Case(Transactions.from_baskets(filled), holds={"similar": Transactions.from_baskets(filled[:80])})
    for seed in range(3):
        policy = Policy(seed=seed, tolerance={"items.similar_pairs": 0.45, "items.expected_cracks": 0.55})
        found = unveil.assess(case, policy, only="items.similar_pairs")
        assert found["items.similar_pairs"].interval == (0, 6), "a coin is right about one of two"
        assert found["items.similar_pairs"].status == "open"
        assert "12 items could be exchanged with another one at no loss" in found["items.similar_pairs"].sentence


def independent_baskets(items: int, baskets: int, decay: float, seed: int = 5) -> Transactions:
    """Items that are bought independently of each other, the first ones most often."""
    rng = np.random.default_rng(seed)
    inside = rng.random((baskets, items)) < 0.6 * decay ** np.arange(items) + 0.02
    return Transactions.from_baskets([[f"i{i}" for i in np.flatnonzero(row)] or ["i0"] for row in inside])


ROUGHLY = Policy(settings={"items": {"frequency_precision": 1.0}})


def test_an_attack_that_may_win_was_no_reason_to_doubt() -> None:
    """With a search that falls short, fewer items are named than tolerated; but a better one would name too many."""
    data = independent_baskets(100, 1000, 0.96)
    policy = replace(ROUGHLY, tolerance={"items.expected_cracks": 0.4})
    found = unveil.assess(data, policy, only=["items.expected_cracks", SIMILAR])
    assert found["items.expected_cracks"].status == "within"
    low, high = found[SIMILAR].interval or (0, 0)
    assert low < 40 < high
    assert found.verdict.decision == "your call"
    (reason,) = (doubt for doubt in found.doubts if doubt.startswith(found[SIMILAR].title))
    assert "items, which may be more than 40% of all items. Nobody said what attackers hold" in reason


def test_five_samples_were_too_few_to_tell() -> None:
    """More are drawn until the interval is on one side of what is tolerated."""
    data = independent_baskets(16, 300, 0.8)
    found = unveil.assess(data, ROUGHLY, only=["items.expected_cracks", SIMILAR])
    (samples,) = re.findall(r"over (\d+) samples", found[SIMILAR].sentence)
    assert int(samples) in (10, 20)
    low, high = found[SIMILAR].interval or (0, 0)
    assert 1.6 < low <= (found[SIMILAR].value or 0) <= high
    assert any("items, more than 10% of all items." in doubt for doubt in found.doubts)
    assert f"Mean of {samples} samples at 10%" in found[SIMILAR].curves[0].reading


def test_samples_that_agree_were_certain() -> None:
    """Items of which nothing tells one from another: samples name hardly any, which leaves more open than nothing."""
    data = Transactions.from_baskets([[f"i{k}"] for k in range(30) for _ in range(4)])
    found = unveil.assess(data, ROUGHLY, only=["items.expected_cracks", SIMILAR])
    low, high = found[SIMILAR].interval or (0, 0)
    assert 0 < (found[SIMILAR].value or 0) < 1 and low == 0, "each of the items in a sample is named with chance 1/30"
    assert 0 < high < 3
    assert not any(found[SIMILAR].title in doubt for doubt in found.doubts)


def test_two_shares_of_right_beliefs_for_one_attacker() -> None:
    """The share is that of the beliefs that are attacked with, and not of narrower ones."""
    from unveil.items.attacker_beliefs import beliefs_from_sample
    from unveil.items.beliefs import Beliefs
    from unveil.items.sample_similarity import sample_knowledge

    data, shares = independent_baskets(25, 300, 0.9), list[float]()

    def believe(counts: np.ndarray, size: int) -> Beliefs:
        beliefs = beliefs_from_sample(Case(data), counts, size)
        shares.append(beliefs.alpha)
        return beliefs

    found = sample_knowledge(data, np.random.default_rng(1), (0.1,), believe=believe, replicates=3)
    assert found.alpha.mean[0] == pytest.approx(np.mean(shares[:3]))


def test_of_items_in_the_very_same_baskets_several_were_said_to_be_reachable() -> None:
    """Nobody can tell twins apart: of 160 items in 20 sets of twins, at most 20 are right on average."""
    data = Transactions.from_baskets([[f"i{k}" for k in range(160) if k // 8 + 1 > b] for b in range(20)])
    attacked = target(Case(data))
    rng = np.random.default_rng(0)
    for _ in range(5):
        held = draw_baskets(data, rng.permutation(20)[:2])
        assert attack_by_pairs(attacked, held, rng, starts=2).reachable <= 20
    finding = unveil.assess(data, only=["items.similar_pairs"])["items.similar_pairs"]
    assert finding.interval is not None and finding.interval[1] <= 16


def test_an_attacker_with_a_sample_was_said_to_do_worse_than_guessing() -> None:
    """Tied items counted as not named: .05 of 5 items, where guessing names 1. On average over 60 samples, as many are
    right as in the best of all assignments, listed one by one, with ties broken by chance."""
    texts = "24,12456,124,245,24,124,24,1245,12,1246,125,24,46,246,2456,1246,246,245,24,246".split(",")  # noqa: SIM905
    data = Transactions.from_baskets([list(text) for text in texts])
    attacked, rng = target(Case(data)), np.random.default_rng(1)
    released, _ = attacked.released_shares()
    said, listed = [], []
    for _ in range(60):
        held = draw_baskets(data, rng.permutation(20)[:2])
        own, items = attacked.carry_shares(held)
        problem = PairProblem.from_shares(own, released)
        ways = [np.array(p) for p in permutations(range(problem.n))]
        scores = np.array([problem.score(p) for p in ways])
        best = scores >= scores.max() - 1e-9 * (1 + abs(scores.max()))
        listed.append(
            np.mean([(p[: len(items)] == items).sum() for p, is_best in zip(ways, best, strict=True) if is_best])
        )
        said.append(attack_by_pairs(attacked, held, rng, starts=20).expected)
    assert np.mean(said) == pytest.approx(np.mean(listed), abs=0.1) and np.mean(listed) > 1
    finding = unveil.assess(data, only=[SIMILAR])[SIMILAR]
    assert (finding.value or 0) > 0.9 and "chance decides" in finding.sentence
