"""How often would they be found? The attack, played on the release.

Everyone in turn is the target. Somebody knows m random things about them (:mod:`unveil.linkage.attack.auxiliary`) and
names a record (:mod:`unveil.linkage.attack.adversaries`). With R for a random target, S for the set of things known of
it and A for what the adversary names, the attack measures, for every adversary and every m:

- **success**, P[A = R], perfect de-anonymisation (document 002, Definition 11). Records that are equal cannot be told
  apart, and naming any of them reveals the same: a record that is equal to the target counts as found. The *row* of the
  target itself is found less often where there are such records, and stands beside it;
- **similar**, P[Sim(R, A) ≥ σ] (Definition 9), for a similarity of records as in :mod:`unveil.linkage.alike.sparsity`,
  which theorems bound from below;
- **learned**, the expected number of attributes of what is named that agree with the target's (Corollary 5);
- **unicity**, P[|D_x| = 1]: nobody else fits (de Montjoye and others, *Unique in the crowd*, 2013);
- **size**, how many records the adversary considers: |D_x| or, where it believes in records more or less, exp H for the
  entropy H of its belief. By Jensen's inequality success of :func:`~unveil.linkage.attack.adversaries.scoreboard` is at
  least 1 / E[|D_x|] (Theorem 11);
- **baseline**, what guessing achieves without knowing anything.

For one target and one set of things, all of these are exact expectations over what the adversary leaves to chance
(E[1/|D_x|] for Scoreboard). Random are the sets of things and, if not all records are targets, the targets.

**How sure?** Values of targets lie between 0 and 1, most at either end, and are independent:
:mod:`unveil.linkage.intervals` says how much their mean is worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from unveil.errors import UnveilError
from unveil.linkage.attack._seen import Seen
from unveil.linkage.attack.adversaries import Adversary, Sight, indexed, liking, seen, smallest
from unveil.linkage.attack.auxiliary import Auxiliary, Knowledge, draw
from unveil.linkage.copies import copies
from unveil.linkage.intervals import Estimate, estimated
from unveil.linkage.records import Records
from unveil.run import Run
from unveil.wording import counted, percent

if TYPE_CHECKING:
    from unveil.linkage.alike.comparing import Sim

__all__ = ["Attack", "Outcome", "Part", "attack", "attack_with", "everyone", "with_shorter"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """The targets with ``low`` to ``high`` attributes, and how often they are found."""

    low: int
    high: int
    success: Estimate


@dataclass(frozen=True, eq=False, repr=False)
class Outcome:
    """What an adversary achieves who knows ``known`` things. The targets are ``rows``; ``excluded`` have too few
    attributes to be one. For each target: the probability that its row is named (``row_found``), or a record that is
    equal (``found``, of which there are ``copies``), the number of records considered (``size``), the number of things
    it has (``support``), the probability that nobody else fits (``alone``), by how many standard deviations the best
    score leads (``apart``) and, if records were compared, the probability that what is named is similar enough and how
    many attributes agree. ``exact``: the targets are all records, and every set of things counted as often as it is
    drawn.
    """

    adversary: Adversary
    known: int
    rows: Ints
    excluded: int
    records: int
    row_found: Floats
    found: Floats
    size: Floats
    support: Ints
    copies: Ints
    similar: Floats | None
    learned: Floats | None
    confidence: float
    alone: Floats
    apart: Floats
    exact: bool = False

    @cached_property
    def success(self) -> Estimate:
        """How often a record that is equal to the target is named."""
        return self._mean(self.found)

    @cached_property
    def row_success(self) -> Estimate:
        """How often the target's own row is named."""
        return self._mean(self.row_found)

    @cached_property
    def unicity(self) -> Estimate:
        """How often nobody else fits."""
        return self._mean(self.alone)

    def _mean(self, values: Floats) -> Estimate:
        found = estimated(values, self.confidence)
        return replace(found, interval=(found.value,) * 2, sure=(found.value,) * 2) if self.exact else found

    @cached_property
    def similar_success(self) -> Estimate | None:
        """How often what is named is similar enough to the target."""
        return None if self.similar is None else estimated(self.similar, self.confidence)

    @property
    def mean_size(self) -> float:
        """How many records are considered, on average."""
        return _mean(self.size)

    @property
    def baseline(self) -> float:
        """How often a record equal to the target is named by someone who knows nothing; 1/n for its own row."""
        return _mean(self.copies) / self.records if self.records else float("nan")

    def by_support(self, parts: int = 4) -> tuple[Part, ...]:
        """Success by how many attributes targets have: as many targets in each part as far as those of the same support
        stay together."""
        if not len(self.rows):
            return ()
        cuts = np.quantile(self.support, np.arange(1, parts) / parts, method="inverted_cdf")
        part = np.searchsorted(np.unique(cuts), self.support, "left")
        return tuple(
            Part(int(own.min()), int(own.max()), self._mean(self.found[part == k]))
            for k in np.unique(part)
            for own in [self.support[part == k]]
        )

    def __repr__(self) -> str:
        low, high = self.success.interval
        return (
            f"{self.adversary.name}, who knows {counted(self.known, 'thing')}, finds {percent(self.success.value)} "
            f"({percent(low)} to {percent(high)}) of {counted(len(self.rows), 'target')}"
        )


def _mean(values: npt.NDArray[np.generic]) -> float:
    return float(np.sort(values).mean()) if len(values) else float("nan")


@dataclass(frozen=True, eq=False, repr=False)
class Attack:
    """All outcomes: of the first adversary for every number of things known, then of the next."""

    outcomes: tuple[Outcome, ...]

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.outcomes))


def attack(
    records: Records,
    adversaries: Sequence[Adversary] = (smallest(),),
    ms: Sequence[int] = (1, 2, 4, 8, 16),
    *,
    rng: np.random.Generator,
    targets: npt.ArrayLike | int | None = None,
    knowledge: Knowledge | None = None,
    perturbed: Records | None = None,
    equals: Ints | None = None,
    sigma: float | None = None,
    sim: Sim = "alike",
    least: float = 1.0,
    confidence: float = 0.95,
    run: Run | None = None,
) -> Attack:
    """Attack all records, some of them (their numbers) or as many random ones, with ``ms`` things known.

    ``knowledge`` says what is drawn, and ``perturbed`` are the records D′ to draw it from. ``equals`` says of each how
    many records are as good as it, itself included: by default those that are equal to it. With ``sigma``, what is
    named is compared with the target as ``sim`` says, ``least`` being the μ of (2.1).

    Ann and Bob saw the same film, Ann one more:

    >>> import pyarrow as pa
    >>> from unveil.linkage.attack.adversaries import scoreboard
    >>> from unveil.linkage.records import records_of_ratings
    >>> from unveil.release.codes import encode
    >>> user, film = ["ann", "ann", "bob"], ["Alien", "Brazil", "Brazil"]
    >>> films = records_of_ratings(*(encode(pa.chunked_array([column])) for column in (user, film)))
    >>> found = attack(films, [scoreboard(), smallest()], [1, 2], rng=np.random.default_rng(5))
    >>> [(o.adversary.name, o.known, o.found.tolist(), o.excluded) for o in found.outcomes]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('scoreboard', 1, [0.5, 0.5], 0), ('scoreboard', 2, [1.0], 1),
     ('smallest', 1, [0.0, 1.0], 0), ('smallest', 2, [1.0], 1)]
    """
    rows = _targets(records, targets, rng)
    known = draw(records, rows, max(_rising(ms)), rng, knowledge, perturbed, run)
    return attack_with(
        records, known, adversaries, ms, equals=equals,
        sigma=sigma, sim=sim, least=least, confidence=confidence, run=run,
    )  # fmt: skip


def attack_with(
    records: Records,
    auxiliary: Auxiliary,
    adversaries: Sequence[Adversary] = (smallest(),),
    ms: Sequence[int] = (1, 2, 4, 8, 16),
    *,
    equals: Ints | None = None,
    sigma: float | None = None,
    sim: Sim = "alike",
    least: float = 1.0,
    confidence: float = 0.95,
    run: Run | None = None,
) -> Attack:
    """The same with given things known."""
    known = _rising(ms)
    if sigma is not None and not 0 <= sigma <= 1:
        raise UnveilError("a similarity of records lies between 0 and 1")
    index, equal = indexed(records, run), copies(records, run) if equals is None else equals
    like = liking(records, None if sigma is None else sim, least, sigma or 0.0)
    sights = dict[Sight, Seen]()
    for sight in dict.fromkeys(a.sight for a in adversaries):
        sights[sight] = seen(records, index, auxiliary, sight, known, like, run)
    support = records.support[auxiliary.targets] // records.together
    found = []
    for adversary in adversaries:
        view = sights[adversary.sight]
        chances = adversary.chances(view)
        for j, m in enumerate(known):
            some = np.flatnonzero(auxiliary.usable >= m)
            row, same = chances.row[some, j], equal[auxiliary.targets[some]]
            compared = sigma is not None
            found.append(
                Outcome(
                    adversary,
                    m,
                    auxiliary.targets[some],
                    len(auxiliary) - len(some),
                    records.n,
                    row,
                    np.minimum(1.0, row * same),
                    view.size[some, j],
                    support[some],
                    same,
                    chances.similar[some, j] if compared else None,
                    chances.learned[some, j] if compared else None,
                    confidence,
                    (view.size[some, j] == 1).astype(np.float64),
                    view.apart[some, j],
                )
            )
    return Attack(tuple(found))


def with_shorter(ms: Sequence[int], support: Ints) -> list[int]:
    """The numbers of things known, and those of people who have fewer than the most of them."""
    few = np.unique(support)
    return sorted({*ms, *few[(few > 0) & (few < max(ms))].tolist()})


def everyone(outcomes: Sequence[Outcome], ms: Sequence[int]) -> tuple[Outcome, ...]:
    """The outcomes for everybody who has anything: who has fewer than m things is known by all of them. ``outcomes``
    are of one adversary, for the numbers of :func:`with_shorter`; only those without a thing are excluded."""
    targets = max((len(o.rows) + o.excluded for o in outcomes), default=0)
    return tuple(_joined([o for o in outcomes if o.known <= m], m, targets) for m in sorted(set(ms)))


def _joined(outcomes: Sequence[Outcome], m: int, targets: int) -> Outcome:
    """Each target as in the last of these outcomes that it is in. A row may be a target several times."""
    last = max(outcomes, key=lambda o: o.known)
    parts, most = list[tuple[Outcome, Ints]](), np.zeros(last.records, np.bool_)
    for o in sorted(outcomes, key=lambda o: -o.known):
        own = np.flatnonzero(~most[o.rows])
        most[o.rows] = True
        parts.append((o, own))
    rows = np.concatenate([o.rows[own] for o, own in parts])
    order = np.argsort(rows, kind="stable")

    def put(name: str) -> Any:
        if getattr(last, name) is None:
            return None
        return np.concatenate([getattr(o, name)[own] for o, own in parts])[order]

    columns = ("rows", "row_found", "found", "size", "support", "copies", "similar", "learned", "alone", "apart")
    return replace(
        last, known=m, excluded=targets - len(rows), exact=all(o.exact for o, own in parts if len(own)),
        **{name: put(name) for name in columns},
    )  # fmt: skip


def _rising(ms: Sequence[int]) -> list[int]:
    known = sorted(set(ms))
    if not known or known[0] < 1:
        raise UnveilError("numbers of things known must be 1 or more")
    return known


def _targets(records: Records, targets: npt.ArrayLike | int | None, rng: np.random.Generator) -> Ints:
    if targets is None:
        return np.arange(records.n)
    if isinstance(targets, (int, np.integer)):
        if targets < 1:
            raise UnveilError("there must be at least one target")
        if targets >= records.n:
            return np.arange(records.n)
        return np.sort(rng.choice(records.n, int(targets), replace=False, shuffle=False))
    return np.asarray(targets, np.int64)
