"""Records with only some of their attributes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unveil.linkage.records import Records

__all__ = ["select_attributes"]


def select_attributes(records: Records, attributes: Sequence[int]) -> Records:
    """All records with only these attributes, in this order."""
    place = np.full(records.c, -1, np.int32)
    place[list(attributes)] = np.arange(len(attributes), dtype=np.int32)
    kept = np.flatnonzero(place[records.attribute] >= 0)
    owner, moved = np.repeat(np.arange(records.n), records.support)[kept], place[records.attribute[kept]]
    order = np.lexsort((moved, owner))
    return Records(
        np.append(0, np.cumsum(np.bincount(owner, minlength=records.n))),
        moved[order],
        records.value[kept][order],
        tuple(records.names[i] for i in attributes),
        tuple(records.values[i] for i in attributes),
        tuple(records.similarities[i] for i in attributes),
    )
