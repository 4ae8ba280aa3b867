"""The finding about sets of entries: which share of them is likely to be cracked as a set."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.errors import UnveilError
from unveil.finding import Finding
from unveil.matching.settings import MatchingSettings
from unveil.policy import Policy
from unveil.release.matrix import Matrix
from unveil.release.table import Table
from unveil.risk import Risk
from unveil.run import Run
from unveil.wording import count_text, percent_text, safe_text

if TYPE_CHECKING:
    from unveil.matching.solver import Solution

__all__ = ["SETS_VULNERABLE", "parse_sets", "set_findings"]

_SLACK = 1e-9  # 1/2 is a common probability
_SOURCE = (
    "L. Lakshmanan, R. Ng, G. Ramesh, On disclosure risk analysis of anonymized itemsets, ACM TKDD 2(3), 2008, "
    "Definition 2.1 and section 8.1; exact probabilities instead of OS"
)

SETS_VULNERABLE = Risk(
    "matching.sets_vulnerable",
    title="Sets of entries that are likely to be cracked",
    unit="share",
    safer="lower",
    tolerance=0.1,
    sampled=True,
    needs="sets",
    summary="The share of the named sets of entries that an attacker cracks, as sets, with a probability at or above "
    "the threshold.",
)


def set_findings(solution: Solution, case: Case, attacker: str, policy: Policy, run: Run) -> Iterator[Finding]:
    """How many of the sets that the owner named are vulnerable, if any are named."""
    from unveil.matching.set_cracks import set_crack_probabilities

    sets = parse_sets(case)
    if not sets:
        return
    sigma, count = policy.settings_for(MatchingSettings).set_threshold, len(sets)
    strict = replace(run, confidence=1 - (1 - run.confidence) / count)
    found = set_crack_probabilities(solution.candidates, sets, solution.truth, strict)
    certain = sum(each.interval[0] >= sigma - _SLACK for each in found)
    possible = sum(each.interval[1] >= sigma - _SLACK for each in found)
    exact = all(each.exact for each in found)
    ends = certain / count, possible / count
    guessed = sum(1 / math.comb(solution.candidates.n, len(each)) >= sigma - _SLACK for each in sets)
    yield SETS_VULNERABLE.finding(
        policy,
        title=f"Sets of entries cracked with a probability of {percent_text(sigma)} or more",
        value=ends[1],
        method="exact" if exact else "simulation",
        interval=ends,
        confidence=None if exact else run.confidence,
        subjects=count,
        share=ends,
        attacker=attacker,
        baseline=guessed / count,
        sentence=f"{_number_sentence(count, certain, possible)} A set is vulnerable if the attacker assigns its "
        f"entries exactly their own pseudonyms, in any order, with a probability of {percent_text(sigma)} or more."
        f"{'' if exact else ' Sets that cannot be computed exactly were simulated.'}{_guessing_text(guessed, count)}",
        source=_SOURCE,
    )


def _guessing_text(guessed: int, count: int) -> str:
    """How many sets someone without the matrix cracks as often; there is always one way to choose all entries."""
    if not guessed:
        return ""
    return f" Guessing alone does that{'' if count == 1 else f' for {guessed:,} of them'}."


def _number_sentence(count: int, certain: int, possible: int) -> str:
    """How many of the named sets are vulnerable."""
    if count == 1:
        return f"The named set {'is' if certain else 'may be' if possible else 'is not'} vulnerable."
    number = f"between {certain:,} and {possible:,} are"
    if certain == possible:
        number = count_text(certain, "is", "are") if certain else "none is"
    return f"Of {count:,} named sets, {number} vulnerable."


def parse_sets(case: Case) -> list[list[int]]:
    """The sets of entries that a file names, numbered from 0: a column entries, with names separated by semicolons or
    blanks."""
    given = case.holds.get("sets")
    if not isinstance(given, Table):
        return []
    assert isinstance(case.release, Matrix)
    name, numbers = safe_text(given.name), {label: k for k, label in enumerate(case.release.entries)}
    if "entries" not in given.columns:
        raise UnveilError(f"{name}: there is no column entries; name the entries of a set in each row")
    rows = [row["entries"] for batch in given.batches() for row in batch.select(["entries"]).to_pylist()]
    found = []
    for number, row in enumerate(rows, 1):
        text = "" if row is None else str(row)
        labels = [label.strip() for label in text.split(";")] if ";" in text else text.split()
        if not labels or any(label not in numbers for label in labels) or len(set(labels)) < len(labels):
            raise UnveilError(
                f"{name}: row {number:,} is empty, repeats an entry or names one that is not in the matrix; correct it"
            )
        found.append([numbers[label] for label in labels])
    return found
