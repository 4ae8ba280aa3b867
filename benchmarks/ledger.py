"""How many answers a ledger books per second, against writing the same bytes to the disk by hand.

The baselines write what a booking adds to the ledger: its record. *One flush* appends it to a file and flushes that
once, the least with which anything is on a disk. *Five flushes* is what a rollback journal takes: the journal, its
directory, the journal's header, the database, and the directory without the journal. Eight processes take turns by a
lock.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from _measure import print_figure

from unveil.ledger import DataDigests, Ledger, PrivacyCost, identify_data

__all__ = ["main"]

_SECONDS = 3.0
_ANSWER = {"value": 12345, "accuracy": {"within": 12, "confidence": 0.95}}
_DETAILS = {"mechanism": "geometric", "adjacency": "add or remove one person", "scale": "10"}
_COST = PrivacyCost.of("0.001")
_RECORD = 420  # bytes of a record with this answer


def main() -> None:
    """Print the figures."""
    print("ledger: seconds per booking on the disk of the temporary directory")
    for processes, named in ((1, "one process"), (8, "eight processes")):
        measured = {what: _seconds_each(what, processes) for what in ("ledger", "one flush", "five flushes")}
        for baseline in ("one flush", "five flushes"):
            what = f"a booking, {named}"
            print_figure(what, measured["ledger"], measured[baseline], f"write and {baseline}", unit="s")


def _seconds_each(what: str, processes: int) -> float:
    """The seconds that pass per booking or write, however many processes share the work."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_CONFIG_HOME": folder}
        command = [sys.executable, __file__, what, folder]
        subprocess.run([*command, "make"], check=True, env=environment)
        running = [
            subprocess.Popen([*command, str(number)], env=environment, stdout=subprocess.PIPE, text=True)
            for number in range(processes)
        ]
        counts = [json.loads(process.communicate()[0]) for process in running]
    return 1 / sum(count / seconds for count, seconds in counts)


def _work(what: str, folder: Path, name: str) -> Callable[[int], object]:
    """What is measured: to book or to write something, again and again."""
    if what == "ledger":
        ledger = Ledger.open(folder / "ledger")
        ledger.check_data(ledger.versions()[-1].identity)
        return lambda number: ledger.book(f"{name} count {number}", _COST, _DETAILS, lambda: _ANSWER)
    lock, directory = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600), os.open(folder, os.O_RDONLY)
    database = os.open(folder / "database", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(number: int) -> None:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if what == "five flushes":
            journal = os.open(folder / "journal", os.O_WRONLY | os.O_CREAT, 0o600)
            for flushed, written in ((journal, bytes(_RECORD)), (directory, b""), (journal, b"header")):
                if written:
                    os.pwrite(journal, written, 0)
                os.fsync(flushed)
            os.close(journal)
        os.write(database, bytes(_RECORD))
        os.fsync(database)
        if what == "five flushes":
            os.unlink(folder / "journal")
            os.fsync(directory)
        fcntl.flock(lock, fcntl.LOCK_UN)

    return write


def _measure(what: str, folder: Path, name: str) -> None:
    if name == "make":
        if what == "ledger":
            Ledger.create(folder / "ledger", {}, PrivacyCost.of(10**6), identify_data(lambda: DataDigests("data")))
        return
    work = _work(what, folder, name)
    work(0)
    started, number = time.monotonic(), 0
    while time.monotonic() < started + _SECONDS:
        number += 1
        work(number)
    print(json.dumps([number, time.monotonic() - started]))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _measure(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
    else:
        main()
