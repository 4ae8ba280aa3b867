"""What an adversary sees of a target, from the candidates that are left or from what is believed of everyone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unveil.arrays import Floats

__all__ = ["NOBODY", "SLACK", "TargetOutcomes", "outcomes_of_beliefs"]

NOBODY = -1e300  # below the logarithm of any probability but 0
SLACK = 1e-9


class TargetOutcomes(NamedTuple):
    """What an adversary sees, by target and number of things known. It names the target with probability ``spread`` if
    its output is drawn from all it considers, and ``best`` if from the best of these. ``size`` is how many it considers
    and ``ties`` how many are the best; ``apart`` is by how much those lead. The others are expected of the output: how
    often it is similar enough, and how many of its attributes agree."""

    spread: Floats
    best: Floats
    size: Floats
    ties: Floats
    apart: Floats
    spread_similar: Floats
    spread_learned: Floats
    best_similar: Floats
    best_learned: Floats


def outcomes_of_beliefs(beliefs: Floats) -> Floats:
    """The columns of :class:`TargetOutcomes` from what :func:`~unveil.linkage.attack._scoring.score_records` fills."""
    top, second, own, whole, moment, ties = np.moveaxis(beliefs[..., :6], -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):  # where nobody is believed
        found = [
            np.exp(own - top) / whole,
            np.where(own >= top - SLACK, 1 / ties, 0.0),
            np.exp(np.log(whole) - moment / whole),
            ties,
            np.where(ties == 1, top - np.where(second > NOBODY, second, -np.inf), 0.0),
            *(beliefs[..., 6 + k] / (whole if k < 2 else ties) for k in range(beliefs.shape[-1] - 6)),
        ]
    believed = np.where(ties[..., None] > 0, np.stack(found, axis=-1), 0.0)
    return np.where(np.isnan(top)[..., None], np.nan, believed)
