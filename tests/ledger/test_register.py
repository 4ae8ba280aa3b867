"""Older copies, forks and second ledgers about the same people would give budget back: they are refused."""

from __future__ import annotations

import datetime
import json
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from unveil.errors import UnveilError
from unveil.ledger import DataDigests, DataIdentity, Entry, Ledger, identify_data

MakeLedger = Callable[..., Ledger]
Ask = Callable[..., Entry]
Identity = Callable[..., DataIdentity]

NO_MARK = "an older copy of the ledger that is put in its place will not be noticed"
NO_FACTS = "a second ledger about the same people will not be noticed, and large files are read for every answer"


def reopen(path: Path, like: Ledger) -> Ledger:
    ledger = Ledger.open(path)
    ledger.check_data(like.versions()[-1].identity)
    return ledger


# ---- copies ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("later", "said"), [(1, "1 entry is missing"), (3, "3 entries are missing")])
def test_an_older_copy_is_refused(make: MakeLedger, ask: Ask, path: Path, later: int, said: str) -> None:
    ledger = make()
    ask(ledger, "before")
    copy = shutil.copy(path, path.with_name("copy"))
    for number in range(later):
        ask(ledger, f"count {number}")
    shutil.copy(copy, path)
    for file in (path, copy):
        with pytest.raises(UnveilError) as refused:
            Ledger.open(file)
        assert str(refused.value) == f"{file}: is an older copy: at least {said} from it; use the newest copy"


def test_a_copy_that_is_put_back_while_the_ledger_is_open_is_refused(make: MakeLedger, ask: Ask, path: Path) -> None:
    ledger = make()
    copy = shutil.copy(path, path.with_name("copy"))
    other = reopen(copy, ledger)
    ask(ledger, "count")
    with pytest.raises(UnveilError, match="is an older copy: at least 1 entry is missing from it"):
        ask(other, "count 2")
    shutil.copy(copy, path)
    with pytest.raises(UnveilError, match="was changed by something other than unveil"):
        ask(ledger, "count 2")


def test_two_copies_cannot_both_go_on(make: MakeLedger, ask: Ask, path: Path, config: Path) -> None:
    ledger = make()
    copy = Path(shutil.copy(path, path.with_name("copy")))
    saved = shutil.copytree(config / "ledgers", config / "saved")
    ask(ledger, "one")
    shutil.rmtree(config / "ledgers")
    saved.rename(config / "ledgers")  # another computer knows nothing of it
    other = reopen(copy, ledger)
    for number in range(3):
        ask(other, f"other {number}")
    with pytest.raises(UnveilError, match="is an older copy: at least 2 entries are missing"):
        Ledger.open(path)
    mark = config / "ledgers" / f"{ledger.id}.mark"
    line = mark.read_bytes()
    mark.unlink()
    for number in range(3):
        ask(ledger, f"one {number}")
    mark.write_bytes(line)
    with pytest.raises(UnveilError) as refused:
        Ledger.open(path)
    assert str(refused.value) == (
        f"{path}: is another copy: entries that were made in a copy are missing from it; use that copy"
    )


def test_a_ledger_under_another_name_is_the_same(make: MakeLedger, ask: Ask, path: Path) -> None:
    ledger = make("0.2")
    ask(ledger, "one")
    (data,) = ledger.versions()
    renamed = Ledger.open(path.rename(path.with_name("renamed")))
    renamed.check_data(data.identity)
    ask(renamed, "two")
    with pytest.raises(UnveilError, match="only ε = 0 is left"):
        ask(renamed, "three")


def test_a_mark_that_was_left_behind_is_no_reason_to_refuse(
    make: MakeLedger, ask: Ask, path: Path, config: Path
) -> None:
    ledger = make()
    mark = config / "ledgers" / f"{ledger.id}.mark"
    lines = [mark.read_bytes()]
    for number in range(3):
        ask(ledger, f"count {number}")
        lines.append(mark.read_bytes())
    assert len({*map(len, lines)}) == 1
    for line in (*lines[:-1], b"", bytes(len(lines[0]))):
        mark.write_bytes(line)
        reopen(path, ledger).find("count 0")
    ask(reopen(path, ledger), "count 3")
    assert int(mark.read_bytes().split()[0]) == 5
    assert stat.S_IMODE(mark.stat().st_mode) == 0o600


def test_a_damaged_mark_is_refused(make: MakeLedger, path: Path, config: Path) -> None:
    ledger = make()
    mark = config / "ledgers" / f"{ledger.id}.mark"
    line = mark.read_bytes()
    for damaged in (line[:-1], line[1:], b"9" + line[1:], b"nonsense", line * 2, "٣".encode() + line[1:]):
        mark.write_bytes(damaged)
        with pytest.raises(UnveilError) as refused:
            Ledger.open(path)
        assert str(refused.value) == (
            f"{mark}: is damaged; if you are sure that your ledgers are the newest copies, remove it"
        )


def test_damaged_facts_are_refused(make: MakeLedger, path: Path, config: Path) -> None:
    make()
    facts = config / "ledgers" / "facts.json"
    for damaged in (
        "",
        "[]",
        "{}",
        '{"ledgers": [], "fingerprints": {}}',
        '{"ledgers": {"a": [1]}, "fingerprints": {}}',
    ):
        facts.write_text(damaged)
        with pytest.raises(
            UnveilError, match=r"facts.json: is damaged; if you are sure that your ledgers are the newest"
        ):
            Ledger.open(path)


@pytest.fixture
def closed(config: Path) -> Path:
    """A configuration folder in which nothing but the key can be kept."""
    config.mkdir(parents=True)
    (config / "ledgers").write_text("in the way")
    return config / "ledgers"


def test_a_register_that_cannot_be_kept_is_noted(make: MakeLedger, ask: Ask, path: Path, closed: Path) -> None:
    ledger = make("0.2")
    ask(ledger, "one")
    again = reopen(path, ledger)
    ask(again, "two")
    with pytest.raises(UnveilError, match="only ε = 0 is left"):
        ask(again, "three")
    notes = tuple(f"{closed}: nothing can be kept there, so {what}" for what in (NO_FACTS, NO_MARK))
    assert ledger.notes == notes and {*again.notes} == {*notes}
    assert closed.read_text() == "in the way"


def test_a_disk_without_locks_is_noted(
    make: MakeLedger, ask: Ask, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    ledger = make()
    assert ask(ledger, "one").answer == {"value": 42}
    assert len(ledger.notes) == 2 and ledger.notes[0].startswith(f"{config / 'ledgers'}: nothing can be kept there")


# ---- people ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "people"),
    [("new content", "same people"), ("same content", "other people"), ("same content", None)],
)
def test_a_second_ledger_about_the_same_people_is_refused(
    make: MakeLedger, path: Path, identity: Identity, content: str, people: str | None
) -> None:
    first = make(data=identity("same content", "same people"))
    second = path.with_name("second")
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    with pytest.raises(UnveilError) as refused:
        make(path=second, data=identity(content, people))
    assert str(refused.value) == (
        f"{second}: ledger {first.id} of {today} is about the same data or people already. Use that, or pass "
        "--another-budget if the people are to bear the loss of both"
    )
    assert not second.exists()
    made = make(path=second, data=identity(content, people), another_budget=True)
    assert made.versions()[0].beside == Ledger.open(second).versions()[0].beside == (first.id,)
    with pytest.raises(UnveilError, match=r"and ledger \w+ of [\d-]+ are about the same data or people already"):
        make(path=path.with_name("third"), data=identity("same content", "same people"))


def test_other_people_have_a_budget_of_their_own(make: MakeLedger, path: Path, identity: Identity) -> None:
    make(data=identity("content", "people"))
    assert make(path=path.with_name("second"), data=identity("other", "others")).versions()[0].beside == ()
    assert make(path=path.with_name("third"), data=identity("people")).versions()[0].beside == ()


def test_no_ledger_is_bound_to_the_people_of_another(make: MakeLedger, path: Path, identity: Identity) -> None:
    first = make(data=identity("a", "people"))
    second = make(path=path.with_name("second"), data=identity("b", "others"))
    with pytest.raises(UnveilError, match=rf"ledger {first.id} of [\d-]+ is about the same data or people already"):
        second.rebind(identity("c", "people"))
    assert len(second.versions()) == 1
    second.rebind(identity("c", "people"), another_budget=True)
    assert second.versions()[1].beside == (first.id,)
    with pytest.raises(UnveilError, match=rf"ledger {second.id} of"):
        make(path=path.with_name("third"), data=identity("c", "whoever"))


def test_a_ledger_that_the_register_does_not_know_is_remembered(
    make: MakeLedger, path: Path, identity: Identity, config: Path
) -> None:
    """As after a kill between the making of the ledger and that of its register, or on another computer."""
    first = make()
    shutil.rmtree(config / "ledgers")
    Ledger.open(path)
    with pytest.raises(UnveilError, match=f"ledger {first.id} of"):
        make(path=path.with_name("second"))


def test_the_register_names_nobody(make: MakeLedger, ask: Ask, config: Path, path: Path) -> None:
    """Neither files nor columns, and hashes that only the owner can check."""
    data = path.with_name("secret.csv")
    data.write_text("name\nAda\n")
    os.utime(data, (1e9, 1e9))
    identity = identify_data(lambda: DataDigests("0" * 64, "1" * 64), data, "name of patient")
    ask(make(data=identity), "count where name = 'Ada'")
    kept = b"".join(file.read_bytes() for file in (config / "ledgers").iterdir())
    for secret in (b"secret", b"patient", b"name", b"Ada", b"0" * 64, b"1" * 64):
        assert secret not in kept
    assert stat.S_IMODE((config / "ledgers").stat().st_mode) == 0o700


# ---- fingerprints ----------------------------------------------------------------------------------------------------


class Digest:
    """Digests of a file, which counts how often it is read."""

    def __init__(self, path: Path) -> None:
        self.path, self.reads = path, 0

    def __call__(self) -> DataDigests:
        self.reads += 1
        return DataDigests(self.path.read_text())


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that was written long ago."""
    path = tmp_path / "data.csv"
    path.write_text("one")
    later = path.stat().st_ctime_ns + 10**12
    monkeypatch.setattr("time.time_ns", lambda: later)
    return path


def test_a_file_that_did_not_change_is_read_once(data: Path) -> None:
    digest = Digest(data)
    assert identify_data(digest, data) == identify_data(digest, data) == identify_data(digest)
    assert digest.reads == 2  # without its path, nothing tells whether it changed
    identify_data(digest, data, "id")
    assert digest.reads == 3


def test_a_file_that_changed_is_read_again(data: Path) -> None:
    digest = Digest(data)
    first = identify_data(digest, data)
    times = data.stat().st_atime_ns, data.stat().st_mtime_ns
    data.write_text("two")
    os.utime(data, ns=times)  # as long as before, and with the same time
    assert identify_data(digest, data) != first
    other = data.with_name("other")
    other.write_text("one")
    os.utime(other, ns=times)
    other.rename(data)
    assert identify_data(digest, data) == first
    assert digest.reads == 3


def test_a_file_that_changed_just_now_is_not_trusted(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time_ns", lambda: data.stat().st_ctime_ns + 10**9)
    digest = Digest(data)
    assert identify_data(digest, data) == identify_data(digest, data)
    assert digest.reads == 2


def test_a_file_that_changes_while_it_is_read_is_refused(data: Path) -> None:
    def digest() -> DataDigests:
        data.write_text("longer")
        return DataDigests("mixture")

    with pytest.raises(UnveilError, match=r"data.csv: changed while it was read; try again when it is complete"):
        identify_data(digest, data)


def test_the_oldest_fingerprints_are_forgotten(data: Path, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unveil.ledger.register._FINGERPRINTS_KEPT", 3)
    digest = Digest(data)
    for number in (1, 2, 3, 4, 4, 2, 1):
        identify_data(digest, data, f"column {number}")
    assert digest.reads == 5
    assert len(json.loads((config / "ledgers" / "facts.json").read_text())["fingerprints"]) == 3


def test_folders_and_missing_files_are_read_every_time(tmp_path: Path) -> None:
    reads = list[int]()

    def digest() -> DataDigests:
        reads.append(1)
        return DataDigests("x")

    for path in (tmp_path, tmp_path / "missing"):
        assert identify_data(digest, path) == identify_data(digest, path)
    assert len(reads) == 4


def test_people_and_content_are_told_apart() -> None:
    both, alone = identify_data(lambda: DataDigests("a", "a")), identify_data(lambda: DataDigests("a"))
    assert both.content == alone.content == alone.people != both.people
