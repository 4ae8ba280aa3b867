"""How much of a budget is spent by many answers.

*Sequential composition.* What two answers cost adds up (Dwork, McSherry, Nissim, Smith 2006), also when the second
question and its cost depend on the first answer, as long as a question is refused that would exceed a total that was
fixed in advance. That holds for ε, for (ε, δ) (Rogers, Roth, Ullman, Vadhan 2016) and for ρ (Feldman, Zrnic 2021).

*Parallel composition* (McSherry 2009). A *partition* divides the rows into parts by the declared values of one column.
Answers about different parts do not add up: together they cost the most that was spent on any one of them.

**Claim.** Let an answer with a part depend on the rows of that part alone, and let each person have rows in at most one
part of each partition. Then all answers together cost at most

    S = Σ (answers without a part) + Σ over partitions of max over parts of Σ (answers about that part).

**Proof.** Let D and D′ differ in the rows of one person, who is in part p(P) of each partition P. An answer about
another part of P than p(P) sees the same rows in D and in D′: between these two it costs nothing. Each other answer
costs what is entered for it. By sequential composition, all answers tell D from D′ at a cost of at most the sum over
the answers without a part plus, for each P, the sum over those about p(P). S is at least that, in loss and in δ, since
a maximum is at least each of its terms; loss and δ may have their maxima at different parts, which can only overstate
S. Whoever refuses what would make S exceed the total keeps this sum, for every person, within the total at all
times. ∎

**When it may be used.** Each person must be in one part at most: the column is constant per person, or each person has
one row at most, the same one in all questions. A contribution limit that keeps *some* row per question is not enough:
one question may keep a row of one part, and the next a row of another. The same holds between versions of the data, as
people move from part to part; the parts of each version are therefore a partition of their own.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import NamedTuple

from unveil.ledger.privacy_cost import PrivacyCost

__all__ = ["Part", "Spending"]

_NOTHING = PrivacyCost(Fraction(0))


class Part(NamedTuple):
    """The rows with one declared value of a declared column."""

    partition: str
    name: str


class Spending:
    """What was spent so far, on everything and on parts."""

    def __init__(self) -> None:
        self._on_all = _NOTHING
        self._on_parts: defaultdict[tuple[int, str], dict[str, PrivacyCost]] = defaultdict(dict)

    def add(self, cost: PrivacyCost, part: Part | None, version: int) -> None:
        """Enter what an answer about one version of the data cost."""
        if part is None:
            self._on_all += cost
        else:
            parts = self._on_parts[version, part.partition]
            parts[part.name] = parts.get(part.name, _NOTHING) + cost

    def copy(self) -> Spending:
        """The same, to be changed independently."""
        other = Spending()
        other._on_all = self._on_all
        for partition, parts in self._on_parts.items():
            other._on_parts[partition] = dict(parts)
        return other

    def total(self) -> PrivacyCost:
        """What all answers cost together."""
        return sum((_most(list(parts.values())) for parts in self._on_parts.values()), self._on_all)

    def total_for(self, part: Part, version: int) -> PrivacyCost:
        """What counts towards the next answer about a part: all but what was spent on other parts of its partition."""
        others = (
            _most(list(parts.values())) for at, parts in self._on_parts.items() if at != (version, part.partition)
        )
        own = self._on_parts.get((version, part.partition), {}).get(part.name, _NOTHING)
        return sum(others, self._on_all) + own


def _most(costs: list[PrivacyCost]) -> PrivacyCost:
    return PrivacyCost(max(cost.loss for cost in costs), max(cost.delta for cost in costs))
