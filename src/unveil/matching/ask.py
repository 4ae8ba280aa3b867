"""The question ``matching``: how many pseudonyms does an attacker crack who holds a matrix of candidates?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.finding import Curve, Exposed, Finding, Links
from unveil.policy import Policy
from unveil.question import Question
from unveil.release.matrix import Matrix
from unveil.run import Run
from unveil.wording import counted, number, percent, shown

if TYPE_CHECKING:
    from unveil.matching.candidates import Candidates, Floats
    from unveil.matching.ladder import Solution

__all__ = ["QUESTION"]

_DRAWN = 150  # entries up to which the candidates are drawn
_DISTRIBUTION = 1000  # entries up to which the distribution of the number of cracks is worth a chart
_SOURCE = (
    "L. Lakshmanan, R. Ng, G. Ramesh, On disclosure risk analysis of anonymized itemsets, ACM TKDD 2(3), 2008; exact "
    "marginals instead of their O-estimate"
)
_EDMAN = "M. Edman, F. Sivrikaya, B. Yener, A combinatorial approach to measuring anonymity, IEEE ISI 2007"


def ask(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
    """The findings of this question."""
    from unveil.matching.candidates import Candidates
    from unveil.matching.ladder import solve
    from unveil.matching.screening import screened

    matrix = case.release
    assert isinstance(matrix, Matrix)
    candidates = Candidates.from_matrix(matrix.weights)
    solution = solve(candidates, case.truth, run, may_be_wrong=policy.may_be_wrong)
    yield _cracks(solution, case, matrix, policy, run)
    yield _anonymity(candidates, solution, policy, run)
    for name, crack in screened(candidates, solution.truth).items():
        if name in _ESTIMATES:
            yield _estimate(name, crack, solution, policy)


def check(case: Case, policy: Policy) -> None:
    """An attacker who leaves no assignment possible, or excludes the truth, is bad input."""
    import numpy as np

    from unveil.matching.blocks import feasible_flow
    from unveil.matching.candidates import Candidates
    from unveil.matching.ladder import bijection, possible

    assert isinstance(case.release, Matrix)
    candidates = Candidates.from_matrix(case.release.weights)
    truth = bijection(None if case.truth is None else np.asarray(case.truth), candidates.n)
    feasible_flow(candidates, truth)
    if not policy.may_be_wrong:
        possible(candidates, truth)


def _attacker(solution: Solution) -> str:
    knows = "how likely each pseudonym is" if solution.candidates.weighted else "which pseudonyms are possible"
    return f"Knows for every entry {knows}, and takes one of the assignments that fit, each with its due probability."


def _cracks(solution: Solution, case: Case, matrix: Matrix, policy: Policy, run: Run) -> Finding:
    n = solution.candidates.n
    share = tuple(x / n for x in solution.interval)
    tolerance = policy.tolerated("matching.expected_cracks")
    certain = int((solution.crack > 1 - 1e-9).sum())
    sure = f"; {counted(certain, 'of them is', 'of them are')} certain" if certain else ""
    return Finding(
        id="matching.expected_cracks",
        question="matching",
        title=f"Pseudonyms cracked on average ({'Ψ' if solution.candidates.weighted else 'ε'})",
        value=solution.expected_cracks,
        unit="cracks",
        method=solution.method,
        interval=None if solution.exact else solution.interval,
        confidence=None if solution.exact else run.confidence,
        subjects=n,
        share=(min(share), max(share)),
        tolerance=None if tolerance is None else tolerance * n,
        direction="lower",
        decides=tolerance is not None,
        attacker=_attacker(solution),
        missing="A pair that is not in the matrix, or has weight 0, is impossible.",
        baseline=1.0,
        sentence=f"Of {counted(n, 'entry', 'entries')}, {number(solution.expected_cracks)} "
        f"({percent(solution.expected_cracks / n)}) can be expected to be given their true pseudonym{sure}.",
        curves=tuple(_curves(solution, case, matrix, run)),
        exposed=_exposed(solution, matrix, run),
        source=f"{_SOURCE}. {_how(solution)}",
    )


_RUNGS = {
    "forced": "whose entries are all alike",
    "subsets": "over all sets of columns",
    "frontier": "along a frontier of states",
    "simulation": "by simulation",
}


def _how(solution: Solution) -> str:
    """By which rungs of the ladder the blocks were solved."""
    rungs = [p.rung for p in solution.parts]
    told = [f"{rungs.count(rung):,} {words}" for rung, words in _RUNGS.items() if rung in rungs]
    return f"Blocks of entries that do not influence each other, and how they were solved: {', '.join(told)}"


def _curves(solution: Solution, case: Case, matrix: Matrix, run: Run) -> Iterator[Curve | Links]:
    from unveil.errors import UnveilError
    from unveil.matching.metrics import crack_distribution

    n = solution.candidates.n
    yield _risks(solution)
    if n <= _DISTRIBUTION:
        try:
            distribution = crack_distribution(solution.candidates, solution.truth)
        except UnveilError:
            distribution = None
        if distribution is not None:
            yield _distribution(distribution)
    if n <= _DRAWN:
        yield _links(solution, case, matrix, run)


def _risks(solution: Solution) -> Curve:
    """How many entries have which risk."""
    import numpy as np

    edges = np.linspace(0, 1, 11)
    counts = np.histogram(solution.crack, edges)[0]
    names = [f"{round(100 * a)}–{round(100 * b)}%" for a, b in pairwise(edges)]
    half = int((solution.crack >= 0.5).sum())
    who = counted(half, "entry is", "entries are") if half else "No entry is"
    return Curve(
        title="Entries by the probability of being cracked",
        kind="bars",
        x_label="probability of being cracked",
        y_label="entries",
        x=tuple(names),
        y=tuple(float(c) for c in counts),
        x_scale="category",
        reading=f"{who} as likely cracked as not, or likelier.",
    )


def _distribution(distribution: Floats) -> Curve:
    import numpy as np

    last = max(1, int(np.flatnonzero(distribution > 0.0005).max()))
    likeliest = int(distribution.argmax())
    return Curve(
        title="How many are cracked at once",
        kind="bars",
        x_label="entries cracked",
        y_label="probability",
        x=tuple(float(k) for k in range(last + 1)),
        y=tuple(float(p) for p in distribution[: last + 1]),
        reading=f"Nobody is cracked with probability {percent(float(distribution[0]))}; the likeliest number is "
        f"{likeliest:,}.",
    )


def _links(solution: Solution, case: Case, matrix: Matrix, run: Run) -> Links:
    """The candidates with their probabilities. A secret truth must not show: where it was given and is not revealed,
    an entry's risk is that of the attacker's best guess, which the attacker knows."""
    import numpy as np

    pairs = solution.matrix()
    i, j = np.nonzero(matrix.weights)
    secret = case.truth is not None and not run.reveal
    risk = pairs.max(axis=1) if secret else solution.crack
    names = (matrix.entries, matrix.pseudonyms) if run.reveal else 2 * (tuple(str(k + 1) for k in range(len(pairs))),)
    what = "that the best guess is right" if secret else "of being cracked"
    return Links(
        title="Who may be whom",
        left_label="entry",
        right_label="pseudonym",
        left=tuple(shown(name) for name in names[0]),
        right=tuple(shown(name) for name in names[1]),
        risk=tuple(float(min(r, 1.0)) for r in risk),
        pairs=tuple((int(a), int(b), float(min(pairs[a, b], 1.0))) for a, b in zip(i, j, strict=True)),
        true=tuple(enumerate(solution.truth.tolist())) if run.reveal else None,
        reading="A line is a possible pair, the stronger the more probable; beside each entry stands the probability "
        f"{what}.",
    )


def _exposed(solution: Solution, matrix: Matrix, run: Run) -> tuple[Exposed, ...]:
    import numpy as np

    known = solution.candidates
    order = np.lexsort((np.arange(known.n), -solution.crack))[: run.exposed]
    room = known.group_sizes[known.groups] * (solution.marginals > 0)
    left = np.bincount(known.edge_class, room, len(known.class_sizes)).astype(int)[known.entry_class].tolist()
    return tuple(
        Exposed(
            subject=f"entry {k + 1:,}",
            risk=float(min(solution.crack[k], 1.0)),
            because=f"{counted(left[k], 'pseudonym is', 'pseudonyms are')} possible",
            learns=("its pseudonym",),
            values={"entry": shown(matrix.entries[k]), "pseudonym": shown(matrix.pseudonyms[solution.truth[k]])}
            if run.reveal
            else None,
        )
        for k in order.tolist()
    )


def _anonymity(candidates: Candidates, solution: Solution, policy: Policy, run: Run) -> Finding:
    """d counts assignments, so that weights are left aside."""
    from unveil.matching.candidates import Candidates
    from unveil.matching.ladder import solve

    if candidates.weighted:
        pattern = Candidates.from_matrix(candidates.dense() > 0)
        solution = solve(pattern, solution.truth, run, may_be_wrong=True, simulate=False)
    low, high = solution.degree_of_anonymity
    tolerance = policy.tolerated("matching.degree_of_anonymity")
    between = f" It lies between {number(low)} and {number(high)}; nothing finer was proved."
    return Finding(
        id="matching.degree_of_anonymity",
        question="matching",
        title="Degree of anonymity (d)",
        value=low,
        unit="",
        method="exact" if solution.exact else "bound",
        interval=None if solution.exact else (low, high),
        subjects=solution.candidates.n,
        tolerance=tolerance,
        direction="higher",
        decides=tolerance is not None,
        attacker=_attacker(solution),
        sentence="1 means that the attacker knows nothing, 0 that only one assignment is left. It says how many "
        f"assignments fit, whatever they weigh, not how many entries are safe.{'' if solution.exact else between}",
        source=_EDMAN,
    )


_ESTIMATES = {
    "O": ("matching.o_estimate", "Cracks by the O-estimate", "one in as many as an entry has candidates"),
    "Sinkhorn": ("matching.heuristic", "Cracks by the heuristic H", "rows and columns scaled to sum 1"),
    "Bethe": ("matching.bethe", "Cracks by belief propagation", "beliefs passed between entries and pseudonyms"),
}


def _estimate(name: str, crack: Floats, solution: Solution, policy: Policy) -> Finding:
    finding, title, how = _ESTIMATES[name]
    value, exact = round(float(crack.sum()), 12), solution.expected_cracks
    off = value / exact - 1 if exact else 0.0
    beside = "exact" if solution.exact else "simulated"
    compared = f"{percent(abs(off))} {'above' if off > 0 else 'below'}" if abs(off) > 5e-4 else "equal to"
    tolerance = policy.tolerated(finding)
    return Finding(
        id=finding,
        question="matching",
        title=title,
        value=value,
        unit="cracks",
        method="estimate",
        subjects=solution.candidates.n,
        tolerance=None if tolerance is None else tolerance * solution.candidates.n,
        direction="lower",
        decides=False,
        attacker=_attacker(solution),
        sentence=f"{how[0].upper()}{how[1:]}: {compared} the {beside} value.",
        source=_SOURCE,
    )


QUESTION = Question(
    name="matching",
    title="Which pseudonym is which?",
    kinds=("matrix",),
    findings=("matching.expected_cracks", "matching.degree_of_anonymity", *(e[0] for e in _ESTIMATES.values())),
    ask=ask,
    check=check,
    sampled=("matching.expected_cracks",),
)
