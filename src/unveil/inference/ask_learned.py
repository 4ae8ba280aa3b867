"""The findings about what a few facts tell: about how many people, how surely, how few suffice, and which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from unveil.case import Case
from unveil.finding import Curve, ExposedSubject, Finding
from unveil.inference import risks
from unveil.inference.settings import InferenceSettings
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.risk import CLASS_SIZE, Risk
from unveil.run import Run
from unveil.wording import capitalise_text, count_text, list_text, number_word, percent_text, safe_text

if TYPE_CHECKING:
    from unveil.arrays import Floats, Int32s, Ints
    from unveil.inference.learned_values import LearnedValues, TellingFacts
    from unveil.inference.value_cuts import FactColumn
    from unveil.release.codes import Codes
    from unveil.release.hierarchy import Hierarchy

__all__ = ["learned_findings", "people_of_rows", "target_codes"]

_WHITE = (
    "L. A. White, A privacy score for anonymous databases, thesis, 2021 (partial inferences, measured by their gain)"
)
_TOP_RULES = 8
_THRESHOLDS = tuple(x / 20 for x in range(1, 20))
_NOISE = 1e-12  # what differences of shares may be off by; it must not decide


def learned_findings(
    case: Case, table: Table, known: tuple[str, ...], column: str, policy: Policy, run: Run
) -> Iterator[Finding]:
    """All findings about one sensitive column, from facts in some other columns."""
    yield from _Inference.prepare(case, table, known, column, policy, run).findings(run)


@dataclass(frozen=True, eq=False)
class _Inference:
    """What is to be learned about a sensitive column, from facts in other columns."""

    table: Table
    policy: Policy
    known: tuple[str, ...]
    column: str
    facts: tuple[FactColumn, ...]
    codes: tuple[Int32s, ...]
    targets: tuple[Int32s, ...]
    person: Int32s | None
    row_numbers: Ints
    learned: LearnedValues

    @classmethod
    def prepare(
        cls, case: Case, table: Table, known: tuple[str, ...], column: str, policy: Policy, run: Run
    ) -> _Inference:
        """Measure everything that the findings say."""
        import numpy as np

        from unveil.inference.learned_values import measure_learned_values
        from unveil.inference.value_cuts import cut_column, shared_codes

        is_value = policy.missing_as == "value"
        quasi = table.codes(known, () if is_value else policy.missing, run)
        facts = tuple(cut_column(name, quasi[name], case.hierarchies.get(name)) for name in known)
        rows = np.arange(table.rows)
        if policy.missing_as == "excluded":
            rows = np.flatnonzero(np.all([f.codes >= 0 for f in facts], axis=0))
        codes = tuple(shared_codes(f, is_value)[rows] for f in facts)
        targets = [target[rows] for target in target_codes(case, table, column, policy, run)]
        person = people_of_rows(table, policy, run)
        person = None if person is None else np.unique(person[rows], return_inverse=True)[1].astype(np.int32)
        chosen = policy.settings_for(InferenceSettings)
        learned = measure_learned_values(
            codes,
            targets,
            facts=chosen.facts_known,
            fewest=max(1, ceil(policy.threshold_of(CLASS_SIZE))),
            gain=chosen.gain,
            person=person,
            run=run,
            rng=run.rng(f"{risks.LEARNED.id} {column} {known}"),
        )
        return cls(table, policy, known, column, facts, codes, tuple(targets), person, rows, learned)

    # ---- in words ----

    @property
    def name(self) -> str:
        """The sensitive column, safe to show."""
        return safe_text(self.column)

    @property
    def people(self) -> str:
        """What is counted."""
        return "people" if self.person is not None else "rows"

    def people_text(self, count: int) -> str:
        """So many of them."""
        return count_text(count, "row" if self.person is None else "person", self.people)

    @property
    def facts_text(self) -> str:
        """How many facts are known."""
        count = self.learned.facts
        return "one fact" if count == 1 else f"{number_word(count)} facts{' or fewer' if count else ''}"

    @property
    def shared_facts_text(self) -> str:
        """So many facts, shared by enough people; the beginning of a sentence."""
        return f"{capitalise_text(self.facts_text)} that at least {self.people_text(self.learned.fewest)} share"

    def verb(self, singular: str, plural: str) -> str:
        """The form that goes with the number of facts."""
        return singular if self.learned.facts == 1 else plural

    @property
    def gain_text(self) -> str:
        """By how much belief must rise."""
        return f"{100 * self.learned.gain:.3g} points or more"

    @property
    def attacker(self) -> str:
        """What is known."""
        cut = [f.name for f in self.facts if f.is_cut]
        ranges = f" Of {list_text(cut)}, they know a range." if cut else ""
        return f"Knows {self.facts_text} about the person, out of {list_text(self.known)}.{ranges}"

    def count_text(self, share: float) -> str:
        """So many people, as a number and a share of all."""
        some = round(share * self.learned.people)
        return f"{some:,} of {self.people_text(self.learned.people)} ({percent_text(share)})"

    def finding(self, risk: Risk, value: float, sentence: str, **more: Any) -> Finding:
        """A finding about this column. A share is at least this if not all facts could be tried."""
        found = self.learned
        suffix = f", knowing {list_text(self.known, 3)}" if len(self.policy.quasi) > 1 else ""
        aside = f" More than {count_text(found.facts, 'fact')} were not tried." if found.is_limited else ""
        is_value = self.policy.missing_as == "value"
        if found.is_limited and risk.unit == "share":
            more = {**more, "method": "bound", "interval": (value, 1.0), "share": (value, 1.0)}
        return risk.finding(
            self.policy,
            title=more.pop("title") + suffix,
            value=value,
            sentence=sentence + aside,
            attacker=self.attacker,
            column=self.column,
            known=self.known,
            subjects=found.people,
            may_decide=self.column not in self.policy.guessed,
            missing=f"A missing fact is {'a value of its own' if is_value else 'not known'}; a missing sensitive value "
            "neither supports nor refutes anything.",
            source=_WHITE,
            **more,
        )

    def findings(self, run: Run) -> Iterator[Finding]:
        """All findings about this column."""
        if not self.learned.people:
            return
        yield self._learned_finding(run)
        yield self._certain_finding()
        yield self._facts_finding()
        yield self._rules_finding()

    def _learned_finding(self, run: Run) -> Finding:
        found = self.learned
        share, chance = found.share(found.facts), found.by_chance[:, -1]
        raises = self.verb("raises", "raise")
        if share:
            sentence = (
                f"{capitalise_text(self.facts_text)} {raises} belief in their own {self.name} by {self.gain_text} for "
                f"{self.count_text(share)}, without finding them: at least {number_word(found.fewest)} {self.people} "
                "share the facts."
            )
        else:
            sentence = (
                f"{self.shared_facts_text} {raises} belief in their own {self.name} by {self.gain_text} for none of "
                f"{self.people_text(found.people)}."
            )
        if found.gains.telling:
            sentence += f" Most telling: {self._telling_text(0)}."
        return self.finding(
            risks.LEARNED,
            share,
            f"{sentence} {self._chance_sentence(chance)}",
            title=f"{capitalise_text(self.people)} whose {self.name} a few facts give away",
            share=share,
            baseline=float(chance.mean()),
            curves=(self._facts_curve(), self._gain_curve()),
            exposed=self._list_exposed(run),
        )

    def _telling_text(self, place: int) -> str:
        found = self.learned.gains.telling[place]
        names = list_text([self.known[c] for c in found.columns])
        return f"{names} ({found.people:,} of {found.sharing:,} {self.people} with such facts)"

    def _chance_sentence(self, chance: Floats) -> str:
        low, mean, high = (percent_text(float(x)) for x in (chance.min(), chance.mean(), chance.max()))
        spread = "" if low == high else f" ({low} to {high} in {len(chance)} shuffles)"
        return f"Were {self.name} unrelated to the facts, it would be {mean}{spread}."

    def _certain_finding(self) -> Finding:
        found = self.learned
        share, chance = found.certain_share(found.facts), found.certain_by_chance[:, -1]
        makes = self.verb("makes", "make")
        if share:
            sentence = (
                f"{self.shared_facts_text} {makes} their own {self.name} certain for {self.count_text(share)}: "
                "everybody who shares these facts has it, as far as it is recorded."
            )
        else:
            sentence = f"{self.shared_facts_text} {makes} nobody's own {self.name} certain."
        return self.finding(
            risks.CERTAIN,
            share,
            f"{sentence} {self._chance_sentence(chance)}",
            title=f"{capitalise_text(self.people)} whose {self.name} follows from a few facts",
            share=share,
            baseline=float(chance.mean()),
        )

    def _facts_finding(self) -> Finding:
        found, title = self.learned, f"Fewest facts that give away {self.name}"
        fewest = found.fewest_facts
        if fewest is None:
            raises = self.verb("raises", "raise")
            sentence = f"{self.shared_facts_text} {raises} belief in nobody's own {self.name} by {self.gain_text}."
            ends = float(found.facts + 1), float(max(len(self.known), found.facts) + 1)
            return self.finding(
                risks.FACTS,
                ends[0],
                sentence,
                title=title,
                unit="facts",
                method="bound",
                interval=ends,
                share=(0.0, 1.0),
            )
        share = found.share(fewest)
        facts = "no fact at all" if not fewest else f"{number_word(fewest)} {'fact' if fewest == 1 else 'facts'}"
        sentence = (
            f"{capitalise_text(facts)}, shared by at least {self.people_text(found.fewest)}, "
            f"{'is' if fewest < 2 else 'are'} enough to raise belief in their own {self.name} by {self.gain_text} for "
            f"{self.count_text(share)}."
        )
        return self.finding(risks.FACTS, float(fewest), sentence, title=title, unit="facts", share=share)

    def _rules_finding(self) -> Finding:
        found = self.learned
        title = f"{capitalise_text(self.people)} whose {self.name} the most telling facts give away"
        telling = found.gains.telling[:_TOP_RULES]
        if not telling:
            sentence = f"No facts that enough {self.people} share tell enough about anybody's own {self.name}."
            return self.finding(risks.RULES, 0.0, sentence, title=title, share=0.0)
        value = telling[0].people / found.people
        each = "; ".join(self._telling_text(place) for place in range(min(3, len(telling))))
        sentence = f"The facts that give away most about {self.name}: {each}."
        return self.finding(risks.RULES, value, sentence, title=title, share=value, curves=(self._rules_curve(),))

    # ---- curves ----

    def _facts_curve(self) -> Curve:
        found = self.learned
        facts = tuple(float(f) for f in range(found.facts + 1))
        lines = {
            "learned": [found.share(int(f)) for f in facts],
            "certain": [found.certain_share(int(f)) for f in facts],
            "by chance": found.by_chance.mean(axis=0).tolist(),
        }
        return Curve(
            title=f"{capitalise_text(self.people)} whose {self.name} is given away, by the number of facts known",
            kind="line",
            x_label="facts known, at most",
            y_label=f"share of {self.people}",
            x=facts * len(lines),
            y=tuple(y for line in lines.values() for y in line),
            series=tuple(label for label in lines for _ in facts),
            reading=f"How many can be learned about with so many facts. By chance: if {self.name} had nothing to do "
            "with the facts.",
        )

    def _gain_curve(self) -> Curve:
        found = self.learned
        shares = tuple(found.gains.share_of_people(found.facts, x) for x in _THRESHOLDS)
        return Curve(
            title=f"{capitalise_text(self.people)} by how far belief in their own {self.name} rises",
            kind="line",
            x_label="belief rises by at least, as a share",
            y_label=f"share of {self.people}",
            x=_THRESHOLDS,
            y=shares,
            mark=found.gain,
            mark_label="what counts as learned",
            reading="The further right, the more must be learned to count.",
        )

    def _rules_curve(self) -> Curve:
        telling = self.learned.gains.telling[:_TOP_RULES]
        return Curve(
            title=f"The facts that give most {self.people} away",
            kind="bars",
            x_label="facts",
            y_label=self.people,
            x=tuple(list_text([self.known[c] for c in t.columns]) for t in telling),
            y=tuple(float(t.people) for t in telling),
            x_scale="category",
            reading="Each bar counts those whose own value these facts give away; the same may be in several.",
        )

    # ---- the most exposed ----

    def _list_exposed(self, run: Run) -> tuple[ExposedSubject, ...]:
        """Those about whom most is learned; at first those for whom most who share their facts have their value."""
        import numpy as np

        from unveil.inference.learned_values import telling_facts

        found: list[TellingFacts] = []
        best = self.learned.gains.best[-1]
        contents = (*self.codes, *self.targets) if self.person is None else ()  # whatever the order of rows
        order = np.lexsort((*contents, -best))
        for who in order[best[order] >= self.learned.gain - _NOISE][: run.exposed].tolist():
            rows = [who] if self.person is None else np.flatnonzero(self.person == who).tolist()
            telling, fewest = self.learned.gains.telling, self.learned.fewest
            facts = telling_facts(rows, self.codes, self.targets, telling, fewest, self.person)
            found += [] if facts is None else [facts]
        ranked = sorted(found, key=lambda facts: (-facts.having / facts.sharing, len(facts.columns), facts.columns))
        return tuple(self._exposed_subject(facts, run.reveal) for facts in ranked)

    def _exposed_subject(self, facts: TellingFacts, reveal: bool) -> ExposedSubject:
        number = int(self.row_numbers[facts.row]) + 1
        names = list_text([self.known[c] for c in facts.columns])
        of = self.people_text(facts.sharing)
        return ExposedSubject(
            subject=f"row {number:,}" if self.person is None else f"person of row {number:,}",
            risk=facts.having / facts.sharing,
            because=f"{facts.having:,} of {of} with the same {names} have the same {self.name}",
            learns=(self.column,),
            values=self._values(facts.row, facts) if reveal else None,
        )

    def _values(self, row: int, facts: TellingFacts) -> dict[str, str]:
        """The facts, and the value that they give away."""
        own = self.table.codes([self.column], self.policy.missing)[self.column]
        shown = {self.known[c]: self._fact_text(c, row) for c in facts.columns}
        return {**shown, self.column: str(own.values[int(own.codes[self.row_numbers[row]])].as_py())}

    def _fact_text(self, column: int, row: int) -> str:
        labels, code = self.facts[column].labels, int(self.codes[column][row])
        return labels[code] if code < len(labels) else "missing"


def target_codes(case: Case, table: Table, column: str, policy: Policy, run: Run) -> list[Int32s]:
    """A sensitive column as codes, −1 for missing: its values, and their labels on each level of its hierarchy."""
    from unveil.inference.value_cuts import cut_column

    own = table.codes([column], policy.missing, run)[column]
    return [cut_column(column, own).codes, *_coarser_targets(own, case.hierarchies.get(column))]


def _coarser_targets(own: Codes, hierarchy: Hierarchy | None) -> Iterator[Int32s]:
    """The labels of a sensitive column on each level of its hierarchy below the root."""
    import numpy as np

    from unveil.release.codes import cast_to_text

    if hierarchy is None:
        return
    place = {text: i for i, text in enumerate(hierarchy.values.to_pylist())}
    leaf = np.array([place.get(text, -1) for text in cast_to_text(own.values).to_pylist()] + [-1], np.int32)
    if (leaf[:-1] < 0).any():
        return
    for level in range(1, hierarchy.height):
        yield hierarchy.generalise(leaf, level)[own.codes].astype(np.int32)


def people_of_rows(table: Table, policy: Policy, run: Run) -> Int32s | None:
    """Whom each row is about; None if each is about somebody else."""
    import numpy as np

    if policy.subject is None:
        return None
    codes = table.codes([policy.subject], policy.missing, run)[policy.subject].codes.copy()
    nobody = np.flatnonzero(codes < 0)
    codes[nobody] = int(codes.max(initial=-1)) + 1 + np.arange(len(nobody))
    return codes
