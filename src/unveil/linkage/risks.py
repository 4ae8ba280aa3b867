"""What this room can find."""

from __future__ import annotations

from functools import partial

from unveil.risk import AVERAGE_RISK, Risk

__all__ = [
    "EVERYTHING_LEARNED",
    "MATCHED",
    "ORIGINAL_MATCHED",
    "RISKS",
    "SPARSITY",
    "SUCCESS",
    "SUCCESS_BOUND",
    "UNICITY",
]

_share_found = partial(Risk, unit="share", safer="lower")

SUCCESS = _share_found(
    "linkage.success",
    title="People found by someone who knows a few random facts",
    sampled=True,
    upper_bound=AVERAGE_RISK,
    summary="The share of people whose own record is found by someone who knows a few random facts about each.",
)
EVERYTHING_LEARNED = _share_found(
    "linkage.everything_learned",
    title="People fully disclosed to someone who knows a few random facts",
    sampled=True,
    summary="The share of people about whom someone who knows a few random facts learns everything released: they find "
    "the person's own record or one identical to it.",
)
UNICITY = _share_found(
    "linkage.unicity",
    title="People singled out by a few random facts",
    sampled=True,
    upper_bound=AVERAGE_RISK,
    summary="The share of people singled out by a few random facts: nobody else fits them.",
)
SPARSITY = Risk(
    "linkage.sparsity",
    title="People with a similar record in the release",
    unit="share",
    safer="higher",
    sampled=True,
    summary="The share of people with a similar person: at least half of the values that either has are the same.",
)
SUCCESS_BOUND = _share_found(
    "linkage.success_bound",
    title="Guaranteed share of people found",
    summary="The share of people that theorems guarantee are found by someone who knows a few random facts.",
)
MATCHED = _share_found(
    "linkage.matched",
    needs="people",
    title="Known people linked to their row",
    summary="The share of people in a file the attacker holds who are linked to their row of the release.",
)
ORIGINAL_MATCHED = _share_found(
    "linkage.original_matched",
    title="Original rows linked to their released row",
    sampled=True,
    summary="The share of rows of the original whose closest released row is their own.",
)

RISKS = (SUCCESS, EVERYTHING_LEARNED, UNICITY, SPARSITY, SUCCESS_BOUND, MATCHED, ORIGINAL_MATCHED)
