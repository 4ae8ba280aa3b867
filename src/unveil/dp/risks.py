"""What the question ``dp`` can find."""

from __future__ import annotations

from unveil.risk import Risk

__all__ = ["MEMBERSHIP", "RISKS"]

MEMBERSHIP = Risk(
    "dp.membership",
    title="How sure answers make somebody that a person is in the data",
    unit="share",
    safer="lower",
    needs="answers",
    baseline_name="Belief before any answer",
    summary="What someone believes who thought it 50% likely that a person is in the data, after all answers.",
)

RISKS = (MEMBERSHIP,)
