"""How tables can be protected from someone who knows a few things: coarser columns, rare values together, fewer rows;
and ratings: coarser values and dates, fewer items, fewer people.

What is chosen is :mod:`unveil.linkage.safer.moves`, what columns can become :mod:`unveil.linkage.safer.coarsen`.
Nothing here is random but for the attacks that are played, and the choice among those who are equally likely found.
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
from unveil.linkage.telling import FEWEST, MOST
from unveil.policy import Policy
from unveil.protection import Offer, Protection
from unveil.release.table import Table, table_of
from unveil.run import Run
from unveil.wording import counted, listed, number, percent, shown

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from unveil.linkage.safer.coarsen import Ladder, Step
    from unveil.linkage.safer.ratings import RatingsSearch
    from unveil.linkage.safer.rows import RowsSearch
    from unveil.linkage.safer.search import Ints, Plan, Search, Small

__all__ = ["PROTECTIONS"]

_ALL = 1000  # columns that a sentence may name
_SAME = 0.5  # values of a column that may tell another, at most, as a share of the rows

_searches: WeakKeyDictionary[Case, tuple[Policy, Run, Search]] = WeakKeyDictionary()
"""The search that belongs to a case: several protections, and stricter ones, weigh much of the same."""


def _made(case: Case, policy: Policy, run: Run, strictness: float, kinds: Sequence[str] = ()) -> Protection | None:
    """A protection by moves of some kinds, by default all."""
    from unveil.linkage.safer.moves import smallest_plan

    table, search = _table(case, policy), _search(case, policy, run)
    aim = strictness * min(policy.wanted(_aimed_at(policy)), search.weigh(search.start))
    plan = smallest_plan(
        search, aim, kinds or search.kinds, lambda done: run.progress("choosing what to give up", done)
    )
    if plan is None:
        return None
    return Protection(
        sentence=f"{_sentence(search, plan)} {_keeps(search, plan)}",
        usefulness=search.useful(plan),
        apply=_applied(case, table, search, plan),
        doubt=_given_away(table, search, plan, policy),
    )


def _table(case: Case, policy: Policy) -> Table:
    """The table, if it can be protected so."""
    table = case.release
    assert isinstance(table, Table)
    name = shown(table.name)
    if case.original is not None:
        raise UnveilError("protect the original: this release already is a protected one")
    if policy.ratings:
        return table
    if policy.subject is not None:
        raise UnveilError(
            f"{name}: there is no protection for a table with several rows per person yet; make it one row per person, "
            "or name what each row says with --ratings person,item"
        )
    if len(_columns(policy)) < FEWEST:
        raise UnveilError(
            f"{name}: there is no protection for a table with fewer than three quasi-identifiers; name what an "
            "attacker may know with --quasi a,b,c"
        )
    if table.rows > MOST:
        raise UnveilError(f"{name}: there is no protection for a table of more than {MOST:,} rows; split it")
    return table


def _columns(policy: Policy) -> tuple[str, ...]:
    """What someone may know of a person."""
    return policy.ratings[1:] or policy.quasi_columns


def _own_row(policy: Policy) -> bool:
    """Whether only the own row counts as found: if there is a tolerance for that and none for equal ones."""
    return policy.tolerated("linkage.success") is None and policy.tolerated("linkage.own_row") is not None


def _aimed_at(policy: Policy) -> str:
    return "linkage.own_row" if _own_row(policy) else "linkage.success"


def _search(case: Case, policy: Policy, run: Run) -> Search:
    """The search for a plan; the same one for the same case, policy and run."""
    held = _searches.get(case)
    if held is None or held[0] != policy or held[1] is not run:
        made = _ratings_search(case, policy, run) if policy.ratings else _rows_search(case, policy, run)
        _searches[case] = held = policy, run, made
    return held[2]


def _rows_search(case: Case, policy: Policy, run: Run) -> RowsSearch:
    from unveil.linkage.ask_link import similarities
    from unveil.linkage.copies import same
    from unveil.linkage.safer.coarsen import ladders
    from unveil.linkage.safer.rows import RowsSearch

    table, columns = case.release, _columns(policy)
    assert isinstance(table, Table)
    made = ladders(table, columns, case.hierarchies, policy, run)
    names = [c for c in table.columns if c not in (*columns, *policy.identifier)]
    other = same([own.codes for own in table.codes(names, policy.missing, run).values()], table.rows)
    return RowsSearch(made, policy.things_known, similarities(policy, columns), run, _own_row(policy), other)


def _ratings_search(case: Case, policy: Policy, run: Run) -> RatingsSearch:
    from unveil.linkage.ask_link import similarities
    from unveil.linkage.safer.coarsen import ladders, plain_ladder
    from unveil.linkage.safer.ratings import RatingsSearch

    table, columns = case.release, _columns(policy)
    assert isinstance(table, Table)
    person, item, *others = policy.ratings
    codes = table.codes([person, item], policy.missing, run)
    made = [plain_ladder(item, codes[item]), *ladders(table, others, case.hierarchies, policy, run)]
    return RatingsSearch(made, policy.things_known, similarities(policy, columns), run, _own_row(policy), codes[person])


# ---- in words --------------------------------------------------------------------------------------------------------


def _sentence(search: Search, plan: Plan) -> str:
    """What a plan does, column by column."""
    coarser, out = list[str](), list[str]()
    for i, ladder in enumerate(search.ladders):
        if plan.levels[i] == ladder.out:
            out.append(ladder.name)
        elif said := search.step(plan, i).said:
            coarser.append(f"{shown(ladder.name)} {said}")
    parts = [", ".join(coarser)] if coarser else []
    some = _some_left_out if _is_ratings(search) else _some_together
    parts += [*some(search, plan), *([f"{listed(out, _ALL)} left out"] if out else [])]
    if gone := len(plan.gone):
        people = _is_ratings(search)
        who = counted(search.size, *(("person", "people") if people else ("row",)))
        parts.append(f"{number(gone)} of {who} left out")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text.startswith("rare") else f"{text}." if text else "Nothing is changed."


def _is_ratings(search: Search) -> bool:
    return "people" in search.kinds


def _some_together(search: Search, plan: Plan) -> list[str]:
    """Which rare values are one."""
    steps = [(search.ladders[i].name, search.step(plan, i).rare) for i in search.left(plan)]
    rare = [f"{number(count)} of {shown(name)}" for name, count in steps if count]
    return [f"rare values put together: {listed(rare, _ALL)}"] if rare else []


def _some_left_out(search: Search, plan: Plan) -> list[str]:
    """Which items are left out, and who has nothing else."""
    from unveil.linkage.safer.ratings import ITEM, RatingsSearch

    assert isinstance(search, RatingsSearch)
    least = plan.rare[ITEM]
    if not least:
        return []
    items = search.people_of
    said = f"{number(int((items < least).sum()))} of {counted(len(items), 'item')} left out (rated by fewer than "
    empty = len(search.kept(plan)) - len(search.people_left(plan))
    lost = f", and with them {counted(empty, 'person', 'people')} who rated nothing else" if empty else ""
    return [f"{said}{counted(least, 'person', 'people')}){lost}"]


def _keeps(search: Search, plan: Plan) -> str:
    """What is left of the data."""
    told = percent(search.told(plan))
    if not _is_ratings(search):
        return f"The quasi-identifiers keep {told} of their information."
    names = listed(ladder.name for ladder in search.ladders)
    kept = percent(len(search.rows_kept(plan)) / search.rows)
    they = "keeps {} of its" if len(search.ladders) == 1 else "keep {} of their"
    return f"{kept} of the ratings are kept; {names} {they.format(told)} information."


def _given_away(table: Table, search: Search, plan: Plan, policy: Policy) -> str:
    """Which coarsened columns another one gives away that is released as it is: each of its values goes with one value
    of theirs. One that is different in most rows goes with anything."""
    changed = [ladder for ladder in search.ladders if ladder.name in _changed(search, plan)]
    told = dict[str, list[str]]()
    names = [c for c in table.columns if c not in (*_columns(policy), *policy.identifier, policy.subject)]
    for name, own in table.codes(names, policy.missing).items():
        if not 1 < len(own.values) <= _SAME * table.rows:
            continue
        for ladder in changed:
            if _follows(ladder, own.codes, len(own.values)):
                told.setdefault(name, []).append(ladder.name)
    each = (f"{shown(name)}, as it is, still tells {listed(gone)}" for name, gone in told.items())
    said = "; ".join(each)
    return f"{said[0].upper()}{said[1:]}: leave it out, or call it a quasi-identifier." if said else ""


def _changed(search: Search, plan: Plan) -> dict[str, Step | None]:
    """What becomes of the columns that do not stay as they are; None of those that are left out."""
    steps = {
        ladder.name: (ladder, None if plan.levels[i] == ladder.out else search.step(plan, i))
        for i, ladder in enumerate(search.ladders)
    }
    return {name: step for name, (ladder, step) in steps.items() if step is not ladder.steps[0]}


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

        kept = np.sort(search.row[search.rows_kept(plan)])
        place = np.full(table.rows, -1, np.int64)
        place[kept] = np.arange(len(kept))
        changed = _changed(search, plan)
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


def _rated(case: Case, policy: Policy) -> bool:
    return bool(policy.ratings)


def _not_rated(case: Case, policy: Policy) -> bool:
    return not policy.ratings


PROTECTIONS = MappingProxyType(
    {
        "columns": Offer("Coarsen or leave out columns", partial(_made, kinds=("columns",))),
        "values": Offer("Put rare values together", partial(_made, kinds=("values",)), suits=_not_rated),
        "rows": Offer("Leave out rows", partial(_made, kinds=("rows",)), suits=_not_rated),
        "items": Offer("Leave out rare items", partial(_made, kinds=("items",)), suits=_rated),
        "people": Offer("Leave out people", partial(_made, kinds=("people",)), suits=_rated),
        "mixed": Offer("All of these, whichever costs least", _made),
    }
)
