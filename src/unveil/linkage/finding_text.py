"""What the findings of this room share: limits, sources, the attacker, and the curve of leads."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from unveil.finding import Curve
from unveil.linkage.settings import LinkageSettings
from unveil.wording import count_text, list_text, percent_text

if TYPE_CHECKING:
    from unveil.arrays import Floats
    from unveil.linkage.people import People

__all__ = [
    "MAX_ROWS",
    "MERENER",
    "MIN_COLUMNS",
    "MISSING",
    "MONTJOYE",
    "NARAYANAN",
    "PHI",
    "RARE_RANK",
    "Attacker",
    "lead_curve",
    "share_with_interval",
]

MERENER = (
    "M. M. Merener, Theoretical results on de-anonymization via linkage attacks, Transactions on Data Privacy 5, 2012"
)
NARAYANAN = "A. Narayanan, V. Shmatikov, Robust de-anonymization of large sparse datasets, IEEE S&P 2008"
MONTJOYE = "Y.-A. de Montjoye and others, Unique in the crowd, Scientific Reports 3, 2013"

MIN_COLUMNS = 3  # columns at least: with fewer there is nothing to choose from
MAX_ROWS = 5_000_000  # rows that can be attacked
RARE_RANK = 0.5  # a thing is rare from this popularity rank on, as a share of all ranks
PHI = 1.5  # standard deviations by which a best match must lead to stand out
MISSING = "An attacker cannot know a missing value, and it agrees with nothing."
_LEAD_EDGES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)


@dataclass(frozen=True, eq=False)
class Attacker:
    """Someone who knows ``known`` random facts about each of some people, or all there are, and looks for them."""

    people: People
    known: int
    settings: LinkageSettings

    @property
    def subjects(self) -> int:
        """The number of people about whom there is anything to know."""
        return int((self.people.support > 0).sum())

    @property
    def facts(self) -> str:
        """What is known about each, in a few words."""
        return count_text(self.known, f"random {self.people.thing}")

    @property
    def sentence(self) -> str:
        """What the attacker knows."""
        people = self.people
        fewer = " (all there are, if fewer)" if int(people.support.min()) < self.known else ""
        if people.has_ratings:
            what = f"{count_text(self.known, 'random rating')} of a person{fewer}, each with {list_text(people.among)}"
        else:
            columns = f"in the columns {list_text(people.among, 12)}"
            what = f"{count_text(self.known, 'random value')} of a person {columns}{fewer}"
        return f"Knows {what}, and that the person is in the data.{self._comparisons()}"

    def _comparisons(self) -> str:
        """Which values count as the same although they are not, and which in part."""
        compared = self.settings.similarities(self.people.among).items()
        same = [f"{column} {how.said}" for column, how in compared if how.kind not in ("equal", "linear")]
        partly = [f"{column} up to {how.scale:g} apart" for column, how in compared if how.kind == "linear"]
        text = f" These count as the same: {list_text(same)}." if same else ""
        return text + (
            f" These count in part, for an attacker who scores every row: {list_text(partly)}." if partly else ""
        )


def share_with_interval(value: float, interval: tuple[float, float]) -> str:
    """A share, with its interval if it was sampled.

    >>> share_with_interval(0.5, (0.4, 0.6)), share_with_interval(0.5, (0.5, 0.5)), share_with_interval(1, (0.999999,
    ...     1))
    ('50% (40% to 60%)', '50%', '100% (over 99.99% to 100%)')
    """
    text, low, high = (percent_text(share) for share in (value, *interval))
    return text if text == low == high else f"{text} ({low} to {high})"


def lead_curve(ahead: Floats, who: str, when: str, confidence: float | None = None) -> Curve:
    """How far best matches lead the second best, in standard deviations of all scores. Give a ``confidence`` if the
    matches are a sample."""
    import numpy as np

    from unveil.intervals import estimate_mean

    gaps = np.nan_to_num(ahead, nan=0.0)
    counts = np.bincount(np.searchsorted(_LEAD_EDGES, gaps, "right") - 1, minlength=len(_LEAD_EDGES))
    names = [f"{a:g}–{b:g}" for a, b in pairwise(_LEAD_EDGES)] + [f"≥ {_LEAD_EDGES[-1]:g}"]
    out = estimate_mean(gaps >= PHI, confidence or 0.95)
    share = share_with_interval(out.value, out.interval) if confidence else percent_text(out.value)
    stands_out = f"for {share} of the {who}, the best match leads by {PHI:g} standard deviations or more"
    return Curve(
        title="Lead of the best match over the second best",
        kind="bars",
        x_label="lead of the best score, in standard deviations of all scores",
        y_label=f"share of {who}",
        x=tuple(names),
        y=tuple((counts / counts.sum()).tolist()),
        x_scale="category",
        mark=PHI,
        mark_label=f"stands out: {PHI:g} or more",
        reading=f"{when}{stands_out if when else f'F{stands_out[1:]}'}. The attacker can then be confident without "
        "knowing the truth.",
    )
