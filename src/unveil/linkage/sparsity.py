"""How alone is everyone? The sparsity of records.

Someone who finds a record that is very much like a person's has found the person, if no two people are that much alike.
Most records of what people bought, saw or answered are alone in this sense: they are *sparse*.

**Two records** (document 002, Definition 5). With sim as each attribute says (:mod:`unveil.linkage.similarity`), which
is 0 where either value is null, and |∪| for the number of attributes that x or y has, Sim(x, y) is one of

    alike    |{i : sim(xᵢ, yᵢ) ≥ μ}| / |∪|        (2.1)
    sum      Σ sim(xᵢ, yᵢ) / |∪|                   (2.2), the same where every sim is 0 or 1
    support  |∩| / |∪|                             (2.3)

Two records without any attribute would give 0 / 0. They are equal, and Definition 5 wants Sim(x, x) = 1: it is 1 here.

**The sparsity function** (Definition 12) is the share of records that are not alone,

    f(σ) = P[another record has Sim ≥ σ to a random one],

and a database is (σ, q)-sparse if f(σ) ≤ q (Definition 10). *Another* is another row: of two equal records neither is
alone. All of f is in one number per record, its largest Sim to any other (:func:`nearest`). As Sim ≥ σ is closed, f
falls just after a Sim that occurs: the σ with f(σ) ≤ q are those *above* a bound, which is not one of them. Of a record
with nobody beside it nobody is near, for σ = 0 too.

**A sample.** f may be measured on some of the records, each compared with all others. Then it is a share of so many
draws and comes with an interval; 0 of 400 is no 0, but at most .0075 with 95 % confidence. Draws without replacement
vary less than the binomial distribution says, so that intervals are too wide rather than too narrow.

**The tail** (Definitions 13 and 14). Let attributes be ranked by how many records have them, the most popular as 1. The
database has a (τ, κ)-tail if κ·n records have the attribute of rank τ·c, and thus at most as many each rarer one. A
record is supported on τ-ranks if it has an attribute of rank τ·c or more. A rank that is no whole number is rounded up,
which is what *i ≥ τ·c* does to whole numbers i; attributes that nobody has are left out, as the document does; of
equally popular ones the first name in the alphabet has the lower rank, so that the order of columns does not matter.

**How it is computed.** Every record is compared with every other, but for these:

- Equal records have Sim 1, and are found by sorting. Where values are alike or not, and alike is an equivalence, only
  one of them is compared with the rest. Records without attributes are like each other and nobody else.
- Sim(x, y) ≤ |x| / |y| if x has fewer attributes than y. Records are ordered by how many they have, and compared with
  blocks of others from their own on outwards; a block that cannot beat what was found is left out.

Attributes that many records have are compared by *planes of bits*: a word says of 64 attributes which ones a record
has, and as many words as codes have bits say with which value. Values are equal where no bit differs; with a tolerance
they lie between two codes, which bitwise subtraction tells. Counting bits then counts attributes. For every other
attribute the records that have it are listed, and each entry adds its sim to the sum of its record.

Sims are whole numbers: 1 or 0 or, where they are graded, multiples of 1/72,072,000, which is exact for differences in
eighths, tenths, sevenths and such. So sums do not depend on any order, and fractions are compared by multiplying.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, sqrt
from threading import Event
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv, ndtri

from unveil.errors import UnveilError
from unveil.linkage import _sparsity
from unveil.linkage.records import Records
from unveil.linkage.similarity import Similarity
from unveil.run import Run
from unveil.wording import counted, percent, shown

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Nearest", "Sim", "Sparsity", "Tail", "highest", "lowest", "nearest", "sparsity", "tail", "wilson"]

Sim = Literal["alike", "sum", "support"]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]
Number = float | Fraction

_DOING = "comparing records"
_ID = "linkage.sparsity"
_UNITS = (72_072_000, 720_720)  # 2⁶·3²·5³·7·11·13; without 10² where records have very many attributes
_TABLE = 256  # values up to which a graded similarity is computed for all pairs beforehand
_GIVEN = 2_000  # and up to which it must be, if it is given by a function
_SLACK = 1e-12
_ATTRIBUTES = 1 << 20  # of a record at most: products of sums stay below 2⁶³
_PLANE, _ENTRY, _LOOK = 0.11, 1.0, 0.25  # ns to compare a word of a plane, to add an entry, to look at a sum
_PLANES = 1 << 31  # bytes of planes at most
_NEAR = 1 << 19  # bytes of planes of a block that stay near the processor
_ROOM = 512  # records of a block at least
_MOST = 1 << 13, 1 << 16  # and at most: where it may be chosen, and where lists would be too short
_TILE = 128  # records that go through the blocks together at most
_STEPS = 1 << 22  # entries of records in a slice
_WORK = 50_000_000  # nanoseconds in a slice, roughly
_THREADS = 8  # at most


@dataclass(frozen=True, eq=False)
class Nearest:
    """Of each record of ``rows`` the most similar other one, ``row`` (the first of several; −1 if there is no other).
    Their Sim is the fraction ``above`` / ``below`` in lowest terms."""

    rows: Ints
    row: Ints
    above: Ints
    below: Ints

    @cached_property
    def similarity(self) -> Floats:
        """The largest Sim of each record."""
        return self.above / self.below


def nearest(
    records: Records, sim: Sim = "alike", least: float = 1.0, rows: npt.ArrayLike | None = None, run: Run | None = None
) -> Nearest:
    """The record that is the most similar to each, among all others, and how similar it is. ``least`` is the μ of
    (2.1). With ``rows`` only these are asked for, in that order.

    >>> import pyarrow as pa
    >>> from unveil.linkage.records import records_of_codes
    >>> from unveil.release.codes import encode
    >>> table = {"age": [30, 30, 41], "sex": ["f", "m", "m"], "job": ["cook", "cook", None]}
    >>> found = nearest(records_of_codes({name: encode(pa.chunked_array([v])) for name, v in table.items()}))
    >>> found.row.tolist(), found.above.tolist(), found.below.tolist()
    ([1, 0, 1], [2, 2, 1], [3, 3, 3])
    """
    if sim not in get_args(Sim):
        raise UnveilError(f"records are compared by {', '.join(get_args(Sim)[:-1])} or {get_args(Sim)[-1]}")
    chosen, run = _rows(records.n, rows), run or Run()
    rules, kinds = _rules(records, sim, least)
    known = _sparsity.Known(records.indptr, records.attribute, records.value)
    found = _begun(records, rules.unit)
    equivalence = bool((kinds.runs & ~kinds.ranged).all())
    compared, alone = _without_equals(records, known, rules, found, run) if equivalence else _all(records)
    asked = np.zeros(records.n, np.bool_)
    asked[chosen] = True
    wanted = alone[asked[alone]]
    if len(wanted) and len(compared) > 1:
        layout = _layout(records, kinds, len(compared))
        _search(known, rules, _others(records, known, rules, layout, compared, run), layout.starts, wanted, found, run)
    above, below, row = (part[chosen] for part in found)
    shared = np.gcd(above, below * rules.unit)
    return Nearest(chosen, row, above // shared, below * rules.unit // shared)


def _rows(n: int, rows: npt.ArrayLike | None) -> Ints:
    if n == 0:
        raise UnveilError("there are no records to compare")
    if rows is None:
        return np.arange(n)
    chosen = np.asarray(rows, np.int64)
    if chosen.ndim != 1 or len(chosen) == 0 or chosen.min() < 0 or chosen.max() >= n:
        raise UnveilError(f"rows to be compared are numbers from 0 to {n - 1:,}")
    if len(np.unique(chosen)) < len(chosen):
        raise UnveilError("some rows are given twice")
    return chosen


# ---- how values are compared -----------------------------------------------------------------------------------------


class _Kinds(NamedTuple):
    """Of every attribute, whether values are alike or not, and nothing between; whether to be alike is no equivalence;
    and how many bits a code has."""

    runs: npt.NDArray[np.bool_]
    ranged: npt.NDArray[np.bool_]
    bits: Ints


def _rules(records: Records, sim: Sim, least: float) -> tuple[_sparsity.Rules, _Kinds]:
    """How to compare values, as kernels want it, and of which kind that is."""
    if not 0 < least <= 1:
        raise UnveilError("a similarity to be reached lies above 0 and is at most 1")
    largest = int(records.support.max(initial=0))
    if largest > _ATTRIBUTES:
        raise UnveilError(f"a record has {counted(largest, 'attribute')}; at most {_ATTRIBUTES:,} can be compared")
    if sim == "support":
        zeros = np.zeros(max((len(v) for v in records.values), default=0), np.int32)
        return _joined(np.zeros(records.c, np.int64), [_Values(_sparsity.RUN, zeros, zeros, zeros)], 1)
    graded = sim == "sum" and any(s.kind in ("linear", "given") for s in records.similarities)
    unit = next(u for u in _UNITS if u * largest < 1 << _sparsity.SHIFT) if graded else 1
    parts, at = list[_Values](), dict[tuple[int, int], int]()
    of = np.empty(records.c, np.int64)
    for i, (own, said, name) in enumerate(zip(records.values, records.similarities, records.names, strict=True)):
        key = (id(own), id(said))
        if key not in at:
            at[key] = len(parts)
            parts.append(_values(own, said, name, unit, None if sim == "sum" else least))
        of[i] = at[key]
    return _joined(of, parts, unit)


class _Values(NamedTuple):
    """How the values of an attribute are compared; see the kernels' ``Rules``. Where to be alike is an equivalence,
    values that are have the same code."""

    kind: int
    code: Small
    low: Small
    high: Small
    table: Ints = np.empty((0, 0), np.int64)
    number: Floats = np.empty(0)
    scale: float = 1.0


def _values(own: pa.Array, said: Similarity, name: str, unit: int, least: float | None) -> _Values:
    """Of one attribute; graded if there is no ``least`` to be reached."""
    code = np.arange(len(own), dtype=np.int32)
    if said.kind != "given" and (said.kind != "linear" or least is not None):
        low, high = (side.astype(np.int32) for side in said.ranges(own, least or 1.0, name))
        if (low[low] == low).all() and (high[low] == high).all():  # whoever is alike has the same that are alike
            classes = np.cumsum(low == code, dtype=np.int32) - 1
            return _Values(_sparsity.RUN, classes, classes, classes)
        return _Values(_sparsity.RUN, code, low, high)
    if said.kind == "linear" and len(own) > _TABLE:
        return _Values(_sparsity.LINEAR, code, code, code, number=said.numbers(own, name), scale=said.scale)
    if len(own) > _GIVEN:
        raise UnveilError(
            f"{shown(name)} has {counted(len(own), 'value')}; a similarity given by a function can be used for at most "
            f"{_GIVEN:,}"
        )
    exact = said.matrix(own, name)
    table = np.rint(exact * unit) if least is None else exact >= least - _SLACK
    return _Values(_sparsity.TABLE, code, code, code, table.astype(np.int64))


def _joined(of: Ints, parts: Sequence[_Values], unit: int) -> tuple[_sparsity.Rules, _Kinds]:
    """The rules of all attributes; attribute a has those of ``parts[of[a]]``."""
    kind = np.array([p.kind for p in parts], np.int8)
    ranged = np.array([p.low is not p.high for p in parts], np.bool_)
    bits = np.array([int(p.code.max(initial=0)).bit_length() for p in parts], np.int64)
    starts = np.cumsum([0, *(len(p.code) for p in parts)])[:-1]
    tables = np.cumsum([0, *(p.table.size for p in parts)])[:-1]
    base = [t + p.table.shape[1] * np.arange(len(p.code)) for t, p in zip(tables, parts, strict=True)]
    number = [p.number if len(p.number) else np.zeros(len(p.code)) for p in parts]
    rules = _sparsity.Rules(
        kind=kind[of],
        start=starts[of],
        code=np.concatenate([p.code for p in parts]),
        low=np.concatenate([p.low for p in parts]),
        high=np.concatenate([p.high for p in parts]),
        base=np.concatenate(base),
        table=np.concatenate([p.table.ravel() for p in parts]),
        number=np.concatenate(number),
        scale=np.array([p.scale for p in parts], np.float64)[of],
        unit=unit,
    )
    return rules, _Kinds((kind == _sparsity.RUN)[of], ranged[of], bits[of])


# ---- records that need no comparing ----------------------------------------------------------------------------------


class _Found(NamedTuple):
    """What was found of every record: the Sim ``above`` / ``below``, in units, and to which row."""

    above: Ints
    below: Ints
    row: Ints


def _begun(records: Records, unit: int) -> _Found:
    """Nobody is like anybody: Sim is 0, and the first of all other rows has it. But records without attributes are
    equal."""
    n = records.n
    found = _Found(np.zeros(n, np.int64), np.ones(n, np.int64), np.zeros(n, np.int64))
    found.row[0] = 1 if n > 1 else -1
    empty = np.flatnonzero(records.support == 0)
    if len(empty) > 1:
        found.above[empty] = unit
        found.row[empty] = empty[0]
        found.row[empty[0]] = empty[1]
    return found


def _all(records: Records) -> tuple[Ints, Ints]:
    """All records that have attributes are compared with all of them."""
    some = np.flatnonzero(records.support)
    return some, some


def _without_equals(
    records: Records, known: _sparsity.Known, rules: _sparsity.Rules, found: _Found, run: Run
) -> tuple[Ints, Ints]:
    """Note what equal records are to each other. Returns one of each kind to compare others with, the first, and the
    records that are like no other."""
    numbers, fresh = np.zeros(records.n, np.uint64), np.ones(records.n, np.bool_)
    for first, last in _pieces(records.indptr, run):
        _sparsity.mixed(known, rules, first, last, numbers)
    order = np.argsort(numbers, kind="stable")
    for first, last in _pieces(np.append(0, np.cumsum(records.support[order])), run):
        _sparsity.same(known, rules, order, numbers, first, last, fresh)
    begins = np.flatnonzero(fresh)
    many = np.diff(np.append(begins, records.n))
    firsts = order[begins]
    twice = many > 1
    members = np.repeat(twice, many) & (records.support[order] > 0)
    equal, one = order[members], np.repeat(firsts, many)[members]
    found.above[equal] = found.below[equal] = records.support[equal]
    found.row[equal] = one
    found.row[firsts[twice]] = order[begins[twice] + 1]
    some = records.support[firsts] > 0
    return np.sort(firsts[some]), np.sort(firsts[some & ~twice])


def _pieces(begins: Ints, run: Run) -> Iterator[tuple[int, int]]:
    """All records in stretches that are short enough for a slice."""
    start, count = 0, len(begins) - 1
    while start < count:
        run.check()
        stop = int(np.searchsorted(begins, begins[start] + _STEPS, "right")) - 1
        stop = max(start + 1, min(stop, start + _STEPS, count))
        yield start, stop
        start = stop


# ---- planes and lists ------------------------------------------------------------------------------------------------


class _Layout(NamedTuple):
    """Which attributes are compared by planes of bits, and as which bit of a row of words (``place``), and which are
    ``listed``, and as which list; −1 for the others. Word w begins with plane ``starts[w]`` and has codes of so many
    ``bits``, ``ranged`` if they have a tolerance."""

    place: Small
    listed: Small
    bits: Ints
    ranged: npt.NDArray[np.bool_]
    starts: Ints
    planes: int


def _layout(records: Records, kinds: _Kinds, others: int) -> _Layout:
    """What is faster: n² pairs compared by planes, or as many entries added as pairs of records have the attribute.
    With planes every sum has to be looked at; with short lists only those that are not 0."""
    pairs = (records.popularity / records.n) ** 2
    runs, ranged, bits = kinds
    cost = (bits + 1) * (1 + ranged) * _PLANE / 64
    chosen = np.flatnonzero(runs & (_ENTRY * pairs > cost))
    chosen = chosen[np.argsort(-pairs[chosen] / cost[chosen], kind="stable")]
    chosen = chosen[np.cumsum(bits[chosen] + 1) * others <= 8 * _PLANES]
    chosen = chosen[np.lexsort((-bits[chosen], ranged[chosen]))]
    words = _words(bits[chosen], ranged[chosen])
    lists = _ENTRY * (pairs.sum() - pairs[chosen].sum())
    if _ENTRY * pairs[chosen].sum() < _PLANE * (words.bits + 1).sum() + _LOOK * (lists < _LOOK):
        chosen, words = chosen[:0], _words(bits[:0], ranged[:0])
    place, listed = np.full(records.c, -1, np.int32), np.full(records.c, -1, np.int32)
    place[chosen] = words.place
    rest = np.flatnonzero((place < 0) & (records.popularity > 0))
    listed[rest] = np.arange(len(rest))
    ends = np.cumsum(words.bits + 1)
    return _Layout(place, listed, words.bits, words.ranged, ends - words.bits - 1, int(ends.max(initial=0)))


class _Words(NamedTuple):
    """The places of attributes, and of which kind each word is."""

    place: Ints
    bits: Ints
    ranged: npt.NDArray[np.bool_]


def _words(bits: Ints, ranged: npt.NDArray[np.bool_]) -> _Words:
    """Attributes in words of 64, those with and without a tolerance apart; given in this order, and by falling bits."""
    plain = int((~ranged).sum())
    before = -(-plain // 64)  # words
    place = np.arange(len(bits)) + np.where(ranged, 64 * before - plain, 0)
    firsts = np.flatnonzero(place % 64 == 0)
    return _Words(place, bits[firsts], ranged[firsts])


def _others(
    records: Records, known: _sparsity.Known, rules: _sparsity.Rules, layout: _Layout, compared: Ints, run: Run
) -> _sparsity.Others:
    """The records to compare with, by how many attributes they have."""
    row = compared[np.argsort(records.support[compared], kind="stable")]
    size = records.support[row]
    lists, room = int(layout.listed.max(initial=-1)) + 1, _room(len(row), layout, len(records.value))
    blocks = -(-len(row) // room)
    begins = np.zeros(blocks * lists + 1, np.int64)
    planes = np.zeros((blocks, layout.planes, room), np.uint64)
    parts = row, size, layout.place, layout.listed, layout.bits, layout.ranged, planes
    entries = np.append(0, np.cumsum(size))
    empty = _sparsity.Others(*parts, begins, np.empty(0, np.uint16), np.empty(0, np.int32))
    for first, last in _pieces(entries, run):
        _sparsity.counted(known, empty, room, lists, first, last, begins)
    np.cumsum(begins, out=begins)
    slot = np.empty(int(begins[-1]), np.uint16)
    others, ends = _sparsity.Others(*parts, begins, slot, np.empty(len(slot), np.int32)), begins[:-1].copy()
    for first, last in _pieces(entries, run):
        _sparsity.filled(known, rules, others, lists, layout.starts, first, last, ends)
    return others


def _room(others: int, layout: _Layout, entries: int) -> int:
    """How many records make a block: few, so that many blocks can be left out and planes stay near the processor, but
    not so few that lists become short."""
    room, lists = min(_ROOM, others), int(layout.listed.max(initial=-1)) + 1
    while 2 * room <= _MOST[0] and 10 * room <= others and 16 * room * layout.planes <= _NEAR:
        room *= 2
    while 2 * room <= _MOST[1] and 4 * lists * (others // room) > entries:
        room *= 2
    return room


# ---- the search ------------------------------------------------------------------------------------------------------


def _search(
    known: _sparsity.Known,
    rules: _sparsity.Rules,
    others: _sparsity.Others,
    starts: Ints,
    wanted: Ints,
    found: _Found,
    run: Run,
) -> None:
    """Raise what was found of the ``wanted`` records by comparing each with all others. Whatever goes on at the same
    time, each record has its own place, and the largest of fractions is the same in any order."""
    sizes = known.indptr[wanted + 1] - known.indptr[wanted]
    order = np.argsort(sizes, kind="stable")
    wanted, sizes = wanted[order], sizes[order]
    room, blocks = others.planes.shape[2], len(others.planes)
    step = min(_TILE, max(1, len(wanted) // _THREADS))

    def sought(first: int, stop: Event) -> None:
        tile = wanted[first : first + step]
        middle = sizes[first + len(tile) // 2]
        own = min(int(np.searchsorted(others.size, middle)) // room, blocks - 1)
        turn = np.argsort(np.abs(np.arange(blocks) - own), kind="stable")
        parts = [part[tile] for part in found]
        state = np.zeros(2, np.int64)
        while state[0] < blocks:
            run.check()
            if stop.is_set():
                return
            _sparsity.sought(known, rules, others, starts, tile, turn, state, _WORK, *parts)
        for part, told in zip(found, parts, strict=True):
            part[tile] = told

    _together(range(0, len(wanted), step), sought, run)


def _together(tasks: Sequence[int], task: Callable[[int, Event], None], run: Run) -> None:
    """Do tasks on several processors; if one fails or someone interrupts, the others stop after their slice."""
    stop, threads = Event(), min(_THREADS, os.cpu_count() or 1, len(tasks))
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(task, given, stop) for given in tasks]
        try:
            for done, future in enumerate(as_completed(futures)):
                future.result()
                run.progress(_DOING, (done + 1) / len(tasks))
                run.check()
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


# ---- the sparsity function -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Sparsity:
    """f of ``total`` records, from the nearest of each or of a sample. A σ or q is taken as it is written: 0.8 is 4/5,
    though no binary number is. Confidences are those of a single σ, unless it says otherwise."""

    found: Nearest
    total: int

    @property
    def looked_at(self) -> int:
        """How many records were compared with all others."""
        return len(self.found.rows)

    @property
    def exact(self) -> bool:
        """Whether these are all."""
        return self.looked_at == self.total

    @cached_property
    def _sorted(self) -> Floats:
        return np.sort(self.found.similarity[self.found.row >= 0])

    def count(self, sigma: Number) -> int:
        """How many of the records looked at have another at Sim ≥ σ."""
        bound = _written(sigma)
        near = float(bound)
        larger = len(self._sorted) - int(np.searchsorted(self._sorted, near, "right"))
        # Rounding keeps order, so only those that are rounded to the same number remain to be compared.
        close = np.flatnonzero((self.found.similarity == near) & (self.found.row >= 0))
        fractions = zip(self.found.above[close].tolist(), self.found.below[close].tolist(), strict=True)
        reached = (above * bound.denominator >= bound.numerator * below for above, below in fractions)
        return larger + sum(map(int, reached))

    def f(self, sigma: Number) -> float:
        """The share of the records looked at that have another at Sim ≥ σ."""
        return self.count(sigma) / self.looked_at

    def curve(self, points: int | Iterable[Number] = 101) -> tuple[Floats, Floats]:
        """σ and f(σ): at so many points from 0 to 1, or at those given."""
        sigma = _points(points)
        return np.array([float(s) for s in sigma]), np.array([self.f(s) for s in sigma])

    def interval(self, sigma: Number, confidence: float = 0.95) -> tuple[float, float]:
        """Where f(σ) of all records lies (Wilson); one point if all were looked at."""
        if self.exact:
            return self.f(sigma), self.f(sigma)
        return wilson(self.count(sigma), self.looked_at, confidence)

    def upper(self, sigma: Number, confidence: float = 0.95) -> float:
        """What f(σ) of all records is at most (Clopper and Pearson)."""
        return self.f(sigma) if self.exact else highest(self.count(sigma), self.looked_at, confidence)

    def lower(self, sigma: Number, confidence: float = 0.95) -> float:
        """What f(σ) of all records is at least (Clopper and Pearson)."""
        return self.f(sigma) if self.exact else lowest(self.count(sigma), self.looked_at, confidence)

    def limits(self, points: int | Iterable[Number] = 101, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """σ and what f is at most, at all these points at once: what a σ needs that is chosen by looking at them."""
        sigma = _points(points)
        each = 1 - (1 - _confident(confidence)) / len(sigma)
        return np.array([float(s) for s in sigma]), np.array([self.upper(s, each) for s in sigma])

    def sparse(self, sigma: Number, q: Number, confidence: float = 0.95) -> bool | None:
        """Whether the records are (σ, q)-sparse; None if the sample does not tell with this confidence."""
        if self.upper(sigma, confidence) <= q:
            return True
        return False if self.exact or self.lower(sigma, confidence) > q else None

    def above(self, q: Number, confidence: float | None = None) -> float | None:
        """The records are (σ, q)-sparse for every σ above this and for none below; None if for none up to 1.

        On a sample that is so for the records looked at. With ``confidence`` it is what holds for all: as an upper
        bound of f falls with σ, it is wrong no more often than the bound is at one point.
        """
        levels = np.unique(self._sorted)
        counts = len(self._sorted) - np.searchsorted(self._sorted, levels, "left")
        most = self._allowed(q, confidence)
        if most < 0:
            return None
        over = levels[counts > most]
        bound = float(over[-1]) if len(over) else 0.0
        return bound if bound < 1 else None

    def _allowed(self, q: Number, confidence: float | None) -> int:
        """How many of those looked at may have another for f ≤ q; −1 if even none of them would not show it."""
        written = _written(q)
        if confidence is None or self.exact:
            return int(written * self.looked_at // 1)
        low, high = -1, self.looked_at
        while low < high:
            middle = (low + high + 1) // 2
            if highest(middle, self.looked_at, confidence) <= written:
                low = middle
            else:
                high = middle - 1
        return low

    def __repr__(self) -> str:
        of = "all" if self.exact else f"{self.looked_at:,} of"
        shares = ", ".join(f"{percent(self.f(s))} at {s:g}" for s in (0.25, 0.5, 0.75, 1))
        return f"Sparsity of {of} {counted(self.total, 'record')}: another one is at least as similar to {shares}"


def sparsity(
    records: Records,
    sim: Sim = "alike",
    least: float = 1.0,
    rows: npt.ArrayLike | None = None,
    sample: int | None = None,
    run: Run | None = None,
) -> Sparsity:
    """The sparsity function of all records or of some ``rows``, such as those with a rare attribute; each is compared
    with all records. It may be measured on a random ``sample`` of them.

    >>> import pyarrow as pa
    >>> from unveil.linkage.records import records_of_codes
    >>> from unveil.release.codes import encode
    >>> table = {"age": [30, 30, 41, 7], "sex": ["f", "m", "m", None], "job": ["cook", "cook", None, None]}
    >>> found = sparsity(records_of_codes({name: encode(pa.chunked_array([v])) for name, v in table.items()}))
    >>> found.f(0.5), found.f(1 / 3), found.sparse(0.5, 0.5), found.above(0.5)
    (0.5, 0.75, True, 0.3333333333333333)
    """
    run = run or Run()
    if sample is not None and sample < 1:
        raise UnveilError("a sample has 1 record or more")
    asked = _rows(records.n, rows)
    chosen = asked
    if sample is not None and sample < len(asked):
        chosen = np.sort(run.rng(_ID).choice(asked, sample, replace=False, shuffle=False))
    return Sparsity(nearest(records, sim, least, chosen, run), len(asked))


def _written(number: Number) -> Fraction:
    """A number from 0 to 1 as people write it."""
    if isinstance(number, bool) or not 0 <= number <= 1:
        raise UnveilError("a similarity, a share or a rank lies between 0 and 1")
    return number if isinstance(number, Fraction) else Fraction(repr(float(number)))


def _points(points: int | Iterable[Number]) -> list[Fraction]:
    """So many from 0 to 1, or those given."""
    if not isinstance(points, int):
        return [_written(p) for p in points]
    if points < 2:
        raise UnveilError("a curve has 2 points or more")
    return [Fraction(k, points - 1) for k in range(points)]


def _confident(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise UnveilError("a confidence lies between 0 and 1")
    return confidence


def wilson(count: int, of: int, confidence: float = 0.95) -> tuple[float, float]:
    """Where a share lies of which ``count`` were found among ``of`` draws (Wilson, 1927).

    >>> [round(x, 4) for x in wilson(58, 400)]
    [0.1139, 0.1829]
    """
    z = float(ndtri((1 + _confident(confidence)) / 2))
    middle = (count + z * z / 2) / (of + z * z)
    half = z / (of + z * z) * sqrt(count * (of - count) / of + z * z / 4)
    return max(0.0, middle - half) if count else 0.0, min(1.0, middle + half) if count < of else 1.0


def highest(count: int, of: int, confidence: float = 0.95) -> float:
    """What a share is at most (Clopper and Pearson, 1934, one-sided).

    >>> round(highest(0, 400), 5)
    0.00746
    """
    return float(betaincinv(count + 1, of - count, _confident(confidence))) if count < of else 1.0


def lowest(count: int, of: int, confidence: float = 0.95) -> float:
    """What a share is at least (the same, one-sided)."""
    return 1 - highest(of - count, of, confidence)


# ---- the tail --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Tail:
    """How popular attributes are, from the most to the least: ``popularity[i − 1]`` records have that of rank i. Of
    each record, ``rarest`` is the rank of its rarest attribute, 0 if it has none."""

    popularity: Ints
    rarest: Small

    @property
    def attributes(self) -> int:
        """How many attributes anybody has."""
        return len(self.popularity)

    @property
    def records(self) -> int:
        """How many records there are."""
        return len(self.rarest)

    def rank(self, tau: Number) -> int:
        """The rank with which τ-ranks begin."""
        return max(1, ceil(_written(tau) * self.attributes))

    def kappa(self, tau: Number) -> float:
        """The κ of the (τ, κ)-tail: the share of records that have the attribute with which τ-ranks begin."""
        return int(self.popularity[self.rank(tau) - 1]) / self.records

    def tau(self, kappa: Number) -> float | None:
        """The τ from whose rank on no attribute has more than κ·n records; None if all have more.

        Every τ a little smaller, down to the rank before, says the same; this is the one that the document writes.
        """
        rank = int((self.popularity > int(_written(kappa) * self.records)).sum()) + 1
        return rank / self.attributes if rank <= self.attributes else None

    def rows(self, tau: Number) -> Ints:
        """The records that are supported on τ-ranks."""
        return np.flatnonzero(self.rarest >= self.rank(tau))

    def share(self, tau: Number) -> float:
        """Their share of all."""
        return len(self.rows(tau)) / self.records

    def curve(self, points: int = 200) -> tuple[Ints, Ints]:
        """Ranks and how many records have the attribute of each: so many points, closer together where it is steep."""
        if points < 2:
            raise UnveilError("a curve has 2 points or more")
        ranks = np.unique(np.rint(np.geomspace(1, self.attributes, min(points, self.attributes))).astype(np.int64))
        return ranks, self.popularity[ranks - 1]


def tail(records: Records) -> Tail:
    """How popular the attributes of records are.

    >>> import pyarrow as pa
    >>> from unveil.linkage.records import records_of_ratings
    >>> from unveil.release.codes import encode
    >>> user, film = ["ann", "bob", "cy", "ann", "bob", "dot"], ["Alien", "Alien", "Alien", "Brazil", "Brazil", "Crash"]
    >>> found = tail(records_of_ratings(*(encode(pa.chunked_array([c])) for c in (user, film))))
    >>> found.kappa(0.5), found.tau(0.5), found.share(0.5), found.rows(1).tolist()
    (0.5, 0.6666666666666666, 0.75, [3])
    """
    popularity = records.popularity
    if not len(records.value):
        raise UnveilError("no record has any attribute")
    order = sorted(np.flatnonzero(popularity).tolist(), key=lambda i: (-popularity[i], records.names[i]))
    rank = np.zeros(records.c, np.int32)
    rank[order] = np.arange(1, len(order) + 1)
    rarest = np.zeros(records.n, np.int32)
    some = np.flatnonzero(records.support)
    rarest[some] = np.maximum.reduceat(rank[records.attribute], records.indptr[some])
    return Tail(popularity[order], rarest)
