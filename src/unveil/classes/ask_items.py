"""The finding about baskets: someone who knows a few things of one looks for it (kᵐ-anonymity)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from unveil.finding import Curve, Exposed, Finding
from unveil.policy import Policy
from unveil.release.transactions import Transactions
from unveil.run import Run
from unveil.wording import counted, number, percent, shown

if TYPE_CHECKING:
    from unveil.classes.known_items import KnownItems

__all__ = ["item_findings"]

_TERROVITIS = "M. Terrovitis, N. Mamoulis, P. Kalnis, Privacy-preserving anonymization of set-valued data, VLDB 2008"


def item_findings(baskets: Transactions, policy: Policy, run: Run) -> Iterator[Finding]:
    """How many baskets hold what an attacker knows of one."""
    from unveil.classes.known_items import known_items

    if not baskets.baskets:
        return
    k = max(1, policy.tolerated("classes.known_items") or policy.wanted("classes.k"))
    found = known_items(baskets, int(k), policy.items_known, run=run)
    at = found.known
    share, alone = (float(x[at] / baskets.baskets) for x in (found.below, found.unique))
    tolerance = policy.tolerated("classes.known_items")
    knows = counted(policy.items_known, "item")
    yield Finding(
        id="classes.known_items",
        question="classes",
        title=f"Fewest baskets with the same {knows} (kᵐ)",
        value=float(found.smallest[at]),
        unit="baskets",
        method="truncated" if found.truncated else "exact",
        interval=(1.0, float(found.smallest[at])) if found.truncated else None,
        subjects=baskets.baskets,
        share=(share, 1.0 if found.truncated else share),
        tolerance=tolerance,
        direction="higher",
        decides=tolerance is not None,
        attacker=f"Knows up to {knows} of somebody's basket by their names in the release, and that it is in there.",
        missing="A basket without items shows nothing; all baskets look like it.",
        sentence=f"The rarest {_at_most(at)} in {counted(int(found.smallest[at]), 'basket')}. {percent(share)} of the "
        f"baskets hold {'one' if at == 1 else 'such a set'} that fewer than {number(k)} baskets hold, "
        f"{percent(alone)} one that no other basket holds."
        + (f" Sets of more than {counted(at, 'item')} are too many to count." if found.truncated else ""),
        curves=(_by_known(found, baskets.baskets, k),),
        exposed=_exposed(found, baskets, run),
        source=_TERROVITIS,
    )


def _at_most(m: int) -> str:
    return "item is" if m == 1 else f"set of at most {m} items is"


def _by_known(found: KnownItems, baskets: int, k: float) -> Curve:
    shares = [float(x / baskets) for x in found.below]
    return Curve(
        title=f"Baskets that fewer than {number(k)} look like, by how many items are known",
        kind="line",
        x_label="items known, at most",
        y_label="share of baskets",
        x=tuple(float(m) for m in range(found.known + 1)),
        y=tuple(shares),
        reading=f"With {counted(found.known, 'item')} known, {percent(shares[-1])} of the baskets have fewer than "
        f"{number(k)} to hide among, if the right ones are known.",
    )


def _exposed(found: KnownItems, baskets: Transactions, run: Run) -> tuple[Exposed, ...]:
    listed = []
    for basket in found.worst(run.exposed).tolist():
        many, size = int(found.least[basket]), int(found.fewest[basket])
        if many >= found.k:
            break
        names = [baskets.labels[i].as_py() for i in found.why(basket, run)] if run.reveal else []
        listed.append(
            Exposed(
                subject=f"basket {basket + 1:,}",
                risk=1 / many,
                because=f"{'the only one' if many == 1 else f'one of {many:,}'} with {counted(size, 'certain item')}",
                learns=("the rest of the basket",),
                values={"items": shown(" ".join(map(str, names)), 200)} if run.reveal else None,
            )
        )
    return tuple(listed)
