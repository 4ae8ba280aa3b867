"""The findings about what a few facts tell: about how many people, how surely, how few suffice, and which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from unveil.case import Case
from unveil.finding import ExposedSubject, Finding
from unveil.inference import risks
from unveil.inference.ask_learned import NOISE, TOP_RULES, LearnedText, LearnedWords
from unveil.inference.settings import InferenceSettings
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.risk import CLASS_SIZE
from unveil.run import Run
from unveil.wording import capitalise_text, count_text, list_text, number_word, safe_text

if TYPE_CHECKING:
    from unveil.arrays import Floats, Int32s, Ints
    from unveil.inference.belief_gains import TellingColumns
    from unveil.inference.learned_values import LearnedValues, TellingFacts, TellingRule
    from unveil.inference.value_cuts import FactColumn

__all__ = ["learned_column_findings"]


def learned_column_findings(
    case: Case, table: Table, known: tuple[str, ...], column: str, policy: Policy, run: Run
) -> Iterator[Finding]:
    """All findings about one sensitive column, from facts in some other columns."""
    yield from _TableInference.prepare(case, table, known, column, policy, run).text(run).findings()


@dataclass(frozen=True, eq=False)
class _TableInference:
    """What is learned about a sensitive column, from facts in other columns."""

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
    ) -> _TableInference:
        """Measure everything that the findings say."""
        import numpy as np

        from unveil.inference.learned_values import measure_learned_values
        from unveil.inference.sensitive_targets import people_of_rows, target_codes
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

    def text(self, run: Run) -> LearnedText:
        """Everything that the findings say."""
        from unveil.inference.belief_gains import drop_larger_sets

        telling = drop_larger_sets(self.learned.gains.telling)[:TOP_RULES]
        return LearnedText(
            learned=self.learned,
            words=self._words(),
            policy=self.policy,
            confidence=run.confidence,
            suffix=f", knowing {list_text(self.known, 3)}" if len(self.policy.quasi) > 1 else "",
            telling=telling,
            telling_names=lambda place: self._names(telling[place].columns),
            beliefs=self._beliefs(),
            exposed=lambda: self._list_exposed(run),
            rules=lambda: self._list_rules(telling, run),
            common=self._common(),
        )

    def _words(self) -> LearnedWords:
        name = safe_text(self.column)
        one, several = ("row", "rows") if self.person is None else ("person", "people")
        whose = f"{capitalise_text(several)} whose {name}"
        return LearnedWords(
            one=one,
            several=several,
            fact="fact",
            own=f"their own {name}",
            nobodys=f"nobody's own {name}",
            about=f" about {name}",
            given_away=f"{whose} is given away",
            certain="everybody who shares these facts has it, as far as it is recorded",
            unrelated=f"Were {name} unrelated to the facts",
            titles={
                risks.LEARNED.id: f"{whose} a few facts give away",
                risks.CERTAIN.id: f"{whose} follows from a few facts",
                risks.FACTS.id: f"Fewest facts that give away {name}",
                risks.RULES.id: f"{whose} the most telling facts give away",
            },
        )

    def _common(self) -> dict[str, Any]:
        """What all findings say alike."""
        cut = [f.name for f in self.facts if f.is_cut]
        ranges = f" Of {list_text(cut)}, they know a range." if cut else ""
        count = self.learned.facts
        facts = "one fact" if count == 1 else f"{number_word(count)} facts or fewer"
        fact = {"value": "is a value of its own", "wildcard": "is not known", "excluded": "excludes the row"}
        return {
            "attacker": f"Knows {facts} about the person, out of {list_text(self.known)}.{ranges}",
            "column": self.column,
            "known": self.known,
            "may_decide": self.column not in self.policy.guessed,
            "missing": f"A missing fact {fact[self.policy.missing_as]}; a missing sensitive value neither supports nor "
            "refutes anything.",
        }

    def _names(self, columns: tuple[int, ...]) -> str:
        return list_text([self.known[c] for c in columns])

    def _beliefs(self) -> tuple[Floats, Floats] | None:
        """Belief in everybody's own value: how frequent it is, and with facts. 0 where it is not recorded; None if
        somebody may have several values, or labels count as well."""
        import numpy as np

        if self.person is not None or len(self.targets) > 1:
            return None
        own = self.targets[0]
        counts = np.bincount(own[own >= 0], minlength=1)
        before = np.append(counts / max(1, counts.sum()), 0.0)[own]
        if self.learned.drawn is not None:
            before = before[self.learned.drawn]
        return before, np.where(before > 0, before + np.maximum(0.0, self.learned.gains.best[-1]), 0.0)

    # ---- the most exposed ----

    def _list_exposed(self, run: Run) -> tuple[ExposedSubject, ...]:
        """Those about whom most is learned; at first those for whom most who share their facts have their value."""
        import numpy as np

        from unveil.inference.learned_values import telling_facts

        best = self.learned.gains.best[-1]
        drawn = np.arange(len(best)) if self.learned.drawn is None else self.learned.drawn
        contents = [c[drawn] for c in (*self.codes, *self.targets)] if self.person is None else []
        order = np.lexsort((*contents, -best))  # whatever the order of rows
        found: list[TellingFacts] = []
        for who in order[best[order] >= self.learned.gain - NOISE][: run.exposed].tolist():
            rows = [int(drawn[who])] if self.person is None else np.flatnonzero(self.person == who).tolist()
            telling, fewest = self.learned.gains.telling, self.learned.fewest
            facts = telling_facts(rows, self.codes, self.targets, telling, fewest, self.person)
            found += [] if facts is None else [facts]
        ranked = sorted(found, key=lambda facts: (-facts.having / facts.sharing, len(facts.columns), facts.columns))
        return tuple(self._exposed_subject(facts, run.reveal) for facts in ranked)

    def _exposed_subject(self, facts: TellingFacts, reveal: bool) -> ExposedSubject:
        number = int(self.row_numbers[facts.row]) + 1
        is_row = self.person is None
        of = count_text(facts.sharing, "row" if is_row else "person")
        name = safe_text(self.column)
        return ExposedSubject(
            subject=f"row {number:,}" if is_row else f"person of row {number:,}",
            risk=facts.having / facts.sharing,
            because=f"{facts.having:,} of {of} with the same {self._names(facts.columns)} have the same {name}",
            learns=(self.column,),
            values=self._values(facts.row, facts.columns) if reveal else None,
        )

    def _list_rules(self, telling: Sequence[TellingColumns], run: Run) -> tuple[ExposedSubject, ...]:
        """The rules about most people; of the same number, that with the fewest facts."""
        from unveil.inference.learned_values import find_rules

        found = self.learned
        rules = [
            rule
            for one in telling
            for rule in find_rules(one.columns, self.codes, self.targets, found.fewest, found.gain, self.person)
        ]
        rules.sort(key=lambda rule: (-rule.having, len(rule.columns), rule.columns, rule.target, rule.row))
        return tuple(self._rule_subject(place, rule, run) for place, rule in enumerate(rules[: run.exposed], 1))

    def _rule_subject(self, place: int, rule: TellingRule, run: Run) -> ExposedSubject:
        of = count_text(rule.sharing, "row" if self.person is None else "person")
        what = "value" if rule.target == 0 else "group of values"
        return ExposedSubject(
            subject=f"rule {place}",
            risk=rule.having / rule.sharing,
            because=f"{rule.having:,} of {of} with one {self._names(rule.columns)} have one {what} of "
            f"{safe_text(self.column)}",
            learns=(self.column,),
            values=self._values(rule.row, rule.columns) if run.reveal else None,
        )

    def _values(self, row: int, columns: tuple[int, ...]) -> dict[str, str]:
        """The facts, and the value that they give away."""
        shown = {self.known[c]: self._fact_text(c, row) for c in columns}
        return {**shown, self.column: self._own_text(row)}

    def _own_text(self, row: int) -> str:
        own = self.table.codes([self.column], self.policy.missing)[self.column]
        return str(own.values[int(own.codes[self.row_numbers[row]])].as_py())

    def _fact_text(self, column: int, row: int) -> str:
        labels, code = self.facts[column].labels, int(self.codes[column][row])
        return labels[code] if code < len(labels) else "missing"
