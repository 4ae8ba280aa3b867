"""The question ``linkage``: which record is the person I know a few things about?

Someone knows a few random quasi-identifiers of a person and looks for the row. How often they find it is measured by
playing the attack; what a theorem guarantees them, without playing, stands beside it. Asked of tables with at least
three quasi-identifiers and one row per person.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from unveil.case import Case
from unveil.finding import Curve, Exposed, Finding
from unveil.linkage.ask_link import check_link, link_findings, similarities
from unveil.policy import Policy
from unveil.question import Question
from unveil.release.table import Table
from unveil.run import Run
from unveil.wording import counted, listed, percent

if TYPE_CHECKING:
    from unveil.linkage.adversaries import Adversary
    from unveil.linkage.attack import Outcome
    from unveil.linkage.records import Ints, Records
    from unveil.linkage.sparsity import Sparsity
    from unveil.linkage.unicity import Unicity

__all__ = ["QUESTION"]

_MERENER = (
    "M. M. Merener, Theoretical results on de-anonymization via linkage attacks, Transactions on Data Privacy 5, 2012"
)
_NARAYANAN = "A. Narayanan, V. Shmatikov, Robust de-anonymization of large sparse datasets, IEEE S&P 2008"
_MONTJOYE = "Y.-A. de Montjoye and others, Unique in the crowd, Scientific Reports 3, 2013"
_FEWEST = 3  # columns without which there is nothing to choose from
_TARGETS = 5_000
_FEW_TARGETS = 100
_WORK = 20_000_000
_AGREEMENTS = 300_000_000
_ALL = 10_000  # rows up to which each is compared with all others
_SAMPLE = 400
_MOST = 5_000_000  # rows
_POINTS = 12
_LIKELY = 0.5
_WRONG = 0.1
_HALF = 0.5
_MISSING = "A missing value is nothing that could be known of a person, and agrees with nothing."


def ask(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
    """The findings of this question."""
    from unveil.linkage.adversaries import likeliest, smallest
    from unveil.linkage.attack import attack
    from unveil.linkage.auxiliary import Knowledge
    from unveil.linkage.records import records_of
    from unveil.linkage.sparsity import sparsity
    from unveil.linkage.unicity import unicity

    table = case.release
    assert isinstance(table, Table)
    yield from link_findings(case, policy, run)
    columns = tuple(dict.fromkeys(c for group in policy.quasi for c in group))
    if len(columns) < _FEWEST or policy.subject is not None or table.rows > _MOST:
        return
    records = records_of(table, columns, policy.missing, similarities(policy, columns), run)
    if not len(records.value):
        return
    row_of = _sorted(records)  # so that what is drawn does not depend on the order of the rows
    records = records.only(row_of)
    known = min(policy.things_known, int(records.support.max()))
    ms = _numbers(known, int(records.support.max()))

    def attacked(adversary: Adversary, name: str, targets: int, errors: Knowledge | None = None) -> tuple[Outcome, ...]:
        return attack(
            records, [adversary], ms, rng=run.rng(name), targets=min(targets, records.n), knowledge=errors,
            confidence=run.confidence, run=run,
        ).outcomes  # fmt: skip

    right = attacked(smallest(), "linkage.success", _TARGETS)
    fewer = max(_FEW_TARGETS, min(_TARGETS, _WORK // records.n))  # each looks at all records
    wrong = attacked(likeliest(wrong=_WRONG), "linkage.success wrong", fewer, Knowledge(wrong=_WRONG))
    make = _maker(columns, records, known, policy)
    yield _success(right, wrong, known, row_of, policy, run, make)
    rows = right[0].rows
    points = unicity(records, ms, rng=run.rng("linkage.unicity"), targets=rows, confidence=run.confidence, run=run)
    yield _unicity(points, known, make)
    found = sparsity(records, sample=None if records.n <= _ALL else _SAMPLE, run=run)
    yield _sparsity(found, make)
    yield _bound(found, records, known, run, make)


def _sorted(records: Records) -> Ints:
    """The rows in the order of their values, as far as they fit into memory side by side."""
    import numpy as np

    return np.lexsort(records.array.T[::-1]) if records.dense else np.arange(records.n)


def _numbers(known: int, most: int) -> list[int]:
    """How many things are known in turn: all numbers if they are few, else further and further apart."""
    few = [m for m in range(1, most + 1) if m <= _POINTS // 2]
    step, far = 2, list[int]()
    while (few + far)[-1] < most:
        far += [min(most, (few + far)[-1] + step)]
        step += len(far) % 2
    return sorted({*(range(1, most + 1) if most <= _POINTS else few + far), known})


def _at(outcomes: Sequence[Outcome], known: int) -> Outcome:
    return next(o for o in outcomes if o.known == known)


def _success(
    right: Sequence[Outcome],
    wrong: Sequence[Outcome],
    known: int,
    row_of: Ints,
    policy: Policy,
    run: Run,
    make: Any,
) -> Finding:
    at, off = _at(right, known), _at(wrong, known)
    excluded = f" {counted(at.excluded, 'row')} with fewer values were left out." if at.excluded else ""
    found: Finding = make(
        "linkage.success",
        f"Rows found by someone who knows {counted(known, 'random column')}",
        at.row_success.value,
        f"{_crossing(right)} With {counted(known, 'column')} known, {percent(at.row_success.value)} of the rows are "
        f"found, {percent(off.row_success.value)} if one fact in ten is wrong.{excluded}",
        method="simulation",
        interval=at.row_success.interval,
        confidence=at.confidence,
        share=at.row_success.interval,
        baseline=1 / at.records,
        curves=(
            _curve("Rows found by how many columns are known", right, "all facts right"),
            _curve("The same, if one fact in ten is wrong", wrong, "the likeliest row named"),
        ),
        exposed=_exposed(at, row_of, policy, run),
        source=f"{_MERENER}; {_NARAYANAN}",
    )
    return found


def _crossing(outcomes: Sequence[Outcome]) -> str:
    """From how many things on one in two is found."""
    likely = next((o.known for o in outcomes if o.row_success.value >= _LIKELY), None)
    if likely is None:
        return "However many columns are known, fewer than one in two is found."
    return f"From {counted(likely, 'known column')} on, one in two is found."


def _curve(title: str, outcomes: Sequence[Outcome], how: str) -> Curve:
    last = outcomes[-1]
    return Curve(
        title=title,
        kind="line",
        x_label="columns known, chosen at random",
        y_label="share of rows found",
        x=tuple(float(o.known) for o in outcomes),
        y=tuple(o.row_success.value for o in outcomes),
        low=tuple(o.row_success.interval[0] for o in outcomes),
        high=tuple(o.row_success.interval[1] for o in outcomes),
        reading=f"With {how}: {percent(last.row_success.value)} are found with {counted(last.known, 'column')} known; "
        f"the band is the interval at {percent(last.confidence)} confidence, and guessing finds 1 in {last.records:,}.",
    )


def _exposed(outcome: Outcome, row_of: Ints, policy: Policy, run: Run) -> tuple[Exposed, ...]:
    chance = dict(zip(row_of[outcome.rows].tolist(), outcome.row_found.tolist(), strict=True))
    return tuple(
        Exposed(
            subject=f"row {row + 1:,}",
            risk=chance[row],
            because=f"found with {counted(outcome.known, 'random column')} known",
            learns=policy.sensitive,
        )
        for row in sorted(chance, key=lambda r: (-chance[r], r))[: run.exposed]
        if chance[row] > 1 / outcome.records
    )


def _unicity(points: Sequence[Unicity], known: int, make: Any) -> Finding:
    at = next(p for p in points if p.known == known)
    found: Finding = make(
        "linkage.unicity",
        f"Rows that are unique given {counted(known, 'random column')}",
        at.share.value,
        f"{percent(at.share.value)} of the rows are the only ones with {counted(known, 'random value')} of theirs.",
        method="simulation",
        interval=at.share.interval,
        confidence=at.confidence,
        share=at.share.interval,
        curves=(
            Curve(
                title="Unique rows by how many columns are known",
                kind="line",
                x_label="columns known, chosen at random",
                y_label="share of rows that are unique",
                x=tuple(float(p.known) for p in points),
                y=tuple(p.share.value for p in points),
                low=tuple(p.share.interval[0] for p in points),
                high=tuple(p.share.interval[1] for p in points),
                reading=f"With {counted(points[-1].known, 'column')} known, {percent(points[-1].share.value)} are "
                "unique.",
            ),
        ),
        source=_MONTJOYE,
    )
    return found


def _sparsity(found: Sparsity, make: Any) -> Finding:
    value, interval = found.f(_HALF), found.interval(_HALF)
    sigma, share = found.curve(21)
    limits = [found.interval(s) for s in sigma]
    finding: Finding = make(
        "linkage.sparsity",
        "Rows that share half of their values or more with another row",
        value,
        f"For {percent(value)} of the rows there is another one with which they share half of all values that either "
        f"has; for {percent(found.f(1))} one that is equal. The fewer there are, the less must be known to find "
        "someone.",
        method="exact" if found.exact else "simulation",
        interval=None if found.exact else interval,
        confidence=None if found.exact else 0.95,
        direction="higher",
        curves=(
            Curve(
                title="How many rows have another one that is similar",
                kind="line",
                x_label="similarity of rows: shared values over all that either has",
                y_label="share of rows with another at least as similar",
                x=tuple(float(s) for s in sigma),
                y=tuple(float(s) for s in share),
                low=None if found.exact else tuple(low for low, _ in limits),
                high=None if found.exact else tuple(high for _, high in limits),
                reading=f"At .5, {percent(value)} of the rows have another that shares half of their values.",
            ),
        ),
        source=_MERENER,
    )
    return finding


def _bound(found: Sparsity, records: Records, known: int, run: Run, make: Any) -> Finding:
    from unveil.linkage.theorems import best_bound, smallest_m, steps

    each = 1 - (1 - run.confidence) / 2  # two bounds that hold together
    near: Any = steps(found.found.similarity) if found.exact else found.limits(101, each)
    best = best_bound(records.n, known, near)
    enough = smallest_m(records.n, _LIKELY, near)
    counted_from, sampled = _from_the_data(records, known, each, run)
    value = max(best.p, counted_from)
    most = int(records.support.min())
    needed = "No number of columns guarantees that one in two is found."
    if enough is not None:
        reach = "" if enough.m <= most else ", more than every row has"
        needed = f"{counted(enough.m, 'random column')} would guarantee that one in two is found{reach}."
    short = int((records.support < known).sum())
    apart = f" Not for the {counted(short, 'row')} with fewer values." if short else ""
    said = (
        f"Counting how far rows agree guarantees that {percent(counted_from)} are found"
        if counted_from
        else "Counting how far rows agree guarantees nothing"
    )
    said += f", the theorem {percent(best.p)}." if best.p else ", the theorem, which knows less of the data, nothing."
    finding: Finding = make(
        "linkage.success_bound",
        f"Guaranteed to someone who knows {counted(known, 'random column')}",
        value,
        f"{said} By the theorem {needed[0].lower()}{needed[1:]}{apart}",
        method="bound",
        interval=(value, 1.0),
        confidence=run.confidence if sampled or not found.exact else None,
        share=(value, 1.0),
        source=f"{_MERENER}, Theorem 8(a) with the two errors apart; union bound over the rows at hand",
    )
    return finding


def _from_the_data(records: Records, known: int, confidence: float, run: Run) -> tuple[float, bool]:
    """What the agreement of rows with all others guarantees: how many of them are found, and whether that is from a
    sample, with this confidence."""
    import numpy as np

    from unveil.linkage.agreement import union_bound
    from unveil.linkage.attack import estimated

    count = max(_FEW_TARGETS, _AGREEMENTS // max(1, records.n * records.c))
    rows = np.flatnonzero(records.support >= known)
    sampled = len(rows) > count
    if sampled:
        rows = np.sort(run.rng("linkage.success_bound").choice(rows, count, replace=False))
    if not records.dense or not len(rows):
        return 0.0, False
    array, support, found = records.array, records.support, np.empty(len(rows))
    for place, row in enumerate(rows.tolist()):
        run.progress("counting how far rows agree", place / len(rows))
        run.check()
        own = array[row] >= 0
        agree = (array[:, own] == array[row, own]).sum(axis=1)
        others = np.arange(records.n) != row
        found[place] = union_bound(agree[others], support[others], int(support[row]), known, ties="random")
    return (estimated(found, confidence).sure[0] if sampled else float(found.mean())), sampled


def _maker(columns: tuple[str, ...], records: Records, known: int, policy: Policy) -> Any:
    """Makes findings with what all of them have in common."""

    def make(finding_id: str, title: str, value: float, sentence: str, **more: Any) -> Finding:
        tolerance = policy.tolerated(finding_id)
        facts: dict[str, Any] = {
            "id": finding_id,
            "question": "linkage",
            "title": title,
            "value": value,
            "unit": "share",
            "subjects": records.n,
            "tolerance": tolerance,
            "direction": "lower",
            "decides": tolerance is not None,
            "attacker": f"Knows {counted(known, 'random value')} of a person among {listed(columns, 12)}, and that the "
            "person is in the data.",
            "missing": _MISSING,
            "sentence": sentence,
        }
        return Finding(**(facts | more))

    return make


QUESTION = Question(
    name="linkage",
    title="Which record is the person I know a few things about?",
    kinds=("table",),
    findings=("linkage.success", "linkage.unicity", "linkage.sparsity", "linkage.success_bound", "linkage.matched"),
    sampled=("linkage.success", "linkage.unicity"),
    ask=ask,
    check=check_link,
)
