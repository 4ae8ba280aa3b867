"""One table, however stored and counted, has the same distinct rows, classes and findings."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from reference import naive_models
from unveil import Engine, Policy
from unveil.classes import tally as tally_module
from unveil.classes.table_classes import classes_with_values
from unveil.classes.tally import tally_rows
from unveil.release.table import table_from_frame

ENGINE = Engine()
COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "text": (pa.string(), ["a", "A", "é", "", None]),
    "whole": (pa.int64(), [-3, 0, 7, None]),
    "number": (pa.float64(), [0.0, -0.0, 1.5, float("nan"), None]),
    "date": (pa.date32(), [dt.date(1987, 6, 5), dt.date(2000, 1, 1), None]),
    "truth": (pa.bool_(), [True, False, None]),
    "category": (pa.dictionary(pa.int8(), pa.string()), ["x", "y", None]),
}
NAMES = ("text", "whole", "number", "date", "truth", "category")
ROW = st.tuples(*(st.sampled_from(values) for _, values in COLUMNS.values()))


def comparable_value(value: Any) -> Any:
    """A value as compared: None and NaN are missing, and −0 is 0."""
    if value is None or value != value:
        return None
    return value + 0.0 if isinstance(value, float) else value


def arrow_table(rows: list[tuple[Any, ...]]) -> pa.Table:
    columns = zip(*rows, strict=True)
    kinds = [kind for kind, _ in COLUMNS.values()]
    made = [
        pa.array(c, k.value_type if pa.types.is_dictionary(k) else k).cast(k)
        for c, k in zip(columns, kinds, strict=True)
    ]
    return pa.table(made, list(NAMES))


@pytest.fixture(params=["codes", "stored", "engine", "different"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each way to count rows, forced by its limits."""
    few, small, differ = {
        "codes": (100, 100, 2.0),
        "stored": (0, 100, 2.0),
        "engine": (-1, -1, 2.0),
        "different": (-1, -1, -1.0),
    }[request.param]
    monkeypatch.setattr(tally_module, "_FEW_ROWS", few)
    monkeypatch.setattr(tally_module, "_MOST_COUNTED_ROWS", small)
    monkeypatch.setattr(tally_module, "_MOSTLY_DIFFERENT_SHARE", differ)
    return str(request.param)


@pytest.mark.parametrize("seed", range(12))
def test_different_rows_are_counted(way: str, seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    rows = [tuple(rng.choice(v) for _, v in COLUMNS.values()) for _ in range(rng.choice([1, 2, 30]))]
    pq.write_table(arrow_table(rows), tmp_path / "t.parquet", row_group_size=7)
    held = [unveil.read(tmp_path / "t.parquet"), table_from_frame(arrow_table(rows), engine=ENGINE)]
    expected = Counter(tuple(map(comparable_value, row)) for row in rows)
    for table in held:
        assert isinstance(table, unveil.Table)
        found = tally_rows(table, NAMES)
        values = [[*c.values.to_pylist(), None] for c in found.columns.values()]
        counted: Counter[tuple[Any, ...]] = Counter()
        weights = np.ones(len(found), np.int64) if found.counts is None else found.counts
        for *codes, many in zip(*found.codes(NAMES), weights.tolist(), strict=True):
            counted[tuple(v[c] for v, c in zip(values, codes, strict=True))] += many
        assert counted == expected
        assert found.people == len(rows)
        assert all(list(v[:-1]) == sorted(v[:-1]) for v in values)
    if way in ("stored", "engine"):
        assert tally_rows(held[0], NAMES).counts is not None  # type: ignore[arg-type]


def test_rows_that_do_not_fit_into_a_number(way: str, tmp_path: Path) -> None:
    """Twelve columns of 60 values: 61¹² is more than 2⁶²."""
    columns = {f"c{i}": [f"v{(k * (i + 1)) % 60}" for k in range(60)] * 2 for i in range(12)}
    pq.write_table(pa.table(columns), tmp_path / "wide.parquet")
    table = unveil.read(tmp_path / "wide.parquet")
    assert isinstance(table, unveil.Table)
    assert classes_with_values(table, list(columns)).class_sizes.subjects.tolist() == [120]
    assert classes_with_values(table, list(columns)).class_sizes.size.tolist() == [2]


@settings(max_examples=60, deadline=None)
@given(st.lists(ROW, min_size=1, max_size=20), st.sampled_from(NAMES), st.randoms(use_true_random=False))
def test_every_type_of_column_against_the_definitions(rows: list[tuple[Any, ...]], sensitive: str, random: Any) -> None:
    """The same with rows, columns and chunks in another order."""
    quasi = [n for n in NAMES[:3] if n != sensitive]
    place = {n: i for i, n in enumerate(NAMES)}
    keys = [tuple(comparable_value(row[place[q]]) for q in quasi) for row in rows]
    values = [comparable_value(row[place[sensitive]]) for row in rows]
    sizes = Counter(keys)
    there = [(k, v) for k, v in zip(keys, values, strict=True) if v is not None]
    groups = naive_models.values_by_class([repr(k) for k, _ in there], [v for _, v in there])
    everyone = [v for _, v in there]
    expected = [naive_models.class_measures(m, everyone) for m in groups.values()]
    shuffled = rows[:]
    random.shuffle(shuffled)
    turned = arrow_table(shuffled).select(list(reversed(NAMES)))
    chunks = pa.concat_tables([turned.slice(i, 3) for i in range(0, len(rows), 3)])
    for table in (table_from_frame(arrow_table(rows), engine=ENGINE), table_from_frame(chunks, engine=ENGINE)):
        found = classes_with_values(table, quasi, [sensitive])
        assert Counter(
            dict(zip(found.class_sizes.size.tolist(), found.class_sizes.subjects.tolist(), strict=True))
        ) == Counter(s for s in sizes.values() for _ in range(s))
        classes = found.values[0].classes
        for name in ("size", "distinct", "alpha", "entropy_l", "t_equal", "beta", "delta"):
            ours = sorted(getattr(classes, name).tolist()) if everyone else []
            assert ours == pytest.approx(sorted(m[name] for m in expected)), name


def findings(table: Any, policy: Policy) -> list[dict[str, Any]]:
    """All findings without seconds and row numbers."""
    told = [f.to_dict() for f in unveil.assess(table, policy).findings]
    for finding in told:
        finding.pop("seconds")
        for exposed in finding["exposed"]:
            exposed.pop("subject")
    return told


def test_the_same_findings_whatever_holds_the_rows(tmp_path: Path) -> None:
    """Text in a file, a frame with an index of its own, shuffled, columns in another order; one thread or several."""
    rng = random.Random(2)
    names = ["age", 'sex "at birth"', "zip; DROP TABLE t; --", "größe 🙂"]
    rows = [
        (str(rng.randrange(20, 30)), rng.choice("fm"), str(rng.randrange(8)), rng.choice("abc")) for _ in range(400)
    ]
    frame = pd.DataFrame(rows, columns=names)
    frame.to_csv(tmp_path / "t.csv", index=False)
    shuffled = frame.sample(frac=1, random_state=3)
    one = Engine()
    one._connection.execute("SET threads = 1")
    policy = Policy(quasi=(tuple(names[:3]),), sensitive=(names[3],), tolerance={"classes.k": 3})
    expected = findings(unveil.read(tmp_path / "t.csv"), policy)
    assert {"classes.k", "classes.t", "classes.known_columns"} <= {f["id"] for f in expected}
    for table in (
        table_from_frame(frame, engine=one, name="t.csv"),
        table_from_frame(shuffled, engine=ENGINE, name="t.csv"),
        table_from_frame(frame[names[::-1]], engine=ENGINE, name="t.csv"),
    ):
        again = findings(table, policy)
        assert [f for f in again if f["id"] != "release.order"] == [f for f in expected if f["id"] != "release.order"]


def test_more_rows_than_32_bits_can_count() -> None:
    """2³¹ + 5 rows that the engine generates while counting."""
    engine = Engine()
    many = 2**31 + 5
    relation = engine.view(f"SELECT 'x' AS c0, CASE WHEN range < 3 THEN 'a' ELSE 'b' END AS c1 FROM range({many})")
    table = unveil.Table(engine, relation, ("q", "s"), many, "many", "0" * 64)
    found = classes_with_values(table, ["q"], ["s"])
    assert found.class_sizes.size.tolist() == found.class_sizes.subjects.tolist() == [many]
    assert found.values[0].classes.count.tolist() == [3, many - 3]


@pytest.mark.parametrize("sensitive", ["same", "own"])
@pytest.mark.parametrize("quasi", [(), ("same",), ("own",)])
def test_the_smallest_and_plainest_tables(quasi: tuple[str, ...], sensitive: str) -> None:
    """No quasi-identifier, all rows equal, all different; a sensitive column that is constant or unique; one row."""
    for rows in (1, 6):
        data = pa.table({"same": ["x"] * rows, "own": [str(i) for i in range(rows)]})
        if sensitive in quasi:
            continue
        found = classes_with_values(table_from_frame(data, engine=ENGINE), quasi, [sensitive])
        size = 1 if quasi == ("own",) else rows
        assert found.class_sizes.size.tolist() == [size]
        assert found.values[0].classes.distinct.tolist() == [
            1 if sensitive == "same" else size for _ in range(rows // size)
        ]
        assert found.values[0].classes.t_equal.max() == pytest.approx(
            0 if sensitive == "same" or size == rows else 1 - 1 / rows
        )
