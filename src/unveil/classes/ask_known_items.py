"""The finding about baskets: someone who knows a few items of a basket looks for it (kᵐ-anonymity)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from unveil.classes.risks import KNOWN_ITEMS, K
from unveil.classes.settings import ClassesSettings
from unveil.finding import Curve, ExposedSubject, Finding
from unveil.policy import Policy
from unveil.release.transactions import Transactions
from unveil.run import Run
from unveil.wording import count_text, number_text, percent_text, safe_text

if TYPE_CHECKING:
    from unveil.classes.known_items import KnownItems

__all__ = ["item_findings"]

_TERROVITIS = "M. Terrovitis, N. Mamoulis, P. Kalnis, Privacy-preserving anonymization of set-valued data, VLDB 2008"


def item_findings(baskets: Transactions, policy: Policy, run: Run) -> Iterator[Finding]:
    """How many baskets contain what an attacker knows about one."""
    from unveil.classes.known_items import measure_known_items

    if not baskets.baskets:
        return
    k = max(1, policy.tolerance_for(KNOWN_ITEMS) or policy.threshold(K))
    known = policy.settings_for(ClassesSettings).known
    found = measure_known_items(baskets, int(k), known, run=run)
    measured = found.known
    smallest, share = int(found.smallest_supports[measured]), float(found.baskets_below_k[measured] / baskets.baskets)
    items = count_text(known, "item")
    yield KNOWN_ITEMS.finding(
        policy,
        title=f"Fewest baskets with the same {items} (kᵐ)",
        value=float(smallest),
        unit="baskets",
        method="truncated" if found.truncated else "exact",
        interval=(1.0, float(smallest)),
        subjects=baskets.baskets,
        share=(share, 1.0) if found.truncated else share,
        attacker=f"Knows up to {items} of a person's basket, under the names used in the release, and that the basket "
        "is in the release.",
        missing="An empty basket could be anyone's.",
        sentence=_known_items_sentence(found, baskets, k),
        curves=(_known_items_curve(found, baskets.baskets, k),),
        exposed=_exposed_baskets(found, baskets, run),
        source=_TERROVITIS,
    )


def _known_items_sentence(found: KnownItems, baskets: Transactions, k: float) -> str:
    measured = found.known
    if not len(baskets.items):
        return "No basket contains an item, so all look the same."
    share, alone = (float(x[measured] / baskets.baskets) for x in (found.baskets_below_k, found.unique_baskets))
    rarest, one = ("item", "an item") if measured == 1 else (f"set of up to {measured} items", "such a set")
    rest = f" Sets of more than {count_text(measured, 'item')} are too many to count." if found.truncated else ""
    few = f"{percent_text(share)} of the baskets contain" if share else "No basket contains"
    only = f"; {percent_text(alone)} contain one that occurs in no other basket" if alone else ""
    return (
        f"The rarest {rarest} occurs in {count_text(int(found.smallest_supports[measured]), 'basket')}. {few} {one} "
        f"that occurs in fewer than {number_text(k)} baskets{only}.{rest}"
    )


def _known_items_curve(found: KnownItems, baskets: int, k: float) -> Curve:
    shares = [float(x / baskets) for x in found.baskets_below_k]
    right = "the right item is" if found.known == 1 else f"the right {found.known:,} items are"
    return Curve(
        title=f"Baskets for which fewer than {number_text(k)} fit, by number of items known",
        kind="line",
        x_label="items known, at most",
        y_label="share of baskets",
        x=tuple(float(m) for m in range(found.known + 1)),
        y=tuple(shares),
        reading=f"If {right} known, fewer than {number_text(k)} baskets fit for {percent_text(shares[-1])} of the "
        "baskets.",
    )


def _exposed_baskets(found: KnownItems, baskets: Transactions, run: Run) -> tuple[ExposedSubject, ...]:
    """The baskets with the rarest items, as far as fewer than k contain these."""
    exposed = []
    for basket in found.rarest_baskets(run.exposed).tolist():
        many, size = int(found.rarest_supports[basket]), int(found.rarest_set_sizes[basket])
        if many >= found.k:
            break
        names = [baskets.labels[i].as_py() for i in found.rarest_itemset(basket, run)] if run.reveal else []
        exposed.append(
            ExposedSubject(
                subject=f"basket {basket + 1:,}",
                risk=1 / many,
                because=_exposed_basket_reason(many, size),
                learns=("the rest of the basket",),
                values={"items": safe_text(" ".join(map(str, names)), 200)} if run.reveal else None,
            )
        )
    return tuple(exposed)


def _exposed_basket_reason(baskets: int, items: int) -> str:
    """Why a basket can be found: so many baskets contain its rarest set of so many items."""
    if items == 0:
        return f"one of only {count_text(baskets, 'basket')}"
    these = "one of its items is" if items == 1 else f"{items:,} of its items together are"
    others = "no other basket" if baskets == 1 else f"only {count_text(baskets - 1, 'other basket')}"
    return f"{these} in {others}"
