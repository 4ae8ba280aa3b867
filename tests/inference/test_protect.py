"""Tables of which a few facts tell less: the promise, counted once more, and what stays as it was."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import unveil
from reference import naive_belief_gains as naive
from unveil import Policy, Table

QUASI = ("job", "town", "sex", "team")


def workers(n: int = 240) -> pa.Table:
    """Miners of two towns are mostly ill, and no other column has to do with it."""
    rng = np.random.default_rng(8)
    job, town = rng.choice(["miner", "clerk", "cook"], n), rng.choice(["A", "B", "C", "D"], n)
    ill = (job == "miner") & np.isin(town, ["A", "B"]) & (rng.random(n) < 0.9)
    return pa.table(
        {
            "job": job,
            "town": town,
            "sex": rng.choice(["f", "m"], n),
            "team": rng.choice(["red", "blue"], n),
            "illness": np.where(ill, "lung", rng.choice(["none", "none", "none", "flu"], n)),
        }
    )


def policy(**tolerance: float) -> Policy:
    goals = {f"inference.{name}": value for name, value in tolerance.items()}
    off = {"classes.k": None, "classes.l_distinct": None}
    return Policy(quasi=(QUASI,), sensitive=("illness",), tolerance={**off, **goals})


def rows_of(release: object) -> list[dict[str, str]]:
    assert isinstance(release, Table)
    rows: list[dict[str, str]] = pa.Table.from_batches(release.batches()).to_pylist()
    return rows


def shares(rows: list[dict[str, str]]) -> tuple[float, float]:
    """The shares of people about whom up to three facts gain 50 points, and for whom they are certain."""
    columns = [c for c in QUASI if c in rows[0]]
    facts = [tuple(row[c] for c in columns) for row in rows]
    found = list(naive.gains(facts, [row["illness"] for row in rows], min(3, len(columns)), 5).values())
    return tuple(
        sum(own) / len(found) for own in zip(*((s[-1][0] >= 0.5 - 1e-12, s[-1][1]) for s in found), strict=True)
    )  # type: ignore[return-value]


def test_the_table_is_telling_to_begin_with() -> None:
    learned, certain = shares(workers().to_pylist())
    assert learned > 0.08
    assert certain > 0.08
    before = unveil.assess(workers(), policy(learned=0.05))
    assert before["inference.learned"].value == pytest.approx(learned)
    assert before.verdict.decision == "protect first"


@pytest.mark.parametrize("method", ["facts", "shuffle"])
@pytest.mark.parametrize("risk", ["learned", "certain"])
def test_no_more_is_learned_than_tolerated(method: str, risk: str) -> None:
    made = unveil.protect(workers(), policy(**{risk: 0.05}), method=method)
    learned, certain = shares(rows_of(made.release))
    assert made.assessment["inference.learned"].value == pytest.approx(learned)
    assert (learned if risk == "learned" else certain) <= 0.05
    assert made.assessment.verdict.decision != "protect first"


def test_columns_that_tell_nothing_stay() -> None:
    made = unveil.protect(workers(), policy(learned=0.05), method="facts")
    rows = rows_of(made.release)
    assert {"sex", "team", "illness"} <= set(rows[0])
    for column in ("sex", "team", "illness"):
        assert Counter(r[column] for r in rows) == Counter(workers()[column].to_pylist())
    assert 0.4 < (made.assessment.protections[-1].usefulness or 0) < 1


def test_shuffled_values_are_those_of_other_rows_and_nothing_else_changes() -> None:
    made = unveil.protect(workers(), policy(learned=0.05), method="shuffle")
    before, after = workers().to_pylist(), rows_of(made.release)
    assert Counter(r["illness"] for r in after) == Counter(r["illness"] for r in before)
    facts = [Counter(tuple(r[c] for c in QUASI) for r in rows) for rows in (before, after)]
    assert facts[0] == facts[1]
    assert made.case is not None and made.case.truth is not None
    moved = sum(
        after[at]["illness"] != row["illness"] for row, at in zip(before, made.case.truth.tolist(), strict=True)
    )
    said = made.assessment.protections[-1].sentence
    assert moved <= int(said.split(" of ")[0].replace(",", "")) < len(before)
    assert "how often each value occurs stays as it was" in said
    assert made.caveats == ("Some rows have the sensitive values of others: tell whoever uses the table.",)


def test_without_a_goal_nothing_of_this_is_offered() -> None:
    with pytest.raises(unveil.UnveilError, match="no protection for such data is called 'facts'"):
        unveil.protect(workers(), Policy(quasi=(QUASI,), sensitive=("illness",)), method="facts")
