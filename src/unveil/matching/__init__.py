"""Which pseudonym is which? The exact-probability kernel that the rooms stand on."""

from unveil.matching.candidates import Candidates
from unveil.matching.solve import Budget, Solution, solve

__all__ = ["Budget", "Candidates", "Solution", "solve"]
