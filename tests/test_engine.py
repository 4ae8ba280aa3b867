"""The engine: one SQL for DuckDB and Spark, limits that hold, and an interrupt that stops."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
import sqlglot

import unveil
from unveil import Engine, Policy, Run, UnveilError
from unveil.engine import to_spark_sql
from unveil.release.column_profile import profile_columns
from unveil.release.table import table_from_frame

LONG = "SELECT count(*) FROM range(3000000) a, range(8000) b WHERE (a.range * b.range) % 7 = 3"  # ends after a minute


def every_job(engine: Engine) -> list[str]:
    """The SQL of everything that is asked of a table: all roles, guessed roles, people with several rows, reveal."""
    frame = pa.table(
        {"who": ["p", "q", "p"], "Age": ["1", "2", "?"], 'a "b"': ["x", "y", "x"], "name": ["u", "v", "w"]}
    )
    table = table_from_frame(frame, engine=engine)
    policy = Policy(identifier=("name",), quasi=(("Age", 'a "b"'),), subject="who")
    unveil.assess(table, policy, reveal=True)
    unveil.assess(table)
    profile_columns(table, ("?",))
    return list(engine.log)


def test_every_job_translates_to_spark_and_parses_there() -> None:
    jobs = every_job(Engine())
    assert len(jobs) >= 6
    for sql in jobs:
        (parsed,) = sqlglot.parse(to_spark_sql(sql), read="spark")
        assert parsed is not None
        assert isinstance(parsed, sqlglot.exp.Select)


def test_no_name_or_value_of_the_data_is_in_the_sql() -> None:
    assert not [sql for sql in every_job(Engine()) if "Age" in sql or '"b"' in sql or "who" in sql]


def test_row_numbers_have_an_order_on_spark() -> None:
    numbered = [to_spark_sql(sql) for sql in every_job(Engine()) if "row_no" in sql]
    assert numbered
    assert not [sql for sql in numbered if "OVER ()" in sql]


def test_a_table_that_is_gone_is_forgotten() -> None:
    engine = Engine()
    table = table_from_frame(pa.table({"a": ["1"]}), engine=engine)
    relation = table.relation
    assert engine.query_arrow(f"SELECT count(*) AS n FROM {relation}")["n"][0].as_py() == 1
    del table
    gc.collect()
    with pytest.raises(duckdb.CatalogException):
        engine.query_arrow(f"SELECT count(*) AS n FROM {relation}")


def test_results_are_arrow() -> None:
    assert Engine().query_arrow("SELECT 1 AS one").to_pylist() == [{"one": 1}]


def test_an_interrupt_stops_the_query_and_the_engine_goes_on() -> None:
    engine = Engine()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's & makes children ignore it
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            engine.query_arrow(LONG)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert engine.query_arrow("SELECT 2 AS two")["two"][0].as_py() == 2


def test_a_cancelled_run_stops_the_query() -> None:
    run = Run()
    threading.Timer(0.3, run.cancelled.set).start()
    with pytest.raises(KeyboardInterrupt):
        Engine().query_arrow(LONG, run)


def test_an_interrupt_inside_duckdb_is_an_interrupt_here() -> None:
    engine = Engine()
    over = threading.Event()

    def interrupt() -> None:
        while not over.wait(0.2):  # one that comes before the query has begun is lost
            engine._connection.interrupt()

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            engine.query_arrow(LONG)
    finally:
        over.set()
        thread.join()


def test_progress_is_told() -> None:
    told: list[tuple[str, float | None]] = []
    sql = "SELECT count(*) FROM range(3000000) a, range(300) b WHERE (a.range * b.range) % 7 = 3"
    Engine().query_arrow(sql, Run(progress=lambda doing, fraction: told.append((doing, fraction))), "multiplying")
    assert {doing for doing, _ in told} == {"multiplying"}
    assert all(f is None or 0 <= f <= 1 for _, f in told)


def test_memory_limit_and_spill_directory(tmp_path: Path) -> None:
    engine = Engine(memory_limit="150MB", spill=tmp_path)
    assert engine.scratch_directory().parent == tmp_path
    limit = engine.query_arrow("SELECT current_setting('memory_limit') AS m")["m"][0].as_py()
    assert limit.startswith("143")  # 150 MB in MiB
    folder, modes = engine.scratch_directory(), set()

    def look(doing: str, fraction: float | None) -> None:
        modes.update(path.stat().st_mode & 0o777 for path in folder.glob("duckdb*"))

    sql = "SELECT count(*) AS n FROM (SELECT DISTINCT range, hash(range) FROM range(6000000))"
    assert engine.query_arrow(sql, Run(progress=look))["n"][0].as_py() == 6_000_000
    assert modes == {0o600}, "work files are for their owner alone"
    assert folder.stat().st_mode & 0o777 == 0o700
    del engine
    assert not folder.exists()


def test_work_files_of_dead_processes_are_removed_at_the_next_start(tmp_path: Path) -> None:
    """Those of living ones stay, and so does what only has the same name."""
    script = (
        "import sys, time; from unveil.engine import Engine; engine = Engine(spill=sys.argv[1])\n"
        "(engine.scratch_directory() / 'data').write_text('secret'); print(engine.scratch_directory(), flush=True)\n"
        "time.sleep(60)"
    )
    with contextlib.ExitStack() as both:
        folders = []
        for _ in range(2):
            command = [sys.executable, "-c", script, str(tmp_path)]
            process = both.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
            both.callback(process.kill)
            assert process.stdout is not None
            folders.append(Path(process.stdout.readline().strip()))
        process.kill()
        process.wait()
        own = tmp_path / "unveil-spill-of-mine"
        own.mkdir()
        assert all(folder.exists() for folder in folders)
        engine = Engine(spill=tmp_path)
        assert [folder.exists() for folder in folders] == [True, False]
        assert sorted(tmp_path.iterdir()) == sorted([folders[0], own, engine.scratch_directory()])


def test_a_memory_limit_that_is_no_size() -> None:
    with pytest.raises(UnveilError, match="write it as 4GB"):
        Engine(memory_limit="lots")


def test_too_little_memory_is_said_in_words() -> None:
    with pytest.raises(UnveilError, match="memory"):
        Engine(memory_limit="12MB").query_arrow("SELECT list(range) FROM range(30000000)")


def test_a_memory_limit_that_is_no_text_was_a_defect() -> None:
    with pytest.raises(UnveilError, match="is not a size; write it as 4GB or 500MB"):
        Engine(memory_limit="\udcff")
