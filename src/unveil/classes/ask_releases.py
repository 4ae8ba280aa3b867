"""The finding about several releases of the same people, laid on top of each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.errors import UnveilError
from unveil.finding import Curve, Finding
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.run import Run
from unveil.wording import counted, listed, number, percent, shown

if TYPE_CHECKING:
    from unveil.classes.intersection import Intersection

__all__ = ["check_releases", "release_findings"]

_GANTA = (
    "S. Ganta, S. Kasiviswanathan, A. Smith, Composition attacks and auxiliary information in data privacy, KDD 2008"
)


def release_findings(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
    """What the release and those held beside it give away together, for every sensitive column."""
    from unveil.classes.fitting import fitting
    from unveil.classes.intersection import common_codes, intersect, posterior
    from unveil.release.meaning import reading

    tables = _releases(case)
    if len(tables) < 2:
        return
    on = policy.quasi[0]
    people = case.holds.get("people")
    known_by = people if isinstance(people, Table) else tables[0]
    known = list(known_by.codes(on, policy.missing, run).values())
    read = reading(on, case.hierarchies)
    fits = [fitting(known, list(t.codes(on, (), run).values()), read, run=run) for t in tables]
    strange = sum(sum(f.strange) for f in fits)
    for place, column in enumerate(policy.sensitive):
        values, _ = common_codes([t.codes([column], policy.missing, run)[column] for t in tables])
        seen = [f.seen(v) for f, v in zip(fits, values, strict=True)]
        found = intersect(seen, run)
        left = found.together[-1] > 0
        right = float(posterior(seen, run=run).chance[-1, left].mean()) if left.any() else 0.0
        yield _finding(found, column, place, len(tables), isinstance(people, Table), strange, right, policy)


def check_releases(case: Case, policy: Policy) -> None:
    """The columns must be in all releases, and somebody must say which they are."""
    tables = _releases(case)
    if len(tables) < 2:
        return
    if not policy.quasi or not policy.sensitive:
        raise UnveilError("to lay releases on top of each other, say --on which columns, and what is --sensitive")
    people = case.holds.get("people")
    for table in (*tables, *([people] if isinstance(people, Table) else [])):
        wanted = (*policy.quasi[0], *(() if table is people else policy.sensitive))
        lacking = [c for c in wanted if c not in table.columns]
        if lacking:
            raise UnveilError(
                f"{shown(table.name)}: there is no column {listed(map(shown, lacking))}; check the header"
            )


def _releases(case: Case) -> list[Table]:
    others = [held for name, held in case.holds.items() if name.startswith("release")]
    return [t for t in (case.release, *others) if isinstance(t, Table)]


def _finding(
    found: Intersection,
    column: str,
    place: int,
    releases: int,
    known: bool,
    strange: int,
    right: float,
    policy: Policy,
) -> Finding:
    steps = found.steps
    last = steps[-1]
    people = max(1, last.found)
    share, first = last.perfect / people, steps[0].perfect / max(1, steps[0].found)
    tolerance = policy.tolerated("classes.intersection")
    alone = max((int((row == 1).sum()) for row in found.alone), default=0) / people
    who = "people they know" if known else "people of the first release"
    empty = (
        f" For {number(last.failed)} nothing is left that fits all: they are not in all releases, or were changed."
        if last.failed
        else ""
    )
    unread = f" {counted(strange, 'label')} could not be read and fit nobody." if strange else ""
    return Finding(
        id="classes.intersection" + (f".{place + 1}" if place else ""),
        question="classes",
        title=f"{shown(column)} known from {counted(releases, 'release')} together",
        value=share,
        unit="share",
        method="exact",
        subjects=last.found,
        share=(share, share),
        tolerance=tolerance,
        direction="lower",
        decides=tolerance is not None,
        attacker=f"Knows {listed(policy.quasi[0], 12)} of the {who}, that they are in all releases, and looks which "
        f"{shown(column)} is possible in all of them.",
        missing="A missing quasi-identifier fits anything; rows without a sensitive value are left out.",
        baseline=alone,
        sentence=f"For {number(last.perfect)} of {counted(last.found, 'person', 'people')} ({percent(share)}) one "
        f"value is left; for {number(last.combined)} of them no single release shows it. For {number(last.partial)} "
        f"fewer values are left than in any one release. Guessing among what is left is right for "
        f"{percent(last.confidence)} if all are equally likely, for {percent(right)} by how often they occur.{empty}"
        f"{unread}",
        curves=(
            Curve(
                title="Values known by how many releases are combined",
                kind="line",
                x_label="releases combined",
                y_label="share of people whose value is known",
                x=tuple(float(s.releases) for s in steps),
                y=tuple(s.perfect / max(1, s.found) for s in steps),
                reading=f"Each further release rules out values: from {percent(first)} with the first to "
                f"{percent(share)} with all.",
            ),
        ),
        source=_GANTA,
    )
