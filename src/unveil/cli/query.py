"""``unveil query``: answer questions about a table with noise, within a budget."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import click

from unveil.cli.messages import note_printer, progress_bar, quiet_option
from unveil.cli.reading import read_table, reading_text, table_reading_options
from unveil.wording import ceiling_text, count_text, number_text, safe_text

if TYPE_CHECKING:
    from unveil.dp.curator import PricedQuestion, PrivateAnswer
    from unveil.ledger import Ledger

__all__ = ["command"]

_EPILOG = """Questions: count, count people, sum COLUMN, mean COLUMN, median COLUMN, quantile SHARE of COLUMN, histogram
COLUMN[, COLUMN], top COLUMN; each may end in "where" and a condition, such as age >= 65 and not (sex = 'f' or diagnosis
in ('flu', 'cold')), diagnosis is missing, diagnosis is other. A comparison with a missing value is false, and not turns
that into true. Names with spaces stand in double quotes.

\b
Exit code: 0 answered, 2 refused (nothing was spent), 130 interrupted.

\b
Examples:
  unveil query patients.csv "count where diagnosis = 'flu'" --ledger patients.ledger --epsilon 0.1
  unveil query patients.csv "mean age" "histogram diagnosis" --ledger patients.ledger --epsilon 0.2
  unveil query patients.csv "count people" --ledger patients.ledger --within 10 --dry-run
"""
_LARGEST_LOSS = 100  # beyond this, the factor is given by its exponent


@click.command("query", epilog=_EPILOG)
@click.argument("file", type=click.Path())
@click.argument("question", nargs=-1, required=True)
@click.option("--ledger", required=True, metavar="FILE", help="The ledger, made by unveil budget init.")
@click.option(
    "--epsilon", metavar="NUMBER", help="What each answer may cost; or half, for half of what is left, shared by all."
)
@click.option(
    "--within",
    metavar="NUMBER",
    help="Instead of --epsilon: how close to the truth each answer must be, and each number of a histogram by itself, "
    "with 95% confidence; it costs as little as that takes.",
)
@click.option("--dry-run", is_flag=True, help="Say what the answers would cost and how exact they would be.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@table_reading_options
@quiet_option
def command(
    file: str,
    question: tuple[str, ...],
    ledger: str,
    epsilon: str | None,
    within: str | None,
    dry_run: bool,
    form: str,
    quiet: bool,
    **given: Any,
) -> None:
    """Answer each QUESTION about FILE with noise that hides every single person.

    All questions are answered, or none if the budget does not suffice. An answer is booked before it is shown; asking
    again costs nothing.
    """
    from unveil.dp.curator import price_questions, query
    from unveil.ledger import Ledger

    opened = Ledger.open(ledger)
    asked = price_questions(opened, question, epsilon=epsilon, within=within)
    if dry_run:
        _print_prices(asked, opened, form)
        return
    with progress_bar(reading_text(file), quiet) as progress:
        answers = query(read_table(file, given), opened, question, epsilon=epsilon, within=within, progress=progress)
    tell = note_printer(quiet)
    for note in opened.notes:
        tell(note)
    if form == "json":
        click.echo(json.dumps({"answers": [answer.to_json() for answer in answers], **_budget(opened)}, indent=2))
        return
    for answer in answers:
        _print_answer(answer)
    click.echo(_promise_text(answers[0].neighbours, opened))
    click.echo(_left_text(opened))


def _budget(ledger: Ledger) -> dict[str, str]:
    from unveil.ledger.privacy_cost import exact_text

    return {"epsilon_spent": exact_text(ledger.spent().loss), "epsilon_left": exact_text(ledger.left().loss)}


def _left_text(ledger: Ledger) -> str:
    spent, left, total = (cost.text(ledger.unit) for cost in (ledger.spent(), ledger.left(), ledger.total))
    return f"Spent: {spent} of {total}. Left: {left}."


def _promise_text(neighbours: str, ledger: Ledger) -> str:
    """What all answers so far promise, as a factor."""
    from unveil.dp.curator import ROW_IS_A_PERSON, other_ledgers

    loss = float(ledger.spent().loss)
    factor = ceiling_text(math.exp(loss)) if loss < _LARGEST_LOSS else f"e^{ceiling_text(loss)}"
    others = len(other_ledgers(ledger))
    beside = f" {count_text(others, 'other ledger')} about the same data or people: add what was spent there."
    who = "one row" if neighbours == ROW_IS_A_PERSON else "one person"
    return (
        f"Whether or not {who} is in the table changes how likely all answers of this ledger are by a factor of "
        f"{factor} at most ({neighbours}).{beside if others else ''}"
    )


def _print_answer(answer: PrivateAnswer) -> None:
    from unveil.ledger.privacy_cost import exact_text

    click.echo(safe_text(answer.question, 10_000))
    if len(answer.values) > 1:
        shown = {safe_text(", ".join(labels), 200): value for labels, value in answer.values.items()}
        width = max(map(len, shown))
        for label, value in shown.items():
            click.echo(f"  {label:{width}}  {_value_text(value):>12}")
    elif isinstance(value := next(iter(answer.values.values())), str):
        click.echo(f"  {safe_text(value, 200)}")
    click.echo(f"  {answer.sentence}")
    price = f"ε = {exact_text(answer.epsilon)}"
    paid = f"Asked before, at {price}: it costs nothing now" if answer.asked_before else f"Its price is {price}"
    click.echo(f"  {paid}; by {answer.mechanism}.")


def _value_text(value: float | str | None) -> str:
    return number_text(value) if isinstance(value, (int, float)) else str(value)


def _print_prices(asked: list[PricedQuestion], ledger: Ledger, form: str) -> None:
    from unveil.dp.curator import price_together
    from unveil.ledger.privacy_cost import exact_text

    total = price_together(ledger, asked)
    enough = total.fits(ledger.left())
    if form == "json":
        prices = [
            {
                "question": each.text,
                "epsilon": exact_text(each.cost.loss),
                "asked_before": each.before is not None,
                "mechanism": each.price.mechanism,
                "sentence": each.price.sentence,
            }
            for each in asked
        ]
        click.echo(
            json.dumps(
                {"prices": prices, "together": exact_text(total.loss), "enough_is_left": enough, **_budget(ledger)},
                indent=2,
            )
        )
        return
    for each in asked:
        click.echo(safe_text(each.text, 10_000))
        cost = "was asked before: nothing" if each.before else f"ε = {exact_text(each.cost.loss)}"
        click.echo(f"  Price: {cost}; by {each.price.mechanism}.")
        click.echo(f"  {each.price.sentence}")
    click.echo(f"Together: {total.text(ledger.unit)}. Nothing was spent. {_left_text(ledger)}")
    if not enough:
        click.echo("That does not suffice.")
