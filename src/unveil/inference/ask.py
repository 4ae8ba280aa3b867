"""The question ``inference``: what else does it tell about them?

Someone who knows a few facts about a person looks at everybody who shares them. Nobody need be found for that: if most
of those people have the same diagnosis, the person probably has it, too. For every set of quasi-identifiers and every
sensitive column, the findings say about how many people a few facts tell enough, for how many that is certain, how few
facts suffice, and which are the most telling.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unveil.case import Case
from unveil.finding import Finding
from unveil.inference import risks
from unveil.inference.ask_learned_columns import learned_column_findings
from unveil.inference.ask_learned_items import learned_item_findings
from unveil.inference.ask_score import score_of_items, score_of_table
from unveil.inference.protect import PROTECTED_RISKS, PROTECTIONS
from unveil.inference.settings import InferenceSettings
from unveil.policy import Policy
from unveil.question import Artefact, Question
from unveil.release.table import Table
from unveil.release.transactions import Transactions
from unveil.run import Run
from unveil.wording import list_text

__all__ = ["QUESTION"]


def ask(case: Case, policy: Policy, run: Run) -> Iterator[Finding | Artefact]:
    """The findings of this question."""
    release = case.release
    if policy.ratings or not run.asks(*risks.RISKS):
        return
    asks_about_facts = run.asks(*(risk for risk in risks.RISKS if risk is not risks.SCORE))
    if isinstance(release, Transactions):
        if asks_about_facts:
            yield from learned_item_findings(release, policy, run)
        if _wants_score(policy, run):
            yield from score_of_items(release, policy, run)
        return
    assert isinstance(release, Table)
    for known in policy.quasi:
        for column in policy.sensitive if asks_about_facts else ():
            if facts := tuple(c for c in known if c != column):
                yield from learned_column_findings(case, release, facts, column, policy, run)
        if policy.sensitive and _wants_score(policy, run):
            yield from score_of_table(case, release, known, policy, run)


def _wants_score(policy: Policy, run: Run) -> bool:
    """Whether somebody asks for the score: by weights, by a tolerance, or by name. It takes long to compile."""
    chosen = policy.settings_for(InferenceSettings)
    is_named = run.only is not None and run.asks(risks.SCORE)
    has_weights = bool(chosen.likelihood or chosen.danger) or chosen.score_weights != "rarity"
    return is_named or has_weights or policy.tolerance_for(risks.SCORE) is not None


def check(case: Case, policy: Policy) -> None:
    """Refuse weights of what is not there."""
    chosen = policy.settings_for(InferenceSettings)
    if chosen.likelihood or chosen.danger or chosen.sensitive_items:
        from unveil.inference.attribute_weights import check_weights

        release = case.release if case.original is None else case.original  # what a protection left out was there
        assert isinstance(release, (Table, Transactions))
        check_weights(release, policy)


def hints(case: Case, policy: Policy, in_the_way: Sequence[str], run: Run) -> Iterator[str]:
    """What an owner can do about what facts tell."""
    if any(risk.id in in_the_way for risk in risks.RISKS):
        if case.release.kind == "transactions":
            yield "release categories instead of items, or leave out items that come together"
        else:
            yield f"release fewer of {list_text(policy.quasi_columns)}, or coarser values of them"


QUESTION = Question(
    name="inference",
    title="What else does it tell about them?",
    kinds=("table", "transactions"),
    risks=risks.RISKS,
    ask=ask,
    check=check,
    settings=InferenceSettings,
    hints=hints,
    protections=PROTECTIONS,
    protected_risks=PROTECTED_RISKS,
)
