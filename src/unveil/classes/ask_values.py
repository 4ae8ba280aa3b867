"""The findings about what a class gives away together: ℓ, t, and values that are known without finding the person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from unveil.finding import Curve, Finding
from unveil.policy import Policy
from unveil.release.codes import as_text
from unveil.wording import counted, number, percent

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from unveil.classes.models import Classes
    from unveil.classes.sizes import ValuesIn
    from unveil.release.hierarchy import Hierarchy

__all__ = ["Known", "value_findings"]

_MACHANAVAJJHALA = "A. Machanavajjhala and others, ℓ-diversity: privacy beyond k-anonymity, ACM TKDD 1(1), 2007"
_LI = "N. Li, T. Li, S. Venkatasubramanian, t-closeness: privacy beyond k-anonymity and ℓ-diversity, ICDE 2007"
_RULED_OUT = 20


@dataclass(frozen=True)
class Known:
    """What an attacker knows, in words, what that adds to ids and titles, and what else there is to be known of the
    column that they are after: its hierarchy, and the values that can be ruled out."""

    attacker: str
    ending: str
    heading: str
    sensitive: str
    missing: str
    who: str
    decides: bool
    hierarchy: Hierarchy | None = None
    ruled_out: tuple[str, ...] = ()


def value_findings(found: ValuesIn, known: Known, policy: Policy) -> Iterator[Finding]:
    """All findings about one sensitive column."""
    made = _Maker(found.classes, known, policy)
    if not len(found.classes):
        yield made.finding(
            "classes.homogeneity",
            f"{known.who.capitalize()} whose {known.sensitive} is known without finding them",
            0.0,
            f"No row has a value in {known.sensitive}: there is nothing to learn.",
            share=(0.0, 0.0),
        )
        return
    yield _distinct(found, made)
    yield _entropy(made)
    yield _t(found, made)
    yield _homogeneity(found, made)
    if found.strict is not None:
        yield _strict(found, found.strict, known, policy)


@dataclass(frozen=True, eq=False)
class _Maker:
    """Makes findings about some classes and one attacker."""

    classes: Classes
    known: Known
    policy: Policy

    def share(self, some: npt.NDArray[np.bool_]) -> float:
        """The share of people in some classes."""
        seen_by = self.classes.seen_by
        return float(seen_by[some].sum() / seen_by.sum())

    def finding(self, name: str, title: str, value: float, sentence: str, **more: Any) -> Finding:
        """A finding with what all of them have in common."""
        tolerance = self.policy.tolerated(name)
        higher = more.get("direction", "lower") == "higher"
        facts: dict[str, Any] = {
            "id": name + self.known.ending,
            "question": "classes",
            "title": title + self.known.heading,
            "value": value,
            "unit": "values" if higher else "share",
            "method": "exact",
            "subjects": self.classes.people,
            "tolerance": tolerance,
            "direction": "lower",
            "decides": tolerance is not None and self.known.decides,
            "attacker": self.known.attacker,
            "missing": self.known.missing,
            "sentence": sentence,
        }
        return Finding(**(facts | more))

    def few(self) -> tuple[int, float, float]:
        """The fewest values in a class, how many are wanted, and the share of people in classes with fewer."""
        wanted = self.policy.tolerated("classes.l_distinct") or 2
        return int(self.classes.distinct.min()), wanted, self.share(self.classes.distinct < wanted)


def _distinct(found: ValuesIn, made: _Maker) -> Finding:
    classes, known = made.classes, made.known
    least, wanted, few = made.few()
    listed_values = f" {_listed(found, made)}" if known.ruled_out else ""
    return made.finding(
        "classes.l_distinct",
        f"Fewest different values of {known.sensitive} in a class (ℓ)",
        float(least),
        f"{percent(few)} of the {known.who} stand in classes with fewer than {number(wanted)} different values of "
        f"{known.sensitive}; the poorest class has {counted(least, 'value')}. In some class one value takes up "
        f"{percent(float(classes.alpha.max()))} (α); {_recursive(classes, wanted)}{listed_values}",
        direction="higher",
        share=(few, few),
        curves=(_by_ruled_out(made),) if classes.values > 2 else (),
        source=_MACHANAVAJJHALA,
    )


def _entropy(made: _Maker) -> Finding:
    entropy = made.classes.entropy_l
    tolerance = made.policy.tolerated("classes.l_entropy")
    wanted = (made.policy.tolerated("classes.l_distinct") or 2) if tolerance is None else tolerance
    below = made.share(entropy < wanted - 1e-12)
    return made.finding(
        "classes.l_entropy",
        f"Least diversity of {made.known.sensitive} in a class by entropy (ℓ)",
        _tidy(float(entropy.min())),
        f"The least diverse class tells as little as {number(float(entropy.min()))} equally frequent values would."
        if entropy.min() > 1 + 1e-12
        else "In the least diverse class there is one value only.",
        direction="higher",
        share=(below, below),
        source=_MACHANAVAJJHALA,
    )


def _strict(found: ValuesIn, classes: Classes, known: Known, policy: Policy) -> Finding:
    """The strict reading of several sensitive columns: someone may know all others."""
    stricter = replace(
        known,
        ending=f"{known.ending}.strict",
        heading=f"{known.heading}, the other sensitive columns known",
        attacker=f"{known.attacker} Knows all other sensitive columns too.",
        decides=known.decides and policy.strict,
    )
    made = _Maker(classes, stricter, policy)
    least, wanted, few = made.few()
    distances, how = _distances(found, classes, known)
    return made.finding(
        "classes.l_distinct",
        f"Fewest different values of {known.sensitive} in a class (ℓ)",
        float(least),
        f"{percent(few)} of the {known.who} then stand in classes with fewer than {number(wanted)} different "
        f"values; by entropy the poorest has {number(float(classes.entropy_l.min()))}, and the class that differs "
        f"most from the table is {number(_tidy(float(distances.max())))} away from it, with {how}.",
        direction="higher",
        share=(few, few),
        tolerance=policy.tolerated("classes.l_distinct") if policy.strict else None,
        source=_MACHANAVAJJHALA,
    )


def _listed(found: ValuesIn, made: _Maker) -> str:
    """What the listed values are worth to someone who can rule them out."""
    import pyarrow as pa
    import pyarrow.compute as pc

    known = made.known
    texts = pc.utf8_trim_whitespace(as_text(found.texts))
    ruled = pc.is_in(texts, value_set=pa.array([v.strip() for v in known.ruled_out])).to_numpy(zero_copy_only=False)
    revealed, total = made.classes.revealed_without(ruled), made.classes.people
    listed = counted(len(known.ruled_out), "value that is listed", "values that are listed")
    return (
        f"Whoever can rule out the {listed} ({int(ruled.sum()):,} found in the column) then knows the "
        f"{known.sensitive} of {percent(revealed / total)} of the {known.who}."
    )


def _tidy(x: float) -> float:
    """Without the noise of floating-point sums, which must not decide."""
    return 0.0 if abs(x) < 1e-12 else float(f"{x:.12g}")


def _recursive(classes: Classes, wanted: float) -> str:
    import numpy as np

    few = max(2, int(wanted))
    c = float(classes.recursive_c(few).max())
    if np.isinf(c):
        return f"no c makes it recursively (c, {few})-diverse."
    return f"it is recursively (c, {few})-diverse for every c above {number(c)}."


def _by_ruled_out(made: _Maker) -> Curve:
    """The background knowledge attack: how many values must be ruled out before one is left."""
    classes, known = made.classes, made.known
    most = min(_RULED_OUT, classes.values - 1)
    shares = [made.share(classes.distinct <= m + 1) for m in range(most + 1)]
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
        reading=f"At 0 the class alone tells; when the attacker can rule out the values that help them most, {said}.",
    )


def _distances(found: ValuesIn, classes: Classes, known: Known) -> tuple[npt.NDArray[np.float64], str]:
    """How far each class is from the table, and in which order or tree the values stand."""
    if known.hierarchy is not None:
        return classes.t_tree(_levels(found, known.hierarchy)), "values in their hierarchy"
    if found.rank is not None:
        return classes.t_ordered(found.rank), "values on a line"
    return classes.t_equal, "all values equally far apart"


def _levels(found: ValuesIn, hierarchy: Hierarchy) -> list[npt.NDArray[np.int32]]:
    """What each value is on every level above the values."""
    leaves = hierarchy.codes(found.texts)
    return [hierarchy.generalise(leaves, level) for level in range(1, hierarchy.height + 1)]


def _t(found: ValuesIn, made: _Maker) -> Finding:
    import numpy as np

    classes, known = made.classes, made.known
    distances, how = _distances(found, classes, known)
    value = _tidy(float(distances.max()))
    tolerance = made.policy.tolerated("classes.t")
    off = None if tolerance is None else made.share(distances > tolerance + 1e-12)
    beside = ""
    if distances is not classes.t_equal:
        beside = f" (with all values equally far apart {number(float(classes.t_equal.max()))})"
    beta, enhanced, delta = (float(x.max()) for x in (classes.beta, classes.beta_enhanced, classes.delta))
    delta_text = "infinite, as some value is absent from some class" if np.isinf(delta) else number(delta)
    beta_text = "none is enough" if np.isinf(enhanced) else number(enhanced)
    return made.finding(
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


def _homogeneity(found: ValuesIn, made: _Maker) -> Finding:
    import numpy as np

    classes, known = made.classes, made.known
    same = made.share(classes.distinct == 1)
    gain = classes.inside - classes.share[classes.value]
    at = int(np.argmax(gain))
    before, after = float(classes.share[classes.value[at]]), float(classes.inside[at])
    certain = f"The class alone tells the {known.sensitive} of {percent(same)} of the {known.who}"
    skew = (
        f"In the most skewed class, belief in one value rises from {percent(before)} to {percent(after)}"
        if after > before
        else "No class tells more than the table"
    )
    similar = _similar(found, known.hierarchy, made) if known.hierarchy is not None else None
    kinds = ""
    if similar is not None and len(similar.y) > 1:
        kinds = f" What kind it is, one level up in its hierarchy, is told of {percent(similar.y[1])}."
    return made.finding(
        "classes.homogeneity",
        f"{known.who.capitalize()} whose {known.sensitive} is known without finding them",
        same,
        f"{certain}. {skew}. Guessing each class's most frequent value is right for {percent(classes.guessed)}.{kinds}",
        share=(same, same),
        curves=() if similar is None else (similar,),
        source=_MACHANAVAJJHALA,
    )


def _similar(found: ValuesIn, hierarchy: Hierarchy, made: _Maker) -> Curve:
    """The similarity attack: values that differ but are of the same kind."""
    known = made.known
    levels = _levels(found, hierarchy)[:-1]  # on the last one everything is the same
    shares = [made.share(made.classes.distinct == 1)]
    shares += [made.share(made.classes.distinct_kinds(level) == 1) for level in levels]
    kind = f"; what kind it is, one level up, of {percent(shares[1])}" if levels else ""
    return Curve(
        title=f"{known.sensitive} known, exactly or by its kind",
        kind="bars",
        x_label=f"level of the hierarchy of {known.sensitive}",
        y_label=f"share of {known.who} whose class has one kind only",
        x=("value", *(f"level {i}" for i in range(1, len(levels) + 1))),
        y=tuple(shares),
        x_scale="category",
        reading=f"The value is known of {percent(shares[0])} of the {known.who}{kind}.",
    )
