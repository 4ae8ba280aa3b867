"""What the findings of this room have in common: of what they are asked, sources, and who the attacker is."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from unveil.finding import Curve, Finding
from unveil.policy import Policy
from unveil.wording import counted, listed, percent

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from unveil.linkage.people import People

__all__ = ["FEWEST", "MERENER", "MONTJOYE", "MOST", "NARAYANAN", "PHI", "RARE", "lead", "maker", "with_interval"]

MERENER = (
    "M. M. Merener, Theoretical results on de-anonymization via linkage attacks, Transactions on Data Privacy 5, 2012"
)
NARAYANAN = "A. Narayanan, V. Shmatikov, Robust de-anonymization of large sparse datasets, IEEE S&P 2008"
MONTJOYE = "Y.-A. de Montjoye and others, Unique in the crowd, Scientific Reports 3, 2013"

FEWEST = 3  # columns without which there is nothing to choose from
MOST = 5_000_000  # rows
RARE = 0.5  # the rank from which on a thing is rare, as a share of all
PHI = 1.5  # standard deviations by which a best match stands out
_EDGES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)
_MISSING = "A missing value is nothing that could be known of a person, and agrees with nothing."


def maker(people: People, known: int, policy: Policy) -> Any:
    """Makes findings with what all of them have in common."""
    from unveil.linkage.similarity import named

    what = f"{counted(known, 'random value')} of a person among {listed(people.among, 12)}"
    if people.rated:
        what = f"{counted(known, 'random rating')} of a person, each with {listed(people.among)}"

    near = [f"{c} {named(how).said}" for c, how in policy.compare.items() if c in people.among]
    if near:
        what += f" ({listed(near)} counts as the same)"

    def make(finding_id: str, title: str, value: float, sentence: str, **more: Any) -> Finding:
        tolerance = policy.tolerated(finding_id)
        facts: dict[str, Any] = {
            "id": finding_id,
            "question": "linkage",
            "title": title,
            "value": value,
            "unit": "share",
            "subjects": int((people.support > 0).sum()),
            "tolerance": tolerance,
            "direction": "lower",
            "decides": tolerance is not None,
            "attacker": f"Knows {what}, and that the person is in the data.",
            "missing": _MISSING,
            "sentence": sentence,
        }
        return Finding(**(facts | more))

    return make


def with_interval(value: float, interval: tuple[float, float]) -> str:
    """A share, and where it lies if it was sampled."""
    low, high = interval
    return percent(value) if low == high else f"{percent(value)} ({percent(low)} to {percent(high)})"


def lead(ahead: npt.NDArray[np.float64], who: str, when: str, confidence: float | None = None) -> Curve:
    """How far best matches are ahead of the second best, in standard deviations of all scores. With a confidence, they
    are draws."""
    import numpy as np

    from unveil.linkage.intervals import estimated

    gaps = np.nan_to_num(ahead, nan=0.0)
    counts = np.bincount(np.searchsorted(_EDGES, gaps, "right") - 1, minlength=len(_EDGES))
    names = [f"{a:g}–{b:g}" for a, b in pairwise(_EDGES)] + [f"≥ {_EDGES[-1]:g}"]
    out = estimated(gaps >= PHI, confidence or 0.95)
    share = with_interval(out.value, out.interval) if confidence else percent(out.value)
    said = f"the best match stands out by {PHI:g} standard deviations or more for {share} of the {who}"
    return Curve(
        title="How far the best match is ahead of the second best",
        kind="bars",
        x_label="lead of the best score, in standard deviations of all scores",
        y_label=f"share of {who}",
        x=tuple(names),
        y=tuple((counts / counts.sum()).tolist()),
        x_scale="category",
        mark=PHI,
        mark_label=f"stands out from {PHI:g} on",
        reading=f"{when}{said if when else said.capitalize()}. An attacker can then be confident without knowing the "
        "truth.",
    )
