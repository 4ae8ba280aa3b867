"""Processes that book answers in one ledger, killed at one moment, and what must hold afterwards.

Each process writes every answer that it was given to a pipe. It is killed before a random call out of Python during a
booking, while noise is drawn, or at a random time, which is mostly while the disk is flushed. What phase it was in is
read from memory that it shared.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import random
import secrets
import signal
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any

from kills.places import Place
from unveil.errors import UnveilError
from unveil.ledger import DataDigests, Ledger, PrivacyCost, identify_data
from unveil.ledger.ledger_file import LedgerFile, Transaction

__all__ = ["LedgerTrials"]

_COST = PrivacyCost.of("0.1")
_MOST_ENTRIES = 150
_QUESTIONS = 10**6
_COUNTED = ("/ledger/", "file_lock.py")
_STARTING, _OUTSIDE, _BEGUN, _DRAWN, _COMMITTING, _COMMITTED = range(6)
_ENDED = os.WEXITED | os.WNOHANG | os.WNOWAIT
_PHASES = (
    "before the first transaction",
    "between transactions",
    "before the draw",
    "between draw and commit",
    "during the commit",
    "after the commit",
)


@dataclass
class _Child:
    """A process; it writes what it was given to a ``pipe``, and ``phase`` is a byte that it shares."""

    process: int
    pipe: int
    phase: mmap.mmap
    kill_after: float | None

    def wait_for_transaction(self) -> None:
        """Wait until the process has begun its first transaction, or has ended."""
        while self.phase[0] == _STARTING and os.waitid(os.P_PID, self.process, _ENDED) is None:
            time.sleep(0.0002)


class LedgerTrials:
    """Trials that share their ledgers. ``faults`` are the ways in which a promise was broken."""

    def __init__(self, root: Path, where: list[Place], rng: random.Random) -> None:
        os.environ["XDG_CONFIG_HOME"] = str(root / "ledger-config")
        self.where = [place for place in where if not place.is_mounted]
        self.rng, self.number = rng, 0
        self.faults: list[str] = []
        self.moments: Counter[str] = Counter()
        self.work: Counter[str] = Counter()
        self.answers = self.bookings = self.undone = 0
        self.ledgers: dict[str, Path] = {}

    def run_one(self) -> None:
        """Kill up to three processes that use one ledger, and check everything."""
        self.number += 1
        place = self.where[self.number % len(self.where)]
        path = self._ledger(place)
        work = self.rng.choices(("book", "make", "rebind"), (10, 1, 1))[0]
        if work == "book":
            place.fill(self.rng)
            moments = {"call": 4, "draw": 1, "time": 5}
            children = [self._start(lambda: self._book(path), moments) for _ in range(self.rng.randrange(1, 4))]
        else:
            children = [self._start(lambda: self._make_or_rebind(work, path), {"call": 1, "time": 1})]
        self.work[work] += len(children)
        for child in children:  # each waits for its own transaction
            if child.kill_after is not None:
                child.wait_for_transaction()
                time.sleep(child.kill_after)
                os.kill(child.process, signal.SIGKILL)
        told = f"ledger trial {self.number}: {work}, {place.name}"
        given = [line for child in children for line in self._finish(told, child)]
        if place.disk is not None:
            (place.disk / "ballast").unlink(missing_ok=True)
        self.undone += os.path.lexists(f"{path}-journal")
        self._check(told, path, given)

    def summary(self) -> dict[str, Any]:
        """What was done and what came of it."""
        inside = sum(self.moments[_PHASES[phase]] for phase in (_BEGUN, _DRAWN, _COMMITTING))
        return {
            "kills": sum(self.moments.values()),
            "kills inside transactions": inside,
            "by moment": dict(self.moments),
            "by work": dict(self.work),
            "transactions that were undone afterwards": self.undone,
            "answers received, some of them again": self.answers,
            "answers booked": self.bookings + sum(len(Ledger.open(path).entries()) for path in self.ledgers.values()),
            "faults": self.faults,
        }

    # ---- what is run -------------------------------------------------------------------------------------------------

    def _ledger(self, place: Place) -> Path:
        """The ledger of a place; a new one if there is none, or if the old one has many entries."""
        path = self.ledgers.get(place.name)
        if path is not None and len(Ledger.open(path).entries()) > _MOST_ENTRIES:
            self.bookings += len(Ledger.open(path).entries())
            path.unlink()
            path = None
        if path is None:
            path = place.result / f"{self.number}.ledger"
            total = PrivacyCost(_COST.loss * (_MOST_ENTRIES + self.rng.randrange(-50, 50)))
            number = self.number
            Ledger.create(path, {}, total, identify_data(lambda: DataDigests(f"data {number}")))
            self.ledgers[place.name] = path
        return path

    def _start(self, work: Callable[[], None], moments: dict[str, int]) -> _Child:
        """A process that does something and is killed: at a random time, or else by itself."""
        reading, self.writing = os.pipe()
        self.phase = mmap.mmap(-1, 1)
        moment = self.rng.choices(list(moments), list(moments.values()))[0]
        self.step = self.rng.randrange(1, 120) if moment == "call" else None
        longest = self.rng.choice((0.003, 0.06))  # a booking takes as long in memory, or on a disk
        self.killed_at_draw = self.rng.randrange(1, 4) if moment == "draw" else None
        child = os.fork()
        if child == 0:
            try:
                os.close(reading)
                _share_phase(self.phase, self.step)
                work()
                os._exit(0)
            except UnveilError as error:
                os.write(self.writing, f"refused\t{error}\n".encode())
                os._exit(2)
            finally:
                os._exit(99)
        os.close(self.writing)
        return _Child(child, reading, self.phase, self.rng.uniform(0, longest) if moment == "time" else None)

    def _book(self, path: Path) -> None:
        """Ask questions until killed, and write down each answer."""
        rng = random.Random(secrets.randbits(64))
        ledger = Ledger.open(path)
        ledger.check_data(ledger.versions()[-1].identity)
        draws, asked = 0, [entry.query for entry in ledger.entries()]

        def draw() -> dict[str, str]:
            nonlocal draws
            draws += 1
            if draws == self.killed_at_draw:
                os.kill(os.getpid(), signal.SIGKILL)
            self.phase[0] = _DRAWN
            return {"noise": secrets.token_hex(200)}

        while True:
            asked.append(f"count {rng.randrange(_QUESTIONS)}")
            query = asked[-1] if rng.random() < 0.8 else rng.choice(asked)
            entry = ledger.book(query, _COST, {"mechanism": "none"}, draw)
            self.phase[0] = _OUTSIDE
            os.write(self.writing, f"{entry.version}\t{query}\t{json.dumps(dict(entry.answer))}\n".encode())

    def _make_or_rebind(self, work: str, path: Path) -> None:
        """Make or rebind ledgers until killed."""
        self.phase[0] = _BEGUN
        if self.step is not None:
            _kill_at_step(self.step)
        while True:
            data = identify_data(lambda: DataDigests(secrets.token_hex(8)))
            if work == "make":
                Ledger.create(path.with_name(f"made-{secrets.token_hex(4)}"), {}, PrivacyCost.of(1), data)
            else:
                Ledger.open(path).rebind(data)

    # ---- what must hold ----------------------------------------------------------------------------------------------

    def _finish(self, told: str, child: _Child) -> list[str]:
        """The answers that a process was given before its end."""
        with os.fdopen(child.pipe, encoding="utf-8") as pipe:
            lines = pipe.read().split("\n")
        code = os.waitstatus_to_exitcode(os.waitpid(child.process, 0)[1])
        refusals = [line for line in lines if line.startswith("refused")]
        if code == -signal.SIGKILL:
            self.moments[_PHASES[child.phase[0]]] += 1
        elif code != 2 or not all(_is_expected(line) for line in refusals):
            self._fault(told, f"exit {code}: {refusals}")
        return [line for line in lines[:-1] if line not in refusals]

    def _check(self, told: str, path: Path, given: list[str]) -> None:
        """The ledger is whole; every answer that anyone was given is in it; the spend is the sum of the entries."""
        for made in path.parent.glob("made-*"):
            self._check_made(told, made)
        for left in path.parent.glob(".ledger.*"):
            left.unlink()
        try:
            ledger = Ledger.open(path)
        except UnveilError as error:
            self._fault(told, str(error))
            return
        entries = ledger.entries()
        booked = {(entry.version, entry.query): entry.answer for entry in entries}
        self.answers += len(given)
        for line in given:
            version, query, answer = line.split("\t")
            if booked.get((int(version), query)) != json.loads(answer):
                self._fault(told, f"answered, but not booked: {query}")
        with contextlib.closing(sqlite3.connect(path)) as connection:
            whole = connection.execute("PRAGMA integrity_check").fetchall()
            costs = [Fraction(loss) for (loss,) in connection.execute("SELECT loss FROM records WHERE kind = 'answer'")]
        if whole != [("ok",)] or len(booked) != len(entries) or len(costs) != len(entries):
            self._fault(told, f"{whole}, {len(entries)} entries of {len(booked)} questions, {len(costs)} costs")
        if ledger.spent().loss != sum(costs) or sum(costs) > ledger.total.loss or ledger.notes:
            self._fault(told, f"spent {ledger.spent()} of {ledger.total}, but booked {sum(costs)}; {ledger.notes}")
        journal = path.with_name(f"{path.name}-journal")
        if journal.exists() and journal.read_bytes()[:1] not in (b"", b"\0"):  # else it was never begun
            self._fault(told, "a journal was left behind")

    def _check_made(self, told: str, made: Path) -> None:
        try:
            Ledger.open(made)
        except UnveilError as error:
            self._fault(told, f"half a ledger: {error}")
        made.unlink()

    def _fault(self, told: str, what: str) -> None:
        self.faults.append(f"{told}: {what}")
        print(self.faults[-1], file=sys.stderr)


def _is_expected(refusal: str) -> bool:
    """Whether a process may have been refused so: the budget is spent, the data were rebound, or the disk is full."""
    return any(
        words in refusal
        for words in (
            "is left of",
            "were not checked",
            "the disk is full",
            "check the permissions",
            "nothing was answered",
        )
    )


def _share_phase(phase: mmap.mmap, step: int | None) -> None:
    """Let others see in which phase of a transaction this process is; it kills itself at a step of its first ones."""
    writing, commit = LedgerFile.writing, Transaction.commit

    @contextlib.contextmanager
    def shared_writing(file: LedgerFile) -> Any:
        if step is not None and sys.getprofile() is None:
            _kill_at_step(step)
        with writing(file) as transaction:
            phase[0] = _BEGUN
            yield transaction
        phase[0] = _OUTSIDE

    def shared_commit(transaction: Transaction) -> None:
        phase[0] = _COMMITTING
        commit(transaction)
        phase[0] = _COMMITTED

    LedgerFile.writing, Transaction.commit = shared_writing, shared_commit  # type: ignore[method-assign]


def _kill_at_step(step: int) -> None:
    """Kill this process before so many calls out of Python in the ledger's files."""
    calls = 0

    def count_call(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        if event == "c_call" and any(part in frame.f_code.co_filename for part in _COUNTED):
            calls += 1
            if calls == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(count_call)
