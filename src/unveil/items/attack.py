"""An attack by frequencies: what all findings about one attacker share, with the paper that they come from and how they
treat missing values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.finding import ExposedSubject
from unveil.release.transactions import Transactions
from unveil.run import Run
from unveil.wording import ordinal_text, safe_text

if TYPE_CHECKING:
    from unveil.arrays import Floats
    from unveil.items.beliefs import Beliefs
    from unveil.items.item_recipe import ItemRecipe

__all__ = [
    "LAKSHMANAN",
    "MISSING_VALUES",
    "FrequencyAttack",
    "exposed_items",
    "known_protection_text",
    "original_baskets",
]

LAKSHMANAN = (
    "L. Lakshmanan, R. Ng, G. Ramesh, On disclosure risk analysis of anonymized itemsets in the presence of prior "
    "knowledge, ACM TKDD 2(3), 2008"
)
MISSING_VALUES = "Empty baskets are left out; an item counts once per basket."


@dataclass(frozen=True, eq=False)
class FrequencyAttack:
    """Someone who believes something about item frequencies attacks a release.

    ``recipe`` is how far these ``beliefs`` lead, ``attacker`` describes the attacker in words.
    """

    case: Case
    baskets: Transactions
    beliefs: Beliefs
    recipe: ItemRecipe
    attacker: str

    @property
    def original(self) -> Transactions:
        """The baskets that the release was made from; the release itself if the case has no other."""
        return original_baskets(self.case)


def original_baskets(case: Case) -> Transactions:
    """The baskets that a release was made from; the release itself if there are no others."""
    baskets = case.release if case.original is None else case.original
    assert isinstance(baskets, Transactions)
    return baskets


def known_protection_text(case: Case) -> str:
    """What every attacker on a protected release knows; empty if it was not protected."""
    return "" if case.original is None else "Knows what was done to protect the release. "


def exposed_items(
    baskets: Transactions, risk: Floats, because: Callable[[int], str], run: Run
) -> tuple[ExposedSubject, ...]:
    """The items most at risk, the most frequent first. They are called the 1st, 2nd, … item in the order in which they
    first appear: a bare number would look like an item's name, and the rank of a label would tell it to whoever has a
    list of all labels."""
    import numpy as np

    order = np.lexsort((-baskets.counts, -risk.round(12)))[: run.exposed]
    return tuple(
        ExposedSubject(
            subject=f"{ordinal_text(int(baskets.appearance_ranks[i]) + 1)} item",
            risk=float(min(risk[i], 1.0)),
            because=because(i),
            learns=("which item it is",),
            values={"item": safe_text(baskets.labels[i].as_py())} if run.reveal else None,
        )
        for i in order.tolist()
    )
