"""Randomness: one stream per finding, a function of the seed and the id alone."""

from __future__ import annotations

import pytest

from unveil.run import Run


def test_streams_repeat_and_differ() -> None:
    draw = Run(seed=1).rng("classes.k").integers(0, 2**60, 4).tolist()
    assert Run(seed=1).rng("classes.k").integers(0, 2**60, 4).tolist() == draw
    assert Run(seed=2).rng("classes.k").integers(0, 2**60, 4).tolist() != draw
    assert Run(seed=1).rng("classes.l").integers(0, 2**60, 4).tolist() != draw


def test_a_stream_does_not_depend_on_which_were_drawn_before() -> None:
    run = Run(seed=3)
    alone = run.rng("items.a").random()
    run.rng("network.b").random(1000)
    assert run.rng("items.a").random() == alone


def test_a_cancelled_run_stops_at_the_next_check() -> None:
    run = Run()
    run.check()
    run.cancelled.set()
    with pytest.raises(KeyboardInterrupt):
        run.check()
