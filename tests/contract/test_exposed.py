"""The most exposed subjects: who they are, why, what is learned, and that nothing shows unless it was asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest

from contract.cases import BASKETS, CASES, DEMOS, TRUTH, assessed
from contract.oracles import crowd, is_missing
from contract.test_others import FREQUENCY, ITEMS, NEAR, degrees
from contract.test_tables import BOUND, FACTS, facts, k_of, seen_in
from reference.naive_known_items import count_support, least_supports
from reference.naive_matching import marginals
from unveil import Finding
from unveil.finding import ExposedSubject, GraphChart, LatticeChart, LinkChart

LISTS = {  # the risks that list subjects, and what a subject is called
    "classes.k": "row", "classes.known_columns": "row", "classes.known_items": "basket", "linkage.success": "",
    "linkage.matched": "person", "items.point_knowledge": "item", "items.expected_cracks": "item",
    "matching.expected_cracks": "entry", "network.degree_k": "node", "network.unmasked": "node",
    "inference.learned": "", "inference.rules": "rule", "inference.score": "row",
}  # fmt: skip


def number_of(e: ExposedSubject) -> int:
    found = re.search(r"\d[\d,]*", e.subject)
    return int(found[0].replace(",", "")) if found else 0


@pytest.mark.parametrize("name", CASES)
def test_lists_are_sorted_and_hide_what_they_should(name: str) -> None:
    for hidden, shown in zip(assessed(name).findings, assessed(name, reveal=True).findings, strict=True):
        risks = [e.risk for e in hidden.exposed]
        assert len(risks) <= 10
        assert hidden.id in LISTS or not risks
        assert risks == sorted(risks, reverse=True) or hidden.id in ("linkage.matched", "inference.rules")
        assert all(0 < r <= 1 for r in risks)
        assert all(e.values is None for e in hidden.exposed)
        if CASES[name]().case.truth is None:  # otherwise even a risk may tell which pair is the true one
            assert [(e.subject, e.risk, e.because, e.learns) for e in hidden.exposed] == [
                (e.subject, e.risk, e.because, e.learns) for e in shown.exposed
            ]
        assert len({e.subject for e in hidden.exposed}) == len(risks)
        for e in hidden.exposed:
            assert LISTS[hidden.id] in e.subject and number_of(e) >= 1
            assert e.because[0].islower() or e.because[0].isdigit()
            assert not e.because.endswith(".")
        told = shown.sentence.replace("class spices", "class 1 of your file")  # the name of a class is a value
        assert hidden.sentence == told or "revealed" in name


PERSON = re.compile(r"\b(?:person|entry) \d")
ROW = re.compile(r"\b(?:row|pseudonym|node|basket) \d|\d(?:st|nd|rd|th) item")


def statements(f: Finding) -> Iterator[str]:
    """Everything that a finding says in one breath: its sentences, each exposed subject, each drawing."""
    yield from (f.title, f.sentence, f.attacker, f.missing)
    for e in f.exposed:
        yield f"{e.subject}; {e.because}; {'; '.join(e.learns)}"
    for c in f.curves:
        if isinstance(c, LinkChart):
            assert c.true is None
            assert not any(re.search(r"\d", name) for name in c.right)
        elif isinstance(c, LatticeChart):
            yield "; ".join((c.title, c.reading, *(name for one in c.sets for name in one)))
        elif isinstance(c, GraphChart):
            yield "; ".join((c.title, c.reading, c.inner_label, c.outer_label))
        else:
            yield "; ".join(
                map(str, (c.title, c.reading, c.mark_label, *c.x, *(c.series or ()), *dict(c.levels).values()))
            )


@pytest.mark.parametrize("name", CASES)
def test_findings_paired_somebody_known_with_a_row(name: str) -> None:
    """Who is which row, item or pseudonym is for ``--matches`` and ``--reveal`` alone."""
    for f in assessed(name).findings:
        for said in statements(f):
            assert not (PERSON.search(said) and ROW.search(said)), (f.id, said)


def test_every_kind_of_list_occurs() -> None:
    assert {f.id for name in CASES for f in assessed(name).findings if f.exposed} == set(LISTS)


@pytest.mark.parametrize("name", [n for n in CASES if n not in DEMOS and CASES[n]().table])
def test_rows_in_small_classes(name: str) -> None:
    attacked = CASES[name]()
    if attacked.policy.ratings:
        return
    sensitive = [c.name for c in assessed(name).columns if c.role == "sensitive"]
    for f, shown in zip(assessed(name).findings, assessed(name, reveal=True).findings, strict=True):
        if f.id != "classes.k":
            continue
        seen, k = seen_in(name, f.known, BOUND in f.attacker), k_of(attacked)
        first = {min(seen.first[j] for j in peers): len(peers) for peers in seen.peers}
        if "wildcard" in name:  # classes overlap: each row has its own
            first = dict(zip(seen.first, seen.sizes, strict=True))
        small = sorted((size, row) for row, size in first.items() if size < k)
        if "wildcard" not in name:
            assert [(round(1 / e.risk), number_of(e)) for e in f.exposed] == small[:10]
        assert {(round(1 / e.risk), number_of(e)) for e in f.exposed} <= set(small)
        for e, revealed in zip(f.exposed, shown.exposed, strict=True):
            row = attacked.rows[number_of(e) - 1]
            said = [c for c in sensitive if attacked.policy.subject or row[c] not in (None, *attacked.policy.missing)]
            assert e.learns == tuple(c for c in said if c not in f.known)
            assert ("one of" in e.because) == (e.risk < 1)
            assert revealed.values
            assert all(v == (row[c] or "missing") for c, v in revealed.values.items())
            policy = attacked.policy
            harmless = {*policy.insensitive, policy.subject, policy.weight, policy.household}
            assert set(revealed.values) == set(row) - harmless


def test_columns_that_make_a_row_unique() -> None:
    """The columns that are blamed do make the row unique, and none of them can be left out."""
    for name, risk in (("people", "classes.k"), ("drawn 1", "classes.k"), ("people", "classes.known_columns")):
        rows, checked = CASES[name]().rows, 0
        for f in (f for f in assessed(name).findings if f.id == risk):
            for e in f.exposed:
                said = e.because.removeprefix("unique because of ").removeprefix("unique on ").partition(" (SUDA")[0]
                said = said.partition(", and on ")[0]
                if said == e.because or e.risk < 1:
                    continue
                columns = said.replace(" and ", ", ").split(", ")
                own = rows[number_of(e) - 1]

                def alone(some: list[str], own: object = own, rows: object = rows) -> bool:
                    return sum(all(r[c] == own[c] for c in some) for r in rows) == 1  # type: ignore[index,attr-defined]

                assert alone(columns)
                assert not any(alone([c for c in columns if c != left]) for left in columns if len(columns) > 1)
                checked += 1
        assert checked


@pytest.mark.parametrize("name", FACTS)
def test_people_who_are_found(name: str) -> None:
    attacked, found = CASES[name](), facts(name)
    chance = dict(zip(found.first, found.own, strict=True))
    f = assessed(name)["linkage.success"]
    people = len({r[attacked.policy.subject] for r in attacked.rows}) if attacked.policy.subject else len(attacked.rows)
    over = sorted(((-p, row) for row, p in chance.items() if p > 1 / people + 1e-9))
    assert [number_of(e) for e in f.exposed] == [row for _, row in over][:10]
    for e in f.exposed:
        assert e.risk == pytest.approx(chance[number_of(e)])
        assert e.subject.startswith("person of row" if attacked.policy.subject else "row ")
        assert e.learns == attacked.policy.sensitive
        assert "random" in e.because and str(FACTS[name]) in e.because


def test_known_people_are_listed_with_their_match() -> None:
    f, shown = (assessed("linked", reveal=r)["linkage.matched"] for r in (False, True))
    people, rows = CASES["linked"]().case.holds["people"], CASES["linked"]().rows
    known = [dict(zip(people.columns, r.values(), strict=True)) for b in people.batches() for r in b.to_pylist()]
    assert len(f.exposed) == 6
    for e, revealed in zip(f.exposed, shown.exposed, strict=True):
        person = known[number_of(e) - 1]
        fit = [k + 1 for k, r in enumerate(rows) if all(r[c] == v for c, v in person.items())]
        fitting = "1 row fits" if len(fit) == 1 else f"{len(fit)} rows fit" if fit else "no row fits"
        assert e.because == f"{fitting} everything that is known{'' if fit else '; the best match fits part of it'}"
        assert revealed.values is not None
        best = int(revealed.values["best match"].removeprefix("row "))
        assert best in fit or not fit
        if fit:
            assert e.risk <= 1 / len(fit)


# ---- other releases --------------------------------------------------------------------------------------------------


def test_items() -> None:
    found, shown = assessed("baskets"), assessed("baskets", reveal=True)
    point = {i: FREQUENCY.count(f) for i, f in enumerate(FREQUENCY)}
    roughly = marginals(NEAR.astype(float)).diagonal()
    for risk, chance in (("point_knowledge", [1 / point[i] for i in range(6)]), ("expected_cracks", roughly)):
        f, revealed = (a[f"items.{risk}"] for a in (found, shown))
        order = sorted(range(6), key=lambda i: (-round(chance[i], 9), -FREQUENCY[i]))
        assert sorted(number_of(e) - 1 for e in f.exposed) == sorted(order)
        for e, r in zip(f.exposed, revealed.exposed, strict=True):
            i = number_of(e) - 1
            assert e.risk == pytest.approx(chance[i])
            assert e.learns == ("which item it is",)
            assert r.values == {"item": ITEMS[i]}
            if risk == "expected_cracks":
                fits = int(NEAR[i].sum())
                assert e.because == f"{fits} pseudonym{'s' if fits > 1 else ''} fit{'' if fits > 1 else 's'}"
            elif point[i] > 1:
                assert e.because == f"only {point[i] - 1} other items are bought exactly as often"


def test_baskets() -> None:
    rows = [frozenset(b) for b in BASKETS]
    few = least_supports(rows, 2)
    f, shown = (assessed("baskets", reveal=r)["classes.known_items"] for r in (False, True))
    small = sorted((n, b + 1) for b, n in enumerate(few) if n < 3)
    assert sorted((round(1 / e.risk), number_of(e)) for e in f.exposed) == small
    for e, revealed in zip(f.exposed, shown.exposed, strict=True):
        n, basket = few[number_of(e) - 1], rows[number_of(e) - 1]
        items = frozenset(revealed.values["items"].split())
        assert items <= basket and count_support(rows, items) == n
        these = "one of its items is" if len(items) == 1 else f"{len(items)} of its items together are"
        others = "no other basket" if n == 1 else "only 1 other basket" if n == 2 else f"only {n - 1} other baskets"
        assert e.because == f"{these} in {others}"


@pytest.mark.parametrize("name", ["weighted matrix", "matrix"])
def test_entries(name: str) -> None:
    weights = np.array(CASES[name]().rows, float)
    truth = np.array(TRUTH) if name == "weighted matrix" else np.arange(len(weights))
    each = marginals(weights)
    f, shown = (assessed(name, reveal=r)["matching.expected_cracks"] for r in (False, True))
    assert len(f.exposed) == len(weights)
    for e, revealed in zip(f.exposed, shown.exposed, strict=True):
        k = number_of(e) - 1
        assert revealed.subject == e.subject or name == "weighted matrix"
        assert e.risk == pytest.approx(each[k].max() if name == "weighted matrix" else each[k, truth[k]])
        assert e.because.partition(";")[0] == (f"{n} pseudonyms are possible" if (n := int((each[k] > 0).sum())) > 1
                             else "1 pseudonym is possible")  # fmt: skip
        k = number_of(revealed) - 1
        assert revealed.risk == pytest.approx(each[k, truth[k]])
        assert revealed.values == {"entry": str(k + 1), "pseudonym": str(truth[k] + 1)}


@pytest.mark.parametrize(("name", "k"), [("directed graph", 2), ("graph", 5)])
def test_nodes(name: str, k: int) -> None:
    each = degrees(name == "directed graph")
    size = {v: list(each.values()).count(d) for v, d in each.items()}
    f, shown = (assessed(name, reveal=r)["network.degree_k"] for r in (False, True))
    labels = list(dict.fromkeys(x for v in zip(*CASES[name]().rows, strict=True) for x in v))
    for e, revealed in zip(f.exposed, shown.exposed, strict=True):
        node = revealed.values["node"]
        assert CASES[name]().case.release.labels[number_of(e) - 1].as_py() == node
        assert e.risk == pytest.approx(1 / size[node])
        assert size[node] < k
        others = size[node] - 1
        said = f"only {others} other {'nodes have' if others > 1 else 'node has'}" if others else "no other node has"
        assert e.because.startswith(f"{said} the same number")
    assert {e.values["node"] for e in shown.exposed} == {v for v in labels if size[v] < k}


@pytest.mark.parametrize("name", ["patients.csv", "friends.edges"])
def test_the_most_exposed_of_the_demo_are_exposed(name: str) -> None:
    for f in assessed(name).findings:
        if f.id in ("classes.k", "network.degree_k"):
            assert len(f.exposed) == 10
            assert all(1 / e.risk < 5 for e in f.exposed)
            assert f.exposed[0].risk == pytest.approx(1 / f.value)


def test_missing_values_are_told_apart_in_the_oracle_too() -> None:
    """The oracle of this contract is right about the three readings, by hand."""
    rows = CASES["holes as value"]().rows
    sizes = {reading: crowd(rows, ("age", "zip", "sex"), CASES[f"holes as {reading}"]().policy).sizes
             for reading in ("value", "wildcard", "excluded")}  # fmt: skip
    assert sizes == {"value": [2, 1, 1, 2, 1, 1, 1, 1], "wildcard": [4, 4, 4, 4, 3, 3, 3, 1], "excluded": [2, 2, 1]}
    assert is_missing("?") and is_missing(None) and not is_missing("x")
