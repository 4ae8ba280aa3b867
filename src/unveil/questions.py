"""Every question there is. A new room is one folder and one line here.

Whatever must know all rooms looks them up here when it is called: policies and their checks, the command line, the
schemas, the documentation. Nothing here is heavy to import: doors load their kernels when they are asked.
"""

from __future__ import annotations

from unveil.classes.ask import QUESTION as CLASSES
from unveil.dp.ask import QUESTION as DP
from unveil.errors import UnveilError
from unveil.holding import Holding
from unveil.inference.ask import QUESTION as INFERENCE
from unveil.items.ask import QUESTION as ITEMS
from unveil.linkage.ask import QUESTION as LINKAGE
from unveil.matching.ask import QUESTION as MATCHING
from unveil.network.ask import QUESTION as NETWORK
from unveil.question import Question
from unveil.release.ask import QUESTION as RELEASE
from unveil.risk import Risk
from unveil.wording import did_you_mean, safe_text

__all__ = ["QUESTIONS", "all_holdings", "all_risks", "find_risk", "questions_about", "risks_about", "room_settings"]

QUESTIONS: tuple[Question, ...] = (RELEASE, CLASSES, INFERENCE, LINKAGE, ITEMS, NETWORK, MATCHING, DP)


def questions_about(kind: str) -> tuple[Question, ...]:
    """The questions that can be asked of a kind of release."""
    return tuple(q for q in QUESTIONS if kind in q.kinds)


def risks_about(kind: str) -> list[Risk]:
    """The risks that a kind of release can have."""
    return [risk for q in questions_about(kind) for risk in q.risks if kind in (risk.release_kinds or q.kinds)]


def all_risks() -> dict[str, Risk]:
    """Every risk by its id."""
    return {risk.id: risk for question in QUESTIONS for risk in question.risks}


def find_risk(risk_id: str) -> Risk:
    """The risk with this id."""
    risks = all_risks()
    if risk_id not in risks:
        raise UnveilError(f"no finding is called {safe_text(risk_id)!r}{did_you_mean(risk_id, risks)}")
    return risks[risk_id]


def room_settings() -> dict[str, type]:
    """The settings of every room that has any, by the room's name."""
    return {q.name: q.settings for q in QUESTIONS if q.settings is not None}


def all_holdings() -> dict[str, tuple[Holding, tuple[str, ...]]]:
    """Everything an attacker may hold, by its name, with the kinds of release it belongs beside."""
    found: dict[str, tuple[Holding, tuple[str, ...]]] = {}
    for question in QUESTIONS:
        for held in question.holdings:
            _, kinds = found.get(held.name, (held, ()))
            found[held.name] = held, tuple(dict.fromkeys((*kinds, *(held.release_kinds or question.kinds))))
    return found
