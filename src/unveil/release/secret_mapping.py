"""The secret mapping of a protected release: what each original item or node became. It stays with the owner.

A mapping is a table with the columns ``item`` or ``node``, and ``pseudonym``. What was left out has no pseudonym; items
merged into a category share one. A third column, ``release``, holds the same mark in every row: a digest of the baskets
or edges that the mapping belongs to. Names and order of these are random, so that no two releases have the same mark,
and a mapping is refused beside any other release. The mark needs no place in the release, which any program can read. A
mapping that was made by hand may lack it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, TypeAlias

from unveil.errors import UnveilError
from unveil.release.graph import Graph, edge_endpoints
from unveil.release.secret_csv import unescape_formulas
from unveil.release.table import Table
from unveil.release.transactions import Transactions
from unveil.wording import list_text, safe_text

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.arrays import Ints

__all__ = ["Labelled", "mapping_table", "truth_from_mapping"]

Labelled: TypeAlias = Transactions | Graph
"""A release whose items or nodes have labels."""


def mapping_table(original: Labelled, release: Labelled, truth: Ints) -> pa.Table:
    """The mapping as a table with the columns ``item`` or ``node``, ``pseudonym`` and ``release``."""
    import numpy as np
    import pyarrow as pa

    gone = truth < 0
    places = pa.array(np.where(gone, 0, truth), mask=gone)
    marks = pa.repeat(_release_mark(release), len(truth))
    return pa.table({_subject(original): original.labels, "pseudonym": release.labels.take(places), "release": marks})


def _subject(release: Labelled) -> str:
    """What has labels."""
    return "node" if isinstance(release, Graph) else "item"


def _release_mark(release: Labelled) -> str:
    """A digest of the baskets or edges, whatever the format they are written in and however items or nodes are
    numbered."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    order = pc.sort_indices(release.labels)
    rank = np.empty(len(order), np.int64)
    rank[np.asarray(order)] = np.arange(len(order))
    entries = np.sort(_ranked_edges(release, rank) if isinstance(release, Graph) else _ranked_items(release, rank))
    labels = release.labels.take(order).cast(pa.large_string()).to_pylist()
    digest = hashlib.sha256("".join(f"{len(label)}:{label}" for label in labels).encode())
    digest.update(entries.astype("<i8").tobytes())
    return digest.hexdigest()[:32]


def _ranked_items(baskets: Transactions, rank: Ints) -> Ints:
    return baskets.entry_baskets * len(rank) + rank[baskets.items]


def _ranked_edges(graph: Graph, rank: Ints) -> Ints:
    import numpy as np

    sources, targets = (rank[ends] for ends in edge_endpoints(graph))
    if graph.directed:
        return sources * len(rank) + targets
    return np.minimum(sources, targets) * len(rank) + np.maximum(sources, targets)


def truth_from_mapping(mapping: Table, original: Labelled, release: Labelled) -> Ints:
    """The released item or node of each original one, −1 if it was left out, from a mapping that was written as a
    table."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    name, subject = safe_text(mapping.name), _subject(original)
    lacking = [c for c in (subject, "pseudonym") if c not in mapping.columns]
    if lacking:
        raise UnveilError(
            f"{name}: no column {list_text(lacking)}; a mapping needs the columns {subject} and pseudonym"
        )
    whole = pa.Table.from_batches(mapping.batches())
    items, pseudonyms = (whole.column(c).combine_chunks().cast("string") for c in (subject, "pseudonym"))
    has_mark = "release" in mapping.columns
    if has_mark:
        if pc.unique(whole.column("release")).to_pylist() != [_release_mark(release)]:
            raise UnveilError(
                f"{name}: belongs to another release than {safe_text(release.name)}, or {safe_text(release.name)} was "
                "changed after it was written; use the mapping that was written with it"
            )
        items, pseudonyms = unescape_formulas(items), unescape_formulas(pseudonyms)
    places = _label_positions(items, np.arange(len(items)), original, name, has_mark)
    if len(np.unique(places)) < len(places) or len(places) < len(original.labels):
        raise UnveilError(
            f"{name}: does not name every {subject} of {safe_text(original.name)} exactly once; use the mapping as "
            "written"
        )
    left_out = np.asarray(pc.equal(pc.fill_null(pseudonyms, ""), ""))
    truth = np.full(len(places), -1)
    kept = np.flatnonzero(~left_out)
    truth[places[kept]] = _label_positions(pseudonyms.filter(pa.array(~left_out)), kept, release, name, has_mark)
    return truth


def _label_positions(labels: pa.Array, rows: Ints, release: Labelled, name: str, has_mark: bool) -> Ints:
    """The codes of these labels, which stand in these rows of the mapping. Only one that unveil wrote has the mark of a
    release, and apostrophes before labels that a spreadsheet would take for formulas."""
    found = _label_codes(labels, release)
    if (found < 0).any():
        row = int(rows[(found < 0).argmax()]) + 1
        if not has_mark and _label_codes(unescape_formulas(labels), release).min() >= 0:
            raise UnveilError(
                f"{name}: has apostrophes before labels, as unveil writes them, but the column release is missing; use "
                "the mapping as written"
            )
        what = "a node" if isinstance(release, Graph) else "an item"
        raise UnveilError(
            f"{name}: row {row:,} names {what} that is not in {safe_text(release.name)}; use the mapping as written"
        )
    return found


def _label_codes(labels: pa.Array, release: Labelled) -> Ints:
    """The code of each label, −1 where there is no such item or node."""
    import numpy as np
    import pyarrow.compute as pc

    return np.asarray(pc.index_in(labels, release.labels.cast("string")).fill_null(-1), np.int64)
