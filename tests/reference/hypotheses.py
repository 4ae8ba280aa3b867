"""Do the theorems apply to the data at hand?

Each theorem about linkage (:mod:`unveil.linkage.theorems.statements`) rests on hypotheses about the records D and about
D′, what the attacker knows about them. :func:`check_hypotheses` checks each on the data:

- ``pseudometric``: 1 − sim satisfies the triangle inequality on the values of D and D′ together. The proof uses it
  once, to conclude from the likeness of r to r′ and of r′ to a candidate that r is like the candidate. If D′ is D, this
  is not needed and any similarity will do. If D′ is unknown, only similarities that always satisfy it pass;
- ``similar values``: every value of D′ is at least 1 − ε/2 alike to that of D, and null where that is null (Definition
  6);
- ``same support``: D′ has values exactly where D has, whatever they are (Definition 7);
- ``enough attributes``: every record that counts has m attributes (Definition 3);
- ``sparse``: at most the stated share of the records that count has another one that is more than σ similar (Definition
  10, with > for ≥);
- ``tail``: at most κn records have each of the attributes called rare (Definition 13; the theorem does not say which
  these are, see :mod:`unveil.linkage.sparsity.long_tail`). The records that count are then those with a rare attribute
  (Definition 14).

A hypothesis about data that was not given stays unchecked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unveil.arrays import Bools, Floats, Ints
from unveil.errors import UnveilError
from unveil.linkage.records import Records
from unveil.linkage.similarity import Similarity
from unveil.linkage.theorems.guarantees import Guarantee
from unveil.linkage.theorems.statements import HypothesisKind
from unveil.release.codes import arrow_integers
from unveil.wording import count_text, safe_text

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "check_hypotheses",
    "has_rare_attribute",
    "is_proven",
    "is_pseudometric",
    "mean_kappa",
    "value_similarities",
]


_SLACK = 1e-12
_PAIR_BATCH = 64  # pairs of values compared at once


def check_hypotheses(
    guarantee: Guarantee,
    records: Records,
    auxiliary: Records | None = None,
    nearest: npt.ArrayLike | None = None,
    rare: npt.ArrayLike | None = None,
) -> Guarantee:
    """Check the hypotheses of a guarantee on the data; returns the guarantee with each marked true or false.

    ``auxiliary`` is D′; pass ``records`` itself for an attacker without errors. ``nearest`` is each record's greatest
    similarity to another one, by the theorem's record similarity. ``rare`` marks the attributes in the tail.
    """
    applied = guarantee.applied
    if records.n != applied.n:
        raise UnveilError(f"the theorem was applied to {count_text(applied.n, 'record')}, but there are {records.n:,}")
    if auxiliary is not None and (auxiliary.n, auxiliary.names) != (records.n, records.names):
        raise UnveilError("what the attacker knows must be about the same records and attributes")
    few = None if rare is None or not applied.statement.needs_rare_attribute else np.asarray(rare)
    counting = np.ones(records.n, np.bool_) if few is None else has_rare_attribute(records, few)

    def check_hypothesis(need: HypothesisKind) -> bool | None:
        match need:
            case "pseudometric":
                return _is_pseudometric(records, auxiliary)
            case "similar values":
                return None if auxiliary is None else _is_similar(records, auxiliary, 1 - float(applied.epsilon) / 2)
            case "same support":
                return None if auxiliary is None else _has_same_support(records, auxiliary)
            case "enough attributes":
                return bool((records.support[counting] >= guarantee.m).all())
            case "sparse":
                known = nearest is not None and (few is not None or not applied.statement.needs_rare_attribute)
                return _is_sparse(np.asarray(nearest)[counting], guarantee) if known else None
            case "tail":
                most = float(applied.n * (applied.kappa or 0)) * (1 + _SLACK)
                return None if few is None else bool((records.popularity[few] <= most).all())
            case "sigma below limit":
                return True

    return replace(
        guarantee, hypotheses=tuple(replace(h, holds=check_hypothesis(h.kind)) for h in guarantee.hypotheses)
    )


def is_proven(guarantee: Guarantee) -> bool | None:
    """Whether all hypotheses hold; None if some were not checked and none is false."""
    found = [h.holds for h in guarantee.hypotheses]
    return False if False in found else None if None in found else True


def has_rare_attribute(records: Records, marked: npt.ArrayLike) -> Bools:
    """Which records have a rare attribute; ``marked`` says which attributes are rare."""
    own = _check_marks(records, marked)[records.attribute]
    return np.asarray(np.bincount(_entry_owners(records), own, minlength=records.n) > 0)


def mean_kappa(records: Records, marked: npt.ArrayLike) -> float:
    """The mean of |supp(I)|/n for a random rare attribute I of a random record that has one.

    Given the record and I, the probability of naming a wrong record is at most |supp(I)| γ^(m−1). It is proportional to
    |supp(I)|, so this mean may replace the κ of the tail, which is the largest of these values.
    """
    entries = _check_marks(records, marked)[records.attribute]
    owner, sizes = _entry_owners(records)[entries], records.popularity[records.attribute[entries]]
    counts = np.bincount(owner, minlength=records.n)
    if not counts.any():
        raise UnveilError("no record has a rare attribute")
    some = counts > 0
    return float((np.bincount(owner, sizes, minlength=records.n)[some] / counts[some]).mean()) / records.n


def _check_marks(records: Records, marked: npt.ArrayLike) -> Bools:
    few = np.asarray(marked)
    if few.shape != (records.c,) or few.dtype != np.bool_:
        raise UnveilError("mark each attribute as rare or not with one truth value")
    return few


def _entry_owners(records: Records) -> Ints:
    return np.repeat(np.arange(records.n), records.support)


def is_pseudometric(sim: Similarity, values: pa.Array, name: str = "attribute") -> bool:
    """Whether 1 − sim satisfies the triangle inequality on these values, which it may do although it fails in general:
    on 1, 2, 10 and 11, *within 1* is an equivalence."""
    apart = 1 - sim.matrix(values, name)
    return all(bool((apart <= apart[:, [k]] + apart[[k], :] + _SLACK).all()) for k in range(len(values)))


def value_similarities(sim: Similarity, a: pa.Array, b: pa.Array, name: str = "attribute") -> Floats:
    """sim of every value of one array with every value of another, by definition; for few values.

    >>> import pyarrow as pa
    >>> from unveil.linkage.similarity import linear_similarity
    >>> value_similarities(linear_similarity(2), pa.array([1, 2]), pa.array([1.5]))
    array([[0.75],
           [0.75]])
    """
    values, where = _join_values(a, b, name)
    return sim.matrix(values, name)[np.ix_(where[: len(a)], where[len(a) :])]


def _is_sparse(nearest: Floats, guarantee: Guarantee) -> bool:
    near = nearest > float(guarantee.applied.sigma)
    return not near.size or float(near.mean()) <= guarantee.sparsity + _SLACK


def _is_pseudometric(records: Records, auxiliary: Records | None) -> bool | None:
    if auxiliary is records:
        return True
    unsure, seen = False, set[tuple[int, int, int]]()
    for i, (sim, name, own) in enumerate(zip(records.similarities, records.names, records.values, strict=True)):
        key = (id(sim), id(own), 0 if auxiliary is None else id(auxiliary.values[i]))
        if sim.kind in ("equal", "linear", "support") or key in seen:  # these are pseudometrics for any values
            continue
        seen.add(key)
        values = own if auxiliary is None else _join_values(own, auxiliary.values[i], name)[0]
        if not is_pseudometric(sim, values, name):
            return False
        unsure = unsure or auxiliary is None
    return None if unsure else True


def _has_same_support(records: Records, auxiliary: Records) -> bool:
    same = np.array_equal(records.indptr, auxiliary.indptr)
    return same and np.array_equal(records.attribute, auxiliary.attribute)


def _is_similar(records: Records, auxiliary: Records, least: float) -> bool:
    """Whether all corresponding values are at least ``least`` alike, comparing each pair of values once."""
    if auxiliary is records:
        return True
    if not _has_same_support(records, auxiliary):
        return False
    groups: dict[tuple[int, int, int], int] = {}
    ours, theirs, sims = records.values, auxiliary.values, records.similarities
    keys = [(id(a), id(b), id(s)) for a, b, s in zip(ours, theirs, sims, strict=True)]
    group = np.array([groups.setdefault(key, i) for i, key in enumerate(keys)], np.int64)
    cells = np.stack([group[records.attribute], records.value, auxiliary.value], axis=1)
    pairs = np.unique(cells, axis=0)
    for i in np.unique(pairs[:, 0]):
        mine = pairs[pairs[:, 0] == i]
        for start in range(0, len(mine), _PAIR_BATCH):
            part = mine[start : start + _PAIR_BATCH]
            a, b = (own[i].take(arrow_integers(part[:, k])) for own, k in ((ours, 1), (theirs, 2)))
            if (np.diag(value_similarities(sims[i], a, b, records.names[i])) < least - _SLACK).any():
                return False
    return True


def _join_values(a: pa.Array, b: pa.Array, name: str) -> tuple[pa.Array, Ints]:
    """The distinct values of both arrays, and the positions of the values of a, then of b, among them."""
    import pyarrow as pa

    from unveil.release.codes import numpy_integers

    try:
        if a.type != b.type:
            a, b = (a.cast(b.type), b) if pa.types.is_floating(b.type) else (a, b.cast(a.type))
    except pa.ArrowException:
        raise UnveilError(
            f"{safe_text(name)}: the attacker's values have another type than those of the records"
        ) from None
    found = pa.concat_arrays([a, b]).dictionary_encode()
    return found.dictionary, numpy_integers(found.indices).astype(np.int64)
