"""The finding about several releases of the same people: what they give away together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unveil.case import Case
from unveil.classes.risks import INTERSECTION, K
from unveil.classes.table_classes import count_class_sizes
from unveil.errors import UnveilError
from unveil.finding import Curve, Finding
from unveil.policy import Policy
from unveil.question import Artefact
from unveil.release.table import Table
from unveil.run import Run
from unveil.wording import count_text, list_text, percent_text, safe_text, verb

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.arrays import Bools
    from unveil.classes.intersection import Intersection, ReleaseView

__all__ = ["check_releases", "other_release_doubts", "release_findings"]

_GANTA = (
    "S. Ganta, S. Kasiviswanathan, A. Smith, Composition attacks and auxiliary information in data privacy, KDD 2008"
)


@dataclass(frozen=True, eq=False)
class _CombinedReleases:
    """What several releases say about one sensitive column, to someone who knows some quasi-identifiers.

    ``views`` are the releases as the attacker sees them, and ``values`` the sensitive values that they have codes for.
    ``smallest_classes`` are the sizes of the smallest class of each release. ``known``: whether a file says whom the
    attacker knows; otherwise they look for the rows of the release, whose true values are at hand. ``revealed`` and
    ``misled`` have a row per release and a column per person: whether only one value is left, and it is the person's as
    far as anybody can say, or it is not. ``unmatched_labels``: how many labels fit nothing the attacker knows.
    ``guess_accuracy``: how often the likeliest of the values left is right, or is expected to be if the true values are
    not at hand; ``baseline_accuracy``: how often the most frequent value is, for someone without the releases who knows
    which one that is.
    """

    found: Intersection
    views: tuple[ReleaseView, ...]
    values: pa.Array
    column: str
    columns: tuple[str, ...]
    smallest_classes: tuple[int, ...]
    known: bool
    revealed: Bools
    misled: Bools
    unmatched_labels: int
    guess_accuracy: float
    baseline_accuracy: float

    @property
    def releases(self) -> int:
        """How many releases there are."""
        return len(self.views)

    @property
    def people(self) -> int:
        """How many people the attacker looks for."""
        return len(self.revealed[-1])


def release_findings(case: Case, policy: Policy, run: Run) -> Iterator[Finding | Artefact]:
    """What the release and others of the same people give away together: for every attacker and sensitive column; and
    the values that are left, for the owner's eyes only."""
    if len(_list_releases(case)) < 2:
        return
    made = []
    for columns in policy.quasi:
        for combined in _combine_releases(case, columns, policy, run):
            yield _intersection_finding(combined, policy)
            made.append(combined)
    yield Artefact("values left", table=lambda: _values_left_table(made))


def other_release_doubts(case: Case, policy: Policy, findings: Sequence[Finding]) -> Iterator[str]:
    """Sensitive columns for which the releases could not be combined, and releases with smaller classes than are
    tolerated, by themselves, except one of which a finding says so."""
    if any(f.id == INTERSECTION.id for f in findings):
        yield from _uncombined_column_doubts(case, policy)
    least = policy.threshold(K)
    for columns in policy.quasi:
        found = next((f for f in findings if f.id == INTERSECTION.id and f.known == columns), None)
        curve = found.curves[1] if found else None
        sizes = curve.y if isinstance(curve, Curve) else ()
        is_told = any(f.id == K.id and f.known == columns for f in findings)
        for table, size in list(zip(_list_releases(case), sizes, strict=False))[is_told:]:
            if size < least:
                yield (
                    f"In {safe_text(table.name)} alone, the smallest class for someone who knows {list_text(columns)} "
                    f"has {count_text(int(size), 'row')}; {K.id} must be at least {least:g}."
                )


def _uncombined_column_doubts(case: Case, policy: Policy) -> Iterator[str]:
    for column in policy.sensitive:
        if lacking := [table.name for table in _list_releases(case) if column not in table.columns]:
            yield (
                f"{list_text(lacking)} {verb(len(lacking), 'has', 'have')} no column {safe_text(column)}, so the "
                "releases were not combined for it."
            )


def _combine_releases(case: Case, columns: tuple[str, ...], policy: Policy, run: Run) -> Iterator[_CombinedReleases]:
    import numpy as np

    from unveil.classes.candidate_classes import find_candidate_classes
    from unveil.classes.intersection import common_codes, intersect_releases, posterior_values
    from unveil.release.label_matching import label_matchers

    tables, people = _list_releases(case), _known_people(case)
    smallest = tuple(int(count_class_sizes(t, columns, run=run).size.min()) for t in tables)
    known = list((tables[0] if people is None else people).codes(columns, policy.missing, run).values())
    read = label_matchers(columns, case.hierarchies)
    fits = [find_candidate_classes(known, list(t.codes(columns, (), run).values()), read, run=run) for t in tables]
    unmatched = sum(sum(f.unmatched_labels) for f in fits)
    for column in _shared_columns(policy.sensitive, tables):
        values, names = common_codes([t.codes([column], policy.missing, run)[column] for t in tables])
        seen = [f.with_values(v) for f, v in zip(fits, values, strict=True)]
        found, likeliest = intersect_releases(seen, run), posterior_values(seen, run=run)
        single, left = found.together == 1, found.together[-1] > 0
        misled = np.zeros_like(single) if people else single & (values[0] >= 0) & (likeliest.value != values[0])
        guesses = [likeliest, *(posterior_values([each], run=run) for each in seen)]
        if people is None:
            guesses.append(posterior_values(seen, "others", run=run))
        right = [(g.chance[-1] if people else g.value[-1] == values[0])[left] for g in guesses]
        accuracy = max(float(each.mean()) for each in right) if left.any() else 0.0
        of_whom = values[0][values[0] >= 0] if people else values[0][left]
        frequent = np.bincount(values[0][values[0] >= 0], minlength=1).argmax()
        baseline = float((of_whom == frequent).mean()) if len(of_whom) else 0.0
        yield _CombinedReleases(
            found, tuple(seen), names, column, columns, smallest, people is not None, single & ~misled, misled,
            unmatched, accuracy, baseline,
        )  # fmt: skip


def check_releases(case: Case, policy: Policy) -> None:
    """The policy must name quasi-identifiers that all releases have, and a sensitive column that all have."""
    tables, people = _list_releases(case), _known_people(case)
    if len(tables) < 2:
        return
    if not policy.quasi or not policy.sensitive:
        raise UnveilError("to combine releases, say which columns are quasi-identifiers and which are sensitive")
    if policy.subject is not None:
        raise UnveilError("to combine releases, every row must be another person; leave out subject, or the releases")
    sensitive = () if _shared_columns(policy.sensitive, tables) else policy.sensitive
    needed = [(table, (*policy.quasi_columns, *sensitive)) for table in tables]
    for table, columns in [*needed, *([] if people is None else [(people, policy.quasi_columns)])]:
        lacking = [c for c in columns if c not in table.columns]
        if lacking:
            raise UnveilError(f"{safe_text(table.name)}: there is no column {list_text(lacking)}; check the header")


def _shared_columns(columns: Sequence[str], tables: Sequence[Table]) -> list[str]:
    """Those of the columns that all tables have."""
    return [c for c in columns if all(c in table.columns for table in tables)]


def _list_releases(case: Case) -> list[Table]:
    """The release under attack and the others of the same people."""
    return [t for t in (case.release, *case.held_releases("earlier")) if isinstance(t, Table)]


def _known_people(case: Case) -> Table | None:
    return next((t for t in case.held_releases("people") if isinstance(t, Table)), None)


def _intersection_finding(combined: _CombinedReleases, policy: Policy) -> Finding:
    share = float(combined.revealed[-1].sum()) / max(1, combined.people)
    column = safe_text(combined.column)
    whom = "people they know" if combined.known else "people in this release"
    suffix = f", knowing {list_text(combined.columns, 3)}" if len(policy.quasi) > 1 else ""
    return INTERSECTION.finding(
        policy,
        title=f"Values of {column} known from {count_text(combined.releases, 'release')} together{suffix}",
        value=share,
        column=combined.column,
        known=combined.columns,
        subjects=combined.people,
        share=share,
        attacker=f"Knows the {list_text(combined.columns, 12)} of the {whom}, and that these are in every release. "
        f"Keeps only the values of {column} that every release allows.",
        missing="A missing quasi-identifier fits anything; rows without a sensitive value are left out.",
        sentence=_intersection_sentence(combined),
        curves=(_releases_curve(combined), _smallest_classes_curve(combined)),
        source=_GANTA,
    )


def _intersection_sentence(combined: _CombinedReleases) -> str:
    found, last = combined.found, combined.found.steps[-1]
    match = count_text(combined.unmatched_labels, "label matches", "labels match")
    unmatched = f" {match} none of the known values; a hierarchy may be missing." if combined.unmatched_labels else ""
    one, many = ("person", "people") if combined.known else ("row", "rows")
    if not last.found:
        return f"No release has a row that fits any of the {many}.{unmatched}"
    revealed, misled = combined.revealed[-1], int(combined.misled[-1].sum())
    at_once = int((revealed & found.combined_breaches[-1]).sum())
    perfect = f"{int(revealed.sum()):,} of {count_text(combined.people, one, many)}"
    said = [
        f"For {perfect} ({percent_text(float(revealed.mean()))}), the releases together leave only one value"
        f"{'' if combined.known else ', the right one as far as it is recorded'}."
    ]
    if at_once:
        said.append(f"For {at_once:,} of them, no single release does.")
    if misled:
        said.append(
            f"For {misled:,}, the value left is wrong: {'that row is' if misled == 1 else 'these rows are'} not in "
            "every release with the same value."
        )
    if last.partial_breaches:
        said.append(f"For {last.partial_breaches:,}, several values are left, but fewer than in any single release.")
    if left := last.found - last.contradictions:
        likely = "is expected to be right" if combined.known else "is right"
        said.append(
            f"Where values are left ({count_text(left, one, many)}), the likeliest by the most telling release, or by "
            f"all of them together, {likely} for {percent_text(combined.guess_accuracy)}; without the releases, "
            f"guessing the most frequent value {likely} for {percent_text(combined.baseline_accuracy)}."
        )
    if last.contradictions:
        said.append(
            f"For {count_text(last.contradictions, one, many)}, no value fits every release: some release lacks the "
            f"{one}, or the value changed or is written differently."
        )
    if nowhere := combined.people - last.found:
        said.append(f"{count_text(nowhere, f'{one} fits', f'{many} fit')} no row of any release.")
    sizes = [count_text(size, "row") for size in combined.smallest_classes]
    said.append(f"Taken one by one, the releases have smallest classes of {list_text(sizes, 12)}.")
    return " ".join(said) + unmatched


def _releases_curve(combined: _CombinedReleases) -> Curve:
    shares = tuple(combined.revealed.mean(axis=1).tolist()) if combined.people else (0.0,) * combined.releases
    return Curve(
        title="Values known, by number of releases combined",
        kind="line",
        x_label="releases combined",
        y_label="share of people whose value is known",
        x=tuple(float(r + 1) for r in range(combined.releases)),
        y=shares,
        reading=f"Each further release rules out values. With the first release, {percent_text(shares[0])} are known; "
        f"with all, {percent_text(shares[-1])}.",
    )


def _smallest_classes_curve(combined: _CombinedReleases) -> Curve:
    sizes = combined.smallest_classes
    names = tuple(f"release {i + 1}" for i in range(len(sizes)))
    least = min(range(len(sizes)), key=sizes.__getitem__)
    return Curve(
        title="Smallest class of each release by itself",
        kind="bars",
        x_label="release",
        y_label="rows in the smallest class",
        x=names,
        y=tuple(float(size) for size in sizes),
        x_scale="category",
        reading=f"The smallest class of all is in {names[least]}: {count_text(sizes[least], 'row')}.",
    )


def _values_left_table(made: Sequence[_CombinedReleases]) -> pa.Table:
    """For each person, what is known, and sensitive column: the values left, and how many each release leaves."""
    import pyarrow as pa

    from unveil.classes.intersection import possible_values

    parts = []
    for combined in made:
        texts = combined.values.cast(pa.string()).to_pylist()
        left = possible_values(combined.views)
        told: dict[str, list[Any]] = {
            "person": list(range(1, combined.people + 1)),
            "known": [" ".join(combined.columns)] * combined.people,
            "column": [combined.column] * combined.people,
            "values_left": [len(values) for values in left],
            "values": [" | ".join(texts[v] for v in values) for values in left],
        }
        alone = combined.found.single_release_values.tolist()
        told |= {f"values_in_release_{i + 1}": counts for i, counts in enumerate(alone)}
        parts.append(pa.table(told))
    return pa.concat_tables(parts)
