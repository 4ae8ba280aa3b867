"""Convergence of a simulation: split R̂, effective sample size, Monte Carlo standard error.

Definitions follow Gelman et al., *Bayesian Data Analysis* (3rd ed.), sections 11.4–11.5, with Geyer's initial positive
sequence for the autocorrelations.
"""

from __future__ import annotations

import numpy as np

from unveil.arrays import Floats

__all__ = ["effective_size", "split_rhat", "standard_error"]


def split_rhat(chains: Floats) -> float:
    """How much the halves of the chains differ; 1 if they agree. ``chains`` has one chain per row."""
    halves = _split_chains(chains)
    n = halves.shape[1]
    within = halves.var(axis=1, ddof=1).mean()
    between = n * halves.mean(axis=1).var(ddof=1)
    if within == 0:
        return 1.0 if between == 0 else float("inf")
    return float(np.sqrt(((n - 1) / n * within + between / n) / within))


def effective_size(chains: Floats) -> float:
    """The number of independent draws that would determine the mean equally well."""
    halves = _split_chains(chains)
    m, n = halves.shape
    within = halves.var(axis=1, ddof=1).mean()
    total = (n - 1) / n * within + halves.mean(axis=1).var(ddof=1)
    if total == 0:
        return float(m * n)
    rho = 1 - (within - _autocovariances(halves).mean(axis=0)) / total
    pairs = rho[: len(rho) // 2 * 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs < 0)
    pairs = np.minimum.accumulate(pairs[: negative[0] if len(negative) else len(pairs)])
    return float(min(m * n / max(2 * pairs.sum() - 1, 1 / np.log10(m * n)), m * n * np.log10(m * n)))


def standard_error(chains: Floats) -> float:
    """The standard error of the mean over all chains."""
    return float(np.sqrt(_split_chains(chains).var(ddof=1) / effective_size(chains)))


def _split_chains(chains: Floats) -> Floats:
    half = chains.shape[1] // 2
    return np.concatenate([chains[:, :half], chains[:, half : 2 * half]])


def _autocovariances(chains: Floats) -> Floats:
    n = chains.shape[1]
    centred = chains - chains.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, 2 * n, axis=1)
    found: Floats = np.fft.irfft(np.abs(spectrum) ** 2, 2 * n, axis=1)[:, :n] / n
    return found
