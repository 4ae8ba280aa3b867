"""The finding about a file of known people: who of them is which row of the release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary, ref

from unveil.case import Case
from unveil.errors import UnveilError
from unveil.finding import Curve, Exposed, Finding
from unveil.policy import Policy
from unveil.release.roles import check_column
from unveil.release.table import Table
from unveil.run import Run
from unveil.wording import counted, listed, number, percent, shown

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from unveil.linkage.link.matches import Linkage
    from unveil.linkage.link.one_to_one import OneToOne
    from unveil.linkage.link.paired import Paired
    from unveil.linkage.link.quality import Quality
    from unveil.linkage.similarity import Similarity

__all__ = ["check_link", "link_findings", "matches", "similarities"]

_SOURCE = (
    "A. Narayanan, V. Shmatikov, Robust de-anonymization of large sparse datasets, IEEE S&P 2008; I. Fellegi, "
    "A. Sunter, A theory for record linkage, JASA 64, 1969; L. V. S. Lakshmanan, R. T. Ng, G. Ramesh, ACM TKDD 2(3), "
    "2008, §8.1"
)
_MANY = 1_000  # people and rows from which on errors are estimated from the files themselves
_OUTSIDE = 0.1
_ERRORS = 0.02
_STEPS = 10
_SURE = 0.5


def similarities(policy: Policy, columns: tuple[str, ...]) -> Mapping[str, Similarity]:
    """How the policy has columns compared; all others for equality."""
    from unveil.linkage.similarity import named

    return {c: named(text) for c, text in policy.compare.items() if c in columns}


def check_link(case: Case, policy: Policy) -> None:
    """Known people must be a table with columns that the release has, too."""
    held = case.holds.get("known")
    if held is None:
        return
    if not isinstance(held, Table) or not isinstance(case.release, Table):
        raise UnveilError(
            f"{shown(held.name)}: was read as {held.kind}; known people are a table, and so is the release"
        )
    columns = _columns(case.release, held, policy)
    for column in (*columns, *policy.compare):
        for table in (case.release, held):
            check_column(table, column)
    if not columns:
        raise UnveilError(f"{shown(held.name)} and {shown(case.release.name)} have no column in common")
    for column, sim in similarities(policy, columns).items():
        for table in (case.release, held):
            sim.numbers(table.codes([column], policy.missing)[column].values, column)


def _columns(release: Table, held: Table, policy: Policy) -> tuple[str, ...]:
    """The quasi-identifiers if they are given; else all columns in common that no given role excludes."""
    quasi = tuple(c for c in policy.quasi_columns if c not in policy.guessed)
    if quasi:
        return quasi
    named = {*policy.identifier, *policy.sensitive, *policy.insensitive} - set(policy.guessed)
    return tuple(c for c in release.columns if c in held.columns and c not in named)


def link_findings(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
    """Who is who, if a file of known people is held."""
    table, held = case.release, case.holds.get("known")
    if not isinstance(table, Table) or not isinstance(held, Table):
        return
    columns = _columns(table, held, policy)
    found, one = _linked(case, table, held, columns, policy, run)
    measured = None if case.truth is None else _measured(found, case.truth, run)
    yield _finding(case, found, one, measured, table, held, columns, policy, run)


class _Measured(NamedTuple):
    """How good links are: those that are likelier right than wrong, the best match of everybody, and links chosen
    together, if that could be done."""

    sure: Quality
    best: Quality
    together: Quality | None

    @property
    def right(self) -> float:
        """How many people the better attacker finds."""
        return max(self.best.right, self.together.right if self.together else 0.0)


def _measured(found: Linkage, truth: np.ndarray, run: Run) -> _Measured:
    import numpy as np

    from unveil.linkage.link.assigned import assigned
    from unveil.linkage.link.quality import quality, quality_of_assigned

    people = np.flatnonzero(truth >= 0)
    rows, everyone = truth[people], np.flatnonzero(found.best >= 0)
    try:
        together = quality_of_assigned(assigned(found, run=run), people, rows)
    except UnveilError:  # too many people and rows are alike
        together = None
    return _Measured(quality(found, people, rows), quality(found, people, rows, everyone), together)


_links: WeakKeyDictionary[Table, tuple[ref[Table], Any, tuple[Linkage, OneToOne]]] = WeakKeyDictionary()
"""The links of known people that were found last: whoever asks for the matches, too, has them already."""


def _linked(
    case: Case, table: Table, held: Table, columns: tuple[str, ...], policy: Policy, run: Run
) -> tuple[Linkage, OneToOne]:
    """The best match of everybody, and what follows if no row is two people; found once for the same files."""
    asked = (columns, policy, {column: made.digest for column, made in case.hierarchies.items()})
    kept = _links.get(held)
    if kept is None or kept[0]() is not table or kept[1] != asked:
        _links[held] = kept = ref(table), asked, _found(case, table, held, columns, policy, run)
    return kept[2]


def _many(table: Table, held: Table) -> bool:
    """Whether there are enough to see from them how often facts are wrong."""
    return min(table.rows, held.rows) >= _MANY


def _found(
    case: Case, table: Table, held: Table, columns: tuple[str, ...], policy: Policy, run: Run
) -> tuple[Linkage, OneToOne]:
    from unveil.linkage.link.matches import link
    from unveil.linkage.link.mistakes import estimated_mistakes
    from unveil.linkage.link.one_to_one import one_to_one
    from unveil.linkage.link.possible import possible

    sides = _sides(case, table, held, columns, policy, run)
    if _many(table, held):
        mistakes = estimated_mistakes(sides, outside=_OUTSIDE, run=run)
        found = link(sides, errors=mistakes.errors, outside=mistakes.outside, run=run)
    else:
        found = link(sides, errors=_ERRORS, run=run)
    return found, one_to_one(possible(sides, run=run), run)


def matches(case: Case, policy: Policy, run: Run) -> pa.Table:
    """What the attacker makes of every person, in the order of their file: the number of the best row, missing if none
    agrees in anything, of rows that nothing rules out, its score, by how many standard deviations it is ahead of the
    second, and the probability that it is right; then the likeliest row if all facts are right and no row is two
    people, with its probability. Rows are numbered from 1."""
    import numpy as np
    import pyarrow as pa

    table, held = case.release, case.holds["known"]
    assert isinstance(table, Table) and isinstance(held, Table)
    found, one = _linked(case, table, held, _columns(table, held, policy), policy, run)
    there, placed = found.best >= 0, one.best >= 0
    return pa.table(
        {
            "known": np.arange(1, found.n + 1),
            "row": pa.array(found.best + 1, mask=~there),
            "candidates": found.candidates,
            "score": pa.array(found.score, mask=~there),
            "ahead": pa.array(found.eccentricity, mask=~(there & np.isfinite(found.eccentricity))),
            "probability": pa.array(found.posterior, mask=~there),
            "one_to_one_row": pa.array(one.best + 1, mask=~placed),
            "one_to_one_probability": pa.array(one.chance, mask=~placed),
        }
    )


def _sides(case: Case, table: Table, held: Table, columns: tuple[str, ...], policy: Policy, run: Run) -> Paired:
    """The release and the known people, side by side; labels that stand for several values are read as such."""
    from unveil.linkage.link.paired import paired, records_of_both
    from unveil.release.codes import as_text
    from unveil.release.meaning import generalised, partly_dated, raw, reading

    codes = [t.codes(columns, policy.missing, run) for t in (table, held)]
    said = similarities(policy, columns)
    labels = {}
    for column, read in zip(columns, reading(columns, case.hierarchies), strict=True):
        released, known = (as_text(own[column].values).to_pylist() for own in codes)
        if column not in said and (
            column in case.hierarchies or generalised([*released, *known]) or partly_dated(known, released)
        ):
            labels[column] = raw(read)
    return paired(*records_of_both(codes[0], codes[1], said), labels=labels)


def _finding(
    case: Case,
    found: Linkage,
    one: OneToOne,
    measured: _Measured | None,
    table: Table,
    held: Table,
    columns: tuple[str, ...],
    policy: Policy,
    run: Run,
) -> Finding:
    people = found.n
    expected = found.expected_links / people
    value = measured.right / people if measured else expected
    tolerance = policy.tolerated("linkage.matched")
    said = _said(found, one, measured) + _never(case, table, held, columns, policy, run)
    return Finding(
        id="linkage.matched",
        question="linkage",
        title=f"People of {shown(held.name)} linked to their row",
        value=value,
        unit="share",
        method="exact" if measured else "estimate",
        subjects=people,
        share=(value, value),
        tolerance=tolerance,
        direction="lower",
        decides=tolerance is not None and measured is not None,
        attacker=f"Holds {shown(held.name)} with the {listed(columns, 12)} of {counted(people, 'person', 'people')}, "
        f"some of it wrong, and looks for them among {counted(table.rows, 'row')}.",
        missing="A missing value rules nobody out.",
        baseline=1 / table.rows,
        sentence=said,
        curves=(_by_sureness(found, _many(table, held)), *_by_lead(found)),
        exposed=_exposed(found, policy, run),
        source=_SOURCE,
    )


def _said(found: Linkage, one: OneToOne, measured: _Measured | None) -> str:
    """What came out, in words."""
    people = counted(found.n, "known person", "known people")
    expected = f"{number(round(found.expected_links))} ({percent(found.expected_links / found.n)})"
    said = ""
    if measured:
        sure, together = measured.sure, measured.together
        how = ", with every row used once at most" if together and together.right > measured.best.right else ""
        said = f"Of {people}, {number(round(measured.right))} ({percent(measured.right / found.n)}) are found{how}. "
        if measured.sure.true < found.n:
            said += f"{measured.sure.true:,} of them are in the release, by the links given. "
        if sure.links:
            said += (
                f"Of {counted(sure.links, 'link')} likelier right than wrong, {number(round(sure.right))} are right: "
                f"precision {sure.precision:.4f}, recall {sure.recall:.4f}. "
            )
        if together and together.links:
            said += f"One to one: precision {together.precision:.4f}, recall {together.recall:.4f}. "
        said += f"Without the true links {expected} could be expected"
    else:
        said = f"Of {people}, {expected} can be expected to be linked to their row by the best match"
    said += f"; {found.alone:,} fit one row only, {found.without:,} none."
    if found.without < found.n:
        estimate = "" if one.method == "exact" else ", by estimate"
        of = f" of the {found.n - found.without:,} who fit a row" if found.without else ""
        said += (
            f" If all that is known{of} is right and no row is two people, {number(round(one.expected_best))} of the "
            f"likeliest rows are right{estimate}."
        )
    return said


def _never(case: Case, table: Table, held: Table, columns: tuple[str, ...], policy: Policy, run: Run) -> str:
    """Columns of which no value is in both files, which may be written differently."""
    from unveil.release.codes import as_text
    from unveil.release.meaning import meaning

    said = ""
    for column in columns:
        if column in policy.compare or column in case.hierarchies:
            continue
        known, released = (
            as_text(t.codes([column], policy.missing, run)[column].values).to_pylist() for t in (held, table)
        )
        if known and released and not len(meaning(known, released)[0]):
            said += f" No value of {shown(column)} is in both files: is it written differently?"
    return said


def _by_sureness(found: Linkage, many: bool) -> Curve:
    """How many people are linked how surely."""
    import numpy as np

    there = found.posterior[found.best >= 0]
    step = np.minimum((there * _STEPS).astype(np.int64), _STEPS - 1)
    counts = np.bincount(step, minlength=_STEPS)
    sure = int((there >= _SURE).sum())
    wrong = "facts are as often wrong as the files suggest" if many else f"{percent(_ERRORS)} of the facts are wrong"
    return Curve(
        title="Known people by how sure the attacker is of the best match",
        kind="bars",
        x_label="probability that the best match is right, from",
        y_label="people",
        x=tuple(percent(i / _STEPS) for i in range(_STEPS)),
        y=tuple(int(c) for c in counts),
        x_scale="category",
        reading=f"The attacker is right more often than not about {sure:,} of {found.n:,} people, if {wrong}.",
    )


def _by_lead(found: Linkage) -> Iterator[Curve]:
    """How far best matches are ahead of the second best."""
    from unveil.linkage.telling import lead

    there = found.eccentricity[found.best >= 0]
    if len(there):
        yield lead(there, "known people", "")


def _exposed(found: Linkage, policy: Policy, run: Run) -> tuple[Exposed, ...]:
    import numpy as np

    order = np.lexsort((np.arange(found.n), -found.eccentricity, -found.posterior))[: run.exposed]
    return tuple(
        Exposed(
            subject=f"person {person + 1:,}",
            risk=float(found.posterior[person]),
            because=f"best match is row {int(found.best[person]) + 1:,}, "
            f"{counted(int(found.candidates[person]), 'candidate')}",
            learns=policy.sensitive,
        )
        for person in order.tolist()
        if found.best[person] >= 0
    )
