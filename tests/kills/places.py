"""Where files are written to: plain directories, links, other file systems, mounted files, full disks."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Place", "may_mount", "places"]

_SMALL_DISK = 400 * 1024
_NAMES = (
    "safe.dat", "safe.edges", "links.json", "rows.json", "protect.html", "relabel.html", "link.html", "assess.html"
)  # fmt: skip


@dataclass
class Place:
    """The directories for a secret file, a report and a result; whether files may be half-written until the next run;
    and how full the disk is made."""

    name: str
    secret: Path
    report: Path
    result: Path
    is_mounted: bool = False
    disk: Path | None = None
    real: Path | None = None

    @property
    def directories(self) -> set[Path]:
        """Every directory that files end up in."""
        return {self.secret, self.report, self.result, *([self.real] if self.real else [])}

    def fill(self, rng: random.Random) -> None:
        """Leave a random amount of room on a small disk."""
        if self.disk is not None:
            ballast = self.disk / "ballast"
            ballast.unlink(missing_ok=True)
            used = sum(path.stat().st_blocks * 512 for path in self.disk.iterdir())
            ballast.write_bytes(bytes(max(0, _SMALL_DISK - used - 4096 * rng.randrange(1, 30))))


def may_mount(root: Path) -> bool:
    """Whether this process may mount file systems."""
    probe = root / "probe"
    probe.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "none", str(probe)], capture_output=True, check=False)
    if done.returncode == 0:
        subprocess.run(["umount", str(probe)], check=True)
    return done.returncode == 0


@contextmanager
def places(root: Path, mounting: bool) -> Iterator[list[Place]]:
    """All places that can be made."""
    with ExitStack() as mounts:

        def mount(*arguments: str) -> None:
            subprocess.run(["mount", *arguments], check=True)
            mounts.callback(subprocess.run, ["umount", arguments[-1]], check=True)

        def make(name: str) -> Path:
            (root / name).mkdir()
            return root / name

        one = make("one")
        made = [Place("one directory", one, one, one)]
        made.append(Place("three directories", make("secret"), make("report"), make("result")))
        links, real = make("links"), make("real")
        for name in _NAMES:
            (links / name).symlink_to(real / name)
        made.append(Place("links", links, links, links, real=real))
        if mounting:
            disk = make("disk")
            mount("-t", "tmpfs", "none", str(disk))
            made.append(Place("another file system", make("here"), make("there"), disk))

            def make_small_disk(name: str) -> Path:
                mount("-t", "tmpfs", "-o", f"size={_SMALL_DISK}", "none", str(make(name)))
                return root / name

            def mount_files(name: str, sources: Path) -> Path:
                folder = make(name)
                for file in (*_NAMES, "items.mapping.csv", "nodes.mapping.csv"):
                    (sources / file).touch()
                    (folder / file).touch()
                    mount("--bind", str(sources / file), str(folder / file))
                return folder

            mounted = mount_files("mounted", make("sources"))
            made.append(Place("mounted files", mounted, mounted, mounted, is_mounted=True))
            full = make_small_disk("full")
            made.append(Place("full disk", full, full, full, disk=full))
            small = make_small_disk("small")
            mounted = mount_files("mounted small", small)
            made.append(Place("mounted files of a full disk", mounted, mounted, mounted, is_mounted=True, disk=small))
        yield made
