"""Answer questions about a table instead of releasing it, within a budget.

The one place where the parts of a private answer meet: a question (:mod:`unveil.dp.query_language`) is checked against
what was declared when its ledger was made, counted on the engine so that no person counts for more than declared
(:mod:`unveil.dp.aggregate_sql`), and answered with noise (:mod:`unveil.dp.answers`) inside the transaction that books
it (:mod:`unveil.ledger`).

**No error depends on rows.** What a question may ask, what it costs and whether it can be paid follow from its text and
from the ledger. An empty selection is answered like any other. How long an answer takes is not hidden.

**Asking again.** A question that was answered before with at least as much ε gets that answer again and costs nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unveil.dp.aggregate_sql import column_kind, count_cells
from unveil.dp.answers import CONFIDENCE, Price, draw_answer, find_epsilon, price_question
from unveil.dp.declarations import CategoryColumn, DeclaredTable
from unveil.dp.query_language import AllOf, Comparison, Condition, Question, parse_question
from unveil.errors import UnveilError
from unveil.ledger import Booking, DataDigests, DataIdentity, Entry, Ledger, Part, PrivacyCost, identify_data
from unveil.ledger.privacy_cost import exact_number, exact_text
from unveil.policy import Policy
from unveil.release import Table
from unveil.run import Progress, Run
from unveil.settings import option_text
from unveil.wording import list_text, safe_text

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "HALF",
    "ROW_IS_A_PERSON",
    "PricedQuestion",
    "PrivateAnswer",
    "answer_from_entry",
    "answers_table",
    "make_ledger",
    "other_ledgers",
    "price_questions",
    "price_together",
    "query",
    "rebind_ledger",
    "repeated_people_note",
]

HALF = "half"
"""In place of an ε: half of what is left."""

_ROWS_OF_A_PERSON = "two tables are neighbours if one has one person more, with all of that person's rows"
ROW_IS_A_PERSON = "two tables are neighbours if one has one row more: each row counts as a person"


@dataclass(frozen=True)
class PricedQuestion:
    """A question in one way, what its answer costs, and the answer that was given before, if any."""

    question: Question
    text: str
    price: Price
    part: Part | None
    before: Entry | None

    @property
    def cost(self) -> PrivacyCost:
        """What is to be paid now."""
        return PrivacyCost(Fraction(0) if self.before else self.price.epsilon)


@dataclass(frozen=True)
class PrivateAnswer:
    """An answer with noise, as the ledger has it. ``values`` are by their labels, one for each column of a histogram; a
    single one has none.
    ``interval`` contains what would have been answered without noise, with 95% confidence."""

    question: str
    values: Mapping[tuple[str, ...], int | float | str | None]
    interval: tuple[float, float] | None
    sentence: str
    mechanism: str
    epsilon: Fraction
    asked_before: bool
    neighbours: str

    @property
    def value(self) -> int | float | str | None:
        """The only value; an error if there are several."""
        if len(self.values) > 1:
            raise UnveilError("this answer has several values")
        return next(iter(self.values.values()))

    def to_json(self) -> dict[str, Any]:
        """As JSON can say it."""
        return {
            "question": self.question,
            "values": [{"labels": list(labels), "value": value} for labels, value in self.values.items()],
            "interval": self.interval and list(self.interval),
            "confidence": CONFIDENCE,
            "sentence": self.sentence,
            "mechanism": self.mechanism,
            "epsilon": exact_text(self.epsilon),
            "asked_before": self.asked_before,
            "neighbours": self.neighbours,
        }


# ---- the ledger ------------------------------------------------------------------------------------------------------


def make_ledger(
    path: str | Path,
    table: Table,
    declared: DeclaredTable,
    epsilon: str | int | Fraction,
    *,
    another_budget: bool = False,
    progress: Progress | None = None,
) -> Ledger:
    """Make the ledger of a table: what was declared about it, and what all answers together may cost, never change.

    ``another_budget`` is needed if the same people have a ledger already: they then bear the loss of both.
    :func:`repeated_people_note` says whether rows seem to belong to people who have several.
    """
    _check_columns(table, declared)
    return Ledger.create(
        path,
        {**declared.to_json(), "kinds": _column_kinds(table, declared)},
        PrivacyCost(exact_number(epsilon)),
        _identify(table, declared, Run(progress=progress) if progress else Run()),
        partitions=_partitions(declared),
        another_budget=another_budget,
    )


def repeated_people_note(table: Table, declared: DeclaredTable) -> str:
    """What to tell an owner who did not say who a row is about, if several rows seem to be about one person."""
    from unveil.release.repeated_subjects import find_repeated_subjects
    from unveil.release.roles import complete_roles

    if declared.person_column is not None:
        return ""
    policy, _ = complete_roles(Policy(), table)
    found = find_repeated_subjects(table, policy)
    if found is None:
        return ""
    return (
        "several rows seem to be about one person, and only single rows are hidden; make the ledger with "
        f"{option_text('subject', 'COLUMN')} to hide all rows of a person"
    )


def rebind_ledger(
    ledger: Ledger, table: Table, *, another_budget: bool = False, progress: Progress | None = None
) -> None:
    """Bind a ledger to a new version of its table. What was spent stays spent."""
    declared = _check_table(table, ledger)
    run = Run(progress=progress) if progress else Run()
    ledger.rebind(_identify(table, declared, run), another_budget=another_budget)


def _check_columns(table: Table, declared: DeclaredTable) -> None:
    if lacking := [name for name in declared.needed_columns() if name not in table.columns]:
        raise UnveilError(
            f"{safe_text(table.name)}: has no column {list_text(lacking)}; its columns are {list_text(table.columns)}"
        )


def _check_table(table: Table, ledger: Ledger) -> DeclaredTable:
    """Refuse a table whose columns are not those that were declared; what was declared."""
    declared = DeclaredTable.from_json(ledger.terms)
    _check_columns(table, declared)
    kinds = _column_kinds(table, declared)
    if changed := [name for name, kind in kinds.items() if kind != ledger.terms["kinds"][name]]:
        (name, *_) = changed
        raise UnveilError(
            f"{safe_text(table.name)}: column {safe_text(name)!r} holds {kinds[name]}, but held "
            f"{ledger.terms['kinds'][name]} when the ledger was made; convert it"
        )
    return declared


def _column_kinds(table: Table, declared: DeclaredTable) -> dict[str, str]:
    """What the columns hold: numbers of any type, text, or another type. The same value is then the same text."""
    return {name: column_kind(table.types.get(name)) for name in declared.needed_columns()}


def _partitions(declared: DeclaredTable) -> dict[str, Sequence[str]]:
    """The columns whose categories divide people. With several rows a person may be in several parts."""
    if declared.person_column is not None:
        return {}
    return {column.name: column.values for column in declared.columns if isinstance(column, CategoryColumn)}


def _identify(table: Table, declared: DeclaredTable, run: Run) -> DataIdentity:
    """The identity of a table as it was read: read in another way, a file is another table."""
    digest = partial(_digest, table, declared, run)
    read_as = repr((declared.person_column, table.reading))
    return identify_data(digest, table.origin.path if table.origin else None, read_as)


def _digest(table: Table, declared: DeclaredTable, run: Run) -> DataDigests:
    """Digests of the file as it is now, which must be the one that was read."""
    if table.origin:
        table.origin.check_unchanged()
    content = hashlib.sha256(repr((table.digest, table.reading)).encode()).hexdigest()
    if declared.person_column is None:
        return DataDigests(content)
    person = f"CAST({table.column(declared.person_column)} AS VARCHAR)"
    found = table.query(f"SELECT DISTINCT {person} AS person FROM {table.relation} ORDER BY 1", run, "reading people")
    people = hashlib.sha256()
    for text in found["person"].to_pylist():
        people.update(repr(text).encode())
    return DataDigests(content, people.hexdigest())


def answers_table(ledger: Ledger, table: Table) -> Table:
    """All answers of a ledger about this table, a row for each, as what an attacker holds (``dp.membership``)."""
    import pyarrow as pa

    from unveil.release.table import table_from_frame

    declared, entries = _check_table(table, ledger), ledger.entries()
    ledger.check_data(_identify(table, declared, Run()))
    if not entries:
        raise UnveilError(f"{safe_text(ledger.path, 200)}: no answers were given yet; there is nothing to attack")
    columns = {
        "epsilon": [str(entry.cost.loss) for entry in entries],
        "partition": [entry.part and entry.part.partition for entry in entries],
        "part": [entry.part and entry.part.name for entry in entries],
        "version": [entry.version for entry in entries],
        "question": [entry.details["question"] for entry in entries],
        "hidden": ["one row" if declared.person_column is None else "one person" for _ in entries],
        "other_ledgers": [len(other_ledgers(ledger)) for _ in entries],
    }
    text = ("epsilon", "partition", "part", "question", "hidden")
    schema = [(name, pa.string() if name in text else pa.int64()) for name in columns]
    return table_from_frame(pa.table(columns, pa.schema(schema)), name=ledger.path.name)


def other_ledgers(ledger: Ledger) -> set[str]:
    """The ids of other ledgers that were known to be about the same data or people."""
    return {other for version in ledger.versions() for other in version.beside}


# ---- questions -------------------------------------------------------------------------------------------------------


def price_questions(
    ledger: Ledger,
    texts: Sequence[str],
    *,
    epsilon: str | int | Fraction | None = None,
    within: str | int | Decimal | None = None,
) -> list[PricedQuestion]:
    """What answers would cost and how exact they would be. Nothing is read but the ledger, and nothing is spent.

    Each question gets ``epsilon``, or as little as it takes to be ``within`` so much of the truth with 95% confidence.
    """
    if (epsilon is None) == (within is None):
        raise UnveilError(
            f"say what an answer may cost ({option_text('epsilon')}), or how exact it must be ({option_text('within')})"
        )
    if not texts:
        raise UnveilError("ask at least one question")
    declared = DeclaredTable.from_json(ledger.terms)
    return [_price(ledger, declared, parse_question(text, declared), epsilon, within, len(texts)) for text in texts]


def _price(
    ledger: Ledger,
    declared: DeclaredTable,
    question: Question,
    epsilon: str | int | Fraction | None,
    within: str | int | Decimal | None,
    together: int,
) -> PricedQuestion:
    if within is not None:
        exact = find_epsilon(question, declared, exact_number(str(within)))
    elif epsilon == HALF:
        exact = ledger.left().loss / 2 / together
        if not exact:
            raise UnveilError("nothing is left to be spent")
    else:
        assert epsilon is not None
        exact = exact_number(epsilon)
    if not exact:
        raise UnveilError("an answer costs more than ε = 0")
    text = question.canonical()
    price = price_question(question, declared, exact)
    return PricedQuestion(question, text, price, _part(question, declared), _answered_before(ledger, text, exact))


def _answered_before(ledger: Ledger, text: str, epsilon: Fraction) -> Entry | None:
    """The best answer to the same question that cost as much or more."""
    version = len(ledger.versions()) - 1
    same = [
        e for e in ledger.entries() if e.version == version and e.details["question"] == text and e.cost.loss >= epsilon
    ]
    return max(same, key=lambda entry: entry.cost.loss, default=None)


def _part(question: Question, declared: DeclaredTable) -> Part | None:
    """The part of the people that an answer is about, if its condition says so."""
    partitions = _partitions(declared)
    for comparison in _necessary_conditions(question.condition):
        if isinstance(comparison, Comparison) and comparison.sign == "=" and comparison.column in partitions:
            (value,) = comparison.values
            if value in partitions[comparison.column]:
                return Part(comparison.column, str(value))
    return None


def _necessary_conditions(condition: Condition | None) -> list[Condition]:
    """Conditions that every row meets that the question is about."""
    if isinstance(condition, AllOf):
        return [each for part in condition.conditions for each in _necessary_conditions(part)]
    return [] if condition is None else [condition]


def price_together(ledger: Ledger, asked: Sequence[PricedQuestion]) -> PrivacyCost:
    """By how much all these answers would raise what is spent."""
    new = {each.text: each for each in asked if each.before is None}
    return ledger.price([(each.cost, each.part) for each in new.values()])


def query(
    table: Table,
    ledger: Ledger,
    texts: str | Sequence[str],
    *,
    epsilon: str | int | Fraction | None = None,
    within: str | int | Decimal | None = None,
    progress: Progress | None = None,
) -> list[PrivateAnswer]:
    """Answer questions about a table: all of them, or none if what is left does not suffice.

    Parameters
    ----------
    table
        The table that the ledger was made for, or was bound to last.
    ledger
        What was declared, what may be spent, and what was answered before.
    texts
        One or several questions, such as ``count where diagnosis = 'flu'``.
    epsilon
        What each answer may cost: a number as text, such as ``"0.1"``, or ``"half"`` of what is left.
    within
        Instead of ``epsilon``: how close to the truth each answer must be with 95% confidence.
    """
    asked = price_questions(ledger, [texts] if isinstance(texts, str) else texts, epsilon=epsilon, within=within)
    declared = DeclaredTable.from_json(ledger.terms)
    run = Run(progress=progress) if progress else Run()
    _check_table(table, ledger)
    ledger.check_data(_identify(table, declared, run))
    bookings = {each.text: _booking(each, table, declared, run) for each in asked if each.before is None}
    booked = dict(zip(bookings, ledger.book_together([*bookings.values()]), strict=True)) if bookings else {}
    return [
        answer_from_entry(each.before or booked[each.text], declared, asked_before=each.before is not None)
        for each in asked
    ]


def _booking(asked: PricedQuestion, table: Table, declared: DeclaredTable, run: Run) -> Booking:
    """Count now, and draw the noise when the answer is booked."""
    price = asked.price
    counted = count_cells(asked.question, declared, table, run)
    details = {
        "question": asked.text,
        "mechanism": price.mechanism,
        "within": None if price.within is None else str(price.within),
    }
    return Booking(
        f"{asked.text} at ε = {price.epsilon}",
        PrivacyCost(price.epsilon),
        details,
        lambda: draw_answer(asked.question, declared, counted, price.epsilon).to_json(),
        asked.part,
    )


def answer_from_entry(entry: Entry, declared: DeclaredTable, asked_before: bool = False) -> PrivateAnswer:
    """An answer as a ledger has it."""
    answer = entry.answer
    interval = answer["interval"]
    return PrivateAnswer(
        entry.details["question"],
        {tuple(labels): value for labels, value in answer["values"]},
        (interval[0], interval[1]) if interval else None,
        answer["sentence"],
        entry.details["mechanism"],
        entry.cost.loss,
        asked_before or entry.asked_before,
        ROW_IS_A_PERSON if declared.person_column is None else _ROWS_OF_A_PERSON,
    )
