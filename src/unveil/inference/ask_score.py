"""The finding about the privacy score: how bad the worst inference about each person is, if attributes are weighed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.finding import Curve, Finding
from unveil.inference import risks
from unveil.inference.ask_lattice import lattice_charts
from unveil.inference.settings import InferenceSettings
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.run import Run
from unveil.wording import ends_text, list_text, number_text

if TYPE_CHECKING:
    from unveil.arrays import Floats, Int32s
    from unveil.inference.privacy_score import PrivacyScores
    from unveil.inference.relation import Relation

__all__ = ["score_finding"]

_WHITE = "L. A. White, A privacy score for anonymous databases, thesis, 2021, definitions 3.1 to 3.6"
_BUDGET = 20_000_000  # sets that are looked at
_BINS = 20


def score_finding(case: Case, table: Table, known: tuple[str, ...], policy: Policy, run: Run) -> Iterator[Finding]:
    """The score for someone who may know these columns; nothing for several rows per person."""
    from unveil.inference.privacy_score import score

    if policy.subject is not None or not table.rows:
        return
    relation = _weigh_attributes(case, table, known, policy, run)
    found = score(relation, budget=_BUDGET, run=run)
    chosen = policy.settings_for(InferenceSettings)
    average, share = found.average, found.share_at_least(chosen.score_threshold)
    suffix = f", knowing {list_text(known, 3)}" if len(policy.quasi) > 1 else ""
    mean = ends_text(average.low, average.high, number_text)
    many = ends_text(share.low, share.high)
    yield risks.SCORE.finding(
        policy,
        title=risks.SCORE.title + suffix,
        value=average.high,
        unit="",
        method="exact" if found.is_exact else "bound",
        interval=average,
        share=share,
        known=known,
        subjects=table.rows,
        attacker=f"Knows attributes of the person, each as likely as its weight says, out of {list_text(known)}.",
        missing="A missing fact is a value of its own; a missing sensitive value fits any."
        if policy.missing_as == "value"
        else "A missing fact is not known; a missing sensitive value fits any.",
        sentence=f"The worst inference about a row weighs {mean} on average, and at least "
        f"{number_text(chosen.score_threshold)} for {many} of the rows (by {found.method}).",
        curves=(
            _scores_curve(found, chosen.score_threshold),
            *lattice_charts(relation, [*known, *(c for c in policy.sensitive if c not in known)]),
        ),
        source=_WHITE,
    )


def _weigh_attributes(case: Case, table: Table, known: tuple[str, ...], policy: Policy, run: Run) -> Relation:
    """The columns as attributes with their weights: quasi-identifiers are known and harmless, sensitive values are
    unknown, and the more dangerous the rarer they are, unless the policy says otherwise."""
    import numpy as np

    from unveil.inference.relation import Relation
    from unveil.inference.value_cuts import cut_column, shared_codes

    chosen, is_value = policy.settings_for(InferenceSettings), policy.missing_as == "value"
    columns: list[Int32s] = []
    likelihood: list[float] = []
    danger: list[Floats | float] = []
    quasi = table.codes(known, () if is_value else policy.missing, run)
    for name in known:
        fact = cut_column(name, quasi[name], case.hierarchies.get(name))
        columns.append(shared_codes(fact, is_value))
        likelihood.append(_weight(chosen.likelihood, name, 1.0))
        danger.append(_weight(chosen.danger, name, 0.0))
    for name in (c for c in policy.sensitive if c not in known):
        codes = cut_column(name, table.codes([name], policy.missing, run)[name]).codes
        if not (codes >= 0).any():
            continue
        counts = np.bincount(codes[codes >= 0], minlength=1)
        columns.append(codes)
        likelihood.append(_weight(chosen.likelihood, name, 0.0))
        danger.append(_weight(chosen.danger, name, 1.0) * (1 - counts / max(1, counts.sum())))
    sizes = [int(codes.max(initial=-1)) + 1 for codes in columns]
    return Relation.from_columns(columns, likelihood, danger, sizes=sizes)


def _weight(given: Mapping[str, str], name: str, otherwise: float) -> float:
    return float(given[name]) if name in given else otherwise


def _scores_curve(found: PrivacyScores, threshold: float) -> Curve:
    """The share of rows that score at least so much, with what is certain and what is possible."""
    places = tuple(i / _BINS for i in range(_BINS + 1))
    ends = [found.share_at_least(x) for x in places]
    return Curve(
        title="Rows by the weight of the worst inference",
        kind="line",
        x_label="weight, at least",
        y_label="share of rows",
        x=places,
        y=tuple(e.high for e in ends),
        low=tuple(e.low for e in ends),
        high=tuple(e.high for e in ends),
        mark=threshold,
        mark_label="threshold",
        reading="How many rows have an inference that weighs at least so much.",
    )
