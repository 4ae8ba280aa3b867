"""Can a model learned from the release still predict a column? Cross-validated accuracy, before and after.

Gradient-boosted trees on all other columns, the same folds of rows, the same settings. Needs scikit-learn.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from math import sqrt

import numpy as np

from unveil.arrays import Bools, Floats, Ints
from unveil.errors import UnveilError
from unveil.run import Run
from unveil.usefulness.use_measure import UseMeasure
from unveil.usefulness.value_groups import ComparedColumn
from unveil.wording import percent_text, safe_text

__all__ = ["check_learner", "prediction_accuracy"]

_FOLDS = 3
_MAX_ROWS = 20_000
_MAX_CATEGORIES = 250
_ROUNDS = 60


def check_learner() -> None:
    """Refuse to go on without scikit-learn."""
    if find_spec("sklearn") is None:
        raise UnveilError('predicting a column needs scikit-learn: pip install "unveil[predict]"')


def prediction_accuracy(columns: Sequence[ComparedColumn], target: str, run: Run) -> UseMeasure:
    """How often the group of the target's value is predicted right from all other columns, before and after."""
    others = [c for c in columns if c.name != target]
    goal = next((c for c in columns if c.name == target), None)
    if goal is None or not others:
        raise UnveilError(f"{safe_text(target)} cannot be predicted: it needs values, and another column beside it")

    def original_accuracy() -> float:
        return _accuracy(*_original_features(others), goal.group_of_row, run.rng("usefulness.prediction before"))

    before = run.once(("prediction", target, len(goal.group_of_row)), original_accuracy)
    released = goal.group_shares.argmax(axis=1)[goal.label_of_row]
    after = _accuracy(*_released_features(others), released, run.rng("usefulness.prediction"))
    guess = float(np.bincount(goal.group_of_row).max() / max(1, len(goal.group_of_row)))
    rows = min(_MAX_ROWS, len(goal.label_of_row))
    is_grouped = len(np.unique(goal.value_of_row)) > goal.groups
    what = f"the group of {safe_text(target)}" if is_grouped else safe_text(target)
    said = (
        f"A model predicts {what} correctly in about {percent_text(after)} of the rows ({percent_text(before)} before "
        f"protection); always guessing what is most common would be right in {percent_text(guess)}."
    )
    half = 1.96 * sqrt(after * (1 - after) / max(1, rows))
    ends = max(0.0, after - half), min(1.0, after + half)
    return UseMeasure("prediction", f"Predicted right: {safe_text(target)}", before, after, said, interval=ends)


def _original_features(columns: Sequence[ComparedColumn]) -> tuple[Floats, Bools]:
    """What a model learns from in the original, and which columns of it are categories."""
    features = [_categories(c.value_of_row) if c.numbers is None else c.numbers for c in columns]
    return np.column_stack(features), np.array([c.numbers is None for c in columns])


def _released_features(columns: Sequence[ComparedColumn]) -> tuple[Floats, Bools]:
    """The same in the release: the mean of the numbers that a label covers, or the label as a category."""
    features = [
        _categories(c.label_of_row) if c.label_numbers is None else c.label_numbers[c.label_of_row] for c in columns
    ]
    return np.column_stack(features), np.array([c.numbers is None for c in columns])


def _categories(codes: Ints) -> Floats:
    """Codes by how common they are; the rarest are one category if there are too many."""
    _, dense, counts = np.unique(codes, return_inverse=True, return_counts=True)
    ranks = np.empty(len(counts), np.int64)
    ranks[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    found: Floats = np.minimum(ranks, _MAX_CATEGORIES - 1)[dense].astype(np.float64)
    return found


def _accuracy(features: Floats, is_category: Bools, goal: Ints, rng: np.random.Generator) -> float:
    """The share of rows that models learned from the other folds predict right."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    rows = rng.permutation(len(goal))[:_MAX_ROWS]
    right = 0
    for fold in range(_FOLDS):
        held, learned = rows[fold::_FOLDS], np.concatenate([rows[f::_FOLDS] for f in range(_FOLDS) if f != fold])
        if len(np.unique(goal[learned])) < 2:
            right += int((goal[held] == goal[learned[:1]]).sum())
            continue
        model = HistGradientBoostingClassifier(max_iter=_ROUNDS, categorical_features=is_category, random_state=0)
        with threadpool_limits(1):  # threads that wait for each other take longest on a busy machine
            right += int((model.fit(features[learned], goal[learned]).predict(features[held]) == goal[held]).sum())
    return right / max(1, len(rows))
