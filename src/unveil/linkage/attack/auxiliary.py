"""What might somebody know? Auxiliary information, drawn as an attack would have it.

The attacker knows m things about the person they look for, the *target*: m attributes that the target's record r has,
with values that may be wrong. Document 002 takes D′, a database with the support of D and similar values, and gives the
attacker r′ on a set s of m attributes, each set of m attributes of supp(r) being as likely as any other (Definitions 7
to 9). Variants of what is drawn:

- **some columns**: s is a set of m of the attributes that r has among these (the second experiment of §4.5, with 35
  variables that nobody would mind telling);
- **something rare** (§4.4): s = s̃ ∪ {i}, where i is any rare attribute of r and s̃ any set of m − 1 attributes of r. As
  i may be in s̃, there may be m − 1 things only. What is rare is told in :mod:`unveil.linkage.alike.tail`;
- **errors**, each independent of the others:

  - *elsewhere*: the thing is an attribute that r does not have, any of these being as likely, with a value of it. This
    breaks Definition 7 and is what the conclusions of the document ask for;
  - *wrong*: the value is one of the attribute, as frequent as it is in the release (and may be right by chance);
  - *noise*: it is another value that is alike enough, each as likely.

Records with fewer than m such attributes cannot be targets for m; they are counted.

**Nested.** One random order of a target's attributes is drawn, and its first m are what is known for every m. So a
curve of success against m is not torn by chance, and each of its points is distributed as it should be. Errors come
from a stream of their own: with and without them the same attributes are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.errors import UnveilError
from unveil.linkage.alike.tail import rare
from unveil.linkage.records import Records
from unveil.linkage.similarity import Similarity
from unveil.run import Run
from unveil.slices import pieces
from unveil.wording import listed

__all__ = ["Auxiliary", "Knowledge", "draw", "postings"]

Ints = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]

_NUMBERS = 1 << 20  # random numbers drawn at a time


@dataclass(frozen=True)
class Knowledge:
    """What is drawn: attributes among ``columns`` (names; any if None), with one of those of rank ``rare``·c or more if
    that is given. A thing is from elsewhere with probability ``elsewhere``, else its value wrong with probability
    ``wrong``, else another one that is alike with probability ``noise``; alike as ``tolerance`` says, or at least
    ``alpha`` by the similarity of the attribute itself."""

    columns: tuple[str, ...] | None = None
    rare: float | None = None
    elsewhere: float = 0.0
    wrong: float = 0.0
    noise: float = 0.0
    tolerance: Similarity | None = None
    alpha: float = 1.0

    def __post_init__(self) -> None:
        for name in ("elsewhere", "wrong", "noise"):
            if not 0 <= getattr(self, name) <= 1:
                raise UnveilError(f"{name} is a probability: from 0 to 1")
        if self.rare is not None and not 0 <= self.rare <= 1:
            raise UnveilError("the rank from which on an attribute is rare is a share of all, from 0 to 1")


@dataclass(frozen=True, eq=False)
class Auxiliary:
    """What is known of some records. Of record ``targets[t]``, ``usable[t]`` things could be known; the first of them
    are ``attribute[t]`` and ``value[t]`` (a code), in the order in which they become known. −1 is a thing that says
    nothing: there is no more, or it is known already. The first never is, if anything is usable. ``columns`` are
    the attributes that things were drawn from. Where several attributes are one thing (:class:`Records`), so are
    ``together`` of these in a row.
    """

    targets: Ints
    usable: Ints
    attribute: Small
    value: Small
    columns: Ints
    together: int = 1

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def most(self) -> int:
        """How many things at most."""
        return int(self.attribute.shape[1]) // self.together


def draw(
    records: Records,
    targets: npt.ArrayLike,
    most: int,
    rng: np.random.Generator,
    knowledge: Knowledge | None = None,
    perturbed: Records | None = None,
    run: Run | None = None,
    errors: np.random.Generator | None = None,
) -> Auxiliary:
    """Draw ``most`` things that are known of each target. ``perturbed`` are the records D′ to take values from, with
    the support and the values' codes of ``records``: both taken out of one (:meth:`Records.only`). ``errors`` is where
    the randomness of errors comes from, if not from ``rng``.

    >>> import pyarrow as pa
    >>> from unveil.linkage.records import records_of_codes
    >>> from unveil.release.codes import encode
    >>> table = {"age": [30, None], "sex": [1, 2]}
    >>> made = records_of_codes({name: encode(pa.chunked_array([column])) for name, column in table.items()})
    >>> known = draw(made, [0, 1], 2, np.random.default_rng(0))
    >>> known.usable.tolist(), known.attribute.tolist(), known.value.tolist()
    ([2, 1], [[0, 1], [1, -1]], [[0, 0], [1, -1]])
    """
    from unveil.linkage.attack import _auxiliary

    know, run, rows = knowledge or Knowledge(), run or Run(), np.asarray(targets, np.int64)
    if records.together > 1:
        return _together(records, rows, most, rng, know, perturbed, run)
    if most < 1:
        raise UnveilError("at least one thing must be known")
    if len(rows) and (rows.min() < 0 or rows.max() >= records.n):
        raise UnveilError(f"there are no such records; they are numbered from 0 to {records.n - 1:,}")
    value = records.value if perturbed is None else _perturbed(records, perturbed)
    usable = _usable(records, know.columns)
    columns, marked = np.flatnonzero(usable), usable[:0] if know.rare is None else rare(records, know.rare)
    had = _had(records, usable, rows)
    if know.rare is not None:
        had = np.where(_had(records, usable & marked, rows) > 0, had, 0)
    most = int(min(most, had.max(initial=1)))
    found = np.full((2, len(rows), most), -1, np.int32)
    in_order, in_errors = rng.spawn(2)
    step = max(1, _NUMBERS // (6 * most + 1))
    for first in range(0, len(rows), step):
        run.check()
        part = slice(first, first + step)
        things, values = found[:, part]
        _auxiliary.drawn(
            records.indptr, records.attribute, value, rows[part], usable, marked,
            in_order.random((len(things), most + 1)), things, values,
        )  # fmt: skip
    auxiliary = Auxiliary(rows, had, found[0], found[1], columns)
    if know.elsewhere or know.wrong or know.noise:
        _err(records, know, auxiliary, in_errors if errors is None else errors, step, run)
    return auxiliary


def _together(
    records: Records,
    rows: Ints,
    most: int,
    rng: np.random.Generator,
    know: Knowledge,
    perturbed: Records | None,
    run: Run,
) -> Auxiliary:
    """The same things drawn of every part, each with errors of its own."""
    step = records.together
    if know.elsewhere:
        raise UnveilError("things from elsewhere cannot be drawn where several attributes are one thing")
    same, errors = rng.spawn(1)[0], rng.spawn(step)
    parts = [
        draw(
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


def _err(
    records: Records, know: Knowledge, auxiliary: Auxiliary, rng: np.random.Generator, step: int, run: Run
) -> None:
    """Put errors into what was drawn."""
    from unveil.linkage.attack import _auxiliary

    starts, _, code = postings(records, run)
    nearby = _nearby(records, know)
    for first in range(0, len(auxiliary), step):
        run.check()
        part = slice(first, first + step)
        things, values = auxiliary.attribute[part], auxiliary.value[part]
        _auxiliary.mistaken(
            records.indptr, records.attribute, auxiliary.targets[part], auxiliary.columns, starts, code, know.elsewhere,
            know.wrong, know.noise, *nearby, rng.random((len(things), auxiliary.most, 5)), things, values,
        )  # fmt: skip


def postings(records: Records, run: Run) -> tuple[Ints, Small, Small]:
    """Who has each attribute: those who have attribute i are at ``starts[i] … starts[i + 1]``, by code, then number of
    the record; with the code."""
    from unveil.linkage.attack import _auxiliary

    entries = len(records.value)
    order = np.empty(0, np.int32 if entries < 1 << 31 else np.int64)
    starts = np.append(0, np.cumsum(records.popularity))
    codes = np.append(0, np.cumsum(np.bincount(records.value)))
    for keys, free in ((records.value, codes), (records.attribute, starts.copy())):
        before, order = order, np.empty(entries, order.dtype)
        for first, last in pieces(entries, run):
            _auxiliary.dealt(keys, before, free, first, last, order)
    owner = np.empty(entries, np.int32)
    for first, last in pieces(records.indptr, run):
        _auxiliary.owned(records.indptr, first, last, owner)
    return starts, owner[order], records.value[order]


def _usable(records: Records, columns: Sequence[str] | None) -> npt.NDArray[np.bool_]:
    """The attributes that may be known: those asked for that anyone has."""
    there = records.popularity > 0
    if columns is None:
        return there
    at = {name: i for i, name in enumerate(records.names)}
    strange = [name for name in columns if name not in at]
    if strange:
        raise UnveilError(f"there is no attribute {listed(strange)}; there are {listed(records.names)}")
    asked = np.zeros(records.c, np.bool_)
    asked[[at[name] for name in columns]] = True
    return there & asked


def _had(records: Records, marked: npt.NDArray[np.bool_], rows: Ints) -> Ints:
    """How many of the marked attributes each record has."""
    if marked[records.popularity > 0].all():
        return records.support[rows]
    before = np.append(0, np.cumsum(marked[records.attribute]))
    return np.asarray(before[records.indptr[rows + 1]] - before[records.indptr[rows]])


def _perturbed(records: Records, perturbed: Records) -> Small:
    same = perturbed.n == records.n and perturbed.c == records.c and (perturbed.indptr == records.indptr).all()
    if not same or (perturbed.attribute != records.attribute).any():
        raise UnveilError("perturbed records must have a value where the records have one, and only there")
    if not all(a is b or a.equals(b) for a, b in zip(perturbed.values, records.values, strict=True)):
        raise UnveilError("perturbed records must have the same codes: take both out of one, by Records.only")
    return perturbed.value


def _nearby(records: Records, know: Knowledge) -> tuple[Ints, Small, Small]:
    """The codes that noise may turn each value into."""
    if know.noise == 0:
        empty = np.empty(0, np.int32)
        return np.zeros(records.c, np.int64), empty, empty
    other = records
    if know.tolerance is not None:
        similarities = (know.tolerance,) * records.c
        other = Records(records.indptr, records.attribute, records.value, records.names, records.values, similarities)
    ranges = other.ranges(know.alpha)
    return ranges.starts, ranges.low, ranges.high
