"""Values and shares of findings about baskets, matrices and graphs, against slow computations."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest

from contract.cases import BASKETS, CASES, EDGES, TRUTH, WEIGHTS, assessed
from contract.oracles import permanent
from reference.naive_items import crack_estimates, itemset_chances, possible_pairs
from reference.naive_known_items import least_supports
from reference.naive_matching import all_matchings, marginals, set_cracked
from unveil.wording import number_text, percent_text

COUNTS = Counter(item for basket in BASKETS for item in basket)
ITEMS = list(dict.fromkeys(item for basket in BASKETS for item in basket))
FREQUENCY = [float(COUNTS[item]) for item in ITEMS]
NEAR = possible_pairs([f - 1 for f in FREQUENCY], [f + 1 for f in FREQUENCY], FREQUENCY)


def test_items_whose_frequency_is_known() -> None:
    for name in ("baskets", "plain baskets", "small baskets", "similar baskets"):
        rows = CASES[name]().rows
        counts = Counter(item for basket in rows for item in basket)
        share = len(set(counts.values())) / len(counts)
        f = assessed(name)["items.point_knowledge"]
        assert (f.value, f.subjects) == (pytest.approx(share), len(counts))
        assert f.share == pytest.approx((share, share))
        certain = sum(list(counts.values()).count(c) == 1 for c in counts.values())
        said = "none" if not certain else "all" if certain == len(counts) else certain
        assert f"{number_text(len(set(counts.values())))} of {len(counts)} item" in f.sentence
        assert f"({percent_text(share)}), {said} for certain" in f.sentence


def test_items_whose_frequency_is_roughly_known() -> None:
    mappings = [p for p, _ in all_matchings(NEAR.astype(float))]
    cracks = sum(sum(a == b for a, b in enumerate(p)) for p in mappings) / len(mappings)
    for name, limit in (("baskets", 0.55), ("plain baskets", 0.1)):
        found = assessed(name)
        f = found["items.expected_cracks"]
        assert (f.value, f.method, f.subjects) == (pytest.approx(cracks), "exact", 6)
        assert f.share == pytest.approx((cracks / 6, cracks / 6))
        assert f"{number_text(cracks)} of 6 items ({percent_text(cracks / 6)}), none for certain." in f.sentence
        alpha = found["items.alpha_max"]
        assert alpha.value == pytest.approx(min(1.0, limit * 6 / cracks))
        assert alpha.share is None
        estimate = found["items.o_estimate"]
        assert estimate.value == pytest.approx(crack_estimates(NEAR, True).sum())
        assert (estimate.method, estimate.share, estimate.decides) == ("estimate", None, False)


def test_items_that_are_never_bought_together() -> None:
    met = {frozenset((a, b)) for basket in BASKETS for a in basket for b in basket if a != b}
    cracks = []
    for p, _ in all_matchings(NEAR.astype(float)):
        held = {item: ITEMS[p[k]] for k, item in enumerate(ITEMS)}
        if frozenset((held["1"], held["6"])) not in met:
            cracks.append(sum(held[i] == i for i in ITEMS))
    f, before = assessed("baskets")["items.never_together"], assessed("baskets")["items.expected_cracks"].value
    value = sum(cracks) / len(cracks)
    assert f.value == pytest.approx(value)
    assert f.share == pytest.approx((value / 6, value / 6))
    assert f"identifies {number_text(value)} of 6 items, {number_text(value - before)} more than" in f.sentence


def test_sets_of_items() -> None:
    listed = {("class 1 of your file",): [("1", "2")], ("listed itemsets",): [("3", "4", "6"), ("2", "5")],
              None: list(combinations(ITEMS, 3))}  # fmt: skip
    for f in (f for f in assessed("baskets").findings if f.id == "items.itemsets_vulnerable"):
        chances = [itemset_chances(NEAR, len(s))[tuple(sorted(ITEMS.index(i) for i in s))] for s in listed[f.known]]
        share = sum(c >= 0.5 for c in chances) / len(chances)
        assert (f.value, f.subjects) == (pytest.approx(share), len(chances))
        assert f.share == pytest.approx((share, share))
        assert "of 50% or more" in f.title and f"{percent_text(share)} are vulnerable" in f.sentence
    (pairs,) = (f for f in assessed("plain baskets").findings if f.id == "items.itemsets_vulnerable")
    assert (pairs.subjects, pairs.tolerance, pairs.decides) == (15, None, False)


def test_baskets_with_the_same_items() -> None:
    for name, k in (("baskets", 3), ("plain baskets", 5), ("small baskets", 5)):
        rows = [frozenset(basket) for basket in CASES[name]().rows]
        few = least_supports(rows, 2)
        below, alone = (sum(x < limit for x in few) / len(rows) for limit in (k, 2))
        f = assessed(name)["classes.known_items"]
        assert (f.value, f.subjects, f.method) == (min(few), len(rows), "exact")
        assert f.share == pytest.approx((below, below))
        assert f"{percent_text(below)} of the baskets contain" in f.sentence
        assert f"{percent_text(alone)} contain one that occurs in no other basket." in f.sentence
        (curve,) = f.curves
        for m, share in zip(curve.x, curve.y, strict=True):
            assert share == pytest.approx(sum(x < k for x in least_supports(rows, int(m))) / len(rows))


@pytest.mark.parametrize("name", ["weighted matrix", "matrix", "small matrix"])
def test_cracks(name: str) -> None:
    weights = np.array(CASES[name]().rows, float)
    n, truth = len(weights), np.array(TRUTH) if name == "weighted matrix" else np.arange(len(weights))
    crack = marginals(weights)[np.arange(n), truth]
    found = assessed(name)
    f, pattern = found["matching.expected_cracks"], weights > 0
    assert (f.value, f.method, f.subjects) == (pytest.approx(crack.sum()), "exact", n)
    assert f.share == pytest.approx((crack.sum() / n, crack.sum() / n))
    certain = int((crack > 1 - 1e-9).sum())
    said = "none" if not certain else "all" if certain == n else certain
    assert f"{number_text(crack.sum())} of {n} entr" in f.sentence and f"{said} for certain." in f.sentence
    assert f.title.endswith("(Ψ)" if name == "weighted matrix" else "(ε)")
    d = found["matching.degree_of_anonymity"]
    total = math.log(math.factorial(n))
    assert d.value == pytest.approx(math.log(permanent(pattern.tolist())) / total if total else 0.0)
    degree = pattern.sum(axis=1)
    assert found["matching.o_estimate"].value == pytest.approx((1 / degree).sum())
    for estimate in ("o_estimate", "heuristic", "bethe"):
        e = found[f"matching.{estimate}"]
        assert (e.method, e.share, e.decides) == ("estimate", None, False)
        off = abs(e.value / f.value - 1)
        assert "equal to the exact value" in e.sentence if off < 1e-9 else percent_text(off) in e.sentence


def test_sets_and_what_the_attacker_may_be_right_about() -> None:
    """By listing all matchings: a set is cracked if its entries have their own pseudonyms in any order."""
    weights, found = np.array(WEIGHTS, float), assessed("weighted matrix")
    chances = [set_cracked(weights, np.array(TRUTH), members) for members in ([0, 1], [1, 2], [3])]
    vulnerable = sum(p >= 0.5 for p in chances)
    f = found["matching.sets_vulnerable"]
    assert (f.value, f.method, f.subjects) == (pytest.approx(vulnerable / 3), "exact", 3)
    assert f"Of 3 named sets, {vulnerable} are vulnerable." in f.sentence
    cracks = marginals(weights)[np.arange(4), np.array(TRUTH)].sum()
    alpha = found["matching.alpha_max"]
    assert (alpha.value, alpha.method, alpha.decides) == (pytest.approx(0.4 / cracks), "exact", False)
    assert f"no more than {percent_text(0.4 / cracks)} of the entries" in alpha.sentence
    assert "matching.sets_vulnerable" not in [f.id for f in assessed("matrix").findings]
    assert "Even an attacker" in assessed("matrix")["matching.alpha_max"].sentence


def test_cracks_are_drawn() -> None:
    risks, at_once, links = assessed("weighted matrix")["matching.expected_cracks"].curves
    weights = np.array(WEIGHTS, float)
    each = marginals(weights)
    crack = each[np.arange(4), np.array(TRUTH)]
    assert sum(risks.y) == 4
    assert f"{int((crack >= 0.5).sum())} entries are cracked" in risks.reading
    assert sum(at_once.y) == pytest.approx(1, abs=1e-3)
    for i, j, p in links.pairs:
        assert p == pytest.approx(each[i, j])
    assert links.risk == pytest.approx(each.max(axis=1).tolist()), "a secret truth does not show"
    assert links.true is None
    shown = assessed("weighted matrix", reveal=True)["matching.expected_cracks"].curves[2]
    assert shown.true == tuple(enumerate(TRUTH)) and shown.risk == pytest.approx(crack.tolist())


def degrees(directed: bool) -> dict[str, tuple[int, int] | int]:
    edges = {tuple(e) for e in EDGES} if directed else {frozenset(e) for e in EDGES}
    nodes = sorted({x for e in EDGES for x in e})
    if directed:
        return {v: (sum(e[0] == v for e in edges), sum(e[1] == v for e in edges)) for v in nodes}  # type: ignore[index]
    return {v: sum(v in e for e in edges) for v in nodes}


@pytest.mark.parametrize(("name", "k"), [("directed graph", 2), ("graph", 5)])
def test_nodes_with_the_same_degree(name: str, k: int) -> None:
    each = degrees(name == "directed graph")
    sizes = [list(each.values()).count(d) for d in each.values()]
    f, unique = assessed(name)["network.degree_k"], assessed(name)["network.degree_unique"]
    below, alone = (sum(s < limit for s in sizes) for limit in (k, 2))
    assert (f.value, f.subjects) == (min(sizes), 7)
    assert f.share == pytest.approx((below / 7, below / 7))
    share = percent_text(below / 7)
    assert f.sentence.startswith(f"{below} of 7 nodes ({share}) are in a class of fewer than {k} nodes ")
    assert unique.value == pytest.approx(alone / 7)
    assert unique.share == pytest.approx((alone / 7, alone / 7))
    assert ("outgoing and incoming" in f.attacker) == (name == "directed graph")


@pytest.mark.parametrize("name", ["directed graph", "graph"])
def test_nodes_singled_out_by_their_surroundings(name: str) -> None:
    """Everybody's neighbours' degrees written out; for the whole structure, all renamings of seven nodes are tried."""
    directed = name == "directed graph"
    each = degrees(directed)
    edges = {(e[0], e[1]) for e in EDGES} | (set() if directed else {(e[1], e[0]) for e in EDGES})
    nodes = sorted(each)
    known = [
        (each[v], sorted(map(repr, (each[b] for a, b in edges if a == v))),
         sorted(map(repr, (each[a] for a, b in edges if b == v))))
        for v in nodes
    ]  # fmt: skip
    alone = sum(known.count(k) == 1 for k in known)
    found = assessed(name)["network.signature_unique"]
    assert found.value == pytest.approx(alone / 7)
    assert found.sentence.startswith(
        f"{alone} of 7 nodes ({percent_text(alone / 7)}) are singled out by the numbers of"
    )
    renamings = (dict(zip(nodes, order, strict=True)) for order in permutations(nodes))
    kept = [new for new in renamings if {(new[a], new[b]) for a, b in edges} == edges]
    moved = {v for new in kept for v, w in new.items() if v != w}
    whole = assessed(name)["network.automorphism"]
    assert (whole.value, whole.method) == (pytest.approx(1 - len(moved) / 7), "exact")


@pytest.mark.parametrize("name", ["directed graph", "graph"])
def test_edges_that_follow_from_degrees(name: str) -> None:
    directed = name == "directed graph"
    each = degrees(directed)
    edges = {(e[0], e[1]) for e in EDGES} | (set() if directed else {(e[1], e[0]) for e in EDGES})
    follow = [
        (a, b)
        for a, b in edges
        if all((x, y) in edges for x in each for y in each if x != y and each[x] == each[a] and each[y] == each[b])
    ]
    f = assessed(name)["network.edges_disclosed"]
    assert f.value == pytest.approx(len(follow) / len(edges))
    unfound = [(a, b) for a, b in follow if all([*each.values()].count(each[x]) > 1 for x in (a, b))]
    once = 1 if directed else 2
    assert (f"for {len(unfound) // once:,} of these" in f.sentence) == bool(unfound)
