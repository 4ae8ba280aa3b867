"""Releases small enough to check by hand, and the four demo releases; together every risk occurs in them.

The raw rows, baskets, edges or weights stay beside each release, so that tests can compute from them what a finding
claims without asking the package.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import unveil
from unveil import Assessment, Case, Graph, Matrix, Policy, Transactions
from unveil.demo.examples import EXAMPLES
from unveil.release import Release

__all__ = ["CASES", "INCOMES", "TABLES", "Attacked", "assessed", "table"]

Row = Mapping[str, Any]

FINE = {  # tolerances for risks that have none by default, so that all kinds of findings decide somewhere
    "classes.uniques": 0.2,
    "classes.at_risk": 0.25,
    "classes.reidentification": 0.3,
    "classes.alpha": 0.7,
    "classes.recursive_c": 3,
    "classes.l_entropy": 1.5,
    "classes.t": 0.35,
    "classes.beta": 1.2,
    "classes.beta_enhanced": 1.2,
    "classes.delta_disclosure": 1.1,
    "classes.homogeneity": 0.1,
    "classes.distinction": 0.4,
    "classes.separation": 0.9,
    "classes.known_columns": 0.5,
    "linkage.success": 0.3,
    "linkage.everything_learned": 0.3,
    "linkage.unicity": 0.2,
    "linkage.sparsity": 0.6,
    "linkage.success_bound": 0.3,
}


@dataclass(frozen=True, eq=False)
class Attacked:
    """A release under attack with its policy, and the raw data it was made from."""

    name: str
    case: Case
    policy: Policy = field(default_factory=Policy)
    rows: Sequence[Any] = ()

    @property
    def table(self) -> bool:
        """Whether the raw data are the rows of a table."""
        return self.case.release.kind == "table" and bool(self.rows)


@cache
def assessed(name: str, reveal: bool = False, exposed: int = 10) -> Assessment:
    """The assessment of a case, made once for all tests."""
    attacked = CASES[name]()
    return unveil.assess(attacked.case, attacked.policy, reveal=reveal, exposed=exposed)


def table(rows: Sequence[Row], name: str = "table") -> Release:
    """A table of text columns from rows; None is missing."""
    columns = {c: pa.array([r[c] for r in rows], pa.string()) for c in rows[0]}
    return unveil.read(pa.table(columns), name=name)


def rows_of(text: str) -> list[dict[str, Any]]:
    """Rows from a small text: names in the first line, values below; a dot is missing."""
    names, *lines = (line.split() for line in text.strip().splitlines())
    return [{c: None if v == "." else v for c, v in zip(names, line, strict=True)} for line in lines]


def drawn_rows(seed: int, count: int, **values: int) -> list[dict[str, Any]]:
    """Random rows: so many different values in each column, the first ones more often than the last."""
    rng = random.Random(seed)
    return [{c: str(min(rng.randrange(many), rng.randrange(many))) for c, many in values.items()} for _ in range(count)]


# ---- tables ----------------------------------------------------------------------------------------------------------

PEOPLE = rows_of("""
name  age zip   sex job     diagnosis income
Ada   34  01234 f   nurse   flu       10
Ben   34  01234 m   baker   cancer    20
Cleo  34  01234 f   nurse   asthma    20
Dan   51  01235 m   baker   flu       30
Finn  51  01235 m   baker   flu       30
Eve   51  01235 f   nurse   flu       40
Gus   51  01235 m   baker   .         30
Hal   34  01234 f   nurse   flu       10
Ida   34  01234 f   clerk   flu       90
Jon   34  01299 m   clerk   cancer    50
""")


def people() -> Attacked:
    """Two sets of quasi-identifiers, two sensitive columns of which one holds numbers, an identifier left in."""
    policy = Policy(
        identifier=("name",),
        quasi=(("age", "zip"), ("sex", "job", "age")),
        sensitive=("diagnosis", "income"),
        tolerance={"classes.k": 3, "classes.l_distinct": 3, **FINE},
        settings={"classes": {"others_known": True, "ruled_out": {"diagnosis": ["flu", "leprosy"]}}},
    )
    return Attacked("people", Case(table(PEOPLE, "people")), policy, PEOPLE)


def drawn(seed: int) -> Attacked:
    """A random table in which some classes are small and others are not; nothing but the defaults is tolerated."""
    rows = drawn_rows(seed, 40, age=3, zip=3, sex=2, job=2, diagnosis=4)
    policy = Policy(quasi=("age", "zip", "sex", "job"), sensitive=("diagnosis",), tolerance=FINE if seed % 2 else {})
    return Attacked(f"drawn {seed}", Case(table(rows, "drawn")), policy, rows)


def alike() -> Attacked:
    """Everybody looks the same."""
    rows = [{"age": "34", "zip": "01234", "sex": "f", "diagnosis": d} for d in ["flu", "cancer"] * 4]
    policy = Policy(quasi=(("age", "zip", "sex"),), sensitive=("diagnosis",), tolerance=FINE)
    return Attacked("alike", Case(table(rows, "alike")), policy, rows)


def mild() -> Attacked:
    """Two classes that have both values, in slightly different shares: every measure is finite."""
    rows = [{"sex": "fm"[k // 6], "age": "34", "diagnosis": d} for k, d in enumerate("aaabbbaabbbb")]
    policy = Policy(quasi=(("sex", "age"),), sensitive=("diagnosis",), tolerance={**FINE, "classes.t": 0.05})
    return Attacked("mild", Case(table(rows, "mild")), policy, rows)


def unanswered() -> Attacked:
    """Nobody has a value in the sensitive column, and one row alone has a class of its own."""
    rows = [{"sex": "fffffm"[k], "age": "34", "diagnosis": None} for k in range(6)]
    policy = Policy(quasi=(("sex", "age"),), sensitive=("diagnosis",), tolerance={"classes.homogeneity": 0})
    return Attacked("unanswered", Case(table(rows, "unanswered")), policy, rows)


def single() -> Attacked:
    """One row: every count is 1."""
    rows = PEOPLE[:1]
    policy = Policy(quasi=(("age", "zip", "sex", "job"),), sensitive=("diagnosis",), insensitive=("name", "income"))
    return Attacked("single", Case(table(rows, "single")), policy, rows)


def pair() -> Attacked:
    """Two rows that differ in one column."""
    rows = [PEOPLE[0], PEOPLE[4]]
    policy = Policy(quasi=(("age", "zip", "sex"),), sensitive=("diagnosis",), insensitive=("name", "income", "job"))
    return Attacked("pair", Case(table(rows, "pair")), policy, rows)


def icd() -> Attacked:
    """A sensitive column with a hierarchy."""
    rows = drawn_rows(5, 24, age=2, sex=2)
    for k, row in enumerate(rows):
        row["icd"] = ["A10", "A11", "B20", "B21", "C30"][k * k % 5]
    policy = Policy(quasi=("age", "sex"), sensitive=("icd",), hierarchy={"icd": "prefixes:2,1"}, tolerance=FINE)
    return Attacked("icd", Case(table(rows, "icd")), policy, rows)


VISITS = rows_of("""
patient day ward  sex diagnosis
p1      mo  eye   f   flu
p1      tu  eye   f   cancer
p2      tu  eye   f   flu
p2      mo  eye   f   flu
p3      mo  ear   m   asthma
p4      mo  ear   m   asthma
p4      mo  ear   m   asthma
p5      we  ear   m   flu
p6      mo  ear   m   asthma
p7      th  nose  f   .
p7      we  ear   m   flu
""")


def visits() -> Attacked:
    """People with several rows; whoever shows the same set of rows looks the same."""
    policy = Policy(
        subject="patient",
        quasi=(("day", "ward", "sex"), ("ward",)),
        sensitive=("diagnosis",),
        tolerance={"classes.k": 2, "classes.alpha": 0.5, **{k: v for k, v in FINE.items() if k.startswith("linkage")}},
        settings={"linkage": {"known": 2}},
    )
    return Attacked("visits", Case(table(VISITS, "visits")), policy, VISITS)


HOLES = rows_of("""
age zip   sex diagnosis
34  01234 f   flu
34  .     f   cancer
.   01234 f   flu
34  01234 f   flu
51  01235 m   asthma
51  .     m   asthma
51  ?     m   flu
60  01236 .   .
""")


def holes(reading: str) -> Attacked:
    """Missing quasi-identifiers, read in one of the three ways."""
    policy = Policy(
        quasi=(("age", "zip", "sex"),), sensitive=("diagnosis",), missing_as=reading, tolerance={"classes.k": 3}
    )
    return Attacked(f"holes as {reading}", Case(table(HOLES, "holes")), policy, HOLES)


def telling() -> Attacked:
    """Facts that give an illness away without finding anybody, one that does so alone, and some missing values."""
    rows = [
        {"job": "miner" if i % 3 == 0 else "clerk", "sex": "fm"[i % 2], "town": "ABCD"[i % 4], "illness": "none"}
        for i in range(48)
    ]
    for row in rows:
        if row["job"] == "miner":
            row["illness"] = "lung" if row["town"] in "AB" else "none"
        if row["job"] == "clerk" and row["town"] == "D":
            row["illness"] = "back"
    rows[3]["illness"] = rows[7]["illness"] = None
    policy = Policy(
        quasi=(("job", "sex", "town"),),
        sensitive=("illness",),
        tolerance={"classes.k": 3, "inference.learned": 0.1, "inference.facts": 2},
        settings={"inference": {"gain": 0.4, "danger": {"illness": "1"}}},
    )
    return Attacked("telling", Case(table(rows, "telling")), policy, rows)


def answered() -> Attacked:
    """Private answers were given about a table, two of them about disjoint parts of it."""
    given = pa.table(
        {
            "epsilon": ["1/2", "1/2", "1/10"],
            "partition": ["sex", "sex", None],
            "part": ["f", "m", None],
            "version": [0, 0, 0],
            "question": ["count where sex = 'f'", "count where sex = 'm'", "mean age"],
            "hidden": ["one row"] * 3,
            "other_ledgers": [1, 1, 1],
        },
        pa.schema(
            [("epsilon", pa.string()), ("partition", pa.string()), ("part", pa.string()), ("version", pa.int64()),
             ("question", pa.string()), ("hidden", pa.string()), ("other_ledgers", pa.int64())]
        ),
    )  # fmt: skip
    policy = Policy(
        quasi=(("sex",),),
        sensitive=("diagnosis", "income"),
        insensitive=("age", "zip", "job"),
        tolerance={"dp.membership": 0.6},
    )
    rows = [{column: row[column] for column in row if column != "name"} for row in PEOPLE]
    case = Case(table(rows, "answered"), holds={"answers": unveil.read(given, name="answers")})
    return Attacked("answered", case, policy)


def guessed() -> Attacked:
    """Nobody said what the columns are."""
    return Attacked("guessed", Case(table(PEOPLE, "guessed")), Policy(), PEOPLE)


def population() -> Attacked:
    """Everybody who lives there, with what a register knows about them."""
    register = [
        {"age": r["age"], "zip": r["zip"], "sex": r["sex"]} for r in PEOPLE for _ in range(1 + len(r["job"]) % 3)
    ]
    policy = Policy(
        identifier=("name",),
        quasi=(("age", "zip"), ("zip", "sex"), ("job", "sex")),
        sensitive=("income",),
        insensitive=("diagnosis",),
        tolerance={"classes.k_map": 4, "classes.population_uniques": 0.1, "classes.presence": 0.9},
    )
    case = Case(table(PEOPLE, "people"), holds={"population": table(register, "register")})
    return Attacked("population", case, policy, PEOPLE)


def sample() -> Attacked:
    """Only the size of the population is known."""
    rows = [r for r in drawn_rows(8, 60, age=9, zip=9, sex=2) for _ in range(1)]
    policy = Policy(
        quasi=(("age", "zip", "sex"),),
        insensitive=(),
        tolerance={"classes.population_uniques": 0.1, "classes.dis_suda": 0.2},
        settings={"classes": {"population_size": 300}},
    )
    return Attacked("sample", Case(table(rows, "sample")), policy, rows)


def surveyed(**given: Any) -> tuple[Case, Policy, list[dict[str, Any]]]:
    """Rows that stand for several people, some of whom live together."""
    rng, rows = random.Random(4), drawn_rows(12, 40, age=4, sex=2, income=3)
    rows = [{**r, "w": f"{rng.uniform(1, 30):.1f}", "home": str(rng.randrange(18))} for r in rows]
    policy = Policy(quasi=(("age", "sex"),), sensitive=("income",), household="home", **given)
    return Case(table(rows, "survey")), policy, rows


def survey() -> Attacked:
    """The weights are of no use to anybody."""
    case, policy, rows = surveyed(insensitive=("w",))
    return Attacked("survey", case, policy, rows)


def weighted_survey() -> Attacked:
    """The weights say how many people a row stands for."""
    case, policy, rows = surveyed(weight="w", tolerance={"classes.individual_risk": 0.1})
    return Attacked("weighted survey", case, policy, rows)


INCOMES = [(i * 37 % 100, i * 37 % 100 + (0 if i % 3 else 5)) for i in range(30)]  # original and released


def noisy() -> Attacked:
    """Incomes that were moved a little, beside the table that they were made from."""
    known = drawn_rows(21, len(INCOMES), age=3, sex=2)
    before, after = ([{**r, "income": str(pair[at])} for r, pair in zip(known, INCOMES, strict=True)] for at in (0, 1))
    case = Case(table(after, "noisy"), table(before, "original"))
    return Attacked("noisy", case, Policy(quasi=(("age", "sex"),), sensitive=("income",)), after)


EARLIER = rows_of("""
age zip   sex diagnosis
34  01234 f   flu
34  01234 m   cancer
34  01234 f   cold
51  01235 m   flu
51  01235 m   ulcer
51  01235 f   gout
34  01299 m   cancer
34  01299 m   flu
""")
KNOWN = rows_of("""
age zip   sex
34  01234 f
34  01234 m
51  01235 m
51  01235 f
34  01299 m
77  01299 m
""")
LINKS = (0, 1, 3, 5, 9, -1)  # the row of PEOPLE that each of KNOWN is


def intersection() -> Attacked:
    """Another release of the same people, and a file of people the attacker knows, with their true rows."""
    policy = Policy(
        identifier=("name",),
        quasi=(("age", "zip", "sex"),),
        sensitive=("diagnosis",),
        insensitive=("job", "income"),
        tolerance={"linkage.matched": 0.5, "classes.intersection": 0.2},
    )
    holds = {"earlier 1": table(EARLIER, "earlier"), "people": table(KNOWN, "known")}
    case = Case(table(PEOPLE, "people"), truth=np.array(LINKS), holds=holds)
    return Attacked("intersection", case, policy, PEOPLE)


def linked() -> Attacked:
    """A file of people the attacker knows; nobody says which row they are."""
    policy = Policy(quasi=(("age", "zip", "sex"),), insensitive=("name", "job", "income", "diagnosis"))
    case = Case(table(PEOPLE, "people"), holds={"people": table(KNOWN, "known")})
    return Attacked("linked", case, policy, PEOPLE)


RATINGS = rows_of("""
person film  stars date
u1     alien 5     2020-01-01
u1     brief 4     2020-02-01
u2     alien 5     2020-01-01
u2     brief 4     2020-02-01
u3     alien 1     2020-03-01
u3     cargo 3     2020-04-01
u3     drift 3     2020-05-01
u4     cargo 3     2020-04-01
u5     brief 4     2021-02-01
""")


def ratings() -> Attacked:
    """Everybody is known by what they rated; u1 and u2 rated the same."""
    tolerance = {k: v for k, v in FINE.items() if k.startswith("linkage")}
    policy = Policy(ratings=("person", "film", "stars"), tolerance=tolerance, settings={"linkage": {"known": 2}})
    rows = [{c: v for c, v in r.items() if c != "date"} for r in RATINGS]
    return Attacked("ratings", Case(table(rows, "ratings")), policy, rows)


def dated_ratings() -> Attacked:
    """Ratings with dates; values and dates nearby count as the same. Only the default tolerances apply."""
    policy = Policy(
        ratings=("person", "film", "stars", "date"),
        settings={"linkage": {"known": 9, "compare": {"stars": "1", "date": "30d"}}},
    )
    return Attacked("dated ratings", Case(table(RATINGS, "ratings")), policy, RATINGS)


# ---- other releases --------------------------------------------------------------------------------------------------

BASKETS = [["1", "2", "3"], ["1", "2", "3", "4"], ["4", "6"], ["3", "4", "5", "6"], ["5", "6"], ["6"], ["1", "2"],
           ["1", "3", "4"], ["1", "3", "5"], ["2", "4", "6"]]  # fmt: skip


def baskets() -> Attacked:
    """BigMart, the example of the paper, with everything that can be known about it."""
    holds = {
        "never_together": table([{"item": "1", "other": "6"}], "never"),
        "itemsets_file": table(
            [{"items": "1 2", "class": "spices"}, {"items": "3 4 6", "class": ""}, {"items": "2 5", "class": ""}],
            "listed",
        ),
    }
    policy = Policy(
        tolerance={
            "items.expected_cracks": 0.55,
            "items.point_knowledge": 0.5,
            "items.alpha_max": 0.9,
            "items.sample_knowledge": 0.5,
            "classes.known_items": 3,
        },
        settings={"items": {"itemsets": "3", "known_pairs": 2, "frequency_precision": 0.1}, "classes": {"known": 2}},
    )
    return Attacked("baskets", Case(Transactions.from_baskets(BASKETS), holds=holds), policy, BASKETS)


def plain_baskets() -> Attacked:
    """The same baskets without a policy."""
    return Attacked("plain baskets", Case(Transactions.from_baskets(BASKETS)), rows=BASKETS)


def small_baskets() -> Attacked:
    """One item in one basket: every count is 1."""
    return Attacked("small baskets", Case(Transactions.from_baskets([["a"]])), rows=[["a"]])


def similar_baskets() -> Attacked:
    """Two items that are always bought together, and someone with a similar basket."""
    rows = [["a", "b"], ["a", "b"], ["c"]]
    holds = {"similar": Transactions.from_baskets([["a", "b"]])}
    return Attacked("similar baskets", Case(Transactions.from_baskets(rows), holds=holds), rows=rows)


WEIGHTS = [[3, 1, 0, 0], [1, 3, 1, 0], [0, 1, 2, 2], [0, 0, 1, 5]]
TRUTH = (1, 0, 2, 3)


def weighted_matrix() -> Attacked:
    """Weights and a truth that is not the diagonal."""
    holds = {"sets": table([{"entries": "1 2"}, {"entries": "2; 3"}, {"entries": "4"}], "sets")}
    case = Case(Matrix.from_array(WEIGHTS), truth=np.array(TRUTH), holds=holds)
    return Attacked("weighted matrix", case, rows=WEIGHTS)


def matrix() -> Attacked:
    """Which pseudonyms are possible; the first entry has only one."""
    rows = [[1, 0, 0], [1, 1, 1], [0, 1, 1]]
    tolerance = {"matching.expected_cracks": 0.7, "matching.degree_of_anonymity": 0.2, "matching.o_estimate": 0.1}
    return Attacked("matrix", Case(Matrix.from_array(rows)), Policy(tolerance=tolerance), rows)


def small_matrix() -> Attacked:
    """One entry, one pseudonym."""
    return Attacked("small matrix", Case(Matrix.from_array([[1]])), rows=[[1]])


EDGES = ["ab", "ba", "ac", "bc", "cd", "de", "fd", "fe", "gd"]


def directed_graph() -> Attacked:
    """Someone who knows both numbers of connections."""
    graph = Graph.from_edges([e[0] for e in EDGES], [e[1] for e in EDGES], directed=True)
    tolerance = {"network.degree_k": 2, "network.degree_unique": 0.1}
    return Attacked("directed graph", Case(graph), Policy(tolerance=tolerance), EDGES)


def graph() -> Attacked:
    """The same without directions, and a node of its own degree."""
    return Attacked("graph", Case(Graph.from_edges([e[0] for e in EDGES], [e[1] for e in EDGES])), rows=EDGES)


def small_graph() -> Attacked:
    """One edge."""
    return Attacked("small graph", Case(Graph.from_edges(["a"], ["b"])), rows=["ab"])


def drawn_networks() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Two dense networks of 56 people each, with 52 in common, that each lack a tenth of the edges; someone is known as
    p7 in one of them and as n7 in the other."""
    rng = random.Random(4)
    weight = [rng.random() + 0.3 for _ in range(60)]
    edges = [(a, b) for a in range(60) for b in range(a) if rng.random() < 0.48 * weight[a] * weight[b]]
    found = []
    for name, members in (("p", range(56)), ("n", range(4, 60))):
        kept = [e for e in edges if e[0] in members and e[1] in members and rng.random() < 0.9]
        found.append([(f"{name}{a}", f"{name}{b}") for a, b in kept])
    return found[0], found[1]


def known_network() -> Attacked:
    """Someone holds another network of nearly the same people."""
    held, released = (
        Graph.from_edges(*zip(*edges, strict=True), name=name)
        for name, edges in zip(("known", "release"), drawn_networks(), strict=True)
    )
    return Attacked("known network", Case(released, holds={"known_network": held}), rows=drawn_networks()[1])


def true_matches() -> Attacked:
    """The same, and it is known who is who."""
    case = known_network().case
    held, released = (graph.labels.to_pylist() for graph in (case.holds["known_network"], case.release))
    both = [x[1:] for x in held if f"n{x[1:]}" in released]
    pairs = pa.table({"known": [f"p{x}" for x in both], "node": [f"n{x}" for x in both]})
    holds = {**case.holds, "true_matches": pairs}
    return Attacked("true matches", replace(case, holds=holds), rows=drawn_networks()[1])


# ---- the demo --------------------------------------------------------------------------------------------------------


def example(file: str) -> Attacked:
    """One of the four releases of ``unveil demo``, under its policy."""
    (chosen,) = (e for e in EXAMPLES if e.file == file)
    with tempfile.TemporaryDirectory() as folder:
        release, policy = chosen.write(Path(folder), 0)
        made = chosen.make(np.random.default_rng(0))
        return Attacked(release.name, Case(made), Policy.from_toml(policy))


DEMOS = tuple(e.file for e in EXAMPLES)
_SMALL: tuple[Callable[[], Attacked], ...] = (
    people, alike, mild, unanswered, single, pair, icd, visits, telling, answered, guessed,
    population, sample, survey,
    weighted_survey, noisy, intersection, linked,
    ratings, dated_ratings, baskets, plain_baskets, small_baskets, similar_baskets, weighted_matrix, matrix,
    small_matrix, directed_graph, graph, small_graph, known_network, true_matches,
)  # fmt: skip
CASES: dict[str, Callable[[], Attacked]] = {
    **{make.__name__.replace("_", " "): cache(make) for make in _SMALL},
    **{f"drawn {seed}": cache(lambda seed=seed: drawn(seed)) for seed in (1, 2)},
    **{f"holes as {r}": cache(lambda r=r: holes(r)) for r in ("value", "wildcard", "excluded")},
    **{file: cache(lambda file=file: example(file)) for file in DEMOS},
}
TABLES = [
    "people", "alike", "mild", "single", "pair", "icd", "visits", "telling", "guessed", "population", "sample",
    "intersection", "drawn 1", "drawn 2", "holes as value", "holes as wildcard", "holes as excluded",
]  # fmt: skip
