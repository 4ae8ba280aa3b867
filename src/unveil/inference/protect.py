"""How to protect tables from someone who learns from a few facts: coarser or fewer facts, or sensitive values shuffled.

Neither looks at who is exposed: what becomes of a row never depends on its own sensitive value, so that the change
itself tells nothing. Coarser columns are chosen greedily, each step by what it gains for what it costs, and taken back
where they are not needed; the rows whose values are shuffled come from the operating system's randomness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.errors import UnveilError
from unveil.inference.risks import CERTAIN, FACTS, LEARNED, RULES, SCORE
from unveil.inference.settings import InferenceSettings, least_sharing
from unveil.policy import Policy
from unveil.protection import Protection, ProtectionOffer
from unveil.release.table import Table
from unveil.run import Run
from unveil.wording import count_text, list_text, number_text, percent_text, safe_text

if TYPE_CHECKING:
    from unveil.arrays import Int32s, Ints
    from unveil.inference.protections.fact_goals import FactGoal
    from unveil.release.coarse_table import CoarseColumn
    from unveil.release.coarsening import ColumnLadder

__all__ = ["PROTECTED_RISKS", "PROTECTIONS"]

PROTECTED_RISKS = (LEARNED, CERTAIN, FACTS, RULES, SCORE)
_AIMED_AT = (LEARNED, CERTAIN, FACTS, RULES)
_SHUFFLE_STEPS = 7  # of a bisection


def _has_goal(case: Case, policy: Policy) -> bool:
    goals = any(policy.tolerance_for(risk) is not None for risk in _AIMED_AT)
    return goals and bool(policy.quasi) and bool(policy.sensitive) and not policy.ratings


@dataclass(frozen=True, eq=False)
class _Table:
    """A table as facts: the ladder of every quasi-identifier, the sensitive columns, and whom rows are about."""

    case: Case
    table: Table
    ladders: tuple[ColumnLadder, ...]
    targets: Mapping[str, Sequence[Int32s]]
    person: Int32s | None
    policy: Policy

    @classmethod
    def from_case(cls, case: Case, policy: Policy, run: Run) -> _Table:
        from unveil.inference.sensitive_targets import people_of_rows, sensitive_targets
        from unveil.release.coarsening import column_ladders

        table = case.release
        assert isinstance(table, Table)
        if case.original is not None:
            raise UnveilError("this release is already protected; protect the original instead")
        ladders = column_ladders(table, policy.quasi_columns, case.hierarchies, policy, run)
        targets = {
            name: [target.codes for target in sensitive_targets(case, table, name, policy, run)]
            for name in policy.sensitive
        }
        return cls(case, table, tuple(ladders), targets, people_of_rows(table, policy, run), policy)

    def goals(self, strictness: float) -> list[FactGoal]:
        """What must hold, for every set of quasi-identifiers and every sensitive column. The most telling facts give
        away no more people than all facts do; and if at least t facts must be known, t − 1 may give nobody away."""
        from unveil.inference.protections.fact_goals import FactGoal

        chosen = self.policy.settings_for(InferenceSettings)
        learned, certain, facts, rules = (self.policy.tolerance_for(risk) for risk in _AIMED_AT)
        shares = [share * strictness for share in (learned, rules) if share is not None]
        wanted = [(chosen.facts_known, min(shares, default=None), None if certain is None else certain * strictness)]
        if facts is not None and facts > 1:
            wanted.append((min(int(facts) - 1, chosen.facts_known), 0.0, None))
        return [
            FactGoal(
                tuple(c for c in known if c != target), target, most, least_sharing(self.policy), chosen.gain, *limits
            )
            for known in self.policy.quasi
            for target in self.policy.sensitive
            for most, *limits in wanted
        ]

    def facts_on(self, levels: Sequence[int]) -> dict[str, Int32s]:
        """The facts that are left on some levels."""
        import numpy as np

        from unveil.inference.fact_columns import cut_column
        from unveil.release.codes import Codes

        found = {}
        for ladder, level in zip(self.ladders, levels, strict=True):
            if level < ladder.left_out_level:
                step = ladder.steps[level]
                coarse = Codes(step.label_codes(ladder.codes), step.labels)
                fact = cut_column(ladder.name, coarse)
                missing = len(fact.labels) if self.policy.missing_as == "value" else -1
                found[ladder.name] = np.where(fact.codes < 0, missing, fact.codes).astype(np.int32)
        return found


# ---- coarser columns -------------------------------------------------------------------------------------------------


def _coarser_facts(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
    from unveil.release.coarse_table import CoarseColumn, coarsen_case, describe_leaks, kept_information

    import numpy as np  # isort: skip

    made = run.once(("facts", case), lambda: _Table.from_case(case, policy, run))
    levels = _choose_levels(made, made.goals(strictness), run)
    if levels is None:
        return None
    columns = {
        ladder.name: CoarseColumn(ladder, (None if level == ladder.left_out_level else ladder.steps[level],))
        for ladder, level in zip(made.ladders, levels, strict=True)
    }
    everybody = np.arange(made.table.rows)
    information = sum(kept_information(c, everybody) for c in columns.values()) / max(1, len(columns))
    said = f"The quasi-identifiers keep {percent_text(information)} of their information."
    return Protection(
        sentence=f"{_describe_levels(columns)} {said}",
        usefulness=information,
        apply=partial(coarsen_case, case, made.table, columns, everybody),
        doubt=describe_leaks(made.table, columns, policy),
    )


def _choose_levels(made: _Table, goals: Sequence[FactGoal], run: Run) -> tuple[int, ...] | None:
    """Levels on which all goals are met: raised one by one, by what each step gains for what it costs, and lowered
    again where that is not needed. None if nothing is left."""
    from unveil.inference.protections.fact_goals import worst_excess
    from unveil.release.coarsening import code_entropy

    def excess(levels: Sequence[int]) -> float:
        run.check()
        return worst_excess(goals, made.facts_on(levels), made.targets, made.person, run)

    def kept(column: int, level: int) -> float:
        ladder = made.ladders[column]
        whole = code_entropy(ladder.codes)
        if level == ladder.left_out_level:
            return 0.0
        return code_entropy(ladder.steps[level].label_codes(ladder.codes)) / whole if whole else 1.0

    levels = [0] * len(made.ladders)
    over = excess(levels)
    while over > 0:
        run.progress("choosing coarser facts", None)
        steps = []
        for c, ladder in enumerate(made.ladders):
            if levels[c] < ladder.left_out_level:
                higher = [level + (i == c) for i, level in enumerate(levels)]
                cost = kept(c, levels[c]) - kept(c, levels[c] + 1)
                after = excess(higher)
                steps.append(((over - after) / max(cost, 1e-9), -cost, -c, after, higher))
        if not steps:
            return None
        *_, over, levels = max(steps)
    for c in sorted(range(len(levels)), key=lambda c: kept(c, levels[c])):
        while levels[c]:
            lower = [level - (i == c) for i, level in enumerate(levels)]
            if excess(lower) > 0:
                break
            levels = lower
    if all(level == ladder.left_out_level for level, ladder in zip(levels, made.ladders, strict=True)):
        return None
    return tuple(levels)


def _describe_levels(columns: Mapping[str, CoarseColumn]) -> str:
    """What becomes of the columns."""
    coarser = [
        f"{safe_text(name)} {column.steps[0].description}"
        for name, column in columns.items()
        if column.steps[0] is not None and not column.is_unchanged
    ]
    out = [name for name, column in columns.items() if column.is_left_out]
    parts = [", ".join(coarser)] if coarser else []
    parts += [f"{list_text(out, len(out))} left out"] if out else []
    return f"{'; '.join(parts)}." if parts else "Nothing is changed."


# ---- shuffled values -------------------------------------------------------------------------------------------------


def _shuffled_values(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
    import numpy as np

    from unveil.inference.protections.fact_goals import worst_excess
    from unveil.secret_order import secret_permutation

    if policy.subject is not None:
        return None
    made = run.once(("facts", case), lambda: _Table.from_case(case, policy, run))
    goals, rows = made.goals(strictness), made.table.rows
    facts, order = made.facts_on([0] * len(made.ladders)), secret_permutation(rows)

    def source(count: int) -> Ints:
        """Whose sensitive values each row gets, if those of so many rows are shuffled."""
        some = order[:count]
        found = np.arange(rows)
        found[some] = some[secret_permutation(count)]
        return found

    low, high, best = 0, rows, None
    for _ in range(_SHUFFLE_STEPS):
        run.check()
        run.progress("choosing how many values to shuffle", None)
        count = (low + high + 1) // 2
        moved = source(count)
        mixed = {name: [target[moved] for target in own] for name, own in made.targets.items()}
        if worst_excess(goals, facts, mixed, None, run) > 0:
            low = count
        else:
            high, best = count, moved
    if best is None:
        return None
    share = float((best != np.arange(rows)).mean())
    names = list_text(policy.sensitive)
    return Protection(
        sentence=f"{number_text(round(share * rows))} of {count_text(rows, 'row')} ({percent_text(share)}) have the "
        f"{names} of another row; how often each value occurs stays as it was.",
        usefulness=1 - share,
        apply=partial(_shuffle_values, case, made.table, policy.sensitive, best),
    )


def _shuffle_values(case: Case, table: Table, columns: Sequence[str], source: Ints) -> Case:
    import numpy as np
    import pyarrow as pa

    from unveil.release.codes import arrow_integers
    from unveil.release.table import table_from_frame

    rows = pa.Table.from_batches(table.batches())
    for name in columns:
        at = rows.column_names.index(name)
        rows = rows.set_column(at, name, rows.column(at).take(arrow_integers(source.astype(np.int64))))
    release = table_from_frame(rows, engine=table.engine, name=table.name)
    return replace(case, release=release, original=table, truth=case.moved_truth(np.arange(table.rows)))


PROTECTIONS = MappingProxyType(
    {
        "facts": ProtectionOffer(
            "Coarsen or drop what gives values away",
            "Coarsen or drop columns until a few facts tell little.",
            _coarser_facts,
            applies_to=_has_goal,
            release_kinds=("table",),
        ),
        "shuffle": ProtectionOffer(
            "Shuffle some sensitive values",
            "Give some rows the sensitive values of others.",
            _shuffled_values,
            applies_to=_has_goal,
            release_kinds=("table",),
            caveat="Some rows have the sensitive values of others: tell whoever uses the table.",
        ),
    }
)
