"""The question ``dp``: what do the answers given so far tell about one person?

Answers with noise are given instead of a release (:mod:`unveil.dp.curator`). Their ledger says what they cost together;
from that follows how far they can move anybody's belief (:mod:`unveil.dp.belief`).
"""

from __future__ import annotations

from collections.abc import Iterator

from unveil.case import Case
from unveil.dp import risks
from unveil.errors import UnveilError
from unveil.finding import Curve, Finding
from unveil.holding import Holding
from unveil.policy import Policy
from unveil.question import Question
from unveil.release.table import Table
from unveil.run import Run
from unveil.wording import ceiling_text, count_text, floor_text, percent_text, safe_text, verb

__all__ = ["QUESTION"]

ANSWERS = Holding(
    "answers",
    "ledger",
    "The ledger of private answers that were given about the same table (unveil query).",
)

_DWORK = (
    "C. Dwork, F. McSherry, K. Nissim, A. Smith, Calibrating noise to sensitivity in private data analysis, TCC 2006; "
    "F. McSherry, Privacy integrated queries, SIGMOD 2009 (parallel composition)"
)
_EVEN = 0.5
_POINTS = 41


def ask(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
    """How far all answers together move a belief."""
    answers = case.holds.get(ANSWERS.name)
    if not isinstance(answers, Table) or not run.asks(risks.MEMBERSHIP):
        return
    from unveil.dp.belief import belief_bounds, total_loss

    given = answers.query(f"SELECT * FROM {answers.relation}").rename_columns(list(answers.columns)).to_pylist()
    loss = float(total_loss(given))
    low, high = belief_bounds(_EVEN, loss)
    hidden, others = given[0]["hidden"], int(given[0]["other_ledgers"])
    beside = (
        f" {count_text(others, 'other ledger')} about the same data or people {verb(others, 'is', 'are')} left out."
    )
    yield risks.MEMBERSHIP.finding(
        policy,
        value=high,
        method="bound",
        interval=(low, high),
        subjects=0,
        attacker=f"Knows everything but whether {hidden} is in the data, and sees all answers.",
        baseline=_EVEN,
        sentence=f"{count_text(len(given), 'answer')} {verb(len(given), 'was', 'were')} given, which cost "
        f"ε = {ceiling_text(loss)} together: someone who thought it {percent_text(_EVEN)} likely that {hidden} is in "
        f"the data now thinks it at least {floor_text(100 * low)}% and at most {ceiling_text(100 * high)}% likely, "
        f"whatever they know of others.{beside if others else ''}",
        curves=(_belief_chart(loss),),
        source=_DWORK,
    )


def _belief_chart(loss: float) -> Curve:
    """Beliefs before and after."""
    from unveil.dp.belief import belief_bounds

    before = [point / (_POINTS - 1) for point in range(_POINTS)]
    after = [belief_bounds(belief, loss) for belief in before]
    names = ("at most", "no answers", "at least")
    lines = ([high for _, high in after], before, [low for low, _ in after])
    return Curve(
        title="Belief that somebody is in the data, before and after the answers",
        kind="line",
        x_label="belief before",
        y_label="belief after",
        x=tuple(before) * 3,
        y=tuple(belief for line in lines for belief in line),
        series=tuple(name for name in names for _ in before),
        mark=_EVEN,
        mark_label="even chances",
        reading="Whatever somebody believed before lies between the outer lines afterwards. Without answers, nothing "
        "changes.",
    )


def check(case: Case, policy: Policy) -> None:
    """Refuse answers about another table."""
    answers = case.holds.get(ANSWERS.name)
    if answers is not None and (not isinstance(answers, Table) or answers.columns[:1] != ("epsilon",)):
        raise UnveilError(f"{safe_text(answers.name)}: is no ledger of private answers")


QUESTION = Question(
    name="dp",
    title="Can I answer questions instead of releasing?",
    kinds=("table",),
    risks=risks.RISKS,
    ask=ask,
    holdings=(ANSWERS,),
    check=check,
)
