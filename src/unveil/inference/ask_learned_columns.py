"""The findings about what a few facts tell: about how many people, how surely, how few suffice, and which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unveil.case import Case
from unveil.finding import ExposedSubject, Finding
from unveil.inference import risks
from unveil.inference.ask_learned import TOP_RULES, WHITE, LearnedText, LearnedWords, known_facts_text
from unveil.inference.settings import InferenceSettings, least_sharing
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.run import Run
from unveil.wording import capitalise_text, count_text, list_text, safe_text

if TYPE_CHECKING:
    from unveil.arrays import Floats, Int32s, Ints
    from unveil.inference.belief_gains import TellingColumns
    from unveil.inference.fact_columns import FactColumn
    from unveil.inference.learned_values import LearnedValues, TellingRule

__all__ = ["learned_column_findings"]


def learned_column_findings(
    case: Case, table: Table, known: tuple[str, ...], column: str, policy: Policy, run: Run
) -> Iterator[Finding]:
    """All findings about one sensitive column, from facts in some other columns."""
    prepared = _TableInference.prepare(case, table, known, column, policy, run)
    yield from prepared.text(run).findings() if (prepared.target_codes[0] >= 0).any() else prepared.nothing_findings()


@dataclass(frozen=True, eq=False)
class _TableInference:
    """What is learned about a sensitive column, from facts in other columns."""

    table: Table
    policy: Policy
    known: tuple[str, ...]
    column: str
    facts: tuple[FactColumn, ...]
    codes: tuple[Int32s, ...]
    targets: tuple[FactColumn, ...]
    target_codes: tuple[Int32s, ...]
    person: Int32s | None
    row_numbers: Ints
    learned: LearnedValues

    @classmethod
    def prepare(
        cls, case: Case, table: Table, known: tuple[str, ...], column: str, policy: Policy, run: Run
    ) -> _TableInference:
        """Measure everything that the findings say."""
        import numpy as np

        from unveil.inference.fact_columns import read_facts
        from unveil.inference.learned_values import measure_learned_values
        from unveil.inference.sensitive_targets import people_of_rows, sensitive_targets

        facts = read_facts(case, table, known, policy, run)
        rows = np.arange(table.rows)
        if policy.missing_as == "excluded":
            rows = np.flatnonzero(np.all([f.codes >= 0 for f in facts], axis=0))
        codes = tuple(f.codes[rows] for f in facts)
        targets = tuple(sensitive_targets(case, table, column, policy, run))
        target_codes = tuple(target.codes[rows] for target in targets)
        person = people_of_rows(table, policy, run)
        person = None if person is None else np.unique(person[rows], return_inverse=True)[1].astype(np.int32)
        chosen = policy.settings_for(InferenceSettings)
        learned = measure_learned_values(
            codes,
            target_codes,
            facts=chosen.facts_known,
            fewest=least_sharing(policy),
            gain=chosen.gain,
            person=person,
            run=run,
            rng=run.rng(f"{risks.LEARNED.id} {column} {sorted(known)}"),
            order=sorted(range(len(known)), key=known.__getitem__),
        )
        return cls(table, policy, known, column, facts, codes, targets, target_codes, person, rows, learned)

    def nothing_findings(self) -> Iterator[Finding]:
        """That nobody has a value that could be learned."""
        words = self._words()
        if self.learned.people:
            yield risks.LEARNED.finding(
                self.policy,
                title=words.titles[risks.LEARNED.id],
                value=0.0,
                share=0.0,
                subjects=self.learned.people,
                baseline=0.0,
                sentence=f"No {words.subject} has a value of {safe_text(self.column)}, so it is given away for none of "
                f"{count_text(self.learned.people, words.subject)}.",
                source=WHITE,
                **self._common(),
            )

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
        group = " or the group of values that it is in" if len(self.targets) > 1 else ""
        return LearnedWords(
            subject=one,
            subjects=several,
            fact="fact",
            target=f"their own {name}{group}",
            no_target=f"nobody's own {name}{group}",
            about_target=f" about {name}",
            exposed_title=f"{whose} is given away",
            certainty=f"everybody who shares these facts has {'the same' if group else 'it'}, as far as it is recorded",
            unrelated=f"Were {name} unrelated to the facts",
            titles={
                risks.LEARNED.id: f"{whose} a few facts give away",
                risks.CERTAIN.id: f"{whose} a few facts make certain",
                risks.FACTS.id: f"Fewest facts that give away {name}",
                risks.RULES.id: f"{whose} the most telling facts give away",
            },
        )

    def _common(self) -> dict[str, Any]:
        """What all findings say alike."""
        cut = [f.name for f in self.facts if f.is_cut]
        ranges = f"; of {list_text(cut)}, they know a range" if cut else ""
        learned = f" {capitalise_text(safe_text(self.column))} is learned as a range." if self.targets[0].is_cut else ""
        facts = known_facts_text(self.learned.facts, "fact")
        fact = {"value": "is a value of its own", "wildcard": "is not known", "excluded": "excludes the row"}
        return {
            "attacker": f"Knows {facts} about the person, out of {list_text(self.known)}{ranges}.{learned}",
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
        own = self.target_codes[0]
        counts = np.bincount(own[own >= 0], minlength=1)
        before = np.append(counts / max(1, counts.sum()), 0.0)[own]
        if self.learned.drawn is not None:
            before = before[self.learned.drawn]
        return before, np.where(before > 0, before + np.maximum(0.0, self.learned.gains.best[-1]), 0.0)

    # ---- the most exposed ----

    def _list_exposed(self, run: Run) -> tuple[ExposedSubject, ...]:
        """Those about whom most is learned; at first those for whom most who share their facts have their value."""
        import numpy as np

        from unveil.inference.belief_gains import reaches
        from unveil.inference.learned_values import find_best_rule

        best = self.learned.gains.best[-1]
        drawn = np.arange(len(best)) if self.learned.drawn is None else self.learned.drawn
        contents = [c[drawn] for c in (*self.codes, *self.target_codes)] if self.person is None else []
        order = np.lexsort((*contents, -best))  # whatever the order of rows
        found: list[TellingRule] = []
        for who in order[reaches(best[order], self.learned.gain)][: run.exposed].tolist():
            rows = [int(drawn[who])] if self.person is None else np.flatnonzero(self.person == who).tolist()
            telling, fewest = self.learned.gains.telling, self.learned.fewest
            rule = find_best_rule(rows, self.codes, self.target_codes, telling, fewest, self.person)
            found += [] if rule is None else [rule]
        ranked = sorted(found, key=lambda rule: (-rule.belief, len(rule.columns), rule.columns))
        return tuple(self._exposed_subject(rule, run.reveal) for rule in ranked)

    def _exposed_subject(self, rule: TellingRule, reveal: bool) -> ExposedSubject:
        number = int(self.row_numbers[rule.row]) + 1
        return ExposedSubject(
            subject=f"row {number:,}" if self.person is None else f"person of row {number:,}",
            risk=rule.belief,
            because=self._rule_text(rule),
            learns=(self.column,),
            values=self._values(rule) if reveal else None,
        )

    def _rule_text(self, rule: TellingRule) -> str:
        """What the people who share some facts have in common."""
        of = count_text(rule.recorded, "row" if self.person is None else "person")
        name = safe_text(self.column)
        same = f"the same {name}"
        if rule.target or self.targets[0].is_cut:
            same = f"{name} in the same {'group of values' if rule.target else 'range'}"
        unrecorded = rule.sharing - rule.recorded
        aside = f" ({count_text(unrecorded, 'more has', 'more have')} none recorded)" if unrecorded else ""
        return f"{rule.having:,} of {of} with the same {self._names(rule.columns)} have {same}{aside}"

    def _list_rules(self, telling: Sequence[TellingColumns], run: Run) -> tuple[ExposedSubject, ...]:
        """The rules about most people; of the same number, that with the fewest facts."""
        from unveil.inference.learned_values import find_rules

        found = self.learned
        rules = [
            rule
            for one in telling
            for rule in find_rules(one.columns, self.codes, self.target_codes, found.fewest, found.gain, self.person)
        ]
        rules.sort(key=lambda rule: (-rule.having, len(rule.columns), rule.columns, rule.target, self._contents(rule)))
        return tuple(
            ExposedSubject(
                subject=f"rule {place}",
                risk=rule.belief,
                because=self._rule_text(rule),
                learns=(self.column,),
                values=self._values(rule) if run.reveal else None,
            )
            for place, rule in enumerate(rules[: run.exposed], 1)
        )

    def _contents(self, rule: TellingRule) -> tuple[int, ...]:
        """The facts and the value of a rule, whatever row they are from."""
        facts = tuple(int(self.codes[c][rule.row]) for c in rule.columns)
        return (*facts, int(self.target_codes[rule.target][rule.row]))

    def _values(self, rule: TellingRule) -> dict[str, str]:
        """The facts, and the value, range or label that they give away."""
        target = self.targets[rule.target]
        label = target.labels[int(self.target_codes[rule.target][rule.row])]
        return {**{self.known[c]: self._fact_text(c, rule.row) for c in rule.columns}, self.column: label}

    def _fact_text(self, column: int, row: int) -> str:
        return self.facts[column].labels[int(self.codes[column][row])]
