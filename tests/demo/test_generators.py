"""The example data must look like the real thing: the regularities that the attacks live on are checked here.

Seeds are fixed, so nothing here fails by chance; the bounds are wide enough to hold for other seeds too.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter, defaultdict
from datetime import date
from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from unveil.demo.films import make_ratings
from unveil.demo.friends import make_friendships
from unveil.demo.grocery import make_baskets
from unveil.demo.hospital import make_visits
from unveil.demo.survey import make_answers
from unveil.errors import UnveilError

SEEDS = [0, 1, 2]
GAPS = {"", "NA", "?"}


@pytest.fixture(scope="module", params=SEEDS)
def visits(request: pytest.FixtureRequest) -> pa.Table:
    return make_visits(np.random.default_rng(request.param))


@pytest.fixture(scope="module", params=SEEDS)
def baskets(request: pytest.FixtureRequest) -> list[list[str]]:
    return make_baskets(np.random.default_rng(request.param))


@pytest.fixture(scope="module", params=SEEDS)
def edges(request: pytest.FixtureRequest) -> np.ndarray:
    return make_friendships(np.random.default_rng(request.param))


# ── all ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_same_seed_same_data():
    for make in (make_visits, make_baskets, make_ratings, make_friendships):
        one, same, other = (make(np.random.default_rng(seed)) for seed in (7, 7, 8))
        equal = np.array_equal if make is make_friendships else lambda a, b: a == b
        assert equal(one, same), make.__name__
        assert not equal(one, other), make.__name__


@pytest.mark.parametrize("size", [1, 2, 3, 10])
def test_small_sizes(size: int):
    rng = np.random.default_rng(size)
    assert len(set(make_visits(rng, patients=size)["patient"].to_pylist())) == size
    assert len(make_baskets(rng, baskets=size, products=size)) == size
    assert make_friendships(rng, people=size).shape[1] == 2
    assert len(set(make_ratings(rng, people=size, titles=size)["person"].to_pylist())) == size
    assert make_answers(rng, people=size).num_rows == size


def test_impossible_sizes():
    rng = np.random.default_rng(0)
    for call in (
        lambda: make_visits(rng, patients=0),
        lambda: make_baskets(rng, baskets=0),
        lambda: make_baskets(rng, products=0),
        lambda: make_friendships(rng, people=-1),
        lambda: make_ratings(rng, people=0),
        lambda: make_ratings(rng, titles=0),
        lambda: make_answers(rng, people=0),
    ):
        with pytest.raises(UnveilError, match="at least 1"):
            call()


def test_import_is_light():
    rooms = ", ".join(f"unveil.demo.{name}" for name in ("hospital", "grocery", "films", "friends", "survey"))
    code = f"import sys, {rooms}; sys.exit('pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": os.pathsep.join(sys.path)}).returncode == 0


# ── hospital ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_hospital_shape(visits: pa.Table):
    names = ["patient", "name", "birth_date", "sex", "zip", "admitted", "ward", "diagnosis", "days", "cost"]
    assert visits.column_names == names
    assert set(visits.schema.types) == {pa.string()}
    assert sum(column.null_count for column in visits.columns) == 0
    assert 3450 <= visits.num_rows <= 3750

    rows_per_patient = Counter(Counter(visits["patient"].to_pylist()).values())
    assert sum(rows_per_patient.values()) == 3000
    assert set(rows_per_patient) == {1, 2, 3}
    assert rows_per_patient[1] > rows_per_patient[2] > rows_per_patient[3] > 20


def test_hospital_formats(visits: pa.Table):
    for row in visits.to_pylist():
        assert row["patient"][0] == "P" and len(row["patient"]) == 6 and row["patient"][1:].isdigit()
        assert date.fromisoformat(row["birth_date"]) <= date.fromisoformat(row["admitted"])
        assert row["zip"] in GAPS or (len(row["zip"]) == 5 and row["zip"].isdigit())
        assert int(row["days"]) >= 1
        assert len(row["cost"].partition(".")[2]) == 2 and float(row["cost"]) > 100
    assert len({day[:4] for day in visits["admitted"].to_pylist()}) == 1
    assert visits["admitted"].to_pylist() == sorted(visits["admitted"].to_pylist())
    assert set(visits["sex"].to_pylist()) == {"f", "m", "x"}
    assert 0 < visits["sex"].to_pylist().count("x") < 0.02 * visits.num_rows


def test_a_patient_is_one_person(visits: pa.Table):
    seen = defaultdict(set)
    for row in visits.to_pylist():
        seen[row["patient"]].add((row["name"], row["birth_date"], row["sex"]))
    assert all(len(identities) == 1 for identities in seen.values())


def test_a_patient_goes_home_before_returning(visits: pa.Table):
    stays = defaultdict(list)
    for row in visits.to_pylist():
        arrived = date.fromisoformat(row["admitted"]).toordinal()
        stays[row["patient"]].append((arrived, arrived + int(row["days"])))
    assert all(left < back for stay in stays.values() for (_, left), (back, _) in pairwise(stay))


def test_names_go_with_sex(visits: pa.Table):
    given = defaultdict(set)
    for name, sex in zip(visits["name"].to_pylist(), visits["sex"].to_pylist(), strict=True):
        given[sex].add(name.split()[0])
    assert not given["f"] & given["m"]
    assert len(given["f"]) > 50 and len(given["m"]) > 50
    assert len(set(visits["name"].to_pylist())) > 1500


@pytest.mark.parametrize("column", ["zip", "diagnosis"])
def test_missing_values(visits: pa.Table, column: str):
    values = visits[column].to_pylist()
    missing = Counter(value for value in values if value in GAPS)
    assert set(missing) == GAPS
    assert 0.02 <= missing.total() / len(values) <= 0.04
    for other in set(visits.column_names) - {"zip", "diagnosis"}:
        assert not GAPS & set(visits[other].to_pylist())


def test_zips_are_skewed_and_start_with_zero(visits: pa.Table):
    people = Counter(code for code in visits["zip"].to_pylist() if code not in GAPS)
    assert 50 <= len(people) <= 60
    assert {code[0] for code in people} == {"0", "1"}
    largest = [n for _, n in people.most_common()]
    assert sum(largest[:6]) > 0.3 * sum(largest)
    assert largest[-1] <= 12


def test_more_elderly_than_young(visits: pa.Table):
    born = np.array([int(day[:4]) for day in visits["birth_date"].to_pylist()])
    age = int(visits["admitted"][0].as_py()[:4]) - born
    assert age.min() == 0 and 95 <= age.max() <= 105
    assert 0.35 < np.mean(age >= 65) < 0.55
    assert 0.05 < np.mean(age < 16) < 0.2
    women = np.array(visits["sex"].to_pylist()) == "f"
    assert women[age >= 88].mean() > 0.52


def test_diagnoses_follow_sex_and_age(visits: pa.Table):
    sexes, ages = defaultdict(Counter), defaultdict(list)
    for row in visits.to_pylist():
        sexes[row["diagnosis"]][row["sex"]] += 1
        ages[row["diagnosis"]].append(int(row["admitted"][:4]) - int(row["birth_date"][:4]))
    assert 25 <= len(set(sexes) - GAPS) <= 30
    for only, diagnoses in {
        "f": ["childbirth", "endometriosis", "breast cancer"],
        "m": ["prostate cancer", "testicular torsion"],
    }.items():
        for diagnosis in diagnoses:
            assert set(sexes[diagnosis]) == {only}, diagnosis
    assert min(ages["childbirth"]) >= 15 and max(ages["childbirth"]) <= 50
    assert max(ages["preterm birth"]) <= 1
    assert min(ages["hip fracture"]) > 50
    assert np.median(ages["stroke"]) > 60 > 45 > np.median(ages["appendicitis"])


def test_a_mother_gives_birth_once(visits: pa.Table):
    mothers = visits.filter(pc.equal(visits["diagnosis"], "childbirth"))["patient"].to_pylist()
    assert len(mothers) == len(set(mothers)) > 100


def test_wards_stays_and_costs_hang_together(visits: pa.Table):
    rows = visits.to_pylist()
    for row in rows:
        if row["diagnosis"] == "childbirth":
            assert row["ward"] == "obstetrics"
    days = np.array([int(row["days"]) for row in rows])
    cost = np.array([float(row["cost"]) for row in rows])
    assert np.corrcoef(days, cost)[0, 1] > 0.4
    assert np.mean(days) > np.median(days)


def test_weekends_are_quiet(visits: pa.Table):
    weekday = Counter(date.fromisoformat(day).weekday() for day in visits["admitted"].to_pylist())
    assert max(weekday[5], weekday[6]) < min(weekday[day] for day in range(5))


def test_birth_date_sex_and_zip_are_almost_a_name(visits: pa.Table):
    people = {
        row["patient"]: (row["birth_date"], row["sex"], row["zip"])
        for row in visits.to_pylist()
        if row["zip"] not in GAPS
    }
    assert sum(n == 1 for n in Counter(people.values()).values()) > 0.95 * len(people)


# ── grocery ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_grocery_shape(baskets: list[list[str]]):
    assert len(baskets) == 4000
    assert all(len(set(basket)) == len(basket) for basket in baskets)
    assert all(basket == sorted(basket, key=int) for basket in baskets)
    assert {item for basket in baskets for item in basket} <= {str(n) for n in range(1, 181)}


def test_most_baskets_are_small(baskets: list[list[str]]):
    sizes = Counter(map(len, baskets))
    assert min(sizes) == 1 and 25 <= max(sizes) <= 30
    assert sizes[1] > sizes[4] > sizes[8] > sizes[16]
    assert sizes[30] < 20  # cut, not piled up at the limit


def test_popularity_is_skewed_with_ties(baskets: list[list[str]]):
    bought = Counter(item for basket in baskets for item in basket)
    assert len(bought) >= 170
    counts = [n for _, n in bought.most_common()]
    assert counts[0] < 0.6 * len(baskets)
    assert sum(counts[:18]) > 0.35 * sum(counts)  # a tenth of the products
    assert counts[0] > 8 * np.median(counts)

    sharing = [n for n in Counter(counts).values() if n > 1]
    assert 30 < sum(sharing) < 150  # some products hide each other, some stand alone


def test_numbers_do_not_tell_popularity(baskets: list[list[str]]):
    bought = Counter(item for basket in baskets for item in basket)
    rank = np.argsort(np.argsort([-n for n in bought.values()]))
    number = np.array([int(item) for item in bought])
    assert abs(np.corrcoef(rank, number)[0, 1]) < 0.3


def test_some_products_go_together(baskets: list[list[str]]):
    """Lift among baskets of like size; with independent products one pair at most stands out like this."""
    alike = [basket for basket in baskets if 4 <= len(basket) <= 9]
    bought = Counter(item for basket in alike for item in basket)
    together = Counter(pair for basket in alike for pair in combinations(basket, 2))
    expected = {(a, b): bought[a] * bought[b] / len(alike) for a, b in together}
    strong = [pair for pair, n in together.items() if n >= 12 and n > 2 * expected[pair]]
    assert len(strong) >= 25
    assert len({item for pair in strong for item in pair}) >= 20


# ── friends ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def graph(edges: np.ndarray) -> nx.Graph:
    return nx.Graph(edges.tolist())


def test_friends_shape(edges: np.ndarray):
    assert edges.ndim == 2 and edges.shape[1] == 2 and edges.dtype == np.int64
    assert np.all(edges[:, 0] < edges[:, 1])  # hence no loops
    assert len(np.unique(edges, axis=0)) == len(edges)
    assert edges.min() == 0 and edges.max() == 599
    assert 5 < 2 * len(edges) / 600 < 25


def test_nobody_is_alone(edges: np.ndarray):
    assert len(graph(edges)) == 600
    assert nx.is_connected(graph(edges))


def test_a_few_are_popular(edges: np.ndarray):
    degree = np.sort(np.bincount(edges.ravel()))
    assert degree[-1] > 3.5 * np.median(degree)
    assert degree.var() > 4 * degree.mean()  # chance alone would give about 1
    assert degree[0] <= 2


def test_friends_of_friends_are_friends(edges: np.ndarray):
    found = graph(edges)
    chance = nx.gnm_random_graph(600, len(edges), seed=1)
    assert nx.average_clustering(found) > 5 * nx.average_clustering(chance)
    # Degrees alone do not explain it: the same degrees, wired at random, have fewer triangles.
    rewired = nx.Graph(nx.configuration_model([d for _, d in found.degree()], seed=1))
    assert nx.transitivity(found) > 2 * nx.transitivity(rewired)


def test_there_are_communities(edges: np.ndarray):
    found = graph(edges)
    communities = nx.community.louvain_communities(found, seed=1)
    assert len(communities) >= 6
    assert nx.community.modularity(found, communities) > 0.4


def test_numbers_do_not_tell_community(edges: np.ndarray):
    apart = np.abs(edges[:, 0] - edges[:, 1]).mean()
    assert 0.9 < apart / 200 < 1.1  # two random numbers below 600 are 200 apart on average


# ── films ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module", params=SEEDS)
def ratings(request: pytest.FixtureRequest) -> pa.Table:
    return make_ratings(np.random.default_rng(request.param))


def test_nobody_rates_a_film_twice(ratings: pa.Table):
    pairs = list(zip(ratings["person"].to_pylist(), ratings["film"].to_pylist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    assert set(ratings["stars"].to_pylist()) == {1, 2, 3, 4, 5}


def test_few_films_are_seen_by_many_and_most_by_few(ratings: pa.Table):
    seen = sorted(Counter(ratings["film"].to_pylist()).values(), reverse=True)
    assert seen[0] > 5 * seen[len(seen) // 2]
    rated = sorted(Counter(ratings["person"].to_pylist()).values())
    assert 3 <= rated[0] <= 6
    assert rated[-1] > 4 * rated[len(rated) // 2]


def test_people_agree_about_films(ratings: pa.Table):
    """Stars of one film differ less than all stars do."""
    stars: dict[int, list[int]] = defaultdict(list)
    for film, given in zip(ratings["film"].to_pylist(), ratings["stars"].to_pylist(), strict=True):
        stars[film].append(given)
    within = np.mean([np.var(given) for given in stars.values() if len(given) > 5])
    assert within < 0.8 * np.var(ratings["stars"].to_pylist())
