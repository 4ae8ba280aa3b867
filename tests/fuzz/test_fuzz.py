"""Made-up inputs of every format: nothing but documented exit codes, one line on error, no value quoted, no defect.

``make fuzz N=100000 SEED=7`` runs any number of others.
"""

from __future__ import annotations

from functools import partial

from fuzz.families import FAMILIES, make_input
from fuzz.harness import FuzzInput, find_defects

INPUTS = 2000
DEEP = 0.01  # slow questions have tests of their own


def test_no_input_finds_a_defect() -> None:
    found = find_defects(partial(make_input, deep=DEEP), range(INPUTS))
    assert not found, "\n".join(map(str, found[:5]))


def test_inputs_are_the_same_every_time_and_of_every_family() -> None:
    made = [make_input(number) for number in range(500)]
    assert made[:50] == [make_input(number) for number in range(50)]
    assert {given.family for given in made} == set(FAMILIES)


def test_what_must_not_be_is_noticed() -> None:
    """A value in a column's name is quoted by whoever lists the columns; a file that is not there is an error."""
    table = b"Kq0001zj,b\n1,2\n3,4\n"
    told = [
        FuzzInput("csv", ("describe", "t.csv", "--quiet"), {"t.csv": table}),
        FuzzInput("csv", ("describe", "t.csv", "--quiet"), {"t.csv": table}, secret=False),
        FuzzInput("csv", ("describe", "nosuch.csv", "--quiet"), {}),
        FuzzInput("csv", ("--help",), {}),
    ]
    found = find_defects(told.__getitem__, range(len(told)))
    assert [(defect.number, defect.what) for defect in found] == [(0, "quotes a value")]
