"""Answer many questions about the same people: the median mechanism as sparse vector with a public state.

Adding noise to each answer costs ε for each. But the answers to many counting questions follow from those to a few. So
keep a *public state*: a guess at how many people are in each cell of a public list of cells (all combinations of
declared values). A question is *easy* if the guess answers it well. An easy question is answered by the guess alone,
so that the asker could have computed the answer; a *hard* one is answered with Laplace noise, and the guess then
learns from it. Which of the two it is depends on the data and must itself be decided with noise. Printed, easy
questions are "answered by adding very little noise" (Section 5.7); noise too little for its ε is no protection, and
here no true answer but that of a hard question is released, whatever the noise. (Roth and Roughgarden 2010; in the
form of Hardt and Rothblum 2010, with the accounting of the sparse vector technique by Lyu, Su and Li 2017.)

A question is a set of cells, its answer the number of people in them. One person more or less changes it by at most 1.
With shares ε₀ + ε₁ + ε₂ + ε₃ = ε and at most h hard questions:

1. n~ = n + Z₀, Z₀ of scale 1/ε₀. The guess begins with n~ people spread evenly over the cells.
2. Once: Z, of scale 1/ε₁. For question i with true answer aᵢ and guess gᵢ (an integer): eᵢ = |aᵢ − gᵢ|, Zᵢ of scale
   2h/ε₂. The question is easy if eᵢ + Zᵢ < T + Z, with a public T.
3. If hard: release aᵢ + noise of scale h/ε₃, and fit the guess to the released answers. After h hard questions all
   answers come from the guess, unchecked.

ε-differential privacy. Fix a transcript: n~, which questions were easy, the released answers. Guesses and (even
adaptive) questions are functions of the transcript. Its probability is P(n~) · Σ_z P(Z = z) · ∏easy P(eᵢ + Zᵢ < T + z)
· ∏hard P(eᵢ + Zᵢ ≥ T + z) · ∏hard P(aᵢ + noise). Between neighbours D and D′, eᵢ changes by at most 1. Compare the
term z for D with the term z + 1 for D′. Each easy factor does not fall: eᵢ(D) + Zᵢ < T + z implies eᵢ(D′) + Zᵢ < T + z
+ 1. Each hard factor falls by at most e^(ε₂/h): the value that Zᵢ must reach grows by at most 2. P(Z = z) falls by at
most e^(ε₁). P(n~) falls by at most e^(ε₀), each released answer by e^(ε₃/h). In all e^(ε₀+ε₁+ε₂+ε₃), since there are
at most h hard questions; how many easy ones there are does not matter. ∎
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.arrays import Bools, Floats
from unveil.dp.mechanisms.gaussian import add_gaussian, rho_of_epsilon
from unveil.dp.mechanisms.laplace import add_laplace, laplace_accuracy
from unveil.dp.mechanisms.parameters import check_budget, check_count, check_integers, exact_confidence
from unveil.errors import UnveilError

__all__ = ["MedianAnswer", "MedianMechanism", "compare_mechanisms", "start_median_mechanism"]

_SHARES = (
    Fraction(1, 20),
    Fraction(1, 5),
    Fraction(1, 2),
    Fraction(1, 4),
)  # of ε for total, threshold, comparisons, answers
_FITTINGS = 5  # how often the guess is fitted to each released answer again


@dataclass(frozen=True)
class MedianAnswer:
    """An answer, and where it comes from: the guess (easy), the data with noise (hard), or the guess unchecked because
    all hard answers were used up."""

    value: int
    hard: bool
    checked: bool


@dataclass
class MedianMechanism:
    """The true counts and the public state. Only answers leave it; one mechanism costs its ε once, however many
    questions are asked."""

    counts: npt.NDArray[Any] = field(repr=False)
    epsilon: Fraction
    hard_limit: int
    threshold: int
    noisy_threshold: int = field(repr=False)
    total: int
    guess: Floats
    released: list[tuple[Bools, int]] = field(default_factory=list)

    def answer(self, question: Bools) -> MedianAnswer:
        """How many people are in the marked cells."""
        cells = np.asarray(question)
        if cells.dtype != np.bool_ or cells.shape != self.guess.shape:
            raise UnveilError("a question marks each cell as meant or not")
        easy = round(float(self.guess[cells].sum()))
        if len(self.released) == self.hard_limit:
            return MedianAnswer(easy, hard=False, checked=False)
        true = int(self.counts[cells].sum())
        share = self.epsilon * _SHARES[2]
        (noisy_error,) = add_laplace([abs(true - easy)], 2 * self.hard_limit, share)
        if noisy_error < self.noisy_threshold:
            return MedianAnswer(easy, hard=False, checked=True)
        (value,) = add_laplace([true], self.hard_limit, self.epsilon * _SHARES[3])
        self.released.append((cells.copy(), value))
        self._fit_guess()
        return MedianAnswer(value, hard=True, checked=True)

    def _fit_guess(self) -> None:
        """Scale the guess inside and outside each released question so that it gives the released answer: the nearest
        such guess in relative entropy. The newest comes last."""
        for _ in range(_FITTINGS):
            for cells, value in self.released:
                wanted = min(max(value, 0.5), self.total - 0.5)
                inside = float(self.guess[cells].sum())
                if 0 < inside < self.total:
                    self.guess[cells] *= wanted / inside
                    self.guess[~cells] *= (self.total - wanted) / max(self.total - inside, 1e-9)

    def accuracy(self, questions: int, confidence: Fraction | float) -> int:
        """An a so that all checked answers to so many questions are within ± a with this confidence.

        An easy answer is off by eᵢ < T + Z − Zᵢ; a hard one by its noise. A third of the error probability goes to
        each.
        """
        allowed = 1 - (1 - exact_confidence(confidence)) / 3
        asked, hard = check_count(questions, "questions"), self.hard_limit
        once = laplace_accuracy(1, self.epsilon * _SHARES[1], allowed)
        each = laplace_accuracy(2 * hard, self.epsilon * _SHARES[2], allowed, asked)
        answers = laplace_accuracy(hard, self.epsilon * _SHARES[3], allowed, min(asked, hard))
        return max(self.threshold + once + each, answers)


def start_median_mechanism(
    counts: Sequence[int], epsilon: Fraction, hard_limit: int, threshold: int
) -> MedianMechanism:
    """A mechanism for the numbers of people in at least two cells. The number of hard questions and the threshold T,
    which is how far a guess may be off before it counts as wrong, are public."""
    exact, budget = check_integers(counts, "cells"), check_budget(epsilon)
    if len(exact) < 2:
        raise UnveilError("there must be at least two cells")
    hard = check_count(hard_limit, "the number of hard questions")
    limit = check_count(threshold, "threshold", least=0)
    (total,) = add_laplace([sum(exact)], 1, budget * _SHARES[0])
    (noisy_threshold,) = add_laplace([limit], 1, budget * _SHARES[1])
    people = max(total, 2)
    cells = np.array(exact, dtype=np.int64 if sum(map(abs, exact)) < 2**62 else object)
    guess = np.full(len(exact), people / len(exact))
    return MedianMechanism(cells, budget, hard, limit, noisy_threshold, people, guess)


def compare_mechanisms(
    counts: Sequence[int],
    questions: Sequence[Bools],
    epsilon: Fraction,
    delta: Fraction,
    hard_limit: int,
    threshold: int,
) -> list[tuple[str, float, int]]:
    """Mechanism, mean and largest error over the same questions at the same ε: a table of one run each.

    ``laplace`` adds noise to each answer, ``gaussian`` too, with this δ; ``histogram`` adds Laplace noise to each
    cell, once, and sums the noisy cells; ``median`` is the median mechanism.
    """
    exact = np.array(check_integers(counts, "cells"), dtype=object)
    marks = [np.asarray(question, np.bool_) for question in questions]
    true = [int(exact[cells].sum()) for cells in marks]
    cells = np.array(add_laplace(exact, 1, epsilon), dtype=object)
    mechanism = start_median_mechanism(list(exact), epsilon, hard_limit, threshold)
    said = {
        "laplace": add_laplace(true, len(true), epsilon),
        "gaussian": add_gaussian(true, len(true), rho_of_epsilon(epsilon, delta)),
        "histogram": [int(cells[chosen].sum()) for chosen in marks],
        "median": [mechanism.answer(chosen).value for chosen in marks],
    }
    errors = {name: np.abs(np.array(answers) - np.array(true)) for name, answers in said.items()}
    return [(name, float(error.mean()), int(error.max())) for name, error in errors.items()]
