"""Results are written whole or not at all."""

from __future__ import annotations

import errno
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kills.kill_step import signal_at_step
from unveil.errors import UnveilError
from unveil.release import delivery
from unveil.release.delivery import OutputFile, finish_deliveries, open_atomic


def test_written(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    with open_atomic(path) as file:
        file.write(b"one")
        assert not path.exists()
    assert path.read_bytes() == b"one"
    with open_atomic(str(path)) as file:
        file.write(b"two")
        assert path.read_bytes() == b"one"
    assert path.read_bytes() == b"two"
    assert os.listdir(tmp_path) == ["out.txt"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SystemExit, UnveilError])
def test_interrupted(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "out.txt"
    path.write_bytes(b"before")
    with pytest.raises(error), open_atomic(path) as file:  # noqa: PT012
        file.write(b"half")
        raise error
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_permissions(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    before = os.umask(0o027)
    try:
        with open_atomic(path):
            pass
        assert path.stat().st_mode & 0o777 == 0o640
        path.chmod(0o604)
        with open_atomic(path):
            pass
        assert path.stat().st_mode & 0o777 == 0o604
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "out.txt", tmp_path / "link.txt"
    link.symlink_to(target)
    with open_atomic(link) as file:
        file.write(b"x")
    assert link.is_symlink()
    assert target.read_bytes() == b"x"


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("missing/out.txt", "the directory does not exist; nothing was written"),
        ("file/out.txt", "the directory does not exist; nothing was written"),
        ("folder", "is a directory; name a file; nothing was written"),
        ("x" * 300, "cannot be written: File name too long; nothing was written"),
    ],
)
def test_impossible_places(tmp_path: Path, place: str, said: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    with pytest.raises(UnveilError) as caught, open_atomic(tmp_path / place) as file:
        file.write(b"x")
    assert str(caught.value).endswith(said)
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


def test_disk_full(tmp_path: Path) -> None:
    with (
        pytest.raises(UnveilError, match=r"out\.txt: the disk is full; nothing was written$"),
        open_atomic(tmp_path / "out.txt"),
    ):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes")
def test_what_is_no_file_stays_what_it_is(tmp_path: Path) -> None:
    """As ``/dev/null`` must, which a test had better not try out."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    with open_atomic(pipe) as file:
        file.write(b"x")
    reader.join(10)
    assert got == [b"x"]
    assert pipe.is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]


SCRIPT = """
import resource, sys, time
from unveil.errors import UnveilError
from unveil.release.delivery import open_atomic
if sys.argv[2] == "limit":
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    with open_atomic(sys.argv[1]) as file:
        file.write(b"x" * 100_000)
        file.flush()
        if sys.argv[2] == "wait":
            print("ready", flush=True)
            time.sleep(60)
except UnveilError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no resource limits")
def test_no_more_room(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path), "limit"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{path}: cannot be written: File too large; nothing was written\n"
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="other signals")
def test_ctrl_c(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "out.txt"), "wait"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert os.listdir(tmp_path) != []
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        process.wait(30)
        assert time.monotonic() - start < 30
    assert process.returncode == -signal.SIGINT
    assert os.listdir(tmp_path) == []


# ---- several files ---------------------------------------------------------------------------------------------------


def make_folder(folder: Path) -> list[Path]:
    """A folder with a mapping, a page behind a link, and a release of an earlier run."""
    (folder / "secret").mkdir(parents=True)
    (folder / "page.html").symlink_to(folder / "secret" / "real.html")
    files = [folder / "secret" / "map.csv", folder / "page.html", folder / "safe.dat"]
    for path in files:
        path.write_bytes(b"former")
        path.chmod(0o644)
    return files


def deliver(files: list[Path], content: bytes = b"new" * 5_000) -> list[Path]:
    mapping, *others = files
    secret = OutputFile(mapping, content, private=True, keep_existing=True)
    return delivery.deliver_files([secret, *(OutputFile(path, content) for path in others)])


def kill_at(step: int, files: list[Path]) -> bool:
    """Deliver in a process that kills itself at a step; False if it was done before."""
    child = os.fork()
    if child == 0:
        signal_at_step(step, signal.SIGKILL, files[-1].with_name("steps"))
        deliver(files)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def refuse_renaming(monkeypatch: pytest.MonkeyPatch, names: set[str]) -> None:
    """Let these files behave as if they were mounted by themselves; the harness of kills really mounts some."""
    link, replace = os.link, os.replace

    def link_unless_mounted(source: str, target: str) -> None:
        if Path(source).name in names:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        link(source, target)

    def replace_unless_mounted(source: str, target: str) -> None:
        if Path(target).name in names:
            raise OSError(errno.EBUSY, "Device or resource busy")
        replace(source, target)

    monkeypatch.setattr(os, "link", link_unless_mounted)
    monkeypatch.setattr(os, "replace", replace_unless_mounted)


@pytest.mark.parametrize("mounted", [set(), {"real.html"}, {"real.html", "safe.dat"}], ids=["none", "one", "two"])
def test_a_kill_between_two_files_costs_no_mapping_and_mixes_no_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mounted: set[str]
) -> None:
    """The delivery is killed at every third call that it makes, once each."""
    refuse_renaming(monkeypatch, mounted)
    ends = set()
    for step in itertools.count(1, 3):
        files = make_folder(tmp_path / str(step))
        mapping, page, release = files
        if not kill_at(step, files):
            break
        second = mapping.with_name("map.2.csv")
        assert mapping.read_bytes() == b"former"
        if not mounted:
            assert {page.read_bytes(), release.read_bytes()} <= {b"former", b"new" * 5_000}
        if release.read_bytes() != b"former":
            assert second.read_bytes() == b"new" * 5_000
        finish_deliveries([release.parent])
        assert page.read_bytes() == release.read_bytes()
        assert release.read_bytes() in (b"former", b"new" * 5_000)
        assert page.is_symlink()
        assert second.exists() == (release.read_bytes() != b"former")
        assert not second.exists() or second.stat().st_mode & 0o777 == 0o600
        assert not list((tmp_path / str(step)).rglob(".unveil-*"))
        ends.add(release.read_bytes())
    assert len(ends) == 2
    assert step > 50


def test_the_next_command_finishes_what_was_begun_and_says_so(
    tmp_path: Path, unveil: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    for step in itertools.count(40, 2):
        folder = tmp_path / str(step)
        files = make_folder(folder)
        assert kill_at(step, files)
        if files[0].with_name("map.2.csv").exists():  # committed, and the release is still the former one
            break
    assert files[-1].read_bytes() == b"former"
    (folder / "t.csv").write_text("a,b\n1,2\n3,4\n")
    done = unveil("assess", folder / "t.csv", "--only", "release", "--exit-zero")
    assert "unveil: finished what an interrupted run had begun: " in done.stderr
    assert files[-1].read_bytes() == files[1].read_bytes() == files[0].with_name("map.2.csv").read_bytes()


def test_a_file_that_cannot_be_replaced_takes_the_others_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mapping and the page are in their places already when the disk fails."""
    files = make_folder(tmp_path / "here")
    replace = os.replace

    def fail_for_release(source: str, target: str) -> None:
        if target == str(files[-1]):
            raise OSError(errno.EIO, "Input/output error")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail_for_release)
    with pytest.raises(UnveilError, match=r"safe\.dat: cannot be written: Input/output error; nothing was written$"):
        deliver(files)
    assert [path.read_bytes() for path in files] == [b"former"] * 3
    assert sorted(os.listdir(tmp_path / "here" / "secret")) == ["map.csv", "real.html"]
    assert sorted(os.listdir(tmp_path / "here")) == ["page.html", "safe.dat", "secret"]


def test_what_someone_changed_after_a_kill_stays_and_takes_the_rest_back(tmp_path: Path) -> None:
    mixed = 0
    for step in itertools.count(1, 4):
        files = make_folder(tmp_path / str(step))
        mapping, _, release = files
        if not kill_at(step, files):
            break
        if release.read_bytes() == b"former":
            mixed += mapping.with_name("map.2.csv").exists()
            release.write_bytes(b"someone's own")
            finish_deliveries([release.parent])
            assert [path.read_bytes() for path in files] == [b"former", b"former", b"someone's own"]
            assert not mapping.with_name("map.2.csv").exists()
    assert mixed


def test_devices_come_last_and_what_was_written_is_said(tmp_path: Path) -> None:
    files = [OutputFile("/dev/full", b"x"), OutputFile(tmp_path / "safe.dat", b"new")]
    with pytest.raises(UnveilError) as caught:
        delivery.deliver_files(files)
    assert str(caught.value) == "/dev/full: the disk is full; safe.dat was written"
    assert (tmp_path / "safe.dat").read_bytes() == b"new"


def test_a_secret_file_is_private_from_its_first_moment(tmp_path: Path) -> None:
    """Whatever the permissions of the file it replaces, which someone may hold open."""
    path = tmp_path / "matches.csv"
    path.write_bytes(b"old")
    path.chmod(0o666)
    before = os.umask(0)
    try:
        with open(path, "rb") as held:
            with open_atomic(path, private=True) as file:
                file.write(b"secret")
                assert {p.stat().st_mode & 0o077 for p in tmp_path.iterdir() if p.suffix in (".part", ".journal")} == {
                    0
                }
            assert held.read() == b"old"
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600


def test_only_own_journals_are_followed(tmp_path: Path) -> None:
    """Those of other users, or open to others, could name any file; those of living processes are not finished."""
    victim, part = tmp_path / "victim", tmp_path / "part"
    victim.write_bytes(b"kept")
    part.write_bytes(b"planted")
    before = [getattr(victim.stat(), f"st_{name}") for name in ("dev", "ino", "mtime_ns", "size")]
    entry = {"target": str(victim), "part": str(part), "old": str(tmp_path / "old"), "keep_existing": False}
    journal = tmp_path / ".unveil-0123456789abcdef.journal"
    journal.write_text(f"c\n{json.dumps([{**entry, 'replaced': before}])}\n")
    journal.chmod(0o622)
    assert finish_deliveries([tmp_path]) == []
    journal.chmod(0o600)
    if os.geteuid() == 0:
        os.chown(journal, 12345, -1)
        assert finish_deliveries([tmp_path]) == []
        os.chown(journal, 0, -1)
    assert victim.read_bytes() == b"kept"
    assert finish_deliveries([tmp_path]) == ["finished what an interrupted run had begun: victim is written"]
    assert victim.read_bytes() == b"planted"
    with open_atomic(tmp_path / "slow") as file:
        file.write(b"x")
        with open_atomic(tmp_path / "quick") as other:
            other.write(b"y")
    assert (tmp_path / "slow").read_bytes() == b"x"


def test_standard_output_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    script = "from unveil.release.delivery import open_atomic\nprint('first')\n"
    script += "with open_atomic('/dev/stdout') as file: file.write(b'second\\n')"
    with open(tmp_path / "out", "wb") as out:
        subprocess.run([sys.executable, "-c", script], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "first\nsecond\n"
    piped = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, check=True)
    assert piped.stdout == b"first\nsecond\n"
