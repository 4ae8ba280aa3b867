"""Frequency groups: items that occur equally often.

Replacing item names by numbers leaves every item's frequency as it was. Someone who knows all frequencies exactly can
tell items apart up to those with the same one; within a group of m items each is guessed with probability 1/m, so that
every group gives away one item on average, whatever its size (Lakshmanan, Ng and Ramesh 2008, Lemmas 3.2 and 3.5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["group_sizes"]


def group_sizes(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """For every item, how many items occur exactly as often.

    >>> import numpy as np
    >>> group_sizes(np.array([5, 4, 5, 5, 3, 5])).tolist()
    [4, 1, 4, 4, 1, 4]
    """
    import numpy as np

    _, group, size = np.unique(counts, return_inverse=True, return_counts=True)
    return size[group].astype(np.int64)
