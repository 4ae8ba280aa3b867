"""Words about cracks that the doors of several rooms need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.wording import number_text, percent_text

if TYPE_CHECKING:
    from unveil.matching.solver import Solution

__all__ = ["BEST_GUESS_TEXT", "average_text", "certain_text", "compare_with_estimate", "count_certain"]

BEST_GUESS_TEXT = "; the risk is that of the best guess, because the truth is a secret"
"""Added to why somebody is exposed, where :meth:`Solution.shown_risk` leaves the truth out."""


def average_text(value: float, exact: bool) -> str:
    """An average; one that was simulated is only about right.

    >>> average_text(2.5, True), average_text(2.5, False)
    ('2.5', 'about 2.5')
    """
    return number_text(value) if exact else f"about {number_text(value)}"


def certain_text(certain: int, total: int) -> str:
    """How many cracks are certain.

    >>> certain_text(0, 9), certain_text(1, 9), certain_text(9, 9)
    ('none for certain', '1 for certain', 'all for certain')
    """
    return f"{'none' if certain == 0 else 'all' if certain == total else number_text(certain)} for certain"


def count_certain(solution: Solution) -> int:
    """How many entries are cracked for certain. In a block that was simulated none is: each candidate that is left
    there belongs to some assignment, however rarely the simulation came across it."""
    import numpy as np

    certain = solution.crack > 1 - 1e-9
    if not solution.exact:
        simulated = np.zeros(len(solution.marginals) + 1, bool)  # the last one is for excluded pairs, edge −1
        for block, part in zip(solution.blocks, solution.parts, strict=True):
            simulated[block.edges] |= part.method in ("simulation", "screening")
        edges = solution.candidates.find_edges(np.arange(solution.candidates.n), solution.truth)
        certain &= ~simulated[edges]
    return int(certain.sum())


def compare_with_estimate(estimate: float, solution: Solution) -> str:
    """How an estimate relates to the number of cracks that was computed, as the end of "it is …"."""
    cracks, measured = solution.expected_cracks, "exact" if solution.exact else "simulated"
    if abs(estimate - cracks) <= 1e-9 * max(cracks, 1):
        return f"equal to the {measured} value"
    side = "above" if estimate > cracks else "below"
    if not cracks:
        return f"{side} the {measured} value, which is 0"
    if estimate >= 2 * cracks:
        return f"{number_text(estimate / cracks)} times the {measured} value"
    return f"{percent_text(abs(estimate / cracks - 1))} {side} the {measured} value"
