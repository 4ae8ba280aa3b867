"""The door of the room: a matrix that excludes the truth, and what is said about simulated and estimated numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import unveil
from unveil import Case, Policy, UnveilError
from unveil.matching import Budget, Candidates, solve
from unveil.matching.crack_text import compare_with_estimate, count_certain
from unveil.release.matrix import Matrix, read_matrix


def matrix(folder: Path, rows: list[list[float]]) -> Matrix:
    file = folder / "m.csv"
    file.write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n")
    return read_matrix(file)


def test_a_matrix_that_excludes_the_truth_is_refused_unless_it_may(tmp_path: Path) -> None:
    case = Case(matrix(tmp_path, [[1, 1], [0, 1]]), truth=np.array([1, 0]))
    with pytest.raises(UnveilError, match="the 2nd entry is not among"):
        unveil.assess(case)
    found = unveil.assess(case, Policy(settings={"matching": {"may_exclude_truth": True}}))
    cracks = found["matching.expected_cracks"]
    assert cracks.value == 0
    assert cracks.sentence == (
        "On average, the attacker assigns the true pseudonym to 0 of 2 entries (0%), none for certain."
    )
    assert found["matching.o_estimate"].sentence.endswith("The result is above the exact value, which is 0.")


def test_tolerances_are_shares_of_the_entries(tmp_path: Path) -> None:
    policy = Policy(tolerance={"matching.expected_cracks": 0.75, "matching.bethe": 0.5})
    found = unveil.assess(matrix(tmp_path, [[1, 1], [0, 1]]), policy)
    assert (found["matching.expected_cracks"].tolerance, found["matching.bethe"].tolerance) == (1.5, 1)
    assert found["matching.expected_cracks"].sentence.endswith(
        " the true pseudonym to 2 of 2 entries (100%), all for certain."
    )
    assert not found["matching.bethe"].decides
    only = unveil.assess(matrix(tmp_path, [[1, 1], [0, 1]]), only="matching.degree_of_anonymity")
    assert [f.id for f in only.findings] == ["matching.degree_of_anonymity"]


def test_what_a_simulation_never_saw_otherwise_is_not_certain() -> None:
    """Entries 0 and 1 may swap, with a weight that no simulation comes across; entry 2 has one candidate."""
    rare = Candidates.from_matrix([[1, 1e-6, 0], [1e-6, 1, 0], [0, 0, 1]])
    simulated = solve(rare, budget=Budget(subsets=0, states=0, transitions=0))
    assert simulated.method == "simulation"
    assert (simulated.crack > 1 - 1e-9).all()
    assert count_certain(simulated) == 1
    assert count_certain(solve(Candidates.from_matrix(np.eye(3)))) == 3


@pytest.mark.parametrize(
    ("estimate", "said"),
    [
        (2, "equal to the exact value"),
        (1.9, "5% below the exact value"),
        (2.5, "25% above the exact value"),
        (5, "2.5 times the exact value"),
        (0, "100% below the exact value"),
    ],
)
def test_estimates_are_compared(estimate: float, said: str) -> None:
    assert compare_with_estimate(estimate, solve(Candidates.from_matrix(np.eye(2)))) == said
