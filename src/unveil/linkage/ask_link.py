"""The finding about a file of known people: which of them is which row of the release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from unveil.case import Case
from unveil.errors import UnveilError
from unveil.finding import Curve, ExposedSubject, Finding
from unveil.holding import PEOPLE, Holding
from unveil.linkage.finding_text import NARAYANAN, lead_curve
from unveil.linkage.risks import MATCHED
from unveil.linkage.settings import LinkageSettings
from unveil.policy import Policy
from unveil.question import Artefact
from unveil.release import Release
from unveil.release.roles import check_column
from unveil.release.table import Table
from unveil.run import Run
from unveil.settings import option_text
from unveil.wording import count_text, ends_text, list_text, number_text, percent_text, range_text, safe_text, verb

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from unveil.linkage.link.best_match import Linkage
    from unveil.linkage.link.file_pair import FilePair
    from unveil.linkage.link.link_quality import LinkQuality
    from unveil.linkage.link.one_to_one import OneToOne

__all__ = ["TRUE_LINKS", "check_known_people", "link_findings", "match_table"]

_SOURCE = (
    f"{NARAYANAN}; I. Fellegi, A. Sunter, A theory for record linkage, JASA 64, 1969; L. V. S. Lakshmanan, R. T. Ng, "
    "G. Ramesh, ACM TKDD 2(3), 2008, §8.1"
)
_MIN_ROWS, _MIN_PEOPLE = 1_000, 100  # from which the files themselves show how often values are wrong
_WIDEST_INTERVAL = 0.5  # of the share of people outside; beyond, the files do not show it
_DEFAULT_ERRORS = 0.02
_CURVE_STEPS = 10
_MAX_BARS = 20
_LIKELY_POSTERIOR = 0.5
_WHOLE = 1e-6  # a sum this close to a whole number is one


def link_findings(case: Case, policy: Policy, run: Run) -> Iterator[Finding | Artefact]:
    """Who is who, if the attacker holds a file of known people; and the matches, for the owner's eyes only."""
    release, people = case.release, case.holds.get(PEOPLE.name)
    if not isinstance(release, Table) or not isinstance(people, Table):
        return
    columns = _linking_columns(release, people, policy)
    released = _released_people(release, policy, run)
    files, row_numbers = _pair_tables(case, release, people, columns, released, policy, run)
    rates = _link_rates(files, policy, run)
    found, one_to_one = _find_links(files, rates, run)
    measured = None if case.truth is None else _measure_links(found, released.true_subjects(case.truth), run)
    low, high = measured.share_range if measured else (found.expected_links / found.n,) * 2
    lead = found.eccentricity[found.best >= 0]
    leads = (lead_curve(lead, "known people", ""),) if len(lead) else ()
    yield MATCHED.finding(
        policy,
        title=f"People in the file “{safe_text(people.name)}” linked to {released.own_row}",
        value=high,
        method="estimate" if not measured else "exact" if high - low < _WHOLE / found.n else "bound",
        interval=(low, high) if measured else None,
        subjects=found.n,
        share=(low, high),
        attacker=f"Holds a file ({safe_text(people.name)}) with the {list_text(columns, 12)} of "
        f"{count_text(found.n, 'person')}, possibly with errors, and looks for them among "
        f"{released.description}.",
        missing="A missing value rules nobody out.",
        baseline=1 / released.people,
        sentence=_matched_sentence(found, one_to_one, rates, measured)
        + _unshared_columns_sentence(case, release, people, columns, policy, run),
        curves=(_certainty_curve(found), *([] if rates.small else [_wrong_values_curve(rates)]), *leads),
        exposed=_exposed_people(found, row_numbers, policy, run),
        source=_SOURCE,
    )
    yield Artefact("matches", table=partial(match_table, found, one_to_one, row_numbers))


def match_table(found: Linkage, one_to_one: OneToOne, row_numbers: np.ndarray) -> pa.Table:
    """What the attacker makes of every person, in the order of their file, with rows numbered from 1.

    ``row`` is the likeliest row (missing if no row agrees in anything), ``candidates`` the number of rows that nothing
    rules out, ``score`` its log-likelihood ratio, ``lead`` its lead over the second in standard deviations, and
    ``probability`` how likely it is right. ``row_if_one_to_one`` is the person's likeliest row if all facts are right
    and no two people share a row, with its probability. Several people may have the same, because all assignments of
    rows to people are equally likely and none of them is the best. ``row_numbers`` are the numbers of the compared rows
    in the release.

    If people have several rows, ``row`` is the best row of the likeliest person and ``row_if_one_to_one`` the first row
    of theirs; candidates, lead and probabilities are about people. A lead is missing if nobody else comes near.
    """
    import numpy as np
    import pyarrow as pa

    there, placed = found.best >= 0, one_to_one.likeliest_row >= 0
    return pa.table(
        {
            "known": np.arange(1, found.n + 1),
            "row": pa.array(row_numbers[found.best_row] + 1, mask=~there),
            "candidates": found.candidates,
            "score": pa.array(found.score, mask=~there),
            "lead": pa.array(found.eccentricity, mask=~(there & np.isfinite(found.eccentricity))),
            "probability": pa.array(found.posterior, mask=~there),
            "row_if_one_to_one": pa.array(row_numbers[_first_rows(found, one_to_one.likeliest_row)] + 1, mask=~placed),
            "probability_if_one_to_one": pa.array(one_to_one.best_chance, mask=~placed),
        }
    )


def _first_rows(found: Linkage, matches: np.ndarray) -> np.ndarray:
    """The first row of each match: the match itself, unless people have several rows."""
    return matches if found.subjects is None else found.subjects.first_row[matches]


# ---- what is read ----------------------------------------------------------------------------------------------------


def check_known_people(case: Case, policy: Policy) -> None:
    """Refuse known people that are not a table with some of the release's columns."""
    people = case.holds.get(PEOPLE.name)
    if people is None:
        return
    if not isinstance(people, Table) or not isinstance(case.release, Table):
        raise UnveilError(f"{safe_text(people.name)}: known people must be a table, and so must the release")
    columns, settings = _linking_columns(case.release, people, policy), policy.settings_for(LinkageSettings)
    for column in (*columns, *settings.compare, *settings.column_errors):
        for table in (case.release, people):
            check_column(table, column)
    if not columns:
        raise UnveilError(f"{safe_text(people.name)} and {safe_text(case.release.name)} have no column in common")
    for column, similarity in settings.similarities(columns).items():
        for table in (case.release, people):
            similarity.numeric_values(table.codes([column], policy.missing)[column].values, column)


def _linking_columns(release: Table, people: Table, policy: Policy) -> tuple[str, ...]:
    """The quasi-identifiers if they are given; else all columns in common that no given role excludes."""
    quasi = tuple(c for c in policy.quasi_columns if c not in policy.guessed)
    if quasi:
        return quasi
    named = {*policy.identifier, *policy.sensitive, *policy.insensitive} - set(policy.guessed) | {policy.subject}
    return tuple(c for c in release.columns if c in people.columns and c not in named)


def _read_true_links(links: Release, case: Case) -> np.ndarray:
    """Which row of the release each known person is, −1 where none."""
    import numpy as np
    import pyarrow as pa

    name, release, people = safe_text(links.name), case.release, case.holds.get(PEOPLE.name)
    if not isinstance(people, Table) or not isinstance(release, Table) or not isinstance(links, Table):
        raise UnveilError(f"{name}: true links need the people they are about; add {option_text(PEOPLE.name, 'FILE')}")
    if not {"known", "row"} <= set(links.columns):
        raise UnveilError(f"{name}: true links need the columns known and row, with row numbers counted from 1")
    whole = pa.Table.from_batches(links.batches())
    try:
        who, where = (np.asarray(whole.column(c).cast(pa.int64())) - 1 for c in ("known", "row"))
    except MemoryError:
        raise
    except (pa.ArrowException, ValueError):
        raise UnveilError(f"{name}: true links must be row numbers, counted from 1") from None
    for numbers, table in ((who, people), (where, release)):
        if len(numbers) and not (0 <= numbers.min() <= numbers.max() < table.rows):
            raise UnveilError(
                f"{name}: a row number is not in {safe_text(table.name)}, which has {count_text(table.rows, 'row')}"
            )
    if len(np.unique(who)) < len(who):
        raise UnveilError(f"{name}: a person is linked twice; keep one link for each")
    truth = np.full(people.rows, -1)
    truth[who] = where
    return truth


TRUE_LINKS = Holding(
    "true_links",
    "table",
    "The true links, to measure the attack against: columns known and row, with row numbers in the two files, counted "
    "from 1.",
    release_kinds=("table",),
    read_truth=_read_true_links,
    former_names=("links",),
)


# ---- links -----------------------------------------------------------------------------------------------------------


class _LinkRates(NamedTuple):
    """What the attack assumes. ``wrong`` is the share of wrong values by column, ``errors`` the same with those that
    are right by coincidence; the columns in ``given`` were given. ``outside`` was given, was estimated (with an
    ``interval``), or, if neither, is 0, because the files are ``small`` or do not show it."""

    errors: Mapping[str, float]
    wrong: Mapping[str, float]
    given: tuple[str, ...]
    outside: float
    outside_given: bool
    interval: tuple[float, float] | None
    small: bool
    evidence: np.ndarray | None


def _link_rates(files: FilePair, policy: Policy, run: Run) -> _LinkRates:
    """How often values are wrong and how many people are outside: as given, or estimated from the files."""
    from unveil.linkage.link.error_rates import MAX_ATTRIBUTES, estimate_error_rates

    names, settings = files.rows.names, policy.settings_for(LinkageSettings)
    given, outside = settings.wrong_shares(names), settings.outside
    if files.row_count < _MIN_ROWS or files.n < _MIN_PEOPLE or len(names) > MAX_ATTRIBUTES:
        wrong = {name: given.get(name, _DEFAULT_ERRORS) for name in names}
        return _LinkRates(wrong, wrong, tuple(given), outside or 0.0, outside is not None, None, True, None)
    found = estimate_error_rates(files, wrong=given, outside=outside, rng=run.rng(MATCHED.id), run=run)
    interval = found.outside_interval
    if interval and interval[1] - interval[0] > _WIDEST_INTERVAL:
        found = estimate_error_rates(files, wrong=given, outside=0.0, rng=run.rng(MATCHED.id), run=run)
    return _LinkRates(
        found.errors,
        found.wrong,
        tuple(given),
        found.outside,
        outside is not None,
        interval if found.outside_interval else None,
        False,
        found.evidence,
    )


def _find_links(files: FilePair, rates: _LinkRates, run: Run) -> tuple[Linkage, OneToOne]:
    """The likeliest row of everybody, and what follows if no two people share a row; of people with several rows, the
    likeliest person."""
    from unveil.linkage.link.best_match import link_people
    from unveil.linkage.link.candidates import find_candidates
    from unveil.linkage.link.one_to_one import one_to_one_chances
    from unveil.linkage.link.subject_rows import candidate_subjects, gather_subject_rows, link_subjects

    found = link_people(
        files, scoring="likelihood", errors=rates.errors, outside=rates.outside, evidence=rates.evidence, run=run
    )
    candidates = find_candidates(files, run=run)
    if files.subjects is not None:
        subjects = gather_subject_rows(files)
        candidates = candidate_subjects(subjects, candidates)
        found = link_subjects(subjects, found, candidates, run)
    return found, one_to_one_chances(candidates, run)


class _ReleasedPeople(NamedTuple):
    """The people in the release: one for each row, or, if there is a subject, the number of the person of every row."""

    rows: int
    of_row: np.ndarray | None

    @property
    def people(self) -> int:
        """Number of people."""
        return self.rows if self.of_row is None else int(self.of_row.max(initial=-1)) + 1

    @property
    def own_row(self) -> str:
        """What a person is linked to."""
        return "their row" if self.of_row is None else "one of their rows"

    @property
    def description(self) -> str:
        """How many there are."""
        rows = count_text(self.rows, "row")
        return rows if self.of_row is None else f"{count_text(self.people, 'person')} with {rows} in total"

    def true_subjects(self, truth: np.ndarray) -> np.ndarray:
        """The row, or the person if there is a subject, of everybody whose row is known; −1 of the others."""
        import numpy as np

        return truth if self.of_row is None else np.append(self.of_row, -1)[truth]


def _released_people(release: Table, policy: Policy, run: Run) -> _ReleasedPeople:
    import numpy as np

    from unveil.grouping import group_people

    if policy.subject is None:
        return _ReleasedPeople(release.rows, None)
    who = release.codes([policy.subject], policy.missing, run)[policy.subject].codes
    return _ReleasedPeople(release.rows, group_people(np.zeros(release.rows, np.int64), who)[1])


def _pair_tables(
    case: Case,
    release: Table,
    people: Table,
    columns: tuple[str, ...],
    released: _ReleasedPeople,
    policy: Policy,
    run: Run,
) -> tuple[FilePair, np.ndarray]:
    """The release and the known people, side by side, and the numbers of the rows that are compared: rows that repeat
    another one of the same person are not. Labels that stand for several values are read as such."""
    import numpy as np

    from unveil.linkage.link.file_pair import distinct_rows, pair_files, records_from_both
    from unveil.release.codes import cast_to_text
    from unveil.release.label_matching import (
        has_generalised_labels,
        has_partial_dates,
        label_matchers,
        raw_value_matcher,
    )

    codes = [table.codes(columns, policy.missing, run) for table in (release, people)]
    similarities = policy.settings_for(LinkageSettings).similarities(columns)
    labels = {}
    for column, read in zip(columns, label_matchers(columns, case.hierarchies), strict=True):
        shown, known = (cast_to_text(own[column].values).to_pylist() for own in codes)
        if column not in similarities and (
            column in case.hierarchies or has_generalised_labels([*shown, *known]) or has_partial_dates(known, shown)
        ):
            labels[column] = raw_value_matcher(read)
    rows, others = records_from_both(codes[0], codes[1], similarities)
    if released.of_row is None:
        return pair_files(rows, others, labels=labels), np.arange(release.rows)
    kept = distinct_rows(rows, released.of_row)
    return pair_files(rows.select(kept), others, labels=labels, subjects=released.of_row[kept]), kept


class _MeasuredLinks(NamedTuple):
    """How good links are: those that are likelier right than wrong, the best match of everybody, and links chosen
    together, if that could be done: the worst and the best of all sets of links that seem equally good."""

    likely: LinkQuality
    best: LinkQuality
    together: tuple[LinkQuality, LinkQuality] | None
    people: int

    @property
    def right_range(self) -> tuple[float, float]:
        """How many people the better attacker finds, at least and at most."""
        few, many = self.together or (self.best, self.best)
        return max(self.best.right_links, few.right_links), max(self.best.right_links, many.right_links)

    @property
    def share_range(self) -> tuple[float, float]:
        """The same as shares of the known people."""
        low, high = self.right_range
        return low / self.people, high / self.people


def _measure_links(found: Linkage, truth: np.ndarray, run: Run) -> _MeasuredLinks:
    import numpy as np

    from unveil.linkage.link.link_quality import assignment_range, match_quality

    people = np.flatnonzero(truth >= 0)
    rows, everyone = truth[people], np.flatnonzero(found.best >= 0)
    try:
        together = assignment_range(found, people, rows, run)
    except UnveilError:  # too many people and rows are alike
        together = None
    likely, best = match_quality(found, people, rows), match_quality(found, people, rows, everyone)
    return _MeasuredLinks(likely, best, together, found.n)


# ---- in words --------------------------------------------------------------------------------------------------------


def _matched_sentence(found: Linkage, one_to_one: OneToOne, rates: _LinkRates, measured: _MeasuredLinks | None) -> str:
    expected = percent_text(found.expected_links / found.n)
    if measured:
        text = _measured_sentences(found, measured)
        text += f" An attacker without the true links would expect to find {expected}."
    else:
        people, right = count_text(found.n, "known person"), people_text(found.expected_links)
        text = f"The best match is expected to be right for {right} of {people} ({expected})."
    assumes = "They would assume" if measured else "This assumes"
    text += f" {assumes} that {_outside_text(rates)}, and that {_wrong_values_text(rates)}."
    return f"{text} {_fitting_sentence(found)}{_one_to_one_sentence(found, one_to_one)}"


def _outside_text(rates: _LinkRates) -> str:
    """How many people are assumed to be outside the release, and why."""
    if rates.interval:
        share = range_text(rates.outside, rates.interval, _rough_percent)
        return (
            f"{share} of the people are outside the release (estimated from the files as if people outside resembled "
            "those inside)"
        )
    share = f"{_rough_percent(rates.outside)} of the people are outside the release"
    if not rates.outside:
        share = "everybody is in the release"
    if rates.outside_given:
        return f"{share} (as stated)"
    return f"{share}, because the files {'are too small to show' if rates.small else 'do not show'} how many are not"


def _wrong_values_text(rates: _LinkRates) -> str:
    """Which share of the known values is assumed to be wrong, from the column with the fewest errors to that with the
    most, and why."""
    fewest, most = (choose(rates.wrong, key=lambda name: rates.wrong[name]) for choose in (min, max))
    low, high = (_rough_percent(rates.wrong[name]) for name in (fewest, most))
    share = low if low == high else f"{low} ({safe_text(fewest)}) to {high} ({safe_text(most)})"
    source = "by default" if rates.small else "estimated from the files"
    if rates.given:
        source = f"as stated for {list_text(rates.given)}, otherwise {source}"
    if len(rates.given) == len(rates.wrong):
        source = "as stated"
    return f"{share} of the known values are wrong ({source})"


def _rough_percent(share: float) -> str:
    """An estimated share in percent, to three decimals of the share."""
    return percent_text(round(share, 3) or share)


def _fitting_sentence(found: Linkage) -> str:
    """How many people fit only one row (or one person with several rows), and how many none."""
    one, none, everybody = found.people_with_one_candidate, found.people_without_candidates, "Everybody"
    row = "row" if found.subjects is None else "person in the release"
    if found.n == 1:
        everybody = "The person"
    if none == found.n:
        return "No row fits everything known about anybody."
    if one == found.n:
        return f"{everybody} fits only one {row}."
    if not one and not none:
        return f"{everybody} fits more than one {row}."
    only = f"{one:,} of the people {verb(one, 'fits', 'fit')}" if one else "Nobody fits"
    rest = f"{none:,} {verb(none, 'fits', 'fit')} none" if none else "everybody fits at least one"
    return f"{only} only one {row}; {rest}."


def _one_to_one_sentence(found: Linkage, one_to_one: OneToOne) -> str:
    """What follows if all facts are right and no two people share a row."""
    some = found.n - found.people_without_candidates
    if not some:
        return ""
    estimate = "" if one_to_one.method == "exact" else ", by estimate"
    whom, right = "them", f"right for {people_text(one_to_one.expected_best)} of them"
    if some < found.n:
        whom = f"the {some:,} who {verb(some, 'fits', 'fit')} a row"
    together, likeliest = "no two people share a row", "row"
    if found.subjects is not None:
        together, likeliest = "no two of them are the same person in the release", "person"
    if some == 1:
        right = f"right with a probability of {percent_text(min(one_to_one.expected_best, 1.0))}"
    return (
        f" If everything known about {whom} is right, {together} and all ways to assign them are equally likely, the "
        f"likeliest {likeliest} is {right}{estimate}."
    )


def _measured_sentences(found: Linkage, measured: _MeasuredLinks) -> str:
    """How many people are found, by the true links."""
    likely, together = measured.likely, measured.together
    low, high = measured.right_range
    people, right = count_text(found.n, "known person"), ends_text(low, high, people_text)
    share = ends_text(low / found.n, high / found.n, percent_text)
    own, using, once = "the row", "using every row at most once", "every row is used at most once"
    if found.subjects is not None:
        own, using, once = "a row", "linking nobody in the release twice", "nobody in the release is linked twice"
    using = f", {using}" if high > measured.best.right_links + _WHOLE else ""
    text = f"The attacker finds {own} of {right} of {people} ({share}){using}."
    if high > low + _WHOLE and together is not None and together[0].right_links < low - _WHOLE:
        text += (
            " Several sets of links seem equally good. At worst, the attacker finds as many by looking for one person "
            "at a time."
        )
    elif high > low + _WHOLE:
        text += " Several sets of links seem equally good; these are the fewest and the most that are right in any."
    if likely.true_pairs < found.n:
        text += f" The true links place {likely.true_pairs:,} of them in the release."
    if likely.links:
        links = f"{count_text(likely.links, 'link')} {verb(likely.links, 'seems', 'seem')}"
        right = f"{people_text(likely.right_links)} of them {verb(round(likely.right_links), 'is', 'are')} right"
        if likely.links == 1:
            right = f"it is right with a probability of {percent_text(likely.right_links)}"
        text += (
            f" {links} likelier right than wrong; {right} (precision {likely.precision:.4f}, recall "
            f"{likely.recall:.4f})."
        )
    if together and together[1].links:
        precision, recall = (
            ends_text(min(values), max(values), "{:.4f}".format)
            for values in ([each.precision for each in together], [each.recall for each in together])
        )
        text += f" If {once}, precision is {precision} and recall {recall}."
    return text


def people_text(expected: float) -> str:
    """A number of people, which is an average where rows tie. Of few people, a whole number would not agree with the
    percentage beside it."""
    whole = round(expected)
    if abs(expected - whole) < _WHOLE:
        return number_text(whole)
    return f"about {number_text(whole if expected >= 100 else float(f'{expected:.3g}'))}"


def _unshared_columns_sentence(
    case: Case, release: Table, people: Table, columns: tuple[str, ...], policy: Policy, run: Run
) -> str:
    """Which columns have no value in both files, and may be written differently."""
    from unveil.release.codes import cast_to_text
    from unveil.release.label_matching import match_labels

    text = ""
    for column in columns:
        if column in policy.settings_for(LinkageSettings).compare or column in case.hierarchies:
            continue
        known, released = (
            cast_to_text(table.codes([column], policy.missing, run)[column].values).to_pylist()
            for table in (people, release)
        )
        if not set(known).isdisjoint(released):
            continue
        if known and released and not len(match_labels(known, released)[0]):
            text += f" No value of {safe_text(column)} is in both files: is it written differently?"
    return text


def _certainty_curve(found: Linkage) -> Curve:
    """How many people are linked how surely."""
    import numpy as np

    there = found.posterior[found.best >= 0]
    step = np.minimum((there * _CURVE_STEPS).astype(np.int64), _CURVE_STEPS - 1)
    counts = np.bincount(step, minlength=_CURVE_STEPS)
    likely = len(found.likely_matches(_LIKELY_POSTERIOR))
    return Curve(
        title="Known people, by the probability that their best match is right",
        kind="bars",
        x_label="probability that the best match is right",
        y_label="people",
        x=tuple(f"{100 * i // _CURVE_STEPS}–{100 * (i + 1) // _CURVE_STEPS}%" for i in range(_CURVE_STEPS)),
        y=tuple(int(c) for c in counts),
        x_scale="category",
        reading=f"For {likely:,} of {count_text(found.n, 'person')}, the best match is right with a "
        f"probability above {percent_text(_LIKELY_POSTERIOR)}.",
    )


def _wrong_values_curve(rates: _LinkRates) -> Curve:
    """The share of wrong values in each column."""
    names = sorted(rates.wrong, key=lambda name: -rates.wrong[name])[:_MAX_BARS]
    if len(rates.given) == len(rates.wrong):
        source = "These shares were stated"
    else:
        stated = f", except for {list_text(rates.given)}, where they were stated" if rates.given else ""
        source = f"These shares are estimated from the files{stated}"
    return Curve(
        title="Known values that differ from the person's row",
        kind="bars",
        x_label="column",
        y_label="share of the known values",
        x=tuple(safe_text(name) for name in names),
        y=tuple(rates.wrong[name] for name in names),
        x_scale="category",
        reading=f"{source}.",
    )


def _exposed_people(found: Linkage, row_numbers: np.ndarray, policy: Policy, run: Run) -> tuple[ExposedSubject, ...]:
    """The people whose likeliest row is most likely right; of equally likely ones, those with the greater lead."""
    import numpy as np

    order = np.lexsort((np.arange(found.n), -found.eccentricity, -found.posterior))[: run.exposed]
    return tuple(
        ExposedSubject(
            subject=f"person {person + 1:,}",
            risk=float(found.posterior[person]),
            because=_fitting_text(fitting, found),
            learns=policy.sensitive,
            values={"best match": f"row {int(row_numbers[found.best_row[person]]) + 1:,}"} if run.reveal else None,
        )
        for person, fitting in zip(order.tolist(), found.candidates[order].tolist(), strict=True)
        if found.best[person] >= 0
    )


def _fitting_text(count: int, found: Linkage) -> str:
    if not count:
        return "no row fits everything that is known; the best match fits part of it"
    who = count_text(count, "row") if found.subjects is None else f"{count_text(count, 'person')} in the release"
    return f"{who} {verb(count, 'fits', 'fit')} everything that is known"
