"""A notebook, run by a real kernel: frames go in, and each result is shown once."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest
from nbconvert.preprocessors import ExecutePreprocessor

CELLS = {
    "no widgets": "import sys\nsys.modules['ipywidgets'] = None",
    "data": """\
import numpy as np
import pandas as pd
import unveil
rng = np.random.default_rng(2)
people = pd.DataFrame({
    "age": rng.integers(20, 60, 300), "sex": rng.choice(["f", "m"], 300), "zip": rng.choice(["01001", "20100"], 300),
    "job": rng.choice(["CANARY", "clerk", "nurse"], 300, p=[0.02, 0.5, 0.48]),
    "weight": rng.normal(70, 9, 300),
})
tolerated = {"classes.k": 1, "linkage.success": 0.3}
policy = unveil.Policy(quasi=(("age", "sex", "zip", "job"),), insensitive=("weight",), tolerance=tolerated)
""",
    "read": "unveil.read(people)",
    "assess": "assessment = unveil.assess(people, policy)\nassessment",
    "print": "print(assessment)",
    "frame": "assessment.to_frame()",
    "protect": "unveil.protect(people, policy, method='columns')",
    "wrong id": "assessment['classes.nonsense']",
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """What each cell shows when a kernel runs all of them, one after the other."""
    folder = tmp_path_factory.mktemp("notebook")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS.values()])
    with pytest.MonkeyPatch.context() as environment:
        for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR"):
            environment.setenv(name, str(folder / name))
        runner = ExecutePreprocessor(timeout=120, kernel_name="python3", allow_errors=True)
        runner.preprocess(notebook, {"metadata": {"path": str(folder)}})
    return {name: cell.outputs for name, cell in zip(CELLS, notebook.cells, strict=True)}


def test_reading_a_frame_died_of_a_progress_bar_without_ipywidgets(shown: dict[str, list[dict[str, Any]]]) -> None:
    for name in ("no widgets", "data", "read", "assess", "print", "frame", "protect"):
        assert [o["output_type"] for o in shown[name] if o["output_type"] == "error"] == [], name
    assert "300 rows, 5 columns" in shown["read"][0]["data"]["text/plain"]


def test_an_assessment_was_shown_with_empty_pre_elements_around_it(shown: dict[str, list[dict[str, Any]]]) -> None:
    """Whatever is shown is shown once, as text and as markup, and a printed assessment is its text."""
    (result,) = shown["assess"]
    assert result["data"]["text/plain"].startswith("table in memory: Protect first")
    assert "Protect first" in result["data"]["text/html"]
    (printed,) = shown["print"]
    assert printed["output_type"] == "stream"
    assert printed["text"].strip() == result["data"]["text/plain"].strip()


def test_a_protected_release_had_no_markup(shown: dict[str, list[dict[str, Any]]]) -> None:
    (result,) = shown["protect"]
    assert "Before protection: <strong>Protect first</strong>" in result["data"]["text/html"]
    assert "chosen" in result["data"]["text/html"]


def test_findings_are_a_frame_in_a_notebook(shown: dict[str, list[dict[str, Any]]]) -> None:
    (result,) = shown["frame"]
    assert "<th>share_low</th>" in result["data"]["text/html"]


def test_a_finding_that_is_not_there_names_a_similar_one(shown: dict[str, list[dict[str, Any]]]) -> None:
    (error,) = shown["wrong id"]
    assert (error["ename"], "did you mean" in error["evalue"]) == ("KeyError", True)


def test_nothing_in_a_notebook_shows_values_of_the_data(shown: dict[str, list[dict[str, Any]]]) -> None:
    assert "CANARY" not in str(shown)
