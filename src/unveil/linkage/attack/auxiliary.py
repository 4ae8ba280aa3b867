"""What might an attacker know? Auxiliary information, drawn at random.

The attacker knows m things about the person they look for, the *target*: m attributes of the target's record r, with
values that may be wrong. Merener (2012) takes D′, a database with the support of D and similar values, and gives the
attacker r′ on a set s of m attributes; all sets of m attributes of supp(r) are equally likely (Definitions 7 to 9). The
variants drawn here:

- **some columns**: s consists of m attributes that r has among given columns (the second experiment of §4.5 uses 35
  variables that people share freely);
- **something rare** (§4.4): s = s̃ ∪ {i}, where i is a random rare attribute of r and s̃ a random set of m − 1
  attributes of r. Because i may be in s̃, there may be only m − 1 things. :mod:`unveil.linkage.sparsity.long_tail`
  defines *rare*;
- **errors**, independent of each other:

  - *elsewhere*: the thing is a random attribute that r lacks, with one of its values. This breaks Definition 7, and the
    conclusions of the paper ask for it;
  - *wrong*: the value is drawn as frequently as in the release (and may be right by chance);
  - *noise*: the value is replaced by a random other value that is similar enough.

Records with fewer than m such attributes cannot be targets for m; they are counted.

**Nested draws.** For each target one random order of attributes is drawn, and its first m are known, for every m. A
curve of success against m is therefore smooth, and each of its points has the right distribution. Errors have a random
stream of their own: the same attributes are known with and without errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from unveil.arrays import Bools, Floats, Int32s, Ints
from unveil.errors import UnveilError
from unveil.linkage.postings import build_postings
from unveil.linkage.records import CodeRanges, Records
from unveil.linkage.similarity import Similarity
from unveil.linkage.sparsity.long_tail import rare_attributes
from unveil.run import Run
from unveil.wording import list_text

__all__ = ["Auxiliary", "Knowledge", "check_known_counts", "draw_knowledge"]


_RANDOM_BATCH = 1 << 20  # random numbers per batch


@dataclass(frozen=True)
class Knowledge:
    """What is drawn: attributes from ``columns`` (names; all if None), one of them of popularity rank ``rare_rank``·c
    or beyond if given. A thing comes from elsewhere with probability ``elsewhere_rate``; otherwise its value is wrong
    with probability ``wrong_rate``; otherwise it is replaced by a similar one with probability ``noise_rate``.
    *Similar* is decided by ``tolerance``, or by at least ``alpha`` in the attribute's own similarity."""

    columns: tuple[str, ...] | None = None
    rare_rank: float | None = None
    elsewhere_rate: float = 0.0
    wrong_rate: float = 0.0
    noise_rate: float = 0.0
    tolerance: Similarity | None = None
    alpha: float = 1.0

    def __post_init__(self) -> None:
        for name in ("elsewhere", "wrong", "noise"):
            if not 0 <= getattr(self, f"{name}_rate") <= 1:
                raise UnveilError(f"{name} must be a probability from 0 to 1")
        if self.rare_rank is not None and not 0 <= self.rare_rank <= 1:
            raise UnveilError("the rank from which attributes are rare must be a share from 0 to 1")


@dataclass(frozen=True, eq=False)
class Auxiliary:
    """What is known about some records. ``usable[t]`` things could be known about record ``targets[t]``.
    ``attribute[t]`` and ``value[t]`` (a code) list them in the order in which they become known. −1 marks an empty
    thing: there is no more, or it was already known. The first is never empty if anything is usable. ``columns`` are
    the attributes that things were drawn from. If several attributes form one thing (:class:`Records`), so do
    ``attributes_per_fact`` consecutive entries here."""

    targets: Ints
    usable: Ints
    attribute: Int32s
    value: Int32s
    columns: Ints
    attributes_per_fact: int = 1

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def max_known(self) -> int:
        """The largest number of things drawn for a target."""
        return int(self.attribute.shape[1]) // self.attributes_per_fact


def check_known_counts(ms: Sequence[int]) -> list[int]:
    """The numbers of things known, rising and without repetitions; all must be 1 or more."""
    known = sorted(set(ms))
    if not known or known[0] < 1:
        raise UnveilError("numbers of things known must be 1 or more")
    return known


def draw_knowledge(
    records: Records,
    targets: npt.ArrayLike,
    most: int,
    rng: np.random.Generator,
    knowledge: Knowledge | None = None,
    perturbed: Records | None = None,
    run: Run | None = None,
    errors: np.random.Generator | None = None,
) -> Auxiliary:
    """Draw up to ``most`` things known about each target. ``perturbed`` is D′, the records to take values from. It must
    have the support and the codes of ``records``, so take both from one database (:meth:`Records.select`). ``errors``
    is the random stream for errors, by default split off ``rng``.

    >>> import pyarrow as pa
    >>> from unveil.linkage.records import records_from_codes
    >>> from unveil.release.codes import encode_column
    >>> table = {"age": [30, None], "sex": [1, 2]}
    >>> made = records_from_codes({name: encode_column(pa.chunked_array([column])) for name, column in table.items()})
    >>> known = draw_knowledge(made, [0, 1], 2, np.random.default_rng(0))
    >>> known.usable.tolist(), known.attribute.tolist(), known.value.tolist()
    ([2, 1], [[0, 1], [1, -1]], [[0, 0], [1, -1]])
    """
    from unveil.linkage.attack import _auxiliary

    know, run, rows = knowledge or Knowledge(), run or Run(), np.asarray(targets, np.int64)
    if records.attributes_per_fact > 1:
        return _draw_joint_things(records, rows, most, rng, know, perturbed, run)
    if most < 1:
        raise UnveilError("the attacker must know at least one thing")
    if len(rows) and (rows.min() < 0 or rows.max() >= records.n):
        raise UnveilError(f"targets must be record numbers from 0 to {records.n - 1:,}")
    value = records.value if perturbed is None else _perturbed_values(records, perturbed)
    usable = _usable_attributes(records, know.columns)
    columns, had, rare = np.flatnonzero(usable), _count_attributes(records, usable, rows), None
    if know.rare_rank is not None:
        rare = np.flatnonzero((usable & rare_attributes(records, know.rare_rank))[records.attribute])
        had = np.where(_entries_between(rare, records, rows)[1] > 0, had, 0)
    most = int(min(most, had.max(initial=1)))
    found = np.full((2, len(rows), most), -1, np.int32)
    in_order, in_errors = rng.spawn(2)
    step = max(1, _RANDOM_BATCH // (6 * most + 1))
    for first in range(0, len(rows), step):
        run.check()
        part = slice(first, first + step)
        things, values = found[:, part]
        random = in_order.random((len(things), most + 1))
        _auxiliary.draw_things(
            records.indptr, records.attribute, value, rows[part], usable, random, int(rare is not None), things, values,
            np.empty(records.c + 1, np.int64),
        )  # fmt: skip
        if rare is not None:
            begin, many = _entries_between(rare, records, rows[part])
            some = many > 0
            chosen = rare[begin[some] + (random[some, 0] * many[some]).astype(np.int64)]
            found[:, part][:, ~some] = -1
            things[some, 0], values[some, 0] = records.attribute[chosen], value[chosen]
            again = things[:, 1:] == things[:, :1]
            things[:, 1:][again] = values[:, 1:][again] = -1
    auxiliary = Auxiliary(rows, had, found[0], found[1], columns)
    if know.elsewhere_rate or know.wrong_rate or know.noise_rate:
        _add_errors(records, know, auxiliary, in_errors if errors is None else errors, step, run)
    return auxiliary


def _draw_joint_things(
    records: Records,
    rows: Ints,
    most: int,
    rng: np.random.Generator,
    know: Knowledge,
    perturbed: Records | None,
    run: Run,
) -> Auxiliary:
    """Draw things that consist of several attributes: the same things for each attribute, with separate errors."""
    step = records.attributes_per_fact
    if know.elsewhere_rate:
        raise UnveilError("things from elsewhere cannot be drawn if several attributes form one thing")
    same, errors = rng.spawn(1)[0], rng.spawn(step)
    parts = [
        draw_knowledge(
            records.part(k), rows, most, deepcopy(same), know,
            None if perturbed is None else perturbed.part(k), run, errors[k],
        )
        for k in range(step)
    ]  # fmt: skip
    spread = np.arange(step, dtype=np.int32)
    attribute = np.stack([part.attribute for part in parts], axis=2)
    return Auxiliary(
        rows,
        parts[0].usable,
        np.where(attribute < 0, -1, attribute * step + spread).reshape(len(rows), -1).astype(np.int32),
        np.stack([part.value for part in parts], axis=2).reshape(len(rows), -1),
        (parts[0].columns[:, None] * step + spread).ravel(),
        step,
    )


def _add_errors(
    records: Records, know: Knowledge, auxiliary: Auxiliary, rng: np.random.Generator, step: int, run: Run
) -> None:
    """Add errors to what was drawn."""
    starts, _, code = build_postings(records)
    near = _nearby_codes(records, know) if know.noise_rate else None
    for first in range(0, len(auxiliary), step):
        run.check()
        part = slice(first, first + step)
        things, values = auxiliary.attribute[part], auxiliary.value[part]
        random = np.moveaxis(rng.random((len(things), auxiliary.max_known, 5)), 2, 0)
        known = things >= 0
        away = _draw_elsewhere(records, auxiliary, part, known & (random[0] < know.elsewhere_rate), random[1])
        other = away | (known & (random[3] < know.wrong_rate))
        i = things[other]
        values[other] = code[starts[i] + (random[2][other] * (starts[i + 1] - starts[i])).astype(np.int64)]
        if near is not None:
            blurred = known & ~other & (random[4] < know.noise_rate)
            at = near.starts[things[blurred]] + values[blurred]
            low, high = near.low[at], near.high[at]
            drawn = low + (random[2][blurred] * (high - low)).astype(np.int32)
            values[blurred] = np.where(high > low, drawn + (drawn >= values[blurred]), values[blurred])


def _draw_elsewhere(records: Records, auxiliary: Auxiliary, part: slice, away: Bools, random: Floats) -> Bools:
    """Replace the things marked ``away`` by attributes that the target lacks, as long as there are any; returns which
    were replaced.

    If a record has the columns S₀ < S₁ < …, the c-th column that it lacks is c + #{k : Sₖ − k ≤ c}. Columns drawn
    before are skipped in ascending order, so none is drawn twice.
    """
    columns, rows, things = auxiliary.columns, auxiliary.targets[part], auxiliary.attribute[part]
    if not away.any():
        return away
    usable = np.zeros(records.c, np.bool_)
    usable[columns] = True
    had = records.select(rows)
    owner, kept = np.repeat(np.arange(len(rows)), had.support), usable[had.attribute]
    column, owner = (np.cumsum(usable) - 1)[had.attribute[kept]], owner[kept]
    begins = np.searchsorted(owner, np.arange(len(rows) + 1))
    before = column - (np.arange(len(column)) - begins[owner]) + owner * (len(columns) + 1)
    free = len(columns) - np.diff(begins)
    away = away & (np.cumsum(away, axis=1) <= free[:, None])
    drawn = np.full(away.shape, records.c)
    for j in range(away.shape[1]):
        t = np.flatnonzero(away[:, j])
        chosen = (random[t, j] * (free[t] - away[t, :j].sum(axis=1))).astype(np.int64)
        for k in range(j):
            chosen += chosen >= drawn[t, k]
        drawn[t, j] = chosen
        drawn[:, : j + 1].sort(axis=1)
        at = np.searchsorted(before, t * (len(columns) + 1) + chosen, "right") - begins[t]
        things[t, j] = columns[chosen + at]
    return away


def _usable_attributes(records: Records, columns: Sequence[str] | None) -> Bools:
    """The attributes that may be known: the requested ones that occur at all."""
    there = records.popularity > 0
    if columns is None:
        return there
    at = {name: i for i, name in enumerate(records.names)}
    strange = [name for name in columns if name not in at]
    if strange:
        raise UnveilError(f"no attribute is called {list_text(strange)}; check the names")
    asked = np.zeros(records.c, np.bool_)
    asked[[at[name] for name in columns]] = True
    return there & asked


def _count_attributes(records: Records, marked: Bools, rows: Ints) -> Ints:
    """How many of the marked attributes each record has."""
    if marked[records.popularity > 0].all():
        return records.support[rows]
    before = np.append(0, np.cumsum(marked[records.attribute]))
    return np.asarray(before[records.indptr[rows + 1]] - before[records.indptr[rows]])


def _entries_between(entries: Ints, records: Records, rows: Ints) -> tuple[Ints, Ints]:
    """Where the entries of each record begin in an ascending list of entries, and how many of them are listed."""
    begin = np.searchsorted(entries, records.indptr[rows])
    return begin, np.searchsorted(entries, records.indptr[rows + 1]) - begin


def _perturbed_values(records: Records, perturbed: Records) -> Int32s:
    same = perturbed.n == records.n and perturbed.c == records.c and (perturbed.indptr == records.indptr).all()
    if not same or (perturbed.attribute != records.attribute).any():
        raise UnveilError("perturbed records must have values exactly where the records have them")
    if not all(a is b or a.equals(b) for a, b in zip(perturbed.values, records.values, strict=True)):
        raise UnveilError("perturbed records must use the same codes: take both from one database with Records.select")
    return perturbed.value


def _nearby_codes(records: Records, know: Knowledge) -> CodeRanges:
    """The range of codes that noise may turn each value into."""
    if know.tolerance is None:
        return records.code_ranges(know.alpha)
    return replace(records, similarities=(know.tolerance,) * records.c).code_ranges(know.alpha)
