"""However many processes ask at once, they spend no more than the total, and each question is drawn once."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unveil.ledger import DataIdentity, Ledger, PrivacyCost

MakeLedger = Callable[..., Ledger]

_PROCESSES = 8

ASK = """
import json, random, secrets, sys
from unveil.errors import UnveilError
from unveil.ledger import Booking, DataIdentity, Ledger, Part, PrivacyCost

path, name, data, what = sys.argv[1:]
ledger = Ledger.open(path)
ledger.check_data(DataIdentity(*json.loads(data)))
print("ready", flush=True)
sys.stdin.readline()
rng = random.Random(name)
for number in range(12):
    cost = PrivacyCost.of(rng.choice(["1/7", "0.3", "1/3", "0.01"]) if what != "same" else "0.1")
    query = f"count {number}" if what == "same" else f"{name} count {number}"
    part = Part("sex", rng.choice("fm")) if what == "parts" and rng.random() < 0.6 else None
    draw = lambda: {"noise": secrets.token_hex(8)}
    try:
        if what == "batches":
            entries = ledger.book_together([Booking(f"{query} {k}", cost, {}, draw) for k in range(3)])
        else:
            entries = [ledger.book(query, cost, {}, draw, part)]
    except UnveilError as error:
        assert "is left of" in str(error), error
        print(json.dumps(["refused", query, str(cost.loss)]))
    else:
        for entry in entries:
            print(json.dumps([entry.answer["noise"], entry.query, str(entry.cost.loss)]))
"""


def ask_at_once(ledger: Ledger, data: DataIdentity, what: str) -> list[list[Any]]:
    """What processes were told that began to ask at the same time."""
    command = [sys.executable, "-c", ASK, str(ledger.path)]
    processes = [
        subprocess.Popen(
            [*command, f"{number}", json.dumps(data.hashes), what],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(_PROCESSES)
    ]
    for process in processes:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    told = []
    for process in processes:
        printed, _ = process.communicate(timeout=100)
        assert process.returncode == 0
        told += [json.loads(line) for line in printed.splitlines()]
    return told


@pytest.mark.parametrize("what", ["parts", "batches"])
def test_eight_processes_at_once_overdraw_nothing(
    make: MakeLedger, path: Path, identity: Callable[..., DataIdentity], what: str
) -> None:
    made = make("5", partitions={"sex": ["f", "m"]})
    told = ask_at_once(made, identity(), what)
    ledger = Ledger.open(path)
    entries = ledger.entries()
    answered = Counter((query, noise) for noise, query, _ in told if noise != "refused")
    assert answered == Counter((entry.query, entry.answer["noise"]) for entry in entries)
    costs = [entry.cost.loss for entry in entries if entry.part is None]
    for_part = [sum(e.cost.loss for e in entries if e.part and e.part.name == name) for name in "fm"]
    spent = sum(costs) + max(for_part)
    assert ledger.spent().loss == spent <= 5
    assert any(noise == "refused" for noise, _, _ in told)


def test_eight_processes_that_ask_the_same_get_one_answer(
    make: MakeLedger, path: Path, identity: Callable[..., DataIdentity]
) -> None:
    told = ask_at_once(make("1"), identity(), "same")
    ledger = Ledger.open(path)
    booked = {entry.query: entry.answer["noise"] for entry in ledger.entries()}
    assert len(booked) == len(ledger.entries()) == 10
    assert ledger.spent() == PrivacyCost.of(1)
    assert len(told) == 12 * _PROCESSES
    assert all(noise == booked.get(query, "refused") for noise, query, _ in told)
