"""The finding about several releases of the same people: what they give away together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.classes.risks import INTERSECTION
from unveil.errors import UnveilError
from unveil.finding import Curve, Finding
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.run import Run
from unveil.wording import count_text, list_text, percent_text, safe_text

if TYPE_CHECKING:
    from unveil.classes.intersection import Intersection

__all__ = ["check_releases", "release_findings"]

_GANTA = (
    "S. Ganta, S. Kasiviswanathan, A. Smith, Composition attacks and auxiliary information in data privacy, KDD 2008"
)


@dataclass(frozen=True, eq=False)
class _CombinedReleases:
    """What several releases say about one sensitive column.

    ``known``: whether a file says whom the attacker knows; otherwise they look for the rows of the release.
    ``unmatched_labels``: how many labels fit nothing the attacker knows. ``guess_accuracy``: how often a guess is right
    that takes into account how frequent the values are.
    """

    found: Intersection
    column: str
    releases: int
    known: bool
    unmatched_labels: int
    guess_accuracy: float


def release_findings(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
    """What the release and others of the same people give away together, for every sensitive column."""
    from unveil.classes.candidate_classes import find_candidate_classes
    from unveil.classes.intersection import common_codes, intersect_releases, posterior_values
    from unveil.release.label_matching import label_matchers

    tables, people = _list_releases(case), _known_people(case)
    if len(tables) < 2:
        return
    columns = policy.quasi[0]
    known = list((tables[0] if people is None else people).codes(columns, policy.missing, run).values())
    read = label_matchers(columns, case.hierarchies)
    fits = [find_candidate_classes(known, list(t.codes(columns, (), run).values()), read, run=run) for t in tables]
    unmatched = sum(sum(f.unmatched_labels) for f in fits)
    for column in policy.sensitive:
        values, _ = common_codes([t.codes([column], policy.missing, run)[column] for t in tables])
        seen = [f.with_values(v) for f, v in zip(fits, values, strict=True)]
        found = intersect_releases(seen, run)
        left = found.together[-1] > 0
        right = float(posterior_values(seen, run=run).chance[-1, left].mean()) if left.any() else 0.0
        yield _intersection_finding(
            _CombinedReleases(found, column, len(tables), people is not None, unmatched, right), policy
        )


def check_releases(case: Case, policy: Policy) -> None:
    """The columns must be in all releases, and the policy must say which they are."""
    tables, people = _list_releases(case), _known_people(case)
    if len(tables) < 2:
        return
    if not policy.quasi or not policy.sensitive:
        raise UnveilError("to combine releases, say which columns are quasi-identifiers and which are sensitive")
    needed = [(table, (*policy.quasi[0], *policy.sensitive)) for table in tables]
    for table, columns in [*needed, *([] if people is None else [(people, policy.quasi[0])])]:
        lacking = [c for c in columns if c not in table.columns]
        if lacking:
            raise UnveilError(f"{safe_text(table.name)}: there is no column {list_text(lacking)}; check the header")


def _list_releases(case: Case) -> list[Table]:
    """The release under attack and the others of the same people."""
    return [t for t in (case.release, *case.held_releases("earlier")) if isinstance(t, Table)]


def _known_people(case: Case) -> Table | None:
    return next((t for t in case.held_releases("people") if isinstance(t, Table)), None)


def _intersection_finding(combined: _CombinedReleases, policy: Policy) -> Finding:
    steps = combined.found.steps
    last = steps[-1]
    people = max(1, last.found)
    share = last.perfect_breaches / people
    by_one_release = max((int((row == 1).sum()) for row in combined.found.single_release_values), default=0) / people
    columns, column = policy.quasi[0], safe_text(combined.column)
    whom = "people they know" if combined.known else "people in this release"
    return INTERSECTION.finding(
        policy,
        title=f"Values of {column} known from {count_text(combined.releases, 'release')} together",
        value=share,
        column=combined.column,
        known=columns,
        subjects=last.found,
        share=share,
        attacker=f"Knows the {list_text(columns, 12)} of the {whom}, and that these are in every release. Keeps only "
        f"the values of {column} that every release allows.",
        missing="A missing quasi-identifier fits anything; rows without a sensitive value are left out.",
        baseline=by_one_release,
        sentence=_intersection_sentence(combined),
        curves=(_releases_curve(combined),),
        source=_GANTA,
    )


def _intersection_sentence(combined: _CombinedReleases) -> str:
    last = combined.found.steps[-1]
    match = count_text(combined.unmatched_labels, "label matches", "labels match")
    unmatched = f" {match} none of the known values; a hierarchy may be missing." if combined.unmatched_labels else ""
    if not last.found:
        return f"No release has a row that fits any of the people.{unmatched}"
    one, many = ("person", "people") if combined.known else ("row", "rows")
    perfect = percent_text(last.perfect_breaches / last.found)
    said = [
        f"For {last.perfect_breaches:,} of {count_text(last.found, one, many)} ({perfect}), the releases together "
        "leave only one value."
    ]
    if last.combined_breaches:
        said.append(f"For {last.combined_breaches:,} of them, no single release does.")
    if last.partial_breaches:
        said.append(f"For {last.partial_breaches:,}, several values are left, but fewer than in any single release.")
    if last.contradictions < last.found:
        said.append(
            f"Guessing among the values left is right for {percent_text(last.confidence)} of the {many} if all are "
            f"equally likely, and for {percent_text(combined.guess_accuracy)} if frequent values are likelier."
        )
    if last.contradictions:
        said.append(
            f"For {count_text(last.contradictions, one, many)}, no value fits every release: some release lacks the "
            f"{one}, or the value changed."
        )
    return " ".join(said) + unmatched


def _releases_curve(combined: _CombinedReleases) -> Curve:
    steps = combined.found.steps
    shares = tuple(s.perfect_breaches / max(1, s.found) for s in steps)
    return Curve(
        title="Values known, by number of releases combined",
        kind="line",
        x_label="releases combined",
        y_label="share of people whose value is known",
        x=tuple(float(s.releases) for s in steps),
        y=shares,
        reading=f"Each further release rules out values. With the first release, {percent_text(shares[0])} are known; "
        f"with all, {percent_text(shares[-1])}.",
    )
