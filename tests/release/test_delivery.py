"""Results are written whole or not at all."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from unveil.errors import UnveilError
from unveil.release.delivery import open_atomic


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
