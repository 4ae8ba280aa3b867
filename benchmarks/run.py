"""Every figure, as a ratio against a named baseline measured in the same run."""

from __future__ import annotations

import estimators
import reading
import startup

import classes
import matching

if __name__ == "__main__":
    for benchmark in (startup, reading, classes, matching, estimators):
        benchmark.main()
