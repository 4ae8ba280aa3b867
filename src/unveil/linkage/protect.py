"""How tables can be protected from someone who knows a few things: coarser columns, rare values together, fewer rows.

What is chosen is :mod:`unveil.linkage.safer.moves`, what columns can become :mod:`unveil.linkage.safer.coarsen`.
Nothing here is random but for the attacks that are played, and the choice among rows that are equally likely found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from unveil.case import Case
from unveil.errors import UnveilError
from unveil.policy import Policy
from unveil.protection import Offer, Protection
from unveil.release.table import Table, table_of
from unveil.run import Run
from unveil.wording import counted, listed, number, percent, shown

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from unveil.linkage.safer.coarsen import Ladder, Step
    from unveil.linkage.safer.moves import Ints, Plan, Search, Small

__all__ = ["PROTECTIONS"]

_FEWEST = 3
_MOST = 5_000_000  # rows
_KINDS = ("columns", "values", "rows")
_ALL = 1000  # columns that a sentence may name
_SAME = 0.5  # values of a column that may tell another, at most, as a share of the rows

_searches: WeakKeyDictionary[Case, tuple[Policy, Run, Search]] = WeakKeyDictionary()
"""The search that belongs to a case: several protections, and stricter ones, weigh much of the same."""


def _made(case: Case, policy: Policy, run: Run, strictness: float, kinds: Sequence[str]) -> Protection | None:
    from unveil.linkage.safer.moves import smallest_plan

    table, search = _table(case, policy), _search(case, policy, run)
    aim = strictness * min(policy.wanted("linkage.success"), search.weigh(search.start))
    plan = smallest_plan(search, aim, kinds, lambda done: run.progress("choosing what to give up", done))
    if plan is None:
        return None
    kept = search.told(plan, search.kept(plan))
    information = f"The quasi-identifiers keep {percent(kept)} of their information."
    return Protection(
        sentence=f"{_sentence(search, plan)} {information}{_given_away(table, search, plan, policy)}",
        usefulness=search.useful(plan),
        apply=_applied(case, table, search, plan),
    )


def _table(case: Case, policy: Policy) -> Table:
    """The table, if it can be protected so."""
    table = case.release
    assert isinstance(table, Table)
    name = shown(table.name)
    if case.original is not None:
        raise UnveilError("protect the original: this release already is a protected one")
    if policy.ratings or policy.subject is not None:
        raise UnveilError(
            f"{name}: there is no protection for a table with several rows per person yet; make it one row per person"
        )
    if len(_columns(policy)) < _FEWEST:
        raise UnveilError(
            f"{name}: there is no protection for a table with fewer than three quasi-identifiers; name what an "
            "attacker may know with --quasi a,b,c"
        )
    if table.rows > _MOST:
        raise UnveilError(f"{name}: there is no protection for a table of more than {_MOST:,} rows; split it")
    return table


def _columns(policy: Policy) -> tuple[str, ...]:
    return tuple(dict.fromkeys(c for group in policy.quasi for c in group))


def _search(case: Case, policy: Policy, run: Run) -> Search:
    """The search for a plan; the same one for the same case, policy and run."""
    from unveil.linkage.ask_link import similarities
    from unveil.linkage.safer.coarsen import ladders
    from unveil.linkage.safer.moves import Search

    table, columns = case.release, _columns(policy)
    assert isinstance(table, Table)
    held = _searches.get(case)
    if held is None or held[0] != policy or held[1] is not run:
        made = ladders(table, columns, case.hierarchies, policy, run)
        others = _others(table, [*columns, *policy.identifier], policy, run)
        search = Search(made, others, policy.things_known, similarities(policy, columns), run)
        _searches[case] = held = policy, run, search
    return held[2]


def _others(table: Table, but: Sequence[str], policy: Policy, run: Run) -> Ints:
    """The class of every row by all columns but some."""
    import numpy as np

    kind = np.zeros(table.rows, np.int64)
    names = [c for c in table.columns if c not in but]
    for own in table.codes(names, policy.missing, run).values():
        run.check()
        _, kind = np.unique(kind * (len(own.values) + 1) + own.codes + 1, return_inverse=True)
    return kind


# ---- in words --------------------------------------------------------------------------------------------------------


def _sentence(search: Search, plan: Plan) -> str:
    """What a plan does, column by column."""
    coarser, rare, out = list[str](), list[str](), list[str]()
    for ladder, level, t in zip(search.ladders, plan.levels, plan.rare, strict=True):
        if level == ladder.out:
            out.append(ladder.name)
            continue
        step = ladder.step(level, t)
        coarser += [f"{shown(ladder.name)} {step.said}"] if step.said else []
        rare += [f"{number(step.rare)} of {shown(ladder.name)}"] if step.rare else []
    said = [", ".join(coarser)] if coarser else []
    said += [f"rare values put together: {listed(rare, _ALL)}"] if rare else []
    said += [f"{listed(out, _ALL)} left out"] if out else []
    if gone := len(plan.gone):
        said.append(f"{number(gone)} of {counted(search.rows, 'row')} left out")
    text = "; ".join(said)
    return f"{text[0].upper()}{text[1:]}." if text.startswith("rare") else f"{text}." if text else "Nothing is changed."


def _given_away(table: Table, search: Search, plan: Plan, policy: Policy) -> str:
    """Which coarsened columns another one gives away that is released as it is: each of its values goes with one value
    of theirs. One that is different in most rows goes with anything."""
    changed = [x for x, level, t in zip(search.ladders, plan.levels, plan.rare, strict=True) if level or t]
    told = dict[str, list[str]]()
    names = [c for c in table.columns if c not in (*_columns(policy), *policy.identifier)]
    for name, own in table.codes(names, policy.missing).items():
        if not 1 < len(own.values) <= _SAME * table.rows:
            continue
        for ladder in changed:
            if _follows(ladder, own.codes, len(own.values)):
                told.setdefault(name, []).append(ladder.name)
    return "".join(f" But {shown(name)}, as it is, still tells {listed(gone)}." for name, gone in told.items())


def _follows(ladder: Ladder, codes: Small, values: int) -> bool:
    """Whether the original values of a column follow from the codes of another."""
    import numpy as np

    there = (codes >= 0) & (ladder.codes >= 0)
    own, other = ladder.codes[there].astype(np.int64), codes[there]
    first = np.zeros(values, np.int64)
    first[other] = own
    return len(own) > 0 and bool((first[other] == own).all())


# ---- the table -------------------------------------------------------------------------------------------------------


def _applied(case: Case, table: Table, search: Search, plan: Plan) -> Callable[[], Case]:
    def apply() -> Case:
        import numpy as np

        kept = np.sort(search.row[search.kept(plan)])
        place = np.full(table.rows, -1, np.int64)
        place[kept] = np.arange(len(kept))
        changed = {
            ladder.name: None if level == ladder.out else ladder.step(level, rare)
            for ladder, level, rare in zip(search.ladders, plan.levels, plan.rare, strict=True)
            if (level, rare) != (0, 0)
        }
        made = {ladder.name: ladder.hierarchy for ladder in search.ladders if ladder.hierarchy is not None}
        there = {c: h for c, h in {**made, **case.hierarchies}.items() if changed.get(c, True) is not None}
        return replace(
            case,
            release=_released(table, search.ladders, changed, kept),
            original=table,
            truth=_truth(case, place),
            hierarchies=MappingProxyType({c: h for c, h in there.items() if c in case.hierarchies or c in changed}),
        )

    return apply


def _released(table: Table, ladders: Sequence[Ladder], changed: dict[str, Step | None], kept: Ints) -> Table:
    """The table with other labels, without some columns and rows; all else is as it was."""
    import pyarrow as pa

    from unveil.release.codes import arrow_numbers

    rows = pa.Table.from_batches(table.batches())
    for ladder in ladders:
        if ladder.name not in changed:
            continue
        step, at = changed[ladder.name], rows.column_names.index(ladder.name)
        if step is None:
            rows = rows.remove_column(at)
        else:
            rows = rows.set_column(at, ladder.name, _labelled(rows.column(at), ladder, step))
    return table_of(rows.take(arrow_numbers(kept)), engine=table.engine, name=table.name)


def _labelled(column: pa.ChunkedArray, ladder: Ladder, step: Step) -> pa.Array:
    """A column under the labels of a step; what was missing is as it was."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from unveil.release.codes import arrow_numbers, as_text

    codes = step.of(ladder.codes)
    there = arrow_numbers((codes >= 0).astype("int32")).cast(pa.bool_())
    labels = as_text(step.labels).take(arrow_numbers(codes.clip(min=0)))
    return pc.if_else(there, labels, as_text(column))


def _truth(case: Case, place: Ints) -> np.ndarray | None:
    """What has become of every row; of every known person, if there is a file of them."""
    import numpy as np

    if case.truth is None:
        return None if "known" in case.holds else place
    return np.where(case.truth >= 0, place[case.truth], -1)


PROTECTIONS = MappingProxyType(
    {
        "columns": Offer("Coarsen or leave out columns", partial(_made, kinds=("columns",))),
        "values": Offer("Put rare values together", partial(_made, kinds=("values",))),
        "rows": Offer("Leave out rows", partial(_made, kinds=("rows",))),
        "mixed": Offer("Columns, values and rows, whichever costs least", partial(_made, kinds=_KINDS)),
    }
)
