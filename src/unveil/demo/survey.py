"""A town's survey in coarse groups: a table that may be released."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.errors import UnveilError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

__all__ = ["make_answers"]

_AGES = ("18-34", "35-49", "50-64", "65+")
_DISTRICTS = ("north", "east", "south", "west")
_ANSWERS = ("very content", "content", "neither", "discontent", "very discontent")


def make_answers(rng: np.random.Generator, people: int = 2000) -> pa.Table:
    """One row per person: age group, district, sex, and how content they are with the town."""
    import pyarrow as pa

    if people < 1:
        raise UnveilError("a survey needs at least 1 person")
    content = (0.15, 0.4, 0.2, 0.15, 0.1)
    return pa.table(
        {
            "age_group": rng.choice(_AGES, people, p=(0.3, 0.25, 0.25, 0.2)).tolist(),
            "district": rng.choice(_DISTRICTS, people, p=(0.2, 0.3, 0.25, 0.25)).tolist(),
            "sex": rng.choice(("f", "m"), people).tolist(),
            "answer": rng.choice(_ANSWERS, people, p=content).tolist(),
        }
    )
