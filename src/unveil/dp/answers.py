"""Answers with noise: what a question costs, how exact its answer will be, and the answer itself.

Whatever is said before the answer (:func:`price_question`) depends on the question and the declarations only. The
answer (:func:`draw_answer`) is drawn from the counts of :mod:`unveil.dp.aggregate_sql`, on which one person has at most
the influence stated here. With C rows of each person:

- A *count* changes by C, a count of people by 1, a *histogram* by C in all its cells together: discrete Laplace noise.
- A *sum* changes by C times the larger bound, in steps: discrete Laplace noise.
- A *mean* is a sum divided by a count, and both need noise: half of ε pays for each. Of numbers less the middle of
  their bounds, one person changes the sum by C times half the range, which is least.
- A *quantile* is chosen among numbers from bound to bound by permute-and-flip (R. McKenna, D. Sheldon, NeurIPS 2020).
  The score of a number is −|(1 − q) · rows below it − q · rows above it|, which one person changes by at most
  C · max(q, 1 − q); multiplied by the denominator of q, scores are integers.
- A *top* value is chosen among the declared categories by permute-and-flip on their counts. All of these rise or none
  falls when a person joins, so that it costs half as much.

Each promise of accuracy is about noise only: clamping, rounding and rows that do not count are public rules, and what
they change is not known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

from unveil.dp.aggregate_sql import CellCounts, candidate_steps, cell_labels
from unveil.dp.declarations import DeclaredTable, NumberColumn, plain_text
from unveil.dp.mechanisms.exponential import choose_best, selection_accuracy
from unveil.dp.mechanisms.laplace import add_laplace, epsilon_within, laplace_accuracy
from unveil.dp.mechanisms.parameters import round_up
from unveil.dp.query_language import Question
from unveil.errors import UnveilError
from unveil.wording import ceiling_text, count_text, floor_text, number_text

__all__ = ["CONFIDENCE", "Answer", "Influence", "Price", "draw_answer", "find_epsilon", "influence", "price_question"]

CONFIDENCE = 0.95
_MOST_CELLS = 1_000_000
_MOST_DENOMINATOR = 1_000
_LEAST_EPSILON, _MOST_EPSILON = Fraction(1, 10**9), Fraction(10**4)
_LAPLACE = "discrete Laplace noise"
_PERMUTE_AND_FLIP = "permute-and-flip"


@dataclass(frozen=True)
class Price:
    """What an answer will cost, how it is drawn, and how exact it will be: ``within`` so much of the truth with 95%
    confidence, if that is known beforehand, which ``sentence`` says in words."""

    epsilon: Fraction
    mechanism: str
    within: Decimal | None
    sentence: str


@dataclass(frozen=True)
class Answer:
    """``values`` by their labels, one for each column of a histogram, none if one value was asked for; None where there
    is nothing to say. ``interval`` contains the truth with 95% confidence. ``sentence`` says what came out."""

    values: dict[tuple[str, ...], int | float | str | None]
    interval: tuple[float, float] | None
    sentence: str

    def to_json(self) -> dict[str, Any]:
        """What a ledger keeps."""
        values = [[list(labels), value] for labels, value in self.values.items()]
        return {"values": values, "interval": self.interval and list(self.interval), "sentence": self.sentence}


@dataclass(frozen=True)
class Influence:
    """The integers that noise is added to, or the scores of candidates, and by how much one person can change them: all
    together, or each score by itself."""

    values: list[int]
    sensitivity: int


# ---- before ----------------------------------------------------------------------------------------------------------


def price_question(question: Question, table: DeclaredTable, epsilon: Fraction) -> Price:
    """What an answer with this ε would be like."""
    _check_cells(question, table)
    sensitivity = _sensitivity(question, table)
    if question.measure == "mean":
        return Price(
            epsilon,
            f"{_LAPLACE}, half of ε for the sum and half for the count",
            None,
            "How exact a mean is depends on how many rows it is of; the answer says it.",
        )
    if question.measure in ("quantile", "top"):
        slack = _choice_slack(question, table, epsilon)
        told = (
            f"With 95% confidence, its rank among values rounded to multiples of {_grid_text(question, table)} is off "
            f"by at most {_rows_text(slack)} more than that of the best such multiple."
            if question.measure == "quantile"
            else f"With 95% confidence, no other declared value has over {_rows_text(slack)} more than this one."
        )
        return Price(epsilon, _PERMUTE_AND_FLIP, Decimal(slack), told)
    bound = laplace_accuracy(sensitivity, epsilon, CONFIDENCE)
    within = bound * _unit(question, table)
    sentence = f"With 95% confidence, the noise is at most ± {ceiling_text(float(within))}"
    cells = _cells(question, table)
    if cells > 1:
        together = laplace_accuracy(sensitivity, epsilon, CONFIDENCE, cells)
        sentence += f" for each number, and at most ± {together:,} for all {cells:,} together"
    return Price(epsilon, _LAPLACE, within, f"{sentence}.")


def find_epsilon(question: Question, table: DeclaredTable, within: Fraction) -> Fraction:
    """The least ε, rounded up, with which the noise is within so much of 0 with 95% confidence."""
    if question.measure == "mean":
        raise UnveilError("how exact a mean is depends on how many rows it is of; say what it may cost instead")
    if within <= 0:
        raise UnveilError("an answer must be allowed to be wrong by more than 0")
    _check_cells(question, table)
    if question.measure in ("quantile", "top"):
        return _epsilon_of_choice(question, table, within)
    steps = math.floor(within / Fraction(_unit(question, table)))
    return epsilon_within(_sensitivity(question, table), steps, CONFIDENCE)


def _sensitivity(question: Question, table: DeclaredTable) -> int:
    """By how much one person can change what noise is added to, in steps."""
    rows = table.rows_per_person
    if question.measure == "count people":
        return 1
    if question.measure in ("sum", "mean"):
        lower, upper = _number_column(question, table).steps
        return rows * (max(abs(lower), abs(upper)) if question.measure == "sum" else upper - lower)
    if question.measure == "quantile":
        share = _share(question)
        return rows * max(share.numerator, share.denominator - share.numerator)
    return rows


def _share(question: Question) -> Fraction:
    share = Fraction(question.share or 0)
    if share.denominator > _MOST_DENOMINATOR:
        raise UnveilError("the share of a quantile may have three decimals at most")
    return share


def _unit(question: Question, table: DeclaredTable) -> Decimal:
    if question.measure != "sum":
        return Decimal(1)
    return _number_column(question, table).step


def _cells(question: Question, table: DeclaredTable) -> int:
    if question.measure not in ("histogram", "top"):
        return 1
    return math.prod(len(cell_labels(table.column(name))) for name in question.columns)


def _check_cells(question: Question, table: DeclaredTable) -> None:
    if (cells := _cells(question, table)) > _MOST_CELLS:
        raise UnveilError(
            f"this histogram has {cells:,} cells, and {_MOST_CELLS:,} are the most; ask for fewer columns"
        )


def _choices(question: Question, table: DeclaredTable) -> int:
    if question.measure == "quantile":
        return len(candidate_steps(_number_column(question, table)))
    column = table.column(question.columns[0])
    return len(column.interval_starts if isinstance(column, NumberColumn) else column.values)


def _choice_slack(question: Question, table: DeclaredTable, epsilon: Fraction) -> int:
    """How much worse than the best a choice is at most, with 95% confidence, in rows, rounded up."""
    sensitivity, is_top = _sensitivity(question, table), question.measure == "top"
    slack = selection_accuracy(_choices(question, table), sensitivity, epsilon, CONFIDENCE, is_top)
    return slack if is_top else -(-slack // _share(question).denominator)


def _epsilon_of_choice(question: Question, table: DeclaredTable, within: Fraction) -> Fraction:
    low, high = _LEAST_EPSILON, _MOST_EPSILON
    if _choice_slack(question, table, high) > within:
        raise UnveilError("no answer can be as exact as that; allow it to be less exact")
    while high / low > 1 + Fraction(1, 10**5):
        middle = (low + high) / 2 if high < 2 * low else Fraction(math.sqrt(low * high))
        low, high = (low, middle) if _choice_slack(question, table, middle) <= within else (middle, high)
    return round_up(high)


# ---- the answer ------------------------------------------------------------------------------------------------------


def draw_answer(question: Question, table: DeclaredTable, counted: CellCounts, epsilon: Fraction) -> Answer:
    """Draw the answer, once."""
    if question.measure == "mean":
        return _draw_mean(question, table, counted, epsilon)
    if question.measure == "quantile":
        return _draw_quantile(question, table, counted, epsilon)
    if question.measure == "top":
        return _draw_top(question, table, counted, epsilon)
    return _draw_counts(question, table, counted, epsilon)


def influence(question: Question, table: DeclaredTable, counted: CellCounts) -> Influence:
    """What the answer is drawn from. For a mean, this is the doubled sum of numbers less the middle of their bounds."""
    return Influence(_true_values(question, table, counted), _sensitivity(question, table))


def _true_values(question: Question, table: DeclaredTable, counted: CellCounts) -> list[int]:
    if question.measure == "sum":
        return [counted.total]
    if question.measure == "mean":
        lower, upper = _number_column(question, table).steps
        return [2 * counted.total - (lower + upper) * counted.counts.get(0, 0)]
    if question.measure == "quantile":
        return _rank_scores(question, table, counted)
    cells = _choices(question, table) if question.measure == "top" else _cells(question, table)
    return [counted.counts.get(cell, 0) for cell in range(cells)]


def _rank_scores(question: Question, table: DeclaredTable, counted: CellCounts) -> list[int]:
    """How far the rank of each candidate is from the right one, as a negative number."""
    share, below = _share(question), 0
    counts = [counted.counts.get(place, 0) for place in range(_choices(question, table))]
    total, scores = sum(counts), list[int]()
    for count in counts:
        above = total - below - count
        scores.append(-abs((share.denominator - share.numerator) * below - share.numerator * above))
        below += count
    return scores


def _draw_counts(question: Question, table: DeclaredTable, counted: CellCounts, epsilon: Fraction) -> Answer:
    true, unit = influence(question, table, counted), _unit(question, table)
    noisy = [_plain_number(value * unit) for value in add_laplace(true.values, true.sensitivity, epsilon)]
    price = price_question(question, table, epsilon)
    assert price.within is not None
    if question.measure == "histogram":
        labels = product(*(cell_labels(table.column(name)) for name in question.columns))
        return Answer(dict(zip(labels, noisy, strict=True)), None, f"{len(noisy):,} numbers. {price.sentence}")
    low, high = (float(Decimal(str(noisy[0])) + sign * price.within) for sign in (-1, 1))
    what = {"count": "row", "count people": "person", "sum": ""}[question.measure]
    said = _amount_text(noisy[0], what)
    return Answer({(): noisy[0]}, (low, high), f"{said}. {price.sentence}")


def _draw_mean(question: Question, table: DeclaredTable, counted: CellCounts, epsilon: Fraction) -> Answer:
    column, half = _number_column(question, table), epsilon / 2
    lower, upper = column.steps
    true, sensitivity = influence(question, table, counted).values, _sensitivity(question, table)
    (doubled,) = add_laplace(true, sensitivity, half)
    (count,) = add_laplace([counted.counts.get(0, 0)], table.rows_per_person, half)
    each = 1 - (1 - CONFIDENCE) / 2
    sum_error = laplace_accuracy(sensitivity, half, each)
    count_error = laplace_accuracy(table.rows_per_person, half, each)
    if count <= 0:
        said = "The number of rows with noise is 0 or less, so that no mean can be given."
        return Answer({(): None}, (float(column.lower), float(column.upper)), said)

    def value(total: int, of: int) -> float:
        steps = Fraction(total, 2 * of) + Fraction(lower + upper, 2)
        return float(min(max(steps, Fraction(lower)), Fraction(upper)) * Fraction(column.step))

    ends = [
        value(doubled + sign * sum_error, of)
        for sign in (-1, 1)
        for of in (max(1, count - count_error), count + count_error)
    ]
    mean, interval = value(doubled, count), (min(ends), max(ends))
    low, high = floor_text(interval[0]), ceiling_text(interval[1])
    said = (
        f"{number_text(mean)}, of about {count_text(count, 'row')}. Without noise, it lies between {low} and "
        f"{high}, with 95% confidence."
    )
    return Answer({(): mean}, interval, said)


def _draw_quantile(question: Question, table: DeclaredTable, counted: CellCounts, epsilon: Fraction) -> Answer:
    column, true = _number_column(question, table), influence(question, table, counted)
    chosen = choose_best(true.values, true.sensitivity, epsilon, monotone=False)
    value = _plain_number(candidate_steps(column)[chosen] * column.step)
    return Answer({(): value}, None, f"{number_text(value)}. {price_question(question, table, epsilon).sentence}")


def _draw_top(question: Question, table: DeclaredTable, counted: CellCounts, epsilon: Fraction) -> Answer:
    true, labels = influence(question, table, counted), cell_labels(table.column(question.columns[0]))
    chosen = choose_best(true.values, true.sensitivity, epsilon, monotone=True)
    return Answer({(): labels[chosen]}, None, price_question(question, table, epsilon).sentence)


def _number_column(question: Question, table: DeclaredTable) -> NumberColumn:
    column = table.column(question.columns[0])
    assert isinstance(column, NumberColumn)
    return column


def _amount_text(value: float, noun: str) -> str:
    return count_text(int(value), noun) if noun else f"{value:,}"


def _grid_text(question: Question, table: DeclaredTable) -> str:
    """The distance between the numbers among which a quantile is chosen."""
    column = _number_column(question, table)
    return plain_text(candidate_steps(column).step * column.step)


def _rows_text(count: int) -> str:
    return count_text(count, "row")


def _plain_number(value: Decimal) -> int | float:
    return int(value) if value == int(value) else float(plain_text(value))
