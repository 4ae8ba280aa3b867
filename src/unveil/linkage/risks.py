"""What this room can find."""

from __future__ import annotations

from unveil.risk import Risk

__all__ = ["MATCHED", "OWN_ROW", "RISKS", "SPARSITY", "SUCCESS", "SUCCESS_BOUND", "UNICITY"]

SUCCESS = Risk(
    "linkage.success",
    title="People found by someone who knows a few random facts",
    unit="share",
    safer="lower",
    sampled=True,
    summary="The share of people found by someone who knows a few random facts about each; a record that is equal in "
    "everything released counts as found.",
)
OWN_ROW = Risk(
    "linkage.own_row",
    title="People found by someone who knows a few random facts, not counting equal records",
    unit="share",
    safer="lower",
    sampled=True,
    summary="The share of people whose own record is found by someone who knows a few random facts about each.",
)
UNICITY = Risk(
    "linkage.unicity",
    title="People who are unique given a few random facts",
    unit="share",
    safer="lower",
    sampled=True,
    summary="The share of people for whom nobody else fits a few random facts.",
)
SPARSITY = Risk(
    "linkage.sparsity",
    title="People with a similar record in the release",
    unit="share",
    safer="higher",
    sampled=True,
    summary="The share of people who share at least half of their values with somebody else.",
)
SUCCESS_BOUND = Risk(
    "linkage.success_bound",
    title="People that theory guarantees are found",
    unit="share",
    safer="lower",
    summary="The share of people that someone who knows a few random facts finds at least, by theorem.",
)
MATCHED = Risk(
    "linkage.matched",
    needs="people",
    title="Known people linked to their row",
    unit="share",
    safer="lower",
    summary="The share of people in a file the attacker holds who are linked to their row of the release.",
)

RISKS = (SUCCESS, OWN_ROW, UNICITY, SPARSITY, SUCCESS_BOUND, MATCHED)
