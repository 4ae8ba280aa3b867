"""The compiled inner loop of ``auxiliary``: drawing the known things."""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from unveil.compilation import kernel

__all__ = ["draw_things"]


@kernel
def draw_things(
    indptr, attribute, value, targets, usable, random, first, things,
    values, entries,
):  # fmt: skip
    """Fill the known ``things`` of each target and their ``values``, from position ``first`` on, with a random
    permutation of its ``usable`` attributes (Fisher and Yates). ``random[t, j + 1]``, from 0 to 1, makes choice j;
    ``random[t, 0]`` is not used here. ``entries`` is workspace, one longer than the number of attributes."""
    for t in range(len(targets)):
        count = 0
        for e in range(indptr[targets[t]], indptr[targets[t] + 1]):
            entries[count] = e
            count += usable[attribute[e]]
        for j in range(things.shape[1] - first):
            if j >= count:
                break
            at = j + np.int64(random[t, j + 1] * (count - j))
            e = entries[at]
            entries[at] = entries[j]
            things[t, first + j], values[t, first + j] = attribute[e], value[e]
