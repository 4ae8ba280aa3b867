"""Run the command line on made-up inputs, many in one process, and say what it must never do.

**What must hold** for every input, however damaged: a documented exit code; an error is one line on standard error;
no message, whatever it is about, quotes a value; nothing is a defect of unveil; seconds and memory are bounded.

**How.** A child process, forked from one that has loaded the libraries, runs one input after the other in a folder of
its own. It says which input it is at, so that the parent knows which one ended or halted it, and forks the next child
to go on behind it.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from command_runner import loaded_program
from fuzz.mutations import CANARY

__all__ = ["Defect", "FuzzInput", "find_defects"]

_EXIT_CODES = (0, 1, 2, 3)
_SECONDS = 30.0  # of the processor, for one input; kernels are compiled meanwhile
_PATIENCE = 180.0  # seconds until a process counts as halted, however busy the machine is
_MEBIBYTES = 500  # that one input may add to the memory of a process
_DEFECT = re.compile(r"Traceback|internal error|Error\b.*\bin unveil|Fatal Python|terminate called|SIGSEGV")


@dataclass(frozen=True)
class FuzzInput:
    """A command and its files. ``secret``: whether values in the files must not be quoted; they may where the damage
    can have turned them into names of columns. ``code``: the exit code, where it is known."""

    family: str
    arguments: tuple[str, ...]
    files: dict[str, bytes] = field(default_factory=dict)
    secret: bool = True
    code: int | None = None


@dataclass(frozen=True)
class Defect:
    """What went wrong with which input."""

    number: int
    given: FuzzInput
    what: str
    printed: str

    def __str__(self) -> str:
        command = " ".join(map(repr, ("unveil", *self.given.arguments)))
        return f"input {self.number} ({self.given.family}): {self.what}\n  {command}\n  {self.printed[-1500:]}"


def find_defects(make: Callable[[int], FuzzInput], numbers: Sequence[int], keep: Path | None = None) -> list[Defect]:
    """The defects among the inputs with these numbers. The files of those are kept in a folder, if one is given."""
    context = loaded_program()  # this process may have threads, which a fork does not survive
    waiting, found = list(numbers), list[Defect]()
    while waiting:
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=_run_inputs, args=(make, waiting, sender))
        child.start()
        sender.close()
        done = 0
        for number, what, printed in _reports(receiver, child):
            done = waiting.index(number, done) + 1
            if what:
                found.append(Defect(number, make(number), what, printed))
                _keep_input(found[-1], keep)
        child.join()
        waiting = waiting[max(done, 1) :]
    return found


def _reports(receiver: Connection, child: multiprocessing.process.BaseProcess) -> Iterator[tuple[int, str, str]]:
    """Each input's number and what is wrong with it, if anything; also for the input that ends or halts the child."""
    running = None
    while True:
        try:
            if not receiver.poll(_PATIENCE):
                child.kill()
                child.join()
                if running is not None:
                    yield running, f"ran longer than {_PATIENCE:.0f} seconds", ""
                return
            number, what, printed = receiver.recv()
        except EOFError:
            child.join()
            if running is not None:
                yield running, f"ended the process with {child.exitcode}", ""
            return
        if what is None:
            running = number
        else:
            running = None
            yield number, what, printed


def _keep_input(defect: Defect, folder: Path | None) -> None:
    if folder is None:
        return
    into = folder / f"{defect.number}"
    into.mkdir(parents=True, exist_ok=True)
    for name, data in defect.given.files.items():
        (into / name).write_bytes(data)
    (into / "defect.txt").write_text(str(defect) + "\n" + json.dumps(defect.given.arguments), encoding="utf-8")


def _run_inputs(make: Callable[[int], FuzzInput], numbers: Sequence[int], sender: Connection) -> None:
    """Run inputs in this process, and report on each before and after."""
    from unveil.cli import main

    os.environ["UNVEIL_DEBUG"] = "1"  # so that the report on a defect says where it is
    with tempfile.TemporaryDirectory() as folder, _files_for_output(folder) as (out, err):
        for number in numbers:
            place = Path(folder, "in")
            place.mkdir()
            os.chdir(place)
            sender.send((number, None, ""))
            given = make(number)
            for name, data in given.files.items():
                Path(name).write_bytes(data)
            sender.send((number, *_run_one(given, main, out, err)))
            os.chdir(folder)
            shutil.rmtree(place)
    sender.close()
    os._exit(0)  # engines are left as they are


@contextlib.contextmanager
def _files_for_output(folder: str) -> Iterator[tuple[int, int]]:
    """Two files in place of standard output and standard error, for whatever writes there."""
    with open(Path(folder, "out"), "w+b") as out, open(Path(folder, "err"), "w+b") as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        yield out.fileno(), err.fileno()


def _run_one(given: FuzzInput, main: Callable[[], None], out: int, err: int) -> tuple[str, str]:
    """What is wrong with how one command ends, if anything, and what it printed on standard error."""
    for file in (out, err):
        os.ftruncate(file, 0)
        os.lseek(file, 0, os.SEEK_SET)
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    sys.stdout, sys.stderr = (os.fdopen(n, "w", encoding="utf-8", closefd=False) for n in (1, 2))
    sys.argv = ["unveil", *given.arguments]
    memory, clock, code, raised = _peak_mebibytes(), time.process_time(), None, ""
    try:
        main()
    except SystemExit as leaving:
        code = leaving.code
    except BaseException:
        raised = traceback.format_exc()
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    printed, complaint = (_read_all(file) for file in (out, err))
    seconds, memory = time.process_time() - clock, _peak_mebibytes() - memory
    what = _judge(given, code, printed, complaint + raised)
    if seconds > _SECONDS:
        what = what or f"took {seconds:.0f} seconds"
    if memory > _MEBIBYTES:
        what = what or f"took {memory:,} MiB more"
    return what, complaint + raised


def _read_all(file: int) -> str:
    return os.pread(file, 1 << 26, 0).decode("utf-8", "replace")


def _peak_mebibytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _judge(given: FuzzInput, code: object, printed: str, complaint: str) -> str:
    """What must not be, of how a command ended."""
    if code not in (_EXIT_CODES if given.code is None else (given.code,)):
        return f"exit code {code}"
    if found := _DEFECT.search(printed + complaint):
        return f"a defect: {found[0]}"
    lines = [line for line in complaint.splitlines() if not line.startswith(("Usage: ", "       "))]
    if code == 2 and (len(lines) != 1 or not lines[0].startswith("unveil: ")):
        return f"{len(lines)} lines of error"
    texts = [printed, complaint, *_written_texts(given)]
    allowed = set(re.findall(CANARY, " ".join(given.arguments)))
    if given.secret and set(re.findall(CANARY, "".join(texts))) - allowed:
        return "quotes a value"
    return ""


def _written_texts(given: FuzzInput) -> Iterator[str]:
    """What the command wrote, but for the protected release and what is for the owner's eyes only."""
    for path in Path().rglob("*"):
        if path.is_file() and path.name not in given.files and not path.name.startswith(("safe", "matches")):
            yield path.read_bytes().decode("utf-8", "replace")
