"""An attack by frequencies: what all findings about one attacker share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.release.transactions import Transactions

if TYPE_CHECKING:
    from unveil.items.beliefs import Beliefs
    from unveil.items.item_recipe import ItemRecipe

__all__ = ["FrequencyAttack"]


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

    def attacker_who_also(self, knows: str) -> str:
        """The same attacker with further knowledge, in words."""
        return f"{self.attacker} Also {knows}."
