"""The intersection attack on Adult: overlapping random subsets, each anonymised by itself, attacked together.

The experiment of Ganta, Kasiviswanathan and Smith (2008) as far as document 004, §3.4.2, describes it. 5,000 people are
in all five releases; the others are dealt out among them, so that each release has people of its own. Every release is
anonymised without regard to the others, by splitting it at medians as long as both halves satisfy the condition
(Mondrian: LeFevre, DeWitt and Ramakrishnan 2006), and published as intervals. The attacker knows the quasi-identifiers
of the 5,000 and looks them up by these intervals. With ``speed``, prints seconds for a million people instead.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import process_time

import numpy as np
import pyarrow as pa
from _measure import data_folder

from unveil import read
from unveil.arrays import Floats, Ints
from unveil.classes.candidate_classes import find_candidate_classes
from unveil.classes.intersection import ReleaseView, intersect_releases, posterior_values
from unveil.release.codes import Codes, encode_column

__all__ = ["main"]

QUASI = ("age", "education-num", "marital-status", "race", "sex", "native-country")
SENSITIVE = ("salary-class", "workclass", "relationship", "occupation", "hours-per-week")
COMMON, RELEASES, SEEDS = 5000, 5, range(5)

Holds = Callable[[Ints], bool]
"""Whether a class whose rows have the values so many times may be published."""


# ---- anonymising -----------------------------------------------------------------------------------------------------


def k_anonymous(k: int) -> Callable[[Ints], Holds]:
    return lambda _: lambda counts: counts.sum() >= k


def l_diverse(least: float) -> Callable[[Ints], Holds]:
    """Entropy ℓ-diversity: Definition 3.4."""

    def holds(counts: Ints) -> bool:
        shares = counts[counts > 0] / max(counts.sum(), 1)
        return bool(-(shares * np.log(shares)).sum() >= np.log(least) - 1e-12)

    return lambda _: holds


def t_close(most: float) -> Callable[[Ints], Holds]:
    """t-closeness with all values equally far apart: Definition 3.5."""
    return lambda table: lambda c: bool(abs(c / c.sum() - table / table.sum()).sum() / 2 <= most + 1e-12)


def mondrian(known: Ints, sensitive: Ints, domain: Ints, holds: Holds) -> Iterable[tuple[Ints, Ints, Ints]]:
    """Rows and their box, lowest and highest, one class after the other. ``domain`` is the box of everyone."""
    size = int(sensitive.max()) + 1
    waiting = [(np.arange(len(known)), domain[0], domain[1])]
    while waiting:
        rows, low, high = waiting.pop()
        inside = known[rows]
        spread = (inside.max(axis=0) - inside.min(axis=0)) / np.maximum(domain[1] - domain[0], 1)
        for column, cut in ((c, x) for c in np.argsort(-spread, kind="stable") for x in _cuts(inside[:, c])):
            lower = inside[:, column] <= cut
            halves = rows[lower], rows[~lower]
            if all(holds(np.bincount(sensitive[half], minlength=size)) for half in halves):
                end, start = high.copy(), low.copy()
                end[column], start[column] = cut, cut + 1
                waiting += [(halves[0], low, end), (halves[1], start, high)]
                break
        else:
            yield rows, low, high


def _cuts(values: Ints) -> list[int]:
    """Where to split at the median: above it or below it, what leaves more equal halves first."""
    median = np.sort(values)[(len(values) - 1) // 2]
    below, above = values[values < median], values[values > median]
    cuts = [(len(below), int(below.max()))] if len(below) else []
    cuts += [(len(above), int(median))] if len(above) else []
    return [cut for _, cut in sorted(cuts, reverse=True)]


def published(known: Ints, sensitive: Ints, domain: Ints, holds: Holds) -> list[Codes]:
    """The quasi-identifiers of all rows as intervals."""
    labels = np.empty(known.shape, object)
    for rows, low, high in mondrian(known, sensitive, domain, holds):
        labels[rows] = [f"[{a}, {b}]" for a, b in zip(low, high, strict=True)]
    return [encode_column(pa.chunked_array([pa.array(c, pa.string())])) for c in labels.T]


# ---- attacking -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """Of one draw: rows per class; shares of people after each release; the likeliest values."""

    size: float
    perfect_breaches: Floats
    combined_breaches: Floats
    partial_breaches: Floats
    contradictions: Floats
    confidence: Floats
    right: Floats
    same: float
    others: float
    wrong: float


def attacked(known: Ints, sensitive: Ints, model: Callable[[Ints], Holds], seed: int, strangers: bool) -> Outcome:
    """One draw: deal out the people, publish, look everyone up who is in all releases (or in the first one only)."""
    order = np.random.default_rng(seed).permutation(len(known))
    parts = np.array_split(order[COMMON:], RELEASES)
    people = parts[0] if strangers else order[:COMMON]
    domain = np.stack([known.min(axis=0), known.max(axis=0)])
    wanted = [encode_column(pa.chunked_array([pa.array(c.astype(str))])) for c in known[people].T]
    views = list[ReleaseView]()
    for part in parts:
        rows = np.append(order[:COMMON], part)
        holds = model(np.bincount(sensitive[rows], minlength=int(sensitive.max()) + 1))
        found = find_candidate_classes(wanted, published(known[rows], sensitive[rows], domain, holds))
        assert (np.diff(found.indptr) == 1).all()  # boxes do not overlap and leave nobody out
        views.append(found.with_values(sensitive[rows]))
    both, likely = intersect_releases(views), posterior_values(views)
    right = likely.value == sensitive[people]
    return Outcome(
        size=float(np.mean([len(v.value) / v.count for v in views])),
        perfect_breaches=both.perfect_breaches.mean(axis=1),
        combined_breaches=both.combined_breaches.mean(axis=1),
        partial_breaches=both.partial_breaches.mean(axis=1),
        contradictions=both.contradictions.mean(axis=1),
        confidence=np.array([step.confidence for step in both.steps]),
        right=right.mean(axis=1),
        same=float(likely.chance[-1].mean()),
        others=float(posterior_values(views, "others").chance[-1].mean()),
        wrong=float((both.perfect_breaches[-1] & ~right[-1]).mean()),
    )


def draws(known: Ints, sensitive: Ints, model: Callable[[Ints], Holds], strangers: bool = False) -> list[Outcome]:
    return [attacked(known, sensitive, model, seed, strangers) for seed in SEEDS]


def mean(outcomes: Sequence[Outcome], field: str) -> Floats:
    return np.mean([getattr(o, field) for o in outcomes], axis=0)


def entropy(values: Ints) -> float:
    shares = np.bincount(values) / len(values)
    shares = shares[shares > 0]
    return float(-(shares * np.log2(shares)).sum())


# ---- tables ----------------------------------------------------------------------------------------------------------


def main() -> None:
    """Print the three tables."""
    data = data_folder()
    if data is None:
        return
    table = read(data / "tables" / "adult.csv", strip=True)
    codes = table.codes((*QUASI, *SENSITIVE), missing=("?",))
    complete = np.all([c.codes >= 0 for c in codes.values()], axis=0)
    numeric = {"age", "education-num", "hours-per-week"}
    column = {name: _numbers(c, name in numeric)[complete] for name, c in codes.items()}
    known = np.stack([column[q] for q in QUASI], axis=1)
    print(f"intersection: Adult, {len(known):,} rows without missing values, quasi-identifiers {', '.join(QUASI)}")
    print(f"  {COMMON:,} people in all of {RELEASES} releases of {COMMON + (len(known) - COMMON) // RELEASES:,} rows")
    print(f"  means over seeds {SEEDS.start} to {SEEDS.stop - 1}; breaches in percent of people, after 1 … 5 releases")
    _models(known, column["occupation"])
    _entropies(known, column)
    _strangers(known, column["occupation"])


def _numbers(codes: Codes, numeric: bool) -> Ints:
    if not numeric:
        return codes.codes.astype(np.int64)
    return np.append(np.array(codes.values.to_pylist()).astype(np.int64), -1)[codes.codes]


MODELS = {
    **{f"k = {k}": k_anonymous(k) for k in (5, 10, 20, 50)},
    **{f"ℓ = {n}": l_diverse(n) for n in (2, 4, 6, 8)},
    **{f"t = {t}": t_close(t) for t in (0.5, 0.4, 0.3, 0.2, 0.1)},
}


def _models(known: Ints, occupation: Ints) -> None:
    print("\nSensitive: occupation\n")
    print("| condition | rows per class | perfect | partial | 1/|S| | right guesses | same | others |")
    print("|---|---|---|---|---|---|---|---|")
    spread = 0.0
    for name, model in MODELS.items():
        found = draws(known, occupation, model)
        spread = max(spread, float(np.ptp([o.perfect_breaches for o in found], axis=0).max()))
        print(
            f"| {name} | {mean(found, 'size'):.1f} | {_percents(mean(found, 'perfect_breaches'))} "
            f"| {_percents(mean(found, 'partial_breaches')[1:])} | {_percents(mean(found, 'confidence')[[0, -1]])} "
            f"| {_percents(mean(found, 'right')[[0, -1]])} | {_percents(mean(found, 'same'))} "
            f"| {_percents(mean(found, 'others'))} |"
        )
    top = np.bincount(occupation).max() / len(occupation)
    print(f"\nthe most frequent value: {top:.1%} of all; a share of perfect breaches differs between draws by")
    print(f"at most {100 * spread:.1f} points")


def _entropies(known: Ints, column: dict[str, Ints]) -> None:
    sensitive = {name: column[name] for name in SENSITIVE}
    place = np.random.default_rng(0).permutation(int(column["occupation"].max()) + 1)
    for groups in (2, 4, 8):
        sensitive[f"occupation in {groups} groups"] = place[column["occupation"]] % groups
    print("\nBy entropy of the sensitive column\n")
    print(
        "| sensitive | values | bits | k = 5: perfect | by combining | 1/|S| | k = 10: perfect | by combining | 1/|S| |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name, values in sorted(sensitive.items(), key=lambda item: entropy(item[1])):
        cells = [name, str(len(np.unique(values))), f"{entropy(values):.2f}"]
        for k in (5, 10):
            found = draws(known, values, k_anonymous(k))
            cells += [
                _percents(mean(found, "perfect_breaches")[[0, -1]]),
                _percents(mean(found, "combined_breaches")[-1]),
            ]
            cells += [_percents(mean(found, "confidence")[[0, -1]])]
        print(f"| {' | '.join(cells)} |")


def _strangers(known: Ints, occupation: Ints) -> None:
    print("\nPeople of the first release only, looked up in all as if they were in all: occupation\n")
    print("| condition | empty | perfect | of all people, perfect and wrong |")
    print("|---|---|---|---|")
    for name in ("k = 5", "k = 10", "ℓ = 4", "t = 0.3"):
        found = draws(known, occupation, MODELS[name], strangers=True)
        print(
            f"| {name} | {_percents(mean(found, 'contradictions'))} | {_percents(mean(found, 'perfect_breaches'))} "
            f"| {_percents(mean(found, 'wrong'))} |"
        )


def _percents(shares: Floats) -> str:
    return " ".join(f"{100 * x:.1f}" for x in np.atleast_1d(shares))


# ---- speed -----------------------------------------------------------------------------------------------------------


def speed() -> None:
    """CPU seconds for a million people in five releases, where everyone's value is random; then for finding them by
    labels in a sixth, by age and zip code."""
    print("| values | rows per class | intersect | posterior |")
    print("|---|---|---|---|")
    people = 1_000_000
    for values in (16, 1000):
        for size in (5, 50, 1000):
            rng = np.random.default_rng(0)
            value = rng.integers(0, values, people)
            classes = [rng.permutation(people) // size for _ in range(RELEASES)]
            views = [ReleaseView.from_known_classes(c, value, c) for c in classes]
            took = [
                _seconds(lambda work=work, views=views: work(views)) for work in (intersect_releases, posterior_values)
            ]
            print(f"| {values:,} | {size:,} | {took[0]:.1f} s | {took[1]:.1f} s |")
    age, code = rng.integers(0, 100, people), rng.integers(0, 10_000, people)
    known = [encode_column(pa.chunked_array([c.astype(str)])) for c in (age, code + 10_000)]
    labels = ([f"[{a - a % 5}, {a - a % 5 + 5})" for a in age], [f"{z // 10}*" for z in code + 10_000])
    released = [encode_column(pa.chunked_array([c])) for c in labels]
    found = find_candidate_classes(known, released)
    print(
        f"\nfitting: {_seconds(lambda: find_candidate_classes(known, released)):.1f} s for "
        f"{int(found.row_class.max()) + 1:,} classes"
    )


def _seconds(work: Callable[[], object]) -> float:
    work()
    start = process_time()
    work()
    return process_time() - start


if __name__ == "__main__":
    speed() if sys.argv[1:] == ["speed"] else main()
