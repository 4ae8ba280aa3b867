"""An attack by frequencies: what all findings about one attacker share, with the paper that they come from and how they
treat missing values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.release.transactions import Transactions

if TYPE_CHECKING:
    from unveil.items.beliefs import Beliefs
    from unveil.items.item_recipe import ItemRecipe

__all__ = ["LAKSHMANAN", "MISSING_VALUES", "FrequencyAttack"]

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
