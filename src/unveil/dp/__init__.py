"""Can I answer questions instead of releasing? Differential privacy."""

from __future__ import annotations
