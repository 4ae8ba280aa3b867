"""Files that are no ledger, damaged, changed by hand or out of reach are refused in one line; nothing is answered."""

from __future__ import annotations

import os
import random
import resource
import shutil
import sqlite3
import stat
import subprocess
import sys
import traceback
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from unveil.errors import UnveilError
from unveil.ledger import Booking, DataIdentity, Entry, Ledger, PrivacyCost

MakeLedger = Callable[..., Ledger]
Ask = Callable[..., Entry]

FOREIGN = "is not a ledger of unveil; name another file"
DAMAGED = "is damaged; use its newest copy that is whole"
EDITED = "was changed by something other than unveil; use its newest copy that is whole"
WITH_LOG = (
    "was switched to a write-ahead log, which copies leave behind; switch it back with sqlite3 and PRAGMA "
    "journal_mode=DELETE"
)


def refusal(path: Path) -> str:
    """What is said when a file is opened as a ledger, without its name."""
    with pytest.raises(UnveilError) as refused:
        Ledger.open(path)
    said = str(refused.value)
    assert said.startswith(f"{path}: ") and "\n" not in said
    return said.removeprefix(f"{path}: ")


@pytest.fixture
def used(make: MakeLedger, ask: Ask) -> Ledger:
    """A ledger with entries on several pages."""
    ledger = make()
    for number in range(8):
        ask(ledger, f"count {number}", "0.01", "x" * 2000)
    return ledger


# ---- what is no ledger -----------------------------------------------------------------------------------------------


def test_what_is_not_there_or_no_file(path: Path) -> None:
    missing = "there is no ledger of this name; make one with unveil budget init; nothing was answered"
    assert refusal(path) in (missing, missing.removesuffix("; nothing was answered"))
    assert not path.exists()
    path.mkdir()
    assert refusal(path) == "is a directory; name a file"
    pipe = path / "pipe"
    os.mkfifo(pipe)
    assert refusal(pipe) == refusal(Path("/dev/null")) == FOREIGN
    assert "directory does not exist" in refusal(path / "pipe" / "ledger")


@pytest.mark.parametrize("content", [b"", b"\0" * 8192, b"age,zip\n34,01234\n" * 500, random.Random(1).randbytes(9000)])
def test_other_files_are_not_ledgers(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert refusal(path).removesuffix("; nothing was answered") == FOREIGN
    assert path.read_bytes() == content


def test_someone_elses_database_is_not_a_ledger(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE records (number INTEGER)")
        connection.commit()
    content = path.read_bytes()
    assert refusal(path) == FOREIGN
    assert path.read_bytes() == content
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_ledger_of_a_later_format(used: Ledger, path: Path) -> None:
    edit(path, "PRAGMA user_version = 2")
    assert refusal(path) == "has a format that this version of unveil does not know; use the version that made it"


# ---- damage ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [0.1, 0.3, 0.5, 0.7, 0.95])
def test_a_truncated_ledger_is_refused(used: Ledger, path: Path, kept: float) -> None:
    os.truncate(path, int(kept * path.stat().st_size))
    assert refusal(path).removesuffix("; nothing was answered") in (DAMAGED, FOREIGN, EDITED)


def test_any_changed_byte_is_noticed_or_changes_nothing(used: Ledger, path: Path) -> None:
    """Every entry that is read is one that was entered; free space may hold anything."""
    content, entries, rng = path.read_bytes(), used.entries(), random.Random(5)
    refused = 0
    for _ in range(150):
        changed = bytearray(content)
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
        path.write_bytes(changed)
        try:
            found = Ledger.open(path).entries()
        except UnveilError:
            refused += 1
            refusal(path)
        else:
            assert found == entries
    assert refused > 40


# ---- edits by hand ---------------------------------------------------------------------------------------------------

DROP = "DROP TRIGGER records_never_change; DROP TRIGGER records_are_never_removed;"
TRIGGERS = """
CREATE TRIGGER records_never_change BEFORE UPDATE ON records
BEGIN SELECT RAISE(ABORT, 'records never change'); END;
CREATE TRIGGER records_are_never_removed BEFORE DELETE ON records
BEGIN SELECT RAISE(ABORT, 'records are never removed'); END;
"""


def edit(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE records SET loss = '0/1' WHERE number = 3",
        "UPDATE records SET loss = '99/1' WHERE number = 0",
        "UPDATE records SET query = 'count x' WHERE number = 3",
        "UPDATE records SET content = replace(content, 'x', 'y') WHERE number = 3",
        "UPDATE records SET content = '{}' WHERE number = 3",
        "UPDATE records SET written = '2020-01-01T00:00:00+00:00' WHERE number = 3",
        "UPDATE records SET version = 1 WHERE number = 3",
        "UPDATE records SET \"partition\" = 'sex', part = 'f' WHERE number = 3",
        "UPDATE records SET seal = replace(seal, 'a', 'b') WHERE number = 8",
        "DELETE FROM records WHERE number = 3",
        "DELETE FROM records WHERE number = 0",
        "DELETE FROM records WHERE number = 3; UPDATE records SET number = number - 1 WHERE number > 3",
        "INSERT INTO records SELECT 9, kind, version, 'count 9', loss, delta, \"partition\", part, content, written, "
        "seal FROM records WHERE number = 8",
    ],
)
def test_edits_by_hand_are_noticed(used: Ledger, path: Path, sql: str) -> None:
    if not sql.startswith("INSERT"):
        with pytest.raises(sqlite3.IntegrityError, match=r"records (never change|are never removed)"):
            edit(path, sql)
        assert len(Ledger.open(path).entries()) == 8
    edit(path, DROP + sql)
    assert refusal(path) == EDITED  # the triggers are missing
    edit(path, TRIGGERS)
    assert refusal(path) == (EDITED if "number = 0" not in sql or "DELETE" not in sql else OTHER_KEY)


OTHER_KEY = "was made with another owner's key; name that key with UNVEIL_KEY"


@pytest.mark.parametrize(
    "sql",
    [
        DROP,
        "CREATE TABLE notes (text TEXT)",
        "CREATE TRIGGER forget AFTER INSERT ON records BEGIN SELECT RAISE(IGNORE); END",
        "DROP INDEX asked_once",
    ],
)
def test_another_schema_is_refused_even_while_the_ledger_is_open(used: Ledger, ask: Ask, path: Path, sql: str) -> None:
    edit(path, sql)
    with pytest.raises(UnveilError) as refused:
        ask(used, "new")
    assert str(refused.value) == f"{path}: {EDITED}"
    assert refusal(path) == EDITED


def test_records_cannot_be_inserted_out_of_order(used: Ledger, path: Path) -> None:
    values = "'answer', 0, 'q', '0/1', '0/1', NULL, NULL, '{}', '', '" + "a" * 64 + "'"
    for number in (-1, 3, 10):
        with pytest.raises(sqlite3.IntegrityError):
            edit(path, f"INSERT OR REPLACE INTO records VALUES ({number}, {values})")
    assert len(used.entries()) == 8


def test_an_edit_while_the_ledger_is_open_is_noticed(used: Ledger, ask: Ask, path: Path) -> None:
    edit(path, f"{DROP} DELETE FROM records WHERE number = 8; {TRIGGERS}")
    with pytest.raises(UnveilError) as refused:
        ask(used, "new")
    assert str(refused.value) == f"{path}: {EDITED}"


def test_another_file_in_the_place_of_an_open_ledger(
    used: Ledger, make: MakeLedger, ask: Ask, path: Path, identity: Callable[..., DataIdentity]
) -> None:
    other = path.with_name("other")
    ask(make(path=other, data=identity("others")), "q")
    shutil.copy(other, path)
    with pytest.raises(UnveilError, match="was changed by something other than unveil"):
        ask(used, "new")


def test_a_ledger_of_another_owner(used: Ledger, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNVEIL_KEY", str(tmp_path / "other key"))
    assert refusal(path) == OTHER_KEY


def test_without_a_kept_key_there_is_no_ledger(used: Ledger, config: Path, path: Path) -> None:
    (config / "key").unlink()
    (config / "key").mkdir()
    assert refusal(path) == (
        "a ledger is sealed with the owner's key, and none can be kept; name a file for the key with UNVEIL_KEY"
    )


# ---- logs, permissions, disks ----------------------------------------------------------------------------------------


def test_a_write_ahead_log_is_refused(used: Ledger, ask: Ask, path: Path) -> None:
    edit(path, "PRAGMA journal_mode = WAL")
    assert refusal(path) == WITH_LOG
    with pytest.raises(UnveilError, match="was switched to a write-ahead log"):
        ask(used, "new")
    edit(path, "PRAGMA journal_mode = DELETE")
    assert ask(used, "new").answer == {"value": 42}
    log = path.with_name(f"{path.name}-wal")
    log.touch()
    assert refusal(path) == WITH_LOG


def test_a_ledger_that_others_may_change_is_noted(used: Ledger, path: Path) -> None:
    path.chmod(0o640)
    said = f"{path}: others may read or change the ledger; restrict it with chmod 600"
    assert Ledger.open(path).notes == (said,)


def in_child(work: Callable[[], None], as_nobody: bool = False) -> None:
    """Do something in another process, without the rights of root if that is wanted, and fail if it fails."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            if as_nobody and os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("what", ["file", "folder", "nothing"])
def test_a_ledger_that_may_only_be_read_answers_nothing_new(
    used: Ledger, ask: Ask, path: Path, config: Path, what: str
) -> None:
    content = path.read_bytes()
    for folder in path.parents:
        if not folder.stat().st_mode & stat.S_IXOTH:
            folder.chmod(0o711)
    for file in (path, path.parent, config, *config.rglob("*")) if os.geteuid() == 0 else ():
        os.chown(file, 65534, 65534)
    if what == "folder":
        path.parent.chmod(0o500)
    if what == "file":
        path.chmod(0o400)
    said = f"{path}: cannot be written to; check the permissions of the file and of its directory; nothing was answered"

    def work() -> None:
        assert used.find("count 1") is not None
        assert len(Ledger.open(path).entries()) == 8
        if what == "nothing":
            ask(used, "new")
            return
        with pytest.raises(UnveilError) as refused:
            ask(used, "new")
        assert str(refused.value) == said

    in_child(work, as_nobody=True)
    path.parent.chmod(0o700)
    assert (path.read_bytes() == content) == (what != "nothing")


def test_a_file_that_may_not_grow_takes_no_entry(used: Ledger, ask: Ask, path: Path) -> None:
    """As on a full disk: what was drawn is thrown away, and what was entered before stays."""

    def work() -> None:
        size = path.stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        with pytest.raises(UnveilError) as refused:
            ask(used, "new", value="x" * 20_000)
        full = "cannot be read or written to its end: the disk is full or broken; nothing was answered"
        assert str(refused.value) == f"{path}: {full}"

    in_child(work)
    assert [entry.query for entry in Ledger.open(path).entries()] == [f"count {number}" for number in range(8)]
    assert used.spent() == PrivacyCost.of("0.08")
    assert ask(used, "new").answer == {"value": 42}


FULL_DISK = """
import sys
from pathlib import Path
from unveil.errors import UnveilError
from unveil.ledger import DataDigests, Ledger, PrivacyCost, identify_data

folder = Path(sys.argv[1])
data = identify_data(lambda: DataDigests("patients"))
ballast = folder / "ballast"
ledger = Ledger.create(folder / "ledger", {}, PrivacyCost.of(10), data)
answered = []
for free in range(40):
    with open(ballast, "wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            pass
        file.truncate(max(0, file.tell() - 4096 * (free % 8)))
    try:
        query = f"count {free}"
        ledger.book(query, PrivacyCost.of("0.1"), {}, lambda: {"value": "x" * 3000})
        answered.append(query)
    except UnveilError as error:
        text = str(error).removeprefix(f"{ledger.path}: ")
        assert text in (
            "the disk is full; nothing was answered",
            "cannot be read or written to its end: the disk is full or broken; nothing was answered",
            "cannot be written to; check the permissions of the file and of its directory; nothing was answered",
        ), error
    ballast.unlink()
    entered = [entry.query for entry in Ledger.open(ledger.path).entries()]
    assert entered == answered, (entered, answered)
assert 5 < len(answered) < 35, answered
try:
    (folder / "ballast").write_bytes(bytes(1 << 20))
except OSError:
    pass
try:
    Ledger.create(folder / "second", {}, PrivacyCost.of(10), data, another_budget=True)
except UnveilError as error:
    assert str(error) == f"{folder / 'second'}: the disk is full; no ledger was made", error
else:
    raise AssertionError
assert sorted(each.name for each in folder.iterdir()) == ["ballast", "ledger"]
print("done", len(answered))
"""


def test_a_full_disk_takes_no_entry(tmp_path: Path) -> None:
    """On a file system of its own, with room for some answers but not for others."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = f'mount -t tmpfs -o size=160k none "{folder}" && exec "{sys.executable}" -c "$0" "{folder}"'
    unshare = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*unshare, "true"], check=False, capture_output=True).returncode
    ):
        pytest.skip("no file system may be mounted here")
    done = subprocess.run([*unshare, "sh", "-c", mounted, FULL_DISK], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("done"), done.stderr


# ---- making one ------------------------------------------------------------------------------------------------------


def test_what_is_there_is_never_overwritten(make: MakeLedger, path: Path) -> None:
    path.write_text("mine")
    with pytest.raises(UnveilError) as refused:
        make()
    assert str(refused.value) == f"{path}: there is already a file of this name; name another"
    path.unlink()
    path.symlink_to("nowhere")
    with pytest.raises(UnveilError, match="there is already a file of this name"):
        make()
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    path.unlink()
    assert make().notes == ()  # what was refused is not remembered as a ledger


def test_a_ledger_needs_a_directory(make: MakeLedger, path: Path) -> None:
    with pytest.raises(UnveilError, match=r"the directory does not exist; no ledger was made$"):
        make(path=path / "ledger")
    path.write_text("")
    with pytest.raises(UnveilError, match=r"the directory does not exist; no ledger was made$"):
        make(path=path / "ledger")


def test_nothing_answers_from_a_ledger_that_was_moved_away(used: Ledger, ask: Ask, path: Path) -> None:
    path.rename(path.with_name("moved"))
    with pytest.raises(UnveilError, match="there is no ledger of this name"):
        used.book_together([Booking("new", PrivacyCost.of("0.1"), {}, dict)])
    assert not path.exists()
    moved = Ledger.open(path.with_name("moved"))
    assert len(moved.entries()) == 8
