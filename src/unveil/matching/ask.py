"""The question ``matching``: how many pseudonyms does an attacker crack who holds a matrix of candidates?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.errors import UnveilError
from unveil.finding import Curve, ExposedSubject, Finding, LinkChart
from unveil.holding import Holding
from unveil.matching.ask_sets import SETS_VULNERABLE, parse_sets, set_findings
from unveil.matching.crack_text import BEST_GUESS_TEXT, average_text, certain_text, compare_with_estimate, count_certain
from unveil.matching.settings import MatchingSettings
from unveil.policy import Policy
from unveil.question import Question
from unveil.release.matrix import Matrix
from unveil.risk import Risk
from unveil.run import Run
from unveil.settings import option_text
from unveil.wording import count_text, list_text, number_text, ordinal_text, percent_text, range_text, safe_text

if TYPE_CHECKING:
    from unveil.arrays import Floats
    from unveil.matching.candidates import Candidates
    from unveil.matching.solver import Solution

__all__ = ["QUESTION"]

_MOST_DRAWN_ENTRIES = 150  # entries up to which the candidates are drawn
_MOST_CHARTED_ENTRIES = 1000  # entries up to which the distribution of the number of cracks is worth a chart
_SAME_DIGITS = 9  # probabilities that agree in so many decimals are equal
_SOURCE = (
    "L. Lakshmanan, R. Ng, G. Ramesh, On disclosure risk analysis of anonymized itemsets, ACM TKDD 2(3), 2008; exact "
    "marginals instead of their O-estimate"
)
_EDMAN = "M. Edman, F. Sivrikaya, B. Yener, A combinatorial approach to measuring anonymity, IEEE ISI 2007"

EXPECTED_CRACKS = Risk(
    "matching.expected_cracks",
    title="Pseudonyms cracked on average",
    unit="share",
    safer="lower",
    tolerance=0.1,
    per_subject=True,
    sampled=True,
    summary="The number of entries to which the attacker assigns the true pseudonym on average; the tolerance is a "
    "share of all entries.",
)
DEGREE_OF_ANONYMITY = Risk(
    "matching.degree_of_anonymity",
    title="Degree of anonymity (d)",
    unit="share",
    safer="higher",
    summary="How many assignments of pseudonyms are possible, from 0 (only one) to 1 (all).",
)
ALPHA_MAX = Risk(
    "matching.alpha_max",
    title="Share of entries the attacker may be right about",
    unit="share",
    safer="higher",
    sampled=True,
    summary="The largest share of entries that an attacker may be right about without cracking more than tolerated.",
)
_estimate = partial(Risk, unit="share", safer="lower", per_subject=True, detail_of=EXPECTED_CRACKS)

O_ESTIMATE = _estimate(
    "matching.o_estimate",
    title="Cracks by the O-estimate",
    summary="An estimate of the cracks from the number of candidates alone; the tolerance is a share of all entries.",
)
HEURISTIC = _estimate(
    "matching.heuristic",
    title="Cracks by the heuristic H",
    summary="An estimate of the cracks from the scaled matrix; the tolerance is a share of all entries.",
)
BETHE = _estimate(
    "matching.bethe",
    title="Cracks by belief propagation",
    summary="An estimate of the cracks by belief propagation; the tolerance is a share of all entries.",
)

_ESTIMATES = {  # by the names that they have in ``screening``
    "O": (O_ESTIMATE, "The O-estimate adds up, over all entries, 1 / (number of candidates)"),
    "Sinkhorn": (HEURISTIC, "H scales all rows and columns of the matrix to the sum 1"),
    "Bethe": (BETHE, "Belief propagation passes beliefs between entries and pseudonyms"),
}


def ask(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
    """The findings of this question."""
    from unveil.matching.candidates import Candidates
    from unveil.matching.screening import instant_estimates
    from unveil.matching.solver import solve

    matrix = _attacked_matrix(case, policy)
    candidates = Candidates.from_matrix(matrix.weights)
    may_exclude_truth = policy.settings_for(MatchingSettings).may_exclude_truth
    solution = solve(candidates, case.truth, run, may_exclude_truth=may_exclude_truth)
    if run.asks(EXPECTED_CRACKS):
        yield _cracks_finding(solution, case, matrix, policy, run)
    if run.asks(ALPHA_MAX):
        yield _alpha_max_finding(solution, policy, run)
    if run.asks(SETS_VULNERABLE):
        yield from set_findings(solution, case, _describe_attacker(solution), policy, run)
    if run.asks(DEGREE_OF_ANONYMITY):
        yield _anonymity_finding(candidates, solution, policy, run)
    if run.asks(*(risk for risk, _ in _ESTIMATES.values())):
        for name, crack in instant_estimates(candidates, solution.truth).items():
            if name in _ESTIMATES:
                yield _estimate_finding(*_ESTIMATES[name], crack, solution, policy)


def check(case: Case, policy: Policy) -> None:
    """Refuse a matrix that leaves no assignment possible, or that excludes the truth, and sets of other entries."""
    import numpy as np

    from unveil.matching.blocks import feasible_flow
    from unveil.matching.candidates import Candidates
    from unveil.matching.solver import check_bijection, check_truth_possible

    candidates = Candidates.from_matrix(_attacked_matrix(case, policy).weights)
    truth = check_bijection(None if case.truth is None else np.asarray(case.truth), candidates.n)
    parse_sets(case)
    try:
        feasible_flow(candidates, truth)
        if not policy.settings_for(MatchingSettings).may_exclude_truth:
            check_truth_possible(candidates, truth, f"allow it with {option_text('may_exclude_truth')}")
    except UnveilError as error:
        raise UnveilError(f"{safe_text(case.release.name)}: {error}") from None


def _attacked_matrix(case: Case, policy: Policy) -> Matrix:
    """The matrix as the attacker reads it."""
    assert isinstance(case.release, Matrix)
    return case.release.drop_weights() if policy.settings_for(MatchingSettings).pattern_only else case.release


def _describe_attacker(solution: Solution) -> str:
    if solution.candidates.is_weighted:
        return (
            "Knows for every entry how likely each pseudonym is, and picks one of the possible assignments with "
            "probability proportional to its weight."
        )
    return "Knows for every entry which pseudonyms are possible, and picks one of the possible assignments at random."


def _cracks_finding(solution: Solution, case: Case, matrix: Matrix, policy: Policy, run: Run) -> Finding:
    n, cracks = solution.candidates.n, solution.expected_cracks
    return EXPECTED_CRACKS.finding(
        policy,
        title=f"{EXPECTED_CRACKS.title} ({'Ψ' if solution.candidates.is_weighted else 'ε'})",
        value=cracks,
        unit="cracks",
        method=solution.method,
        interval=solution.interval,
        confidence=run.confidence,
        subjects=n,
        share=(solution.interval[0] / n, solution.interval[1] / n),
        attacker=_describe_attacker(solution),
        missing="A pair that is not in the matrix, or has weight 0, is impossible.",
        baseline=1.0,
        sentence=f"On average, the attacker assigns the true pseudonym to {average_text(cracks, solution.exact)} of "
        f"{count_text(n, 'entry')} ({percent_text(cracks / n)}), {certain_text(count_certain(solution), n)}.",
        curves=tuple(_cracks_charts(solution, case, matrix, run)),
        exposed=_exposed_entries(solution, case, matrix, run),
        source=f"{_SOURCE}. {_describe_methods(solution)}",
    )


_METHOD_TEXTS = {
    "forced": "with interchangeable entries",
    "subsets": "over all sets of columns",
    "frontier": "along a frontier of states",
    "simulation": "by simulation",
}


def _describe_methods(solution: Solution) -> str:
    """How the independent blocks of the matrix were solved."""
    rungs = [part.method for part in solution.parts]
    methods = [f"{rungs.count(rung):,} {text}" for rung, text in _METHOD_TEXTS.items() if rung in rungs]
    return f"Independent blocks of entries, by how they were solved: {', '.join(methods)}"


def _cracks_charts(solution: Solution, case: Case, matrix: Matrix, run: Run) -> Iterator[Curve | LinkChart]:
    from unveil.matching.metrics import crack_distribution

    n = solution.candidates.n
    yield _risk_curve(solution)
    if n <= _MOST_CHARTED_ENTRIES:
        try:
            distribution = crack_distribution(solution.candidates, solution.truth)
        except UnveilError:
            distribution = None
        if distribution is not None:
            yield _distribution_curve(distribution)
    if n <= _MOST_DRAWN_ENTRIES:
        yield _links_chart(solution, case, matrix, run)


def _risk_curve(solution: Solution) -> Curve:
    """How many entries are cracked with which probability."""
    import numpy as np

    edges = np.linspace(0, 1, 11)
    counts = np.histogram(solution.crack, edges)[0]
    names = [f"{round(100 * a)}–{round(100 * b)}%" for a, b in pairwise(edges)]
    half = int((solution.crack >= 0.5).sum())
    who = count_text(half, "entry is", "entries are") if half else "No entry is"
    return Curve(
        title="Entries, by their probability of being cracked",
        kind="bars",
        x_label="probability of being cracked",
        y_label="entries",
        x=tuple(names),
        y=tuple(float(c) for c in counts),
        x_scale="category",
        reading=f"{who} cracked with a probability of 50% or more.",
    )


def _distribution_curve(distribution: Floats) -> Curve:
    import numpy as np

    last = max(1, int(np.flatnonzero(distribution > 0.0005).max()))
    likeliest = np.flatnonzero(distribution > distribution.max() - 1e-9).tolist()
    number = f"number of cracks is {likeliest[0]:,}"
    if len(likeliest) > 1:
        number = f"numbers of cracks are {list_text(f'{k:,}' for k in likeliest)}"
    return Curve(
        title="How many entries are cracked at once",
        kind="bars",
        x_label="entries cracked",
        y_label="probability",
        x=tuple(float(k) for k in range(last + 1)),
        y=tuple(float(p) for p in distribution[: last + 1]),
        reading=f"With a probability of {percent_text(float(distribution[0]))}, no entry is cracked. The likeliest "
        f"{number}.",
    )


def _links_chart(solution: Solution, case: Case, matrix: Matrix, run: Run) -> LinkChart:
    """The candidates with their probabilities. Unless revealed, the picture shows how entries are entangled, not which
    pseudonym any of them may have: letters stand for pseudonyms, in an order that would be the same if the columns of
    the matrix came in any other."""
    import numpy as np

    pairs, secret = solution.matrix(), _is_truth_secret(case, run)
    entries, pseudonyms, order = matrix.entries, matrix.pseudonyms, np.arange(len(pairs))
    if not run.reveal:
        order = np.lexsort(np.vstack([matrix.weights == 0, -pairs[::-1].round(_SAME_DIGITS)]))
        entries = tuple(f"{k + 1}" for k in range(len(pairs)))
        pseudonyms = tuple(_letters(k) for k in range(len(pairs)))
    i, j = np.nonzero(matrix.weights[:, order])
    pairs = pairs[:, order]
    what = "that the best guess is right" if secret else "of being cracked"
    letters = "" if run.reveal else " Letters stand for pseudonyms that are not revealed."
    return LinkChart(
        title="Who may be whom",
        left_label="entry",
        right_label="pseudonym",
        left=tuple(safe_text(name) for name in entries),
        right=tuple(safe_text(name) for name in pseudonyms),
        risk=tuple(float(min(r, 1.0)) for r in solution.shown_risk(secret)),
        pairs=tuple((int(a), int(b), float(min(pairs[a, b], 1.0))) for a, b in zip(i, j, strict=True)),
        true=tuple(enumerate(solution.truth.tolist())) if run.reveal else None,
        reading="Each line is a possible pair; the stronger the line, the more probable the pair. Beside each entry is "
        f"the probability {what}.{letters}",
    )


def _is_truth_secret(case: Case, run: Run) -> bool:
    return case.truth is not None and not run.reveal


def _letters(k: int) -> str:
    """A, B, …, Z, AA, AB, …: names that look like no number of a column."""
    text = ""
    while k >= 0:
        k, letter = divmod(k, 26)
        text, k = chr(ord("A") + letter) + text, k - 1
    return text


def _exposed_entries(solution: Solution, case: Case, matrix: Matrix, run: Run) -> tuple[ExposedSubject, ...]:
    import numpy as np

    secret = _is_truth_secret(case, run)
    known, risk, best = solution.candidates, solution.shown_risk(secret), BEST_GUESS_TEXT if secret else ""
    order = np.lexsort((np.arange(known.n), -risk))[: run.exposed]
    room = known.group_sizes[known.groups] * (solution.marginals > 0)
    left = np.bincount(known.edge_class, room, len(known.class_sizes)).astype(int)[known.entry_class].tolist()
    return tuple(
        ExposedSubject(
            subject=f"{ordinal_text(k + 1)} entry",
            risk=float(min(risk[k], 1.0)),
            because=f"{count_text(left[k], 'pseudonym is', 'pseudonyms are')} possible{best}",
            learns=("its pseudonym",),
            values={"entry": safe_text(matrix.entries[k]), "pseudonym": safe_text(matrix.pseudonyms[solution.truth[k]])}
            if run.reveal
            else None,
        )
        for k in order.tolist()
    )


def _anonymity_finding(candidates: Candidates, solution: Solution, policy: Policy, run: Run) -> Finding:
    """d counts assignments, so weights are left aside."""
    from unveil.matching.candidates import Candidates
    from unveil.matching.solver import solve

    if candidates.is_weighted:
        pattern = Candidates.from_matrix(candidates.to_matrix() > 0)
        solution = solve(pattern, solution.truth, run, may_exclude_truth=True, simulate=False)
    low, high = solution.degree_of_anonymity
    between = "" if solution.exact else f" The value lies between {number_text(low)} and {number_text(high)}."
    return DEGREE_OF_ANONYMITY.finding(
        policy,
        value=low,
        unit="",
        method="exact" if solution.exact else "bound",
        interval=(low, high),
        subjects=solution.candidates.n,
        attacker=_describe_attacker(solution),
        sentence="The scale runs from 0 (only one assignment is possible) to 1 (nothing is ruled out). It counts "
        f"possible assignments, whatever their weights, and does not say how many entries are safe.{between}",
        source=_EDMAN,
    )


def _alpha_max_finding(solution: Solution, policy: Policy, run: Run) -> Finding:
    """Over random subsets of right entries the expected cracks are α times those of all, so no search is needed."""
    n, cracks = solution.candidates.n, solution.expected_cracks
    tolerated = policy.threshold(EXPECTED_CRACKS) * n
    alpha, low, high = (
        min(1.0, tolerated / x) if x else 1.0 for x in (cracks, solution.interval[1], solution.interval[0])
    )
    limit = f"{number_text(tolerated)} of {count_text(n, 'entry')}"
    sentence = f"Even an attacker who is right about every entry cracks no more than {limit} on average."
    if alpha < 1:
        sentence = (
            f"To crack no more than {limit} on average, the attacker may be right about no more than "
            f"{range_text(alpha, (low, high))} of the entries, if those they are wrong about are never cracked."
        )
    return ALPHA_MAX.finding(
        policy,
        value=alpha,
        method=solution.method,
        interval=(low, high),
        confidence=run.confidence,
        subjects=n,
        attacker=_describe_attacker(solution),
        sentence=sentence,
        source=f"{_SOURCE}, Figure 8 and section 8.1",
    )


def _estimate_finding(risk: Risk, how: str, crack: Floats, solution: Solution, policy: Policy) -> Finding:
    value = round(float(crack.sum()), 12)
    return risk.finding(
        policy,
        value=value,
        unit="cracks",
        method="estimate",
        subjects=solution.candidates.n,
        attacker=_describe_attacker(solution),
        sentence=f"{how}. The result is {compare_with_estimate(value, solution)}.",
        source=_SOURCE,
    )


QUESTION = Question(
    name="matching",
    title="Which pseudonym is which?",
    kinds=("matrix",),
    risks=(EXPECTED_CRACKS, ALPHA_MAX, SETS_VULNERABLE, DEGREE_OF_ANONYMITY, O_ESTIMATE, HEURISTIC, BETHE),
    ask=ask,
    settings=MatchingSettings,
    holdings=(
        Holding(
            "sets",
            "table",
            "Sets of entries to protect: a column entries, with the names of a set in each row, separated by blanks or "
            "semicolons.",
        ),
    ),
    check=check,
)
