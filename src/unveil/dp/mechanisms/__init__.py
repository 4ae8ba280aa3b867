"""How an answer is made private: noise, selection, randomised response, and what each of them costs in ε.

A mechanism is ε-differentially private if for all neighbouring inputs D and D′ and all sets S of outputs
P(M(D) ∈ S) ≤ e^ε · P(M(D′) ∈ S). True answers and sensitivities are integers (fixed point, if need be), and ε is an
exact fraction, so that no proof has to speak of rounding. Noise is drawn from the operating system's randomness; there
is no seed. How long a mechanism takes is not hidden: whoever measures that to the microsecond is outside these proofs.
"""

from __future__ import annotations
