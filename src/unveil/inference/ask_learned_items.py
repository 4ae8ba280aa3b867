"""The findings about what a few items of a basket tell about the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from unveil.finding import ExposedSubject, Finding
from unveil.inference import risks
from unveil.inference.ask_learned import TOP_RULES, LearnedText, LearnedWords, known_facts_text
from unveil.inference.settings import InferenceSettings, least_sharing
from unveil.policy import Policy
from unveil.release.transactions import Transactions
from unveil.run import Run
from unveil.wording import count_text, list_text, number_word

if TYPE_CHECKING:
    from unveil.arrays import Ints
    from unveil.inference.basket_gains import Baskets
    from unveil.inference.belief_gains import TellingColumns
    from unveil.inference.learned_values import LearnedValues

__all__ = ["learned_item_findings"]


def learned_item_findings(transactions: Transactions, policy: Policy, run: Run) -> Iterator[Finding]:
    """All findings about what items tell."""
    import numpy as np

    from unveil.inference.basket_gains import Baskets
    from unveil.inference.learned_values import measure_learned_items

    if not transactions.baskets:
        return
    chosen, rng = policy.settings_for(InferenceSettings), run.rng(risks.LEARNED.id)
    order = transactions.shuffle_baskets(rng)
    secret = np.isin(np.array(transactions.labels.to_pylist(), object), list(chosen.sensitive_items))
    is_any = not chosen.sensitive_items
    baskets = Baskets.in_order(transactions.indptr, transactions.items, order, ~secret | is_any, secret | is_any)
    learned = measure_learned_items(
        baskets,
        facts=chosen.facts_known,
        fewest=least_sharing(policy),
        gain=chosen.gain,
        run=run,
        rng=rng,
    )
    yield from _item_text(transactions, baskets, order, learned, policy, run).findings()


def _item_text(
    transactions: Transactions, baskets: Baskets, order: Ints, learned: LearnedValues, policy: Policy, run: Run
) -> LearnedText:
    """Everything that the findings say. Items are named only if the owner asks to reveal them."""
    telling = learned.gains.telling[:TOP_RULES]

    def names(place: int) -> str:
        size = len(telling[place].columns)
        before = sum(len(other.columns) == size for other in telling[:place])
        return f"{count_text(size, 'item')}{f', set {before + 1}' if before else ''}"

    some = known_facts_text(learned.facts, "item")
    which = "other items" if baskets.is_target.all() else "sensitive items"
    return LearnedText(
        learned=learned,
        words=_words(baskets),
        policy=policy,
        confidence=run.confidence,
        suffix="",
        telling=telling,
        telling_names=names,
        beliefs=None,
        exposed=lambda: _list_exposed(order, learned, run),
        rules=lambda: tuple(
            _rule_subject(place, found, transactions, run) for place, found in enumerate(telling[: run.exposed], 1)
        ),
        common={
            "attacker": f"Knows {some} of a basket, and which item is which; wants to learn its {which}.",
            "missing": "An item that is not in a basket is not known to be absent.",
        },
    )


def _words(baskets: Baskets) -> LearnedWords:
    other = "another item" if baskets.is_target.all() else "a sensitive item"
    no_other = "no other item" if baskets.is_target.all() else "no sensitive item"
    return LearnedWords(
        subject="basket",
        subjects="baskets",
        fact="item",
        target=f"{other} of the same basket",
        no_target=f"{no_other} of any basket",
        about_target="",
        exposed_title=f"Baskets in which {other} is given away",
        certainty="every basket with these items has it",
        unrelated="Were items spread over baskets at random",
        titles={
            risks.LEARNED.id: f"Baskets in which a few items give away {other}",
            risks.CERTAIN.id: f"Baskets in which a few items make {other} certain",
            risks.FACTS.id: f"Fewest items that give away {other}",
            risks.RULES.id: f"Baskets in which the most telling items give away {other}",
        },
    )


def _rule_subject(place: int, found: TellingColumns, transactions: Transactions, run: Run) -> ExposedSubject:
    names = list_text([transactions.labels[item].as_py() for item in found.columns])
    items = "this item" if len(found.columns) == 1 else f"these {number_word(len(found.columns))} items"
    return ExposedSubject(
        subject=f"rule {place}",
        risk=found.people / found.sharing,
        because=f"another item is given away in {found.people:,} of {count_text(found.sharing, 'basket')} with {items}",
        learns=("an item",),
        values={"known": names} if run.reveal else None,
    )


def _list_exposed(order: Ints, learned: LearnedValues, run: Run) -> tuple[ExposedSubject, ...]:
    """The baskets about which most is learned."""
    import numpy as np

    from unveil.inference.belief_gains import lowest_that_reaches

    best = learned.gains.best
    numbers = order[: best.shape[1]]
    worst = np.lexsort((numbers, -best[-1]))[: run.exposed]
    return tuple(
        ExposedSubject(
            subject=f"basket {int(numbers[b]) + 1:,}",
            risk=float(best[-1, b]),
            because=f"{count_text(int(np.argmax(best[:, b])), 'item')} of it can raise belief in another one by "
            f"{100 * float(best[-1, b]):.3g} points",
            learns=("an item",),
        )
        for b in worst.tolist()
        if best[-1, b] >= lowest_that_reaches(learned.gain)
    )
