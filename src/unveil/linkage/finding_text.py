"""What the findings of this room share: limits, sources, the attacker, and the curve of leads."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from unveil.finding import Curve
from unveil.linkage.settings import LinkageSettings
from unveil.wording import capitalise_text, count_text, list_text, percent_text, range_text, singular_noun, verb

if TYPE_CHECKING:
    from unveil.arrays import Floats
    from unveil.intervals import Estimate
    from unveil.linkage.people import People

__all__ = [
    "HALF_FOUND",
    "MAX_ROWS",
    "MERENER",
    "MIN_COLUMNS",
    "MISSING",
    "MONTJOYE",
    "NARAYANAN",
    "PHI",
    "RARE_RANK",
    "RandomFactsAttacker",
    "estimate_text",
    "lead_curve",
]

MERENER = (
    "M. M. Merener, Theoretical results on de-anonymization via linkage attacks, Transactions on Data Privacy 5, 2012"
)
NARAYANAN = "A. Narayanan, V. Shmatikov, Robust de-anonymization of large sparse datasets, IEEE S&P 2008"
MONTJOYE = "Y.-A. de Montjoye and others, Unique in the crowd, Scientific Reports 3, 2013"

MIN_COLUMNS = 3  # columns at least: with fewer there is nothing to choose from
MAX_ROWS = 5_000_000  # rows that can be attacked
HALF_FOUND = 0.5
RARE_RANK = 0.5 + 1e-9
"""An item, value or column is rare from this popularity rank on, as a share of all ranks. It lies just above one half:
of six items the rarer half are the last three, whose ranks are 4, 5 and 6."""
PHI = 1.5  # standard deviations by which a best match must lead to stand out
MISSING = "A missing value cannot be known, and it matches nothing."
_LEAD_EDGES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)


@dataclass(frozen=True, eq=False)
class RandomFactsAttacker:
    """Someone who knows ``known`` random facts about each of some people, or all there are, and looks for them.
    ``is_one_of_several``: there are others, who know other columns."""

    people: People
    known: int
    settings: LinkageSettings
    is_one_of_several: bool = False

    @property
    def subjects(self) -> int:
        """The number of people about whom there is anything to know."""
        return int((self.people.support > 0).sum())

    @property
    def left_out_sentence(self) -> str:
        """How many people were left out because there is nothing to know about them."""
        none = self.people.records.n - self.subjects
        if not none:
            return ""
        who = count_text(none, self.people.singular, self.people.plural)
        return f" {who} without any {singular_noun(self.people.values)} {verb(none, 'was', 'were')} left out."

    @property
    def facts(self) -> str:
        """What is known about each, in a few words."""
        return count_text(self.known, f"random {self.people.fact_noun}")

    @property
    def facts_in_title(self) -> str:
        """What is known about each, with the columns if that tells this attacker from others."""
        return f"{self.facts} of {self.title_columns}" if self.is_one_of_several else self.facts

    @property
    def title_columns(self) -> str:
        """The columns that facts come from, as titles list them."""
        return list_text(self.people.columns, 3)

    @property
    def known_columns(self) -> tuple[str, ...] | None:
        """The columns that facts come from; None of ratings."""
        return None if self.people.has_ratings else self.people.columns

    @property
    def sentence(self) -> str:
        """What the attacker knows."""
        people = self.people
        fewer = " (all there are, if fewer)" if int(people.support.min()) < self.known else ""
        if people.has_ratings:
            what = (
                f"{count_text(self.known, 'random rating')} of a person{fewer}, each with {list_text(people.columns)}"
            )
        else:
            columns = f"in the columns {list_text(people.columns, 12)}"
            what = f"{count_text(self.known, 'random value')} of a person {columns}{fewer}"
        rows = " Does not know which of these values stand in the same row." if people.fact_noun == "value" else ""
        has_gaps = people.fact_noun == "column" and int(people.support.min()) < len(people.columns)
        gaps = " A missing value matches nothing." if has_gaps else ""
        return f"Knows {what}, and that the person is in the data.{rows}{gaps}{self._comparisons()}"

    def _comparisons(self) -> str:
        """Which values count as the same although they are not, and which in part."""
        compared = self.settings.similarities(self.people.columns).items()
        same = [f"{column} {how.description}" for column, how in compared if how.kind not in ("equal", "linear")]
        partly = [f"{column} less than {how.scale:g} apart" for column, how in compared if how.kind == "linear"]
        text = f" These count as the same: {list_text(same)}." if same else ""
        return text + (
            f" These agree in part, for an attacker who scores every row: {list_text(partly)}." if partly else ""
        )


def estimate_text(estimate: Estimate) -> str:
    """A share with its interval."""
    return range_text(estimate.value, estimate.interval)


def lead_curve(leads: Floats, subjects_name: str, condition: str, confidence: float | None = None) -> Curve:
    """How far best matches lead the second best, in standard deviations of all scores. Give a ``confidence`` if the
    matches are a sample."""
    import numpy as np

    from unveil.intervals import estimate_mean

    gaps = np.nan_to_num(leads, nan=0.0)
    counts = np.bincount(np.searchsorted(_LEAD_EDGES, gaps, "right") - 1, minlength=len(_LEAD_EDGES))
    names = [f"{a:g}–{b:g}" for a, b in pairwise(_LEAD_EDGES)] + [f"≥ {_LEAD_EDGES[-1]:g}"]
    out = estimate_mean(gaps >= PHI, confidence or 0.95)
    share = estimate_text(out) if confidence else percent_text(out.value)
    stands_out = f"for {share} of the {subjects_name}, the best match leads by {PHI:g} standard deviations or more"
    return Curve(
        title="Lead of the best match over the second best",
        kind="bars",
        x_label="lead of the best score, in standard deviations of all scores",
        y_label=f"share of {subjects_name}",
        x=tuple(names),
        y=tuple((counts / counts.sum()).tolist()),
        x_scale="category",
        mark=PHI,
        mark_label=f"stands out: {PHI:g} or more",
        reading=f"{capitalise_text(condition + stands_out)}. The attacker can then be confident without "
        "knowing the truth.",
    )
