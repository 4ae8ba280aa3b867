"""How well a column is predicted from the others, before and after."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil import Policy, UnveilError
from unveil.wording import percent_text
from usefulness.samples import NUMBERS, numbers, use_of


def test_a_column_is_predicted_as_well_as_it_was_if_the_others_stay_as_they_are() -> None:
    table = numbers().set_column(0, "age", pa.array(["x"] * 400))
    made = unveil.protect(table, NUMBERS, method="levels", predict="class")
    found = use_of(made)["prediction"]
    counts = np.unique(table["class"].to_numpy(zero_copy_only=False), return_counts=True)[1]
    guess = percent_text(counts.max() / 400)
    assert f"always guessing what is most common would be right in {guess}." in found.sentence
    assert found.before > counts.max() / 400 + 0.1  # income tells
    assert found.interval is not None and found.interval[0] < found.after < found.interval[1]
    assert abs(found.after - found.before) < 0.1


def test_a_prediction_is_worse_if_what_it_needs_is_gone() -> None:
    table = numbers().drop_columns(["income"])
    policy = Policy(quasi=(("age", "height"),), insensitive=("class",), tolerance={"classes.k": 200})
    found = use_of(unveil.protect(table, policy, method="levels", predict="class"))["prediction"]
    assert found.before > 0.75 > found.after


def test_a_column_that_is_not_there_cannot_be_predicted() -> None:
    with pytest.raises(UnveilError, match="there is no column 'wages' to predict"):
        unveil.protect(numbers(), NUMBERS, predict="wages")
