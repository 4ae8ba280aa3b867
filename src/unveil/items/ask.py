"""The question ``items``: how many items does the release give away to someone who knows how popular each one is?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.crowds import Crowds
from unveil.finding import Exposed, Finding
from unveil.items.groups import group_sizes
from unveil.policy import Policy
from unveil.question import Question
from unveil.release.transactions import Transactions
from unveil.run import Run
from unveil.wording import counted, number, percent, shown

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["QUESTION"]

_LAKSHMANAN = (
    "L. Lakshmanan, R. Ng, G. Ramesh, On disclosure risk analysis of anonymized itemsets in the presence of prior "
    "knowledge, ACM TKDD 2(3), 2008, Lemmas 3.1, 3.2 and 3.5"
)


def ask(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
    """The findings of this question."""
    baskets = case.release
    assert isinstance(baskets, Transactions)
    sizes = group_sizes(baskets.counts)
    crowds = Crowds.from_members(sizes)
    items = crowds.total
    groups = round(crowds.found)
    share = groups / items
    tolerance = policy.tolerated("items.point_knowledge")
    yield Finding(
        id="items.point_knowledge",
        question="items",
        title="Items given away to someone who knows every frequency",
        value=share,
        unit="share",
        method="exact",
        subjects=items,
        share=(share, share),
        tolerance=tolerance,
        direction="lower",
        decides=tolerance is not None,
        attacker="Knows exactly how often every item was bought, and tries to tell which pseudonym is which item.",
        missing="Empty baskets are left out; an item counts once per basket.",
        baseline=1 / items,
        sentence=f"Of {counted(items, 'item')}, {number(groups)} ({percent(share)}) can be expected to be named; "
        f"for {number(crowds.below(2))} of them that is certain, because no other item is bought as often.",
        curves=(crowds.sizes_curve("items", "Items by how many share their frequency", None),),
        exposed=_exposed(baskets, sizes, run),
        source=_LAKSHMANAN,
    )


def _exposed(baskets: Transactions, sizes: npt.NDArray[np.int64], run: Run) -> tuple[Exposed, ...]:
    """The items in the smallest groups, the most frequent first. Items are numbered as they first appear."""
    import numpy as np

    order = np.lexsort((-baskets.counts, sizes))[: run.exposed]
    return tuple(
        Exposed(
            subject=f"item {i + 1:,}",
            risk=1 / int(sizes[i]),
            because="no other item is bought as often"
            if sizes[i] == 1
            else f"only {int(sizes[i]) - 1} other{'s are' if sizes[i] > 2 else ' is'} bought as often",
            learns=("which item it is",),
            values={"item": shown(baskets.labels[i].as_py())} if run.reveal else None,
        )
        for i in order.tolist()
    )


QUESTION = Question(
    name="items",
    title="What do the frequencies give away?",
    kinds=("transactions",),
    findings=("items.point_knowledge",),
    ask=ask,
)
