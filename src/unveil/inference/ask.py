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
from unveil.inference.ask_learned import learned_findings
from unveil.inference.ask_score import score_finding
from unveil.inference.protect import PROTECTED_RISKS, PROTECTIONS
from unveil.inference.settings import InferenceSettings
from unveil.policy import Policy
from unveil.question import Artefact, Question
from unveil.release.table import Table
from unveil.run import Run
from unveil.wording import list_text

__all__ = ["QUESTION"]


def ask(case: Case, policy: Policy, run: Run) -> Iterator[Finding | Artefact]:
    """The findings of this question."""
    table = case.release
    assert isinstance(table, Table)
    if policy.ratings or not run.asks(*risks.RISKS):
        return
    asks_about_facts = run.asks(*(risk for risk in risks.RISKS if risk is not risks.SCORE))
    for known in policy.quasi:
        for column in policy.sensitive if asks_about_facts else ():
            if facts := tuple(c for c in known if c != column):
                yield from learned_findings(case, table, facts, column, policy, run)
        if policy.sensitive and _wants_score(policy, run):
            yield from score_finding(case, table, known, policy, run)


def _wants_score(policy: Policy, run: Run) -> bool:
    """Whether somebody asks for the score: by weights, by a tolerance, or by name. It takes long to compile."""
    chosen = policy.settings_for(InferenceSettings)
    is_named = run.only is not None and run.asks(risks.SCORE)
    return is_named or bool(chosen.likelihood or chosen.danger) or policy.tolerance_for(risks.SCORE) is not None


def hints(case: Case, policy: Policy, in_the_way: Sequence[str], run: Run) -> Iterator[str]:
    """What an owner can do about what facts tell."""
    if any(risk.id in in_the_way for risk in risks.RISKS):
        yield f"release fewer of {list_text(policy.quasi_columns)}, or coarser values of them"


QUESTION = Question(
    name="inference",
    title="What else does it tell about them?",
    kinds=("table",),
    risks=risks.RISKS,
    ask=ask,
    settings=InferenceSettings,
    hints=hints,
    protections=PROTECTIONS,
    protected_risks=PROTECTED_RISKS,
)
