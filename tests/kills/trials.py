"""One command, killed at one moment, and what must hold afterwards."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import importlib
import io
import os
import random
import re
import signal
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kills.kill_step import signal_at_step
from kills.places import Place

__all__ = ["Trials"]

_DECIDED = (0, 1, 3)
_COMMANDS = {"protect": 5, "relabel": 2, "link": 2, "assess": 2}
"""How often each command is killed; ``relabel`` protects a graph, ``protect`` baskets."""

_RELEASES = {"protect": "safe.dat", "relabel": "safe.edges"}
_SUBJECTS = {"protect": "item", "relabel": "node"}
_ITEMS, _NODES = 4, 30
_MOST_MAPPINGS = 20


class Trials:
    """Trials that share their files. ``faults`` are the ways in which a promise was broken."""

    def __init__(self, root: Path, where: list[Place], rng: random.Random) -> None:
        self.root, self.where, self.rng = root, where, rng
        self.faults: list[str] = []
        self.kills: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.scratch = root / "scratch"
        self.scratch.mkdir()
        self.number = 0
        self.known: dict[str, str] = {}  # mappings that were seen, by their names
        self.removed = 0
        self.measured: dict[tuple[str, str], tuple[int, float]] = {}
        os.environ["TMPDIR"] = str(self.scratch)
        importlib.import_module("tempfile").tempdir = None
        self.run_command = _load()
        for command in _COMMANDS:
            self.run_command(self._arguments(command, where[0]))
        importlib.import_module("unveil.engine").default_engine.cache_clear()
        importlib.import_module("unveil.spill_directory").remove_spill_directories()

    def run_one(self) -> None:
        """Kill one run, and check everything."""
        self.number += 1
        command = self.rng.choices(list(_COMMANDS), list(_COMMANDS.values()))[0]
        place = self.where[self.number % len(self.where)]
        steps, seconds = self._measure(command, place)
        place.fill(self.rng)
        before = _contents(place)
        number = signal.SIGTERM if self.kills.total() % 5 == 4 else signal.SIGKILL
        late = max(self.rng.randrange(1, steps + 1) for _ in range(2))  # files get their names towards the end
        step = late if self.rng.random() < 0.75 else None
        self.kills[f"{command}, {place.name}, {number.name}, {'delivery' if step else 'any time'}"] += 1
        when = None if step else self.rng.uniform(0, seconds)
        code, said = self._fork(self._arguments(command, place), number, step, when)
        told = f"trial {self.number}: {command}, {place.name}, {number.name}, step {step} of {steps}, exit {code}"
        self.outcomes[str(code)] += 1
        after = _contents(place)
        if code not in (*_DECIDED, 2, -number, 128 + number):
            self._fault(told, f"unexpected exit: {said}")
        if code == 2 and ("nothing was written" not in said or before != after):
            self._fault(told, f"said {said!r}, but something was")
        if code != -signal.SIGKILL and _hidden(place):
            self._fault(told, f"left behind {_hidden(place)}")
        if not place.is_mounted:
            self._check_files(told, command, place, everything=False)
        self._finish(place)
        if _hidden(place):
            self._fault(told, f"not cleaned up: {_hidden(place)}")
        self._check_files(told, command, place, everything=True)

    def finish(self) -> None:
        """After one more run, no work files of killed ones are left."""
        code, said = self._fork(self._arguments("assess", self.where[0]), signal.SIGKILL, None, None)
        if code not in _DECIDED or list(self.scratch.glob("unveil-*")):
            self._fault("the last run", f"exit {code} {said}; left {list(self.scratch.iterdir())}")

    def summary(self) -> dict[str, Any]:
        """What was done and what came of it."""
        places = Counter[str]()
        for what, many in self.kills.items():
            places[what.split(", ")[1]] += many
        return {
            "kills": sum(self.kills.values()),
            "by place": dict(places),
            "by command": dict(Counter(w.split(", ")[0] for w in self.kills.elements())),
            "by moment": dict(Counter(", ".join(w.split(", ")[2:]) for w in self.kills.elements())),
            "exit codes": dict(self.outcomes),
            "mappings followed": len(self.known) + self.removed,
            "faults": self.faults,
        }

    # ---- what is run -------------------------------------------------------------------------------------------------

    def _arguments(self, command: str, place: Place) -> list[str]:
        """The command, on as many baskets, people or rows as the trial's number says."""
        size = 30 + self.number % 400
        rng = random.Random(size)
        rows = "".join(f"{rng.randrange(20, 60)},{rng.randrange(10)},{rng.choice('fm')}\n" for _ in range(size))
        report = ["--report", str(place.report / f"{command}.html"), "--quiet"]
        if command == "protect":
            source = self.root / "baskets.dat"
            source.write_text("".join(" ".join(items) + "\n" for items in _baskets(size)))
            mapping = ["--write-mapping", str(place.secret / "items.mapping.csv"), "--method", "rename"]
            similar = [
                "--similar",
                str(source),
                "--tolerance",
                "items.expected_cracks=1",
            ]  # of the attacks, one is slow
            return ["protect", str(source), "-o", str(place.result / "safe.dat"), *mapping, *similar, *report]
        if command == "relabel":
            source = self.root / "friends.edges"
            source.write_text("".join(f"i{u} i{v}\n" for u, v in _edges(size)))
            mapping = ["--write-mapping", str(place.secret / "nodes.mapping.csv"), "--method", "relabel"]
            known = ["--tolerance", "network.degree_k=1"]
            return ["protect", str(source), "-o", str(place.result / "safe.edges"), *mapping, *known, *report]
        source = self.root / "rows.csv"
        source.write_text("age,zip,sex\n" + rows)
        if command == "link":
            table = self.root / "table.csv"
            table.write_text("age,zip,sex\n" + "".join(f"{30 + k},{k % 10},{'fm'[k % 2]}\n" for k in range(30)))
            given = ["link", str(table), "--people", str(source), "--matches", str(place.secret / "matches.csv")]
            return [*given, "--format", "json", "-o", str(place.result / "links.json"), *report]
        given = ["assess", str(source), "--only", "release", "--format", "json"]
        return [*given, "-o", str(place.result / "rows.json"), *report]

    def _measure(self, command: str, place: Place) -> tuple[int, float]:
        """How many calls the delivery makes in a place, and how long the command takes."""
        if (command, place.name) not in self.measured:
            if place.disk is not None:
                (place.disk / "ballast").unlink(missing_ok=True)
            started = time.monotonic()
            code, said = self._fork(self._arguments(command, place), signal.SIGKILL, 10**9, None)
            steps = int((self.root / "steps").read_text())
            self.measured[command, place.name] = steps, time.monotonic() - started
            if code not in _DECIDED:
                self._fault(f"{command}, {place.name}, not killed", f"exit {code} {said}")
            self._check_files(f"{command}, {place.name}, not killed", command, place, everything=True)
            self.number += 1
        return self.measured[command, place.name]

    def _fork(self, arguments: list[str], number: int, step: int | None, when: float | None) -> tuple[int, str]:
        """What a run exits with (minus a signal's number) and says on standard error."""
        said = self.root / "said"
        child = os.fork()
        if child == 0:
            try:
                _redirect(said)
                if step is not None:
                    signal_at_step(step, number, self.root / "steps")
                sys.argv = ["unveil", *arguments]
                importlib.import_module("unveil.cli").main()
            except SystemExit as leaving:
                importlib.import_module("unveil.spill_directory").remove_spill_directories()
                sys.stderr.flush()
                os._exit(int(leaving.code or 0))
            finally:
                os._exit(99)
        if when is not None:
            time.sleep(when)
            os.kill(child, number)
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status), said.read_text(encoding="utf-8").strip()

    def _finish(self, place: Place) -> None:
        """What the next run does before anything else."""
        importlib.import_module("unveil.release.delivery").finish_deliveries(sorted(place.directories))

    # ---- what must hold ----------------------------------------------------------------------------------------------

    def _check_files(self, told: str, command: str, place: Place, everything: bool) -> None:
        """Every file is whole, and a release has its mapping; files that belong together are of one run, once what was
        interrupted has been finished."""
        sizes = list[int]()
        try:
            for path, pattern in _marks(command, place).items():
                sizes.append(int(re.findall(pattern, path.read_text(encoding="utf-8"))[0]))
                self._check_end(told, path)
            if command in _RELEASES:
                self._check_mappings(told, command, place, remember=everything)
                sizes.append(self._check_release(told, command, place))
            if command == "link":
                sizes.append(len(_read_rows(place.secret / "matches.csv")))
        except (OSError, ValueError, IndexError, KeyError) as error:
            self._fault(told, f"missing or half-written: {error!r}")
        if everything and len(set(sizes)) > 1:
            self._fault(told, f"files of different runs: {sizes}")

    def _check_end(self, told: str, path: Path) -> None:
        if not path.read_text(encoding="utf-8").rstrip().endswith(("</html>", "}")):
            self._fault(told, f"{path.name} is half-written")

    def _check_mappings(self, told: str, command: str, place: Place, remember: bool) -> None:
        """No mapping is lost or changed; each is whole and for its owner alone."""
        subject = _SUBJECTS[command]
        there = {str(path): path.read_text(encoding="utf-8") for path in _mappings(command, place)}
        for path, text in self.known.items():
            if Path(path).parent == place.secret and subject in Path(path).name and there.get(path) != text:
                self._fault(told, f"lost mapping {Path(path).name}")
        lines = 1 + (_NODES if command == "relabel" else _ITEMS)
        for path, text in there.items():
            if Path(path).stat().st_mode & 0o777 != 0o600 or len(text.splitlines()) != lines:
                self._fault(told, f"mapping {Path(path).name} is half-written or open to others")
        if remember:
            self.known |= there
        if remember and len(there) > _MOST_MAPPINGS:  # the trials would slow down, and the small disk be full
            for path in set(there) - {str(place.secret / f"{subject}s.mapping.csv")}:  # which may be mounted
                if _read_rows(Path(path))[0]["release"] != _release_mark(place.result / _RELEASES[command]):
                    os.unlink(path)
                    del self.known[path]
                    self.removed += 1

    def _check_release(self, told: str, command: str, place: Place) -> int:
        """The number of baskets or edges of a release, which has its own mapping, by its mark and by what it says."""
        release = place.result / _RELEASES[command]
        lines = _label_lines(release)
        mark = _release_mark(release)
        tables = [_read_rows(path) for path in _mappings(command, place)]
        own = [rows for rows in tables if {row["release"] for row in rows} == {mark}]
        if not own:
            self._fault(told, "the release has no mapping")
            return len(lines)
        became = {row[_SUBJECTS[command]]: row["pseudonym"] for row in own[0]}
        size = len(lines)
        given = [[f"i{u}", f"i{v}"] for u, v in _edges(size)] if command == "relabel" else _baskets(size)
        renamed = [sorted(became[label] for label in labels) for labels in given]
        if sorted(renamed) != sorted(map(sorted, lines)):
            self._fault(told, "the mapping is that of another release")
        return size

    def _fault(self, told: str, what: str) -> None:
        self.faults.append(f"{told}: {what}")
        print(self.faults[-1], file=sys.stderr)


def _marks(command: str, place: Place) -> dict[Path, str]:
    """The files of a command that say how many baskets, edges, people or rows it was given."""
    page = place.report / f"{command}.html"
    if command == "relabel":
        return {page: r"graph, \d+ nodes, (\d+) edges"}
    if command == "protect":
        return {page: r"transactions, (\d+) baskets"}
    if command == "link":
        return dict.fromkeys((place.result / "links.json", page), r"of (\d+) people, possibly")
    return {place.result / "rows.json": r'"rows": (\d+)', page: r"table, (\d+) rows"}


def _baskets(size: int) -> list[list[str]]:
    rng = random.Random(size)
    drawn = [[f"i{j}" for j in range(_ITEMS) if rng.random() < (j + 2) / 7] or ["i1"] for _ in range(size - 1)]
    return [[f"i{j}" for j in range(_ITEMS)], *drawn]


def _edges(size: int) -> list[tuple[int, int]]:
    """So many edges, which reach every node."""
    ring = [(k, (k + 1) % _NODES) for k in range(_NODES)]
    others = [(u, v) for v in range(_NODES) for u in range(v) if (u, v) not in ring and (v, u) not in ring]
    return [*ring, *random.Random(size).sample(others, size - _NODES)]


def _mappings(command: str, place: Place) -> list[Path]:
    return sorted(place.secret.glob(f"{_SUBJECTS[command]}s.mapping*.csv"))


def _label_lines(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text().splitlines() if not line.startswith("#")]


def _read_rows(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _release_mark(path: Path) -> str:
    """By definition: a digest of the sorted labels and of the sorted entries or edges."""
    lines = _label_lines(path)
    labels = sorted({label for line in lines for label in line})
    if path.suffix == ".edges":
        ranks = (sorted(map(labels.index, line)) for line in lines)
        entries = sorted(u * len(labels) + v for u, v in ranks)
    else:
        entries = sorted(b * len(labels) + labels.index(label) for b, items in enumerate(lines) for label in items)
    text = "".join(f"{len(label)}:{label}" for label in labels).encode()
    return hashlib.sha256(text + struct.pack(f"<{len(entries)}q", *entries)).hexdigest()[:32]


def _contents(place: Place) -> dict[Path, bytes]:
    files = [path for folder in place.directories for path in folder.iterdir() if not path.name.startswith(".")]
    return {path: path.read_bytes() for path in files if path.is_file() and path.name != "ballast"}


def _hidden(place: Place) -> list[str]:
    return sorted(path.name for folder in place.directories for path in folder.glob(".unveil-*"))


# ---- the process that is killed --------------------------------------------------------------------------------------


def _load() -> Callable[[list[str]], object]:
    """Load everything, so that forked processes need not."""
    for name in ("duckdb", "numba.typed", "pandas", "pyarrow.compute", "scipy.special", "unveil.report.html"):
        importlib.import_module(name)
    drawing = importlib.import_module("vl_convert")  # takes three seconds to start, which kills need not wait for
    drawing.vegalite_to_svg = lambda *spec, **options: '<svg xmlns="http://www.w3.org/2000/svg"></svg>'
    cli = importlib.import_module("unveil.cli.main").cli

    def run_here(arguments: list[str]) -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            cli.main(args=arguments, prog_name="unveil", standalone_mode=False)

    return run_here


def _redirect(said: Path) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))
