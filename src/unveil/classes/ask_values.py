"""The findings about what a class gives away together: ℓ, t, and values that are known without finding the person."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from unveil.classes import risks
from unveil.classes.attacker import KnownColumnsAttacker
from unveil.classes.settings import ClassesSettings
from unveil.classes.value_distances import ValueDistances
from unveil.finding import Curve, Finding
from unveil.policy import Policy
from unveil.release.codes import cast_to_text
from unveil.risk import Risk
from unveil.run import Run
from unveil.wording import capitalise_text, count_text, number_text, percent_text, safe_text

if TYPE_CHECKING:
    from unveil.arrays import Bools, Floats, Int32s
    from unveil.classes.diversity import SensitiveClasses
    from unveil.classes.table_classes import SensitiveColumn
    from unveil.release.hierarchy import Hierarchy

__all__ = ["SensitiveTarget", "value_findings"]

_MACHANAVAJJHALA = "A. Machanavajjhala and others, ℓ-diversity: privacy beyond k-anonymity, ACM TKDD 1(1), 2007"
_LI = "N. Li, T. Li, S. Venkatasubramanian, t-closeness: privacy beyond k-anonymity and ℓ-diversity, ICDE 2007"
_WONG = (
    "R. Wong and others, (α, k)-anonymity: an enhanced k-anonymity model for privacy preserving data publishing, 2006"
)
_CAO = "J. Cao, P. Karras, Publishing microdata with a robust privacy guarantee, VLDB 2012 (β-likeness)"
_BRICKELL = (
    "J. Brickell, V. Shmatikov, The cost of privacy: destruction of data-mining utility, KDD 2008 (δ-disclosure)"
)
_MOST_RULED_OUT = 20  # values up to which the chart of background knowledge runs
_NOISE = 1e-12  # what sums of floating-point numbers may be off by; it must not decide


@dataclass(frozen=True, eq=False)
class SensitiveTarget:
    """A sensitive column, the attacker who is after it, and what else can be known about it: the other sensitive
    columns, the hierarchy of its values, and the values that can be ruled out. ``people`` says what shares are shares
    of.
    """

    column: str
    attacker: KnownColumnsAttacker
    people: str
    other_columns: tuple[str, ...] = ()
    hierarchy: Hierarchy | None = None
    ruled_out: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The column's name, safe to show."""
        return safe_text(self.column)


def value_findings(values: SensitiveColumn, target: SensitiveTarget, policy: Policy, run: Run) -> Iterator[Finding]:
    """All findings about one sensitive column."""
    view = _AttackedClasses(values, values.classes, target, policy, target.column not in policy.guessed)
    if not len(values.classes):
        nothing = f"No row has a value in {target.name}: there is nothing to learn."
        yield view.finding(risks.HOMOGENEITY, _homogeneity_title(view), 0.0, nothing, _MACHANAVAJJHALA, share=0.0)
        return
    yield _distinct_values_finding(view)
    yield _alpha_finding(view)
    if run.asks(risks.RECURSIVE_C):
        yield _recursive_c_finding(view)
    yield _entropy_finding(view)
    yield _distance_finding(view)
    yield from _relative_change_findings(view)
    yield _homogeneity_finding(view)
    if values.classes_if_others_known is not None:
        yield from _other_columns_known_findings(view, values.classes_if_others_known)


@dataclass(frozen=True, eq=False)
class _AttackedClasses:
    """The classes that an attacker sees, with the values of the column that they are after."""

    values: SensitiveColumn
    classes: SensitiveClasses
    target: SensitiveTarget
    policy: Policy
    may_decide: bool
    has_tolerance: bool = True

    @property
    def name(self) -> str:
        return self.target.name

    @property
    def people(self) -> str:
        return self.target.people

    def share_in(self, some: Bools) -> float:
        """The share of people in some classes."""
        seen_by = self.classes.target_counts
        return float(seen_by[some].sum() / seen_by.sum())

    def finding(
        self,
        risk: Risk,
        title: str,
        value: float,
        sentence: str,
        source: str,
        *,
        unit: str | None = None,
        share: float | None = None,
        above: Floats | None = None,
        baseline: float | None = None,
        curves: tuple[Curve, ...] = (),
    ) -> Finding:
        """A finding about these classes. If the policy tolerates a number, it concerns the people in classes ``above``
        that."""
        limit = self.policy.tolerance_for(risk) if self.has_tolerance else None
        if above is not None and limit is not None:
            share = self.share_in(above > limit + _NOISE)
        found = risk.finding(
            self.policy,
            **self.target.attacker.finding_fields(title, sensitive=True),
            value=value,
            unit=unit,
            share=share,
            baseline=baseline,
            curves=curves,
            column=self.target.column,
            subjects=self.classes.people,
            tolerance="policy" if self.has_tolerance else None,
            may_decide=self.may_decide,
            sentence=sentence,
            source=source,
        )
        if found.status != "over" or found.decides:
            return found
        return replace(found, sentence=f"{sentence} It decides nothing while the role of {self.name} is a guess.")


def _distinct_values_finding(view: _AttackedClasses, drawn: bool = True) -> Finding:
    """Distinct ℓ."""
    least, required = int(view.classes.diversity.min()), _required_values(view.policy)
    few = view.share_in(view.classes.diversity < required)
    several = view.classes.holders is not None
    if few:
        common = ", or in which everybody has the same one" if several else ""
        sentence = (
            f"{capitalise_text(percent_text(few))} of {view.people} are in classes with fewer than "
            f"{number_text(required)} different values of {view.name}{common}. The least diverse class "
            f"{'counts as' if several else 'has'} {count_text(least, 'value')}."
        )
    else:
        sentence = f"Every class has at least {count_text(least, 'different value')} of {view.name}."
    return view.finding(
        risks.L_DISTINCT,
        f"Fewest different values of {view.name} in a class (ℓ)",
        float(least),
        f"{sentence} {_ruled_out_sentence(view)}".rstrip(),
        _MACHANAVAJJHALA,
        unit="values",
        share=few,
        baseline=view.classes.values,
        curves=(_background_knowledge_curve(view),) if drawn and view.classes.values > 2 else (),
    )


def _alpha_finding(view: _AttackedClasses) -> Finding:
    alpha, sentence = float(view.classes.alpha.max()), f"In some class, everybody has the same value of {view.name}."
    if alpha < 1:
        sentence = f"At most {percent_text(alpha)} of a class have the same value of {view.name}."
    title = f"Largest share of one value of {view.name} in a class (α)"
    return view.finding(risks.ALPHA, title, alpha, sentence, _WONG, above=view.classes.alpha)


def _recursive_c_finding(view: _AttackedClasses) -> Finding:
    """Recursive (c, ℓ)-diversity, for the required ℓ."""
    few = max(2, int(_required_values(view.policy)))
    measured = view.classes.recursive_c(few)
    c = _largest(measured)
    sentence = (
        f"No c is enough: some class has fewer than {few} different values of {view.name}, or one that everybody has."
    )
    if c < math.inf:
        sentence = f"Every class is recursively (c, {few})-diverse for every c above {number_text(c)}."
    title = f"c of recursive (c, {few})-diversity of {view.name}"
    return view.finding(risks.RECURSIVE_C, title, c, sentence, _MACHANAVAJJHALA, unit="", above=measured)


def _entropy_finding(view: _AttackedClasses) -> Finding:
    """Entropy ℓ."""
    entropy = view.classes.entropy_l
    tolerance = view.policy.tolerance_for(risks.L_ENTROPY)
    required = _required_values(view.policy) if tolerance is None else tolerance
    least, title = _without_noise(float(entropy.min())), f"Least diverse class of {view.name} by entropy (ℓ)"
    sentence = f"In the least diverse class, everybody has the same value of {view.name}."
    if least > 1:
        sentence = (
            f"The least diverse class is as diverse as one with {number_text(least)} equally frequent values of "
            f"{view.name}."
        )
    few = view.share_in(entropy < required - _NOISE)
    return view.finding(risks.L_ENTROPY, title, least, sentence, _MACHANAVAJJHALA, unit="values", share=few)


def _required_values(policy: Policy) -> float:
    """How many different values a class should have."""
    return policy.threshold(risks.L_DISTINCT) or 2


def _ruled_out_sentence(view: _AttackedClasses) -> str:
    """What the values that an attacker can rule out are worth to them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ruled_out = view.target.ruled_out
    if not ruled_out:
        return ""
    texts = cast_to_text(view.values.texts)
    ruled = pc.is_in(texts, value_set=pa.array(ruled_out, texts.type)).to_numpy(zero_copy_only=False)
    revealed = view.classes.people_revealed_if_ruled_out(ruled) / view.classes.people
    listed_values = "the listed value" if len(ruled_out) == 1 else f"the {len(ruled_out):,} listed values"
    return (
        f"Someone who can rule out {listed_values} ({int(ruled.sum()):,} found in the column) learns {view.name} for "
        f"{percent_text(revealed)} of {view.people}."
    )


def _background_knowledge_curve(view: _AttackedClasses) -> Curve:
    """The background knowledge attack: how many values must be ruled out before one is left."""
    most = min(_MOST_RULED_OUT, view.classes.values - 1)
    shares = [view.share_in(view.classes.diversity <= m + 1) for m in range(most + 1)]
    half = next((m for m, share in enumerate(shares) if share >= 0.5), None)
    helpful = f"the {'most helpful value is' if (half or most) == 1 else f'{half or most:,} most helpful values are'}"
    if half is None:
        reading = f"Even if {helpful} ruled out, {view.name} is known for fewer than half of {view.people}."
    elif half == 0:
        reading = f"It does so for at least half of {view.people}."
    else:
        reading = f"Once {helpful} ruled out, {view.name} is known for at least half of {view.people}."
    return Curve(
        title=f"Background knowledge: {view.name} revealed by ruling out values",
        kind="line",
        x_label=f"values of {view.name} that the attacker can rule out",
        y_label=f"share of {view.people} for which {view.name} is known",
        x=tuple(float(m) for m in range(most + 1)),
        y=tuple(shares),
        reading=f"At 0, the class alone reveals the value. {reading}",
    )


def _distance_finding(view: _AttackedClasses) -> Finding:
    """t."""
    values = ValueDistances.from_values(view.values.texts, view.target.hierarchy)
    distances, how = values.from_table(view.classes), values.description
    t, equal = _largest(distances), view.classes.t_equal
    beside = f"; if all values were equally far apart, it would be {number_text(_largest(equal))}"
    sentence = (
        f"On a scale from 0 to 1, the class that differs most from the table in {view.name} differs by "
        f"{number_text(t)}, with {how}{beside if distances is not equal else ''}."
    )
    title = f"Largest difference in {view.name} between a class and the table (t)"
    return view.finding(risks.T, title, t, sentence, _LI, unit="", above=distances)


def _relative_change_findings(view: _AttackedClasses) -> Iterator[Finding]:
    """β and δ."""
    classes, name = view.classes, view.name
    gain, beta = f"Largest relative gain of a value of {name}", _largest(classes.beta)
    sentence = f"In no class is a value of {name} more frequent than in the table."
    if beta:
        sentence = (
            f"In some class, a value of {name} is {number_text(1 + beta)} times as frequent as in the table, and no "
            "value in any class exceeds that."
        )
    yield view.finding(risks.BETA, f"{gain} (basic β)", beta, sentence, _CAO, unit="", above=classes.beta)
    enhanced, measured = _largest(classes.beta_enhanced), classes.beta_enhanced
    sentence = f"No β is enough: in some class, a value of {name} gains more than its rarity in the table permits."
    if enhanced < math.inf:
        sentence = (
            f"No value of {name} gains more in a class than its rarity in the table permits; the largest relative gain "
            f"is {number_text(enhanced)}."
        )
    yield view.finding(risks.BETA_ENHANCED, f"{gain} (enhanced β)", enhanced, sentence, _CAO, unit="", above=measured)
    delta, title = _largest(classes.delta), f"Largest change in the share of a value of {name} (δ-disclosure)"
    sentence = f"No δ is enough: some value of {name} is absent from some class."
    if delta < math.inf:
        sentence = (
            f"The logarithm of the ratio between the share of a value of {name} in a class and in the table is at most "
            f"{number_text(delta)}."
        )
    yield view.finding(risks.DELTA_DISCLOSURE, title, delta, sentence, _BRICKELL, unit="", above=classes.delta)


def _homogeneity_finding(view: _AttackedClasses) -> Finding:
    """Classes in which everybody has the same value, or the same kind of value."""
    classes = view.classes
    same = view.share_in(classes.is_certain)
    before, after = classes.largest_rise
    skew, certain = "No class differs from the whole table", f"No class alone reveals {view.name}"
    if after > before + _NOISE:
        rise = f"from {percent_text(before)} in the whole table to {percent_text(after)} in a class"
        skew = f"The largest rise in the share of a value is {rise}"
    if same:
        certain = f"The class alone reveals {view.name} for {percent_text(same)} of {view.people}"
    kinds = None if view.target.hierarchy is None else _kinds_curve(view, view.target.hierarchy)
    one_level_up = ""
    if kinds is not None and len(kinds.y) > 1:
        one_level_up = f" The kind of value, one level up in its hierarchy, is revealed for {percent_text(kinds.y[1])}."
    return view.finding(
        risks.HOMOGENEITY,
        _homogeneity_title(view),
        same,
        f"{certain}. {skew}. Guessing the most frequent value of each class is right for "
        f"{percent_text(classes.guess_accuracy)} of {view.people}.{one_level_up}",
        _MACHANAVAJJHALA,
        share=same,
        curves=() if kinds is None else (kinds,),
    )


def _homogeneity_title(view: _AttackedClasses) -> str:
    return f"Values of {view.name} known without finding the person"


def _kinds_curve(view: _AttackedClasses, hierarchy: Hierarchy) -> Curve:
    """The similarity attack: values that differ but are of the same kind."""
    levels = _hierarchy_levels(view.values, hierarchy)[:-1]  # at the top everything is of the same kind
    shares = [view.share_in(view.classes.is_certain)]
    shares += [view.share_in(view.classes.distinct_kinds(level) == 1) for level in levels]
    kind = f", and its kind, one level up, for {percent_text(shares[1])}" if levels else ""
    return Curve(
        title=f"Values of {view.name} known, exactly or by kind",
        kind="bars",
        x_label=f"level of the hierarchy of {view.name}",
        y_label=f"share of {view.people} in classes with only one kind",
        x=("value", *(f"level {i}" for i in range(1, len(levels) + 1))),
        y=tuple(shares),
        x_scale="category",
        reading=f"The value is known for {percent_text(shares[0])} of {view.people}{kind}.",
    )


def _hierarchy_levels(values: SensitiveColumn, hierarchy: Hierarchy) -> list[Int32s]:
    """What each value is on every level above the values."""
    leaves = hierarchy.codes(values.texts)
    return [hierarchy.generalise(leaves, level) for level in range(1, hierarchy.height + 1)]


def _other_columns_known_findings(view: _AttackedClasses, classes: SensitiveClasses) -> Iterator[Finding]:
    """What classes give away to someone who knows all other sensitive columns; it decides only where the policy says
    so."""
    decides = view.policy.settings_for(ClassesSettings).others_known
    attacker = view.target.attacker
    informed = replace(
        attacker,
        columns=(*attacker.columns, *view.target.other_columns),
        text=f"{attacker.text} Also knows all other sensitive columns.",
        title_suffix=f"{attacker.title_suffix}, with the other sensitive columns known",
    )
    target = replace(view.target, attacker=informed, other_columns=(), ruled_out=())
    stricter = replace(view, classes=classes, target=target, has_tolerance=decides)
    yield _distinct_values_finding(stricter, drawn=False)
    yield _entropy_finding(stricter)
    yield _distance_finding(stricter)


def _largest(measured: Floats) -> float:
    return _without_noise(float(measured.max()))


def _without_noise(x: float) -> float:
    """Without the noise of floating-point sums, which must not decide."""
    return 0.0 if abs(x) < _NOISE else float(f"{x:.12g}")
