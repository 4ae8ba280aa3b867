"""The findings about what a class gives away together: ℓ, t, and values that are known without finding the person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unveil.finding import Curve, Finding
from unveil.policy import Policy
from unveil.wording import counted, number, percent

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from unveil.classes.models import Classes

__all__ = ["Known", "value_findings"]

_MACHANAVAJJHALA = "A. Machanavajjhala and others, ℓ-diversity: privacy beyond k-anonymity, ACM TKDD 1(1), 2007"
_LI = "N. Li, T. Li, S. Venkatasubramanian, t-closeness: privacy beyond k-anonymity and ℓ-diversity, ICDE 2007"
_RULED_OUT = 20


@dataclass(frozen=True)
class Known:
    """What an attacker knows, in words, what that adds to ids and titles, and what they are after."""

    attacker: str
    ending: str
    heading: str
    sensitive: str
    missing: str
    who: str
    decides: bool


def value_findings(
    classes: Classes, known: Known, rank: npt.NDArray[np.float64] | None, policy: Policy
) -> Iterator[Finding]:
    """All findings about one sensitive column. ``rank`` is the order of its values where they are numbers."""
    people = int(classes.size.sum())
    hit = _Hit(classes, people)

    def finding(name: str, title: str, value: float, sentence: str, **more: Any) -> Finding:
        tolerance = policy.tolerated(name)
        higher = more.get("direction", "lower") == "higher"
        facts: dict[str, Any] = {
            "id": name + known.ending,
            "question": "classes",
            "title": title + known.heading,
            "value": value,
            "unit": "values" if higher else "share",
            "method": "exact",
            "subjects": people,
            "tolerance": tolerance,
            "direction": "lower",
            "decides": tolerance is not None and known.decides,
            "attacker": known.attacker,
            "missing": known.missing,
            "sentence": sentence,
        }
        return Finding(**(facts | more))

    least = int(classes.distinct.min())
    wanted = policy.tolerated("classes.l_distinct") or 2
    few = hit.share(classes.distinct < wanted)
    yield finding(
        "classes.l_distinct",
        f"Fewest different values of {known.sensitive} in a class (ℓ)",
        float(least),
        f"{percent(few)} of the {known.who} stand in classes with fewer than {number(wanted)} different values of "
        f"{known.sensitive}; the poorest class has {counted(least, 'value')}. In some class one value takes up "
        f"{percent(float(classes.alpha.max()))} (α); {_recursive(classes)}",
        direction="higher",
        share=(few, few),
        curves=(_by_ruled_out(hit, known),) if classes.values > 2 else (),
        source=_MACHANAVAJJHALA,
    )
    entropy = classes.entropy_l
    tolerance = policy.tolerated("classes.l_entropy")
    below = hit.share(entropy < (wanted if tolerance is None else tolerance) - 1e-12)
    yield finding(
        "classes.l_entropy",
        f"Least diversity of {known.sensitive} in a class by entropy (ℓ)",
        float(entropy.min()),
        f"The least diverse class tells as little as {number(float(entropy.min()))} equally frequent values would.",
        direction="higher",
        share=(below, below),
        source=_MACHANAVAJJHALA,
    )
    yield _t(classes, known, rank, policy, hit, finding)
    yield _homogeneity(classes, known, hit, finding)


@dataclass(frozen=True, eq=False)
class _Hit:
    classes: Classes
    people: int

    def share(self, some: npt.NDArray[np.bool_]) -> float:
        """The share of people in some classes."""
        return float(self.classes.size[some].sum() / self.people)


def _recursive(classes: Classes) -> str:
    import numpy as np

    c = float(classes.recursive_c(2).max())
    if np.isinf(c):
        return "no c makes it recursively (c, 2)-diverse."
    return f"it is recursively (c, 2)-diverse for every c above {number(c)}."


def _by_ruled_out(hit: _Hit, known: Known) -> Curve:
    """The background knowledge attack: how many values must be ruled out before one is left."""
    most = min(_RULED_OUT, hit.classes.values - 1)
    shares = [hit.share(hit.classes.distinct <= m + 1) for m in range(most + 1)]
    half = next((m for m, s in enumerate(shares) if s >= 0.5), None)
    said = f"that takes {half:,} for half of the {known.who}" if half else f"it does so for half of the {known.who}"
    if half is None:
        said = f"half of the {known.who} need more"
    return Curve(
        title=f"Background knowledge: {known.sensitive} revealed by ruling out values",
        kind="line",
        x_label=f"values of {known.sensitive} that the attacker can rule out",
        y_label=f"share of {known.who} whose value is then known",
        x=tuple(float(m) for m in range(most + 1)),
        y=tuple(shares),
        reading=f"At 0 the class alone tells; if the worst values to be ruled out are, {said}.",
    )


def _t(
    classes: Classes, known: Known, rank: npt.NDArray[np.float64] | None, policy: Policy, hit: _Hit, finding: Any
) -> Finding:
    import numpy as np

    equal = float(classes.t_equal.max())
    distances = classes.t_equal if rank is None else classes.t_ordered(rank)
    value = float(distances.max())
    tolerance = policy.tolerated("classes.t")
    off = None if tolerance is None else hit.share(distances > tolerance + 1e-12)
    how = "all values equally far apart" if rank is None else "values on a line"
    beside = "" if rank is None else f" (with all values equally far apart {number(equal)})"
    beta, enhanced, delta = (float(x.max()) for x in (classes.beta, classes.beta_enhanced, classes.delta))
    delta_text = "infinite, as some value is absent from some class" if np.isinf(delta) else number(delta)
    beta_text = "none is enough" if np.isinf(enhanced) else number(enhanced)
    found: Finding = finding(
        "classes.t",
        f"How far {known.sensitive} in a class is from the whole table (t)",
        value,
        f"The class that differs most from the table is {number(value)} away from it, where 1 is the farthest, with "
        f"{how}{beside}. Basic β {number(beta)}, enhanced β {beta_text}, "
        f"δ-disclosure {delta_text}.",
        unit="distance",
        share=None if off is None else (off, off),
        source=_LI,
    )
    return found


def _homogeneity(classes: Classes, known: Known, hit: _Hit, finding: Any) -> Finding:
    import numpy as np

    same = hit.share(classes.distinct == 1)
    gain = classes.inside - classes.share[classes.value]
    at = int(np.argmax(gain))
    before, after = float(classes.share[classes.value[at]]), float(classes.inside[at])
    guess = float((classes.top.sum()) / hit.people)
    certain = f"The class alone tells the {known.sensitive} of {percent(same)} of the {known.who}"
    skew = (
        f"In the most skewed class, belief in one value rises from {percent(before)} to {percent(after)}"
        if after > before
        else "No class tells more than the table"
    )
    found: Finding = finding(
        "classes.homogeneity",
        f"{known.who.capitalize()} whose {known.sensitive} is known without finding them",
        same,
        f"{certain}. {skew}. Guessing each class's most frequent value is right for {percent(guess)}.",
        share=(same, same),
        baseline=float(classes.values == 1),
        source=_MACHANAVAJJHALA,
    )
    return found
