"""What the question ``inference`` can find."""

from __future__ import annotations

from functools import partial

from unveil.risk import Risk

__all__ = ["RISKS"]

_share_risk = partial(Risk, unit="share", safer="lower", release_kinds=("table", "transactions"))

LEARNED = _share_risk(
    "inference.learned",
    title="People whose sensitive value a few facts give away",
    summary="The share of people about whom a few facts give their own sensitive value away, found or not.",
    sampled=True,
    baseline_name="By chance",
)
CERTAIN = _share_risk(
    "inference.certain",
    title="People whose sensitive value a few facts make certain",
    summary="The share of people whose sensitive value is the same for everybody who shares a few facts.",
    sampled=True,
    baseline_name="By chance",
)
FACTS = Risk(
    "inference.facts",
    title="Fewest facts that give a sensitive value away",
    unit="count",
    safer="higher",
    release_kinds=("table", "transactions"),
    summary="The fewest facts that raise belief in somebody's own sensitive value, without finding them.",
    detail_of=LEARNED,
)
RULES = _share_risk(
    "inference.rules",
    title="People given away by the most telling facts",
    summary="The share of people whose sensitive value the single most telling set of columns gives away.",
    detail_of=LEARNED,
)

SCORE = Risk(
    "inference.score",
    title="Privacy score",
    unit="number",
    safer="lower",
    release_kinds=("table", "transactions"),
    summary="How much the worst inference about a person weighs, on average.",
    detail_of=LEARNED,
)

RISKS = (LEARNED, CERTAIN, FACTS, RULES, SCORE)
