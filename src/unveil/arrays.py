"""The types of numpy arrays, by what they hold. Annotations use these names, so that a signature says what it takes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["BitWords", "Bools", "Floats", "Int32s", "Ints"]

Bools = npt.NDArray[np.bool_]
"""Marks: which of some things are meant."""

Floats = npt.NDArray[np.float64]
"""Probabilities, weights, similarities."""

Ints = npt.NDArray[np.int64]
"""Counts, row numbers, positions."""

Int32s = npt.NDArray[np.int32]
"""Codes of values, of which there may be billions: −1 is a missing value."""

BitWords = npt.NDArray[np.uint64]
"""Sets of bits, 64 to a word."""
