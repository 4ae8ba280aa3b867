"""``unveil query``: answer questions about a table with noise, within a budget."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from unveil.cli.messages import note_printer, progress_bar, quiet_option
from unveil.cli.reading import read_table, reading_text, table_reading_options
from unveil.wording import number_text, safe_text

if TYPE_CHECKING:
    from unveil.dp.curator import PricedQuestion, PrivateAnswer
    from unveil.ledger import Ledger

__all__ = ["command"]

_EPILOG = """Questions: count, count people, sum COLUMN, mean COLUMN, median COLUMN, quantile SHARE of COLUMN, histogram
COLUMN[, COLUMN], top COLUMN; each may end in "where" and a condition, such as age >= 65 and not (sex = 'f' or diagnosis
in ('flu', 'cold')), diagnosis is missing. Names with spaces stand in double quotes.

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
    help="Instead of --epsilon: how close to the truth each answer must be, with 95% confidence; it costs as little as "
    "that takes.",
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
    return f"{spent} is spent of {total}, {left} is left."


def _promise_text(neighbours: str, ledger: Ledger) -> str:
    """What all answers so far promise, as a factor."""
    loss = float(ledger.spent().loss)
    factor = number_text(math.exp(loss)) if loss < _LARGEST_LOSS else f"e^{number_text(loss)}"
    return (
        f"All answers so far together are at most {factor} times as likely with any one person as without, and the "
        f"other way round ({neighbours})."
    )


def _print_answer(answer: PrivateAnswer) -> None:
    from unveil.ledger.privacy_cost import exact_text

    click.echo(safe_text(answer.question, 10_000))
    if len(answer.values) > 1:
        width = max(map(len, answer.values))
        for label, value in answer.values.items():
            click.echo(f"  {safe_text(label, 200):{width}}  {_value_text(value):>12}")
    elif isinstance(value := next(iter(answer.values.values())), str):
        click.echo(f"  {safe_text(value, 200)}")
    click.echo(f"  {answer.sentence}")
    paid = "Asked before: it costs nothing now" if answer.asked_before else f"It cost ε = {exact_text(answer.epsilon)}"
    click.echo(f"  {paid}; by {answer.mechanism}.")


def _value_text(value: float | str | None) -> str:
    return number_text(value) if isinstance(value, (int, float)) else str(value)


def _print_prices(asked: list[PricedQuestion], ledger: Ledger, form: str) -> None:
    from unveil.ledger.privacy_cost import exact_text

    total = sum((each.cost.loss for each in asked), Fraction(0))
    enough = total <= ledger.left().loss
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
        click.echo(json.dumps({"prices": prices, "enough_is_left": enough, **_budget(ledger)}, indent=2))
        return
    for each in asked:
        click.echo(safe_text(each.text, 10_000))
        cost = "was asked before: nothing" if each.before else f"ε = {exact_text(each.cost.loss)}"
        click.echo(f"  Price: {cost}; by {each.price.mechanism}.")
        click.echo(f"  {each.price.sentence}")
    click.echo(f"Nothing was spent. {_left_text(ledger)}{'' if enough else ' That does not suffice.'}")
