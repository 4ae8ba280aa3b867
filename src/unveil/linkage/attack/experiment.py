"""How often would people be found? The attack, played on the release.

Every record in turn is the target. The attacker knows m random things about it
(:mod:`unveil.linkage.attack.auxiliary`) and names a record (:mod:`unveil.linkage.attack.adversaries`).
With R for a random target and A for the record named, the attack measures for every adversary and every m:

- **success**, the probability that A is the target's own row. A person is *found* if their own row is named;
- **equal success**, P[A = R] of Merener (2012, Definition 11, perfect de-anonymisation): the record named equals the
  target, so that everything released about the person is learned, whoever's row it is;
- **similar**, P[Sim(R, A) ≥ σ] (Definition 9), for a record similarity of
  :mod:`unveil.linkage.sparsity.record_similarity`; the theorems bound it from below;
- **learned**, the expected number of attributes of A that agree with R (Corollary 5);
- **unicity**, P[|D_x| = 1]: nobody else fits (de Montjoye and others, *Unique in the crowd*, 2013);
- **size**, the number of records the adversary considers: |D_x| or, if it assigns probabilities, exp H for their
  entropy H. By Jensen's inequality the success of
  :func:`~unveil.linkage.attack.adversaries.scoreboard_adversary` is at least 1 / E[|D_x|] (Theorem 11);
- **baseline**, the success of guessing without knowledge.

For one target and one set of things, all of these are exact expectations over the adversary's own random choices
(E[1/|D_x|] for Scoreboard). Only the sets of things are random, and the targets if not all records are targets.

**Uncertainty.** The values of targets are independent and lie between 0 and 1, most of them at either end.
:mod:`unveil.intervals` gives intervals for their mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from unveil.arrays import Floats, Ints
from unveil.errors import UnveilError
from unveil.intervals import Estimate, estimate_mean
from unveil.linkage.attack._scoring import TargetOutcomes
from unveil.linkage.attack.adversaries import (
    Adversary,
    Evidence,
    least_support_adversary,
    record_comparison,
    target_outcomes,
)
from unveil.linkage.attack.auxiliary import Auxiliary, Knowledge, check_known_counts, draw_knowledge
from unveil.linkage.equal_records import count_copies
from unveil.linkage.records import Records
from unveil.run import Run
from unveil.wording import count_text, percent_text

if TYPE_CHECKING:
    from unveil.linkage.sparsity.record_similarity import RecordSimilarity

__all__ = [
    "Outcome",
    "SupportGroup",
    "add_smaller_supports",
    "attack_records",
    "attack_with_knowledge",
    "outcomes_for_everyone",
]


@dataclass(frozen=True)
class SupportGroup:
    """The targets with ``low`` to ``high`` attributes, and how often they are found."""

    low: int
    high: int
    success: Estimate


@dataclass(frozen=True, eq=False, repr=False)
class Outcome:
    """What an adversary who knows ``known`` things achieves. The targets are ``rows``; ``excluded`` records have too
    few attributes to be one. For each target: the probability that its own row is named (``found``), or any of its
    ``copies`` (``equal_found``), the number of records considered (``size``), the number of things it has
    (``support``), the probability that nobody else fits (``unique_probability``), and by how many standard deviations
    the best score leads (``lead``). If records were compared, also the probability that the record named is ``similar``
    enough and how many attributes agree (``learned``). ``exact`` means that all records are targets and that every set
    of things was counted."""

    adversary: Adversary
    known: int
    rows: Ints
    excluded: int
    records: int
    found: Floats
    equal_found: Floats
    size: Floats
    support: Ints
    copies: Ints
    similar: Floats | None
    learned: Floats | None
    confidence: float
    unique_probability: Floats
    lead: Floats
    exact: bool = False

    @cached_property
    def success(self) -> Estimate:
        """How often the target's own row is named."""
        return self._mean_estimate(self.found)

    @cached_property
    def equal_success(self) -> Estimate:
        """How often the target or a record equal to it is named."""
        return self._mean_estimate(self.equal_found)

    @cached_property
    def unicity(self) -> Estimate:
        """How often nobody else fits."""
        return self._mean_estimate(self.unique_probability)

    def _mean_estimate(self, values: Floats) -> Estimate:
        found = estimate_mean(values, self.confidence)
        return replace(found, interval=(found.value,) * 2, sure=(found.value,) * 2) if self.exact else found

    @cached_property
    def similar_success(self) -> Estimate | None:
        """How often the record named is similar enough to the target."""
        return None if self.similar is None else estimate_mean(self.similar, self.confidence)

    @property
    def baseline(self) -> float:
        """How often an attacker who knows nothing names the target's own row."""
        return 1 / self.records

    @property
    def equal_baseline(self) -> float:
        """How often an attacker who knows nothing names a record equal to the target."""
        return float(np.sort(self.copies).mean()) / self.records if len(self.copies) else float("nan")

    def success_by_support(self, parts: int = 4) -> tuple[SupportGroup, ...]:
        """Success by the number of attributes of targets, in parts of about equal size; targets of equal support stay
        together."""
        if not len(self.rows):
            return ()
        cuts = np.quantile(self.support, np.arange(1, parts) / parts, method="inverted_cdf")
        part = np.searchsorted(np.unique(cuts), self.support, "left")
        return tuple(
            SupportGroup(int(own.min()), int(own.max()), self._mean_estimate(self.found[part == k]))
            for k in np.unique(part)
            for own in [self.support[part == k]]
        )

    def __repr__(self) -> str:
        low, high = self.success.interval
        return (
            f"{self.adversary.name}, who knows {count_text(self.known, 'thing')}, finds "
            f"{percent_text(self.success.value)} ({percent_text(low)} to {percent_text(high)}) of "
            f"{count_text(len(self.rows), 'target')}"
        )


def attack_records(
    records: Records,
    adversaries: Sequence[Adversary] = (least_support_adversary(),),
    ms: Sequence[int] = (1, 2, 4, 8, 16),
    *,
    rng: np.random.Generator,
    targets: npt.ArrayLike | int | None = None,
    knowledge: Knowledge | None = None,
    perturbed: Records | None = None,
    equals: Ints | None = None,
    sigma: float | None = None,
    sim: RecordSimilarity = "alike",
    least: float = 1.0,
    confidence: float = 0.95,
    run: Run | None = None,
) -> tuple[Outcome, ...]:
    """Attack all records, the ``targets`` with these numbers, or this many random ones, with ``ms`` things known: the
    outcomes of the first adversary for every number of things known, then those of the next.

    ``knowledge`` says what is drawn, and ``perturbed`` is D′, the records to draw it from. ``equals`` says for each
    record how many, itself included, count as the same; by default its copies. With ``sigma``, the record named is
    compared with the target by ``sim``, and ``least`` is the μ of (2.1).

    Ann and Bob saw the same film, and Ann saw one more:

    >>> import pyarrow as pa
    >>> from unveil.linkage.attack.adversaries import scoreboard_adversary
    >>> from unveil.linkage.records import records_from_ratings
    >>> from unveil.release.codes import encode_column
    >>> user, film = ["ann", "ann", "bob"], ["Alien", "Brazil", "Brazil"]
    >>> films = records_from_ratings(*(encode_column(pa.chunked_array([column])) for column in (user, film)))
    >>> found = attack_records(films, [scoreboard_adversary(), least_support_adversary()], [1, 2],
    ...     rng=np.random.default_rng(5))
    >>> [(o.adversary.name, o.known, o.found.tolist(), o.excluded) for o in found]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('scoreboard', 1, [0.5, 0.5], 0), ('scoreboard', 2, [1.0], 1),
     ('smallest', 1, [0.0, 1.0], 0), ('smallest', 2, [1.0], 1)]
    """
    rows = _choose_targets(records, targets, rng)
    known = draw_knowledge(records, rows, max(check_known_counts(ms)), rng, knowledge, perturbed, run)
    return attack_with_knowledge(
        records, known, adversaries, ms, equals=equals,
        sigma=sigma, sim=sim, least=least, confidence=confidence, run=run,
    )  # fmt: skip


def attack_with_knowledge(
    records: Records,
    auxiliary: Auxiliary,
    adversaries: Sequence[Adversary] = (least_support_adversary(),),
    ms: Sequence[int] = (1, 2, 4, 8, 16),
    *,
    equals: Ints | None = None,
    sigma: float | None = None,
    sim: RecordSimilarity = "alike",
    least: float = 1.0,
    confidence: float = 0.95,
    run: Run | None = None,
) -> tuple[Outcome, ...]:
    """The attack with given auxiliary information."""
    known = check_known_counts(ms)
    if sigma is not None and not 0 <= sigma <= 1:
        raise UnveilError("a record similarity must lie between 0 and 1")
    equal = count_copies(records, run) if equals is None else equals
    comparison = record_comparison(records, None if sigma is None else sim, least, sigma or 0.0)
    seen = dict[Evidence, TargetOutcomes]()
    for evidence in dict.fromkeys(a.evidence for a in adversaries):
        seen[evidence] = target_outcomes(records, auxiliary, evidence, known, comparison, run)
    support = records.support[auxiliary.targets] // records.attributes_per_fact
    found = []
    for adversary in adversaries:
        view = seen[adversary.evidence]
        row_chances, similar, learned = adversary.chances(view)
        for j, m in enumerate(known):
            some = np.flatnonzero(auxiliary.usable >= m)
            row, same = row_chances[some, j], equal[auxiliary.targets[some]]
            compared = sigma is not None
            found.append(
                Outcome(
                    adversary=adversary,
                    known=m,
                    rows=auxiliary.targets[some],
                    excluded=len(auxiliary) - len(some),
                    records=records.n,
                    found=row,
                    equal_found=np.minimum(1.0, row * same),
                    size=view.size[some, j],
                    support=support[some],
                    copies=same,
                    similar=similar[some, j] if compared else None,
                    learned=learned[some, j] if compared else None,
                    confidence=confidence,
                    unique_probability=(view.size[some, j] == 1).astype(np.float64),
                    lead=view.lead[some, j],
                )
            )
    return tuple(found)


def add_smaller_supports(ms: Sequence[int], support: Ints) -> list[int]:
    """The numbers of things known, plus the supports below the largest of them, so that people with few things are
    included."""
    few = np.unique(support)
    return sorted({*ms, *few[(few > 0) & (few < max(ms))].tolist()})


def outcomes_for_everyone(outcomes: Sequence[Outcome], ms: Sequence[int]) -> tuple[Outcome, ...]:
    """The outcomes for everybody who has anything: everything is known about people with fewer than m things.
    ``outcomes`` belong to one adversary, for the numbers of :func:`add_smaller_supports`. Only people without things
    are excluded."""
    targets = max((len(o.rows) + o.excluded for o in outcomes), default=0)
    return tuple(_join_outcomes([o for o in outcomes if o.known <= m], m, targets) for m in sorted(set(ms)))


def _join_outcomes(outcomes: Sequence[Outcome], m: int, targets: int) -> Outcome:
    """Each target as in the last of these outcomes that contains it. A row may be a target several times."""
    last = max(outcomes, key=lambda o: o.known)
    parts, most = list[tuple[Outcome, Ints]](), np.zeros(last.records, np.bool_)
    for o in sorted(outcomes, key=lambda o: -o.known):
        own = np.flatnonzero(~most[o.rows])
        most[o.rows] = True
        parts.append((o, own))
    rows = np.concatenate([o.rows[own] for o, own in parts])
    order = np.argsort(rows, kind="stable")

    def merge_field(name: str) -> Any:
        if getattr(last, name) is None:
            return None
        return np.concatenate([getattr(o, name)[own] for o, own in parts])[order]

    columns = (
        "rows",
        "found",
        "equal_found",
        "size",
        "support",
        "copies",
        "similar",
        "learned",
        "unique_probability",
        "lead",
    )
    return replace(
        last, known=m, excluded=targets - len(rows), exact=all(o.exact for o, own in parts if len(own)),
        **{name: merge_field(name) for name in columns},
    )  # fmt: skip


def _choose_targets(records: Records, targets: npt.ArrayLike | int | None, rng: np.random.Generator) -> Ints:
    if targets is None:
        return np.arange(records.n)
    if isinstance(targets, (int, np.integer)):
        if targets < 1:
            raise UnveilError("the attack needs at least one target")
        if targets >= records.n:
            return np.arange(records.n)
        return np.sort(rng.choice(records.n, int(targets), replace=False, shuffle=False))
    return np.asarray(targets, np.int64)
