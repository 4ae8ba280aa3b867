"""The finding about the privacy score: how bad the worst inference about each person is, if attributes are weighed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unveil.case import Case
from unveil.finding import Curve, ExposedSubject, Finding, LatticeChart
from unveil.inference import risks
from unveil.inference.lattice_chart import lattice_charts
from unveil.inference.settings import InferenceSettings
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.release.transactions import Transactions
from unveil.run import Run
from unveil.wording import count_text, ends_text, list_text, number_text

if TYPE_CHECKING:
    from unveil.inference.attribute_weights import WeighedRelation
    from unveil.inference.explanations import Explanation, Inference
    from unveil.inference.privacy_score import PrivacyScores

__all__ = ["score_of_items", "score_of_table"]

_WHITE = "L. A. White, A privacy score for anonymous databases, thesis, 2021, definitions 3.1 to 3.6"
_BUDGET = 20_000_000  # sets that are looked at
_BINS = 20
_EXPLAINING_WORK = 5_000_000


_MOST_EXPLAINED = 20_000_000  # distinct rows × attributes up to which scores are explained


def score_of_table(case: Case, table: Table, known: tuple[str, ...], policy: Policy, run: Run) -> Iterator[Finding]:
    """The score for someone who may know these columns."""
    from unveil.inference.attribute_weights import weigh_table

    if not table.rows:
        return
    weighed = weigh_table(case, table, known, policy, run)
    suffix = f", knowing {list_text(known, 3)}" if len(policy.quasi) > 1 else ""
    fact = {"value": "is a value of its own", "wildcard": "is not known", "excluded": "excludes the row"}
    sensitive = "excludes the person" if policy.subject else "fits any"
    yield from _ScoredRelation(weighed, policy, "row" if policy.subject is None else "person").findings(
        run,
        title=risks.SCORE.title + suffix,
        known=known,
        attacker=f"May know each of {list_text(known)}, with the likelihood that the policy sets.",
        missing=f"A missing fact {fact[policy.missing_as]}; a missing sensitive value {sensitive}.",
    )


def score_of_items(transactions: Transactions, policy: Policy, run: Run) -> Iterator[Finding]:
    """The score for someone who may know items of a basket."""
    from unveil.inference.attribute_weights import weigh_items

    yield from _ScoredRelation(weigh_items(transactions, policy), policy, "basket").findings(
        run,
        title=risks.SCORE.title,
        attacker="May know each item of a basket, with the likelihood that the policy sets, and which item is which.",
        missing="",
    )


@dataclass(frozen=True, eq=False)
class _ScoredRelation:
    """A relation whose scores are to be told. ``one`` is what an individual is called."""

    weighed: WeighedRelation
    policy: Policy
    one: str

    @property
    def several(self) -> str:
        """What individuals are called."""
        return "people" if self.one == "person" else f"{self.one}s"

    def findings(self, run: Run, **more: Any) -> Iterator[Finding]:
        """The finding, unless nobody is left."""
        from unveil.inference.privacy_score import score

        if not self.weighed.relation.people:
            return
        found = score(self.weighed.relation, budget=_BUDGET, run=run)
        threshold = self.policy.settings_for(InferenceSettings).score_threshold
        average, share = found.average, found.share_at_least(threshold)
        mean, many = ends_text(average.low, average.high, number_text), ends_text(share.low, share.high)
        yield risks.SCORE.finding(
            self.policy,
            value=average.high,
            unit="",
            method="exact" if found.is_exact else "bound",
            interval=average,
            share=share,
            subjects=self.weighed.relation.people,
            sentence=f"On a scale from 0 to 1, the worst that can be inferred about a {self.one} scores {mean} on "
            f"average; {many} of the {self.several} score at least {number_text(threshold)}.",
            curves=(self._scores_curve(found, threshold), *self._lattice()),
            exposed=self._list_exposed(found, run),
            source=_WHITE,
            **more,
        )

    def _lattice(self) -> tuple[LatticeChart, ...]:
        """The picture of a small table, each column once."""
        first = self.weighed.relation.first_attribute
        columns = [] if first is None else [self.weighed.column_of[a] for a in first[:-1].tolist()]
        return lattice_charts(self.weighed.relation, columns) if len({*columns}) == len(columns) else ()

    # ---- why ----

    def _list_exposed(self, found: PrivacyScores, run: Run) -> tuple[ExposedSubject, ...]:
        """Those who score most, and why. Equal individuals are explained once."""
        import numpy as np

        from unveil.inference.explanations import explain

        relation = self.weighed.relation
        if len(relation.rows.counts) * relation.attributes > _MOST_EXPLAINED:
            return ()
        order = np.lexsort((self.weighed.row_of, -found.lower))
        explained: dict[int, Explanation] = {}
        listed = list[ExposedSubject]()
        for individual in order[: run.exposed].tolist():
            row = int(relation.rows.row_of[individual])
            if row not in explained:
                explained[row] = explain(relation, individual, most_work=_EXPLAINING_WORK, run=run)
            listed += self._explain(individual, float(found.lower[individual]), explained[row], run.reveal)
        return tuple(listed)

    def _explain(self, individual: int, risk: float, found: Explanation, reveal: bool) -> Iterator[ExposedSubject]:
        worst = found.most_dangerous
        if worst is None or found.shortest is None or found.likeliest is None:
            return
        because = {worst.known: self._inference_text(worst)}
        others = (("fewest facts", found.shortest), ("likeliest facts", found.likeliest))
        for what, other in others if found.is_complete else others[:1]:
            because.setdefault(other.known, f"{what}: {self._inference_text(other)}")
        aside = "" if found.is_complete else "; larger sets of facts were not tried"
        number = int(self.weighed.row_of[individual]) + 1
        of = "person of row" if self.one == "person" else self.one
        yield ExposedSubject(
            subject=f"{of} {number:,}",
            risk=risk,
            because="; ".join(because.values()) + aside,
            learns=("items",) if self.one == "basket" else self._names(self._dangerous(worst)),
            values=self._values(worst) if reveal else None,
        )

    def _inference_text(self, inference: Inference) -> str:
        """What follows from what. Names of columns are no secret; values and items are."""
        if self.one == "basket":
            known = count_text(len(inference.known), "item")
            learned = count_text(len(self._dangerous(inference)), "other item" if inference.known else "item")
        else:
            known, learned = (list_text(self._names(a)) for a in (inference.known, self._dangerous(inference)))
        weight = number_text(inference.weight)
        give = "gives" if len(inference.known) < 2 else "give"
        return f"{known if inference.known else 'no fact at all'} {give} away {learned} (score {weight})"

    def _values(self, inference: Inference) -> dict[str, str]:
        """What is known and what follows, by name."""
        label, column = self.weighed.label_of, self.weighed.column_of
        if self.one == "basket":
            items = {"known": inference.known, "follows": self._dangerous(inference)}
            return {what: ", ".join(label[a] for a in each) for what, each in items.items() if each}
        found: dict[str, str] = {}
        for a in (*self._dangerous(inference), *inference.known):
            found[column[a]] = f"{found[column[a]]}, {label[a]}" if column[a] in found else label[a]
        return found

    def _dangerous(self, inference: Inference) -> list[int]:
        """What follows and is dangerous."""
        return [a for a in inference.learned if self.weighed.relation.danger[a] > 0]

    def _names(self, attributes: Sequence[int]) -> tuple[str, ...]:
        """The columns that attributes belong to, each once."""
        return tuple(dict.fromkeys(self.weighed.column_of[a] for a in attributes))

    def _scores_curve(self, found: PrivacyScores, threshold: float) -> Curve:
        """The share of individuals who score at least so much, with what is certain and what is possible."""
        places = tuple(i / _BINS for i in range(_BINS + 1))
        ends = [found.share_at_least(x) for x in places]
        return Curve(
            title=f"{self.several.capitalize()} by their privacy score",
            kind="line",
            x_label="score, at least",
            y_label=f"share of {self.several}",
            x=places,
            y=tuple(e.high for e in ends),
            low=tuple(e.low for e in ends),
            high=tuple(e.high for e in ends),
            mark=threshold,
            mark_label="threshold",
            reading=f"The share of {self.several} that score at least so much.",
        )
