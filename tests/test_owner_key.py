"""The owner's key: hashes in a report check nobody's guesses but the owner's."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
import multiprocessing
import os
import re
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import unveil as library
from unveil import Assessment, Case, Policy, UnveilError
from unveil.owner_key import load_owner_key

Unveil = Callable[..., subprocess.CompletedProcess[str]]
DIAGNOSES = ["flu", "cancer", "flu", "flu", "cancer", "flu", "cancer", "cancer", "flu", "flu", "cancer", "flu"]


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration folder without a key."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "unveil"


def release_text(diagnoses: tuple[str, ...] | list[str]) -> str:
    return "age,diagnosis\n" + "".join(f"{30 + k},{ill}\n" for k, ill in enumerate(diagnoses))


def recover_diagnoses(published: str) -> list[str] | None:
    """What someone who knows all but the diagnoses makes of everything in a report that looks like a hash."""
    hashes = set(re.findall(r"\b[0-9a-f]{64}\b", published))
    for guess in itertools.product(("flu", "cancer"), repeat=len(DIAGNOSES)):
        if hashlib.sha256(release_text(guess).encode()).hexdigest() in hashes:
            return list(guess)
    return None


def test_the_hash_in_a_report_checked_guesses_at_the_data(tmp_path: Path) -> None:
    """Twelve unknown diagnoses were recovered by trying all and comparing hashes."""
    file = tmp_path / "release.csv"
    file.write_text(release_text(DIAGNOSES))
    case = Case(library.read(file), holds={"earlier 1": library.read(file)})
    policy = Policy(quasi=("age",), sensitive=("diagnosis",))
    hidden, revealed = (library.assess(case, policy, only="classes.l_distinct", reveal=r) for r in (False, True))
    for form in ("to_json", "to_html", "to_markdown", "to_junit", "to_text"):
        assert recover_diagnoses(getattr(hidden, form)()) is None, form
    assert recover_diagnoses(revealed.to_json()) == recover_diagnoses(revealed.to_html()) == DIAGNOSES
    told = hidden.provenance, revealed.provenance
    assert told[0].hmac_sha256 == told[1].hmac_sha256 == told[0].beside["earlier 1"]
    digest = case.release.digest
    assert (told[0].plain_sha256, told[1].plain_sha256) == (None, {"release": digest, "earlier 1": digest})
    assert Assessment.from_json(revealed.to_json()).provenance == told[1]


def test_a_key_is_made_once_and_only_its_owner_can_read_it(config: Path) -> None:
    mask = os.umask(0)
    try:
        made = load_owner_key()
    finally:
        os.umask(mask)
    assert [path.name for path in config.iterdir()] == ["key"]
    assert (stat.S_IMODE((config / "key").stat().st_mode), stat.S_IMODE(config.stat().st_mode)) == (0o600, 0o700)
    assert load_owner_key() == made
    assert made.secret == bytes.fromhex((config / "key").read_text())
    assert made.hash_text("data") == hmac.new(made.secret, b"data", "sha256").hexdigest()
    assert made.secret.hex() not in repr(made)


def _load_when_all_are_ready(barrier: object, path: str, found: object) -> None:
    os.environ["UNVEIL_KEY"] = path
    barrier.wait()  # type: ignore[attr-defined]
    found.put(load_owner_key().secret)  # type: ignore[attr-defined]


def test_processes_that_begin_at_once_get_one_key(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    for attempt in range(10):
        barrier, found = context.Barrier(6), context.Queue()
        path = str(tmp_path / f"{attempt}" / "key")
        processes = [context.Process(target=_load_when_all_are_ready, args=(barrier, path, found)) for _ in range(6)]
        for process in processes:
            process.start()
        assert len({found.get(timeout=30) for _ in processes}) == 1
        for process in processes:
            process.join()
        assert os.listdir(tmp_path / f"{attempt}") == ["key"]


@pytest.fixture(params=["a file is in the way", "read-only"])
def closed_config(request: pytest.FixtureRequest, config: Path) -> Iterator[Path]:
    """A configuration folder in which no key can be kept."""
    if request.param == "a file is in the way":
        config.parent.write_text("")
        yield config
        return
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    config.mkdir(parents=True, mode=0o500)
    yield config
    config.chmod(0o700)


def test_where_no_key_can_be_kept_the_provenance_says_so(closed_config: Path, patients: Path) -> None:
    policy = Policy(quasi=("age",))
    first, second = (library.assess(library.read(patients), policy, only="classes.k") for _ in range(2))
    assert first.provenance.key_id is None
    assert first.provenance.hmac_sha256 == second.provenance.hmac_sha256  # of one run
    assert "cannot be compared with those of other runs" in first.to_html()
    digest = hashlib.sha256(patients.read_bytes()).hexdigest()
    assert digest not in first.to_json() + first.to_html()


@pytest.fixture(params=["no folder can be made", "a folder is in the way", "a pipe is in the way", "no permission"])
def key_path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Where a key belongs, but can be neither read nor made."""
    folder = tmp_path / "config"
    path = folder / "unveil" / "key"
    if request.param == "no folder can be made":
        return Path("/dev/null/unveil/key")
    path.parent.mkdir(parents=True)
    if request.param == "a folder is in the way":
        path.mkdir()
    elif request.param == "a pipe is in the way":
        os.mkfifo(path)
    else:
        if os.geteuid() == 0:
            pytest.skip("root may read anything")
        path.touch(0)
    return path


def test_nobody_was_told_that_no_key_could_be_kept(unveil: Unveil, patients: Path, key_path: Path) -> None:
    roles = ("--quasi", "age,zip", "--only", "classes.k")
    config = {"XDG_CONFIG_HOME": str(key_path.parents[1])}
    done = unveil("assess", patients, *roles, env=config)
    assert (done.returncode, done.stderr) == (
        1,
        f"unveil: {key_path}: no key can be kept there, so the hashes of this run cannot be compared with those of "
        "others; name a file for the key with UNVEIL_KEY\n",
    )
    assert unveil("assess", patients, *roles, "--quiet", env=config).stderr == ""


def test_a_named_pipe_for_the_key_was_waited_for(unveil: Unveil, patients: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    done = unveil("assess", patients, "--quasi", "age", env={"UNVEIL_KEY": str(tmp_path / "pipe")})
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.endswith(
        "the key that UNVEIL_KEY names can be neither read nor made; name another regular file\n"
    )


def test_nobody_was_told_that_others_can_read_the_key(unveil: Unveil, patients: Path, tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text("0123456789abcdef" * 4)
    roles = ("assess", patients, "--quasi", "age,zip", "--only", "classes.k", "--exit-zero")
    for mode in (0o644, 0o640, 0o602):
        path.chmod(mode)
        done = unveil(*roles, env={"UNVEIL_KEY": str(path)})
        said = f"unveil: {path}: others may read or change the key of your hashes; restrict it with chmod 600\n"
        assert (done.returncode, done.stderr) == (0, said)
    assert unveil(*roles, "--quiet", env={"UNVEIL_KEY": str(path)}).stderr == ""
    path.chmod(0o600)
    assert unveil(*roles, env={"UNVEIL_KEY": str(path)}).stderr == ""


def test_a_key_in_capital_letters_was_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "key"
    path.touch(0o600)
    monkeypatch.setenv("UNVEIL_KEY", str(path))
    keys = []
    for text in ("0123456789abcdef" * 4, "0123456789ABCDEF" * 4):
        path.write_text(text)
        keys.append(load_owner_key())
    assert keys[0] == keys[1]


def test_runs_without_a_kept_key_share_none(unveil: Unveil, patients: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    files = [tmp_path / "one.json", tmp_path / "two.json"]
    for file in files:
        roles = ("--quasi", "age,zip", "--only", "classes.k", "--exit-zero", "--format", "json", "-o", file)
        unveil("assess", patients, *roles, env={"XDG_CONFIG_HOME": str(tmp_path / "file")})
    one, two = (json.loads(file.read_text())["provenance"] for file in files)
    assert one["hmac_sha256"] != two["hmac_sha256"]
    assert one["key_id"] is two["key_id"] is None
    compared = unveil("compare", *files, "--exit-zero")
    assert "cannot be told: they share no key that was kept" in " ".join(compared.stdout.split())


def test_a_named_key_is_used_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: Path, patients: Path
) -> None:
    path = tmp_path / "folder" / "own key"
    monkeypatch.setenv("UNVEIL_KEY", str(path))
    made = load_owner_key()
    assert path.read_text().strip() == made.secret.hex()
    assert not config.exists()
    for text in ("", "secret", made.secret.hex()[:-1], made.secret.hex() + "\n\nmore"):
        path.write_text(text)
        with pytest.raises(UnveilError, match=r"own key: is not a key; move it away, or name another with UNVEIL_KEY$"):
            load_owner_key()
    monkeypatch.setenv("UNVEIL_KEY", str(patients / "key"))
    with pytest.raises(UnveilError, match=r"key: the key that UNVEIL_KEY names can be neither read nor made"):
        load_owner_key()
