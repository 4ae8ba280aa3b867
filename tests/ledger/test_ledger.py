"""What is answered is booked first, once, and never beyond the total."""

from __future__ import annotations

import math
import sqlite3
import stat
import threading
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from unveil.errors import UnveilError
from unveil.ledger import Booking, DataIdentity, Entry, Ledger, Part, PrivacyCost
from unveil.run import Run

MakeLedger = Callable[..., Ledger]
Ask = Callable[..., Entry]
Identity = Callable[..., DataIdentity]


def test_a_ledger_says_what_it_was_made_with(make: MakeLedger, path: Path, identity: Identity) -> None:
    made = make(PrivacyCost.of("1.5", "1e-6"), unit="rho", partitions={"sex": ["f", "m"]})
    for ledger in (made, Ledger.open(path), Ledger.open(str(path))):
        assert ledger.terms == {"columns": ["age"]}
        assert ledger.total == ledger.left() == PrivacyCost(Fraction(3, 2), Fraction(1, 10**6))
        assert ledger.spent() == PrivacyCost.of(0)
        assert (ledger.unit, ledger.partitions, ledger.entries(), ledger.notes) == ("rho", {"sex": ["f", "m"]}, [], ())
        assert ledger.id == made.id and ledger.path == path
        (version,) = ledger.versions()
        assert version.identity == identity() and version.beside == ()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_ten_times_a_tenth_is_exactly_one(make: MakeLedger, ask: Ask, path: Path) -> None:
    ledger = make("1")
    for number in range(10):
        entry = ask(ledger, f"count {number}", value=number)
        assert (entry.query, entry.answer, entry.asked_before) == (f"count {number}", {"value": number}, False)
        assert entry.details == {"mechanism": "geometric"}
    assert ledger.spent() == ledger.total == PrivacyCost.of(1)
    assert [entry.query for entry in Ledger.open(path).entries()] == [f"count {number}" for number in range(10)]
    with pytest.raises(UnveilError) as refused:
        ask(ledger, "count 10", "1e-30")
    assert str(refused.value) == (
        f"{path}: the answer would spend ε = about 1 × 10⁻³⁰, but only ε = 0 is left of ε = 1; nothing was spent"
    )
    assert ledger.spent() == PrivacyCost.of(1)


def test_asking_again_is_free_and_draws_no_noise(make: MakeLedger, ask: Ask, path: Path) -> None:
    ledger = make("0.1")
    first = ask(ledger, "count")
    again = Ledger.open(path)
    with pytest.raises(UnveilError, match="were not checked"):
        ask(again, "count")
    again.check_data(first and ledger.versions()[0].identity)

    def draw() -> dict[str, Any]:
        raise AssertionError

    found = again.book("count", PrivacyCost.of("5"), {}, draw)
    assert found == first == again.find("count") and found.asked_before
    assert again.find("sum") is None
    assert again.left() == PrivacyCost.of(0)


def test_an_answer_is_what_the_ledger_keeps(make: MakeLedger, path: Path) -> None:
    """Whoever asks first gets the same bytes as whoever asks again."""
    answer = {"values": (1, 2.5, 1e-17), "label": "Zoë\ud800", 3: None}
    entry = make().book("q", PrivacyCost.of("0.1"), {"σ": [1]}, lambda: answer)
    assert entry.answer == {"values": [1, 2.5, 1e-17], "label": "Zoë\ud800", "3": None}
    assert Ledger.open(path).entries() == [entry]


@pytest.mark.parametrize("wrong", [math.nan, math.inf, object(), {1}])
def test_what_json_cannot_say_is_not_booked(make: MakeLedger, ask: Ask, wrong: object) -> None:
    ledger = make()
    with pytest.raises((ValueError, TypeError)):
        ask(ledger, "q", value=wrong)
    with pytest.raises((ValueError, TypeError)):
        ledger.book("q", PrivacyCost.of("0.1"), {"wrong": wrong}, lambda: {"value": 1})
    assert (ledger.entries(), ledger.spent()) == ([], PrivacyCost.of(0))
    assert ask(ledger, "q").answer == {"value": 42}


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, sqlite3.OperationalError, UnveilError, SystemExit])
def test_whatever_goes_wrong_while_noise_is_drawn_spends_nothing(
    make: MakeLedger, ask: Ask, error: type[BaseException]
) -> None:
    ledger = make()

    def draw() -> dict[str, Any]:
        raise error("mine")

    with pytest.raises(error, match=r"^mine$"):
        ledger.book("q", PrivacyCost.of("0.1"), {}, draw)
    assert ledger.spent() == PrivacyCost.of(0)
    assert ask(ledger, "q").answer == {"value": 42}


@pytest.mark.parametrize("query", ["", "a\0b", "\ud800"])
def test_a_question_must_be_text(make: MakeLedger, ask: Ask, query: str) -> None:
    ledger = make()
    with pytest.raises(UnveilError, match=r"the question cannot be entered as text; nothing was spent$"):
        ask(ledger, query)
    assert not ledger.entries()


def test_an_answer_is_never_free(make: MakeLedger, ask: Ask, path: Path) -> None:
    ledger = make()
    with pytest.raises(UnveilError) as refused:
        ask(ledger, "q", "0")
    assert str(refused.value) == f"{path}: an answer must cost more than ε = 0; nothing was spent"
    assert not ledger.entries()


@pytest.mark.parametrize("total", [("0", 0), ("0", "0.1"), ("1", 1)])
def test_a_total_must_allow_something_but_not_everything(make: MakeLedger, path: Path, total: tuple[str, str]) -> None:
    with pytest.raises(UnveilError, match=r"the total ε must be above 0, and δ below 1"):
        make(PrivacyCost.of(*total))
    assert not path.exists()


def test_delta_is_spent_as_well(make: MakeLedger, path: Path) -> None:
    ledger = make(PrivacyCost.of("10", "1e-6"))
    ledger.book("a", PrivacyCost.of("1", "6e-7"), {}, dict)
    with pytest.raises(UnveilError) as refused:
        ledger.book("b", PrivacyCost.of("1", "6e-7"), {}, dict)
    assert str(refused.value) == (
        f"{path}: the answer would spend ε = 1 and δ = 0.0000006, but only ε = 9 and δ = 0.0000004 is left of ε = 10 "
        "and δ = 0.000001; nothing was spent"
    )
    assert ledger.left() == PrivacyCost.of("9", "4e-7")


def test_parts_share_a_budget(make: MakeLedger, ask: Ask, path: Path) -> None:
    ledger = make("1", partitions={"sex": ["f", "m"], "ward": ["a", "b"]})
    f, m, a = Part("sex", "f"), Part("sex", "m"), Part("ward", "a")
    ask(ledger, "f", "0.4", part=f)
    ask(ledger, "m", "0.4", part=m)
    assert ledger.spent() == PrivacyCost.of("0.4")
    assert ledger.left(m) == ledger.left() == PrivacyCost.of("0.6")
    ask(ledger, "m too", "0.5", part=m)
    assert ledger.spent() == PrivacyCost.of("0.9")
    assert (ledger.left(f), ledger.left(m), ledger.left(a)) == tuple(map(PrivacyCost.of, ("0.6", "0.1", "0.1")))
    with pytest.raises(UnveilError, match=r"but only ε = 0\.1 is left"):
        ask(ledger, "a", "0.2", part=a)
    ask(ledger, "f too", "0.6", part=f)
    assert ledger.spent() == PrivacyCost.of(1)
    again = Ledger.open(path)
    assert again.spent() == PrivacyCost.of(1) and [entry.part for entry in again.entries()] == [f, m, m, f]
    for part in (Part("sex", "x"), Part("age", "f")):
        with pytest.raises(UnveilError, match=r"is not a declared part of '(sex|age)'; nothing was spent"):
            ask(ledger, "x", part=part)


def test_a_partition_has_each_part_once(make: MakeLedger) -> None:
    with pytest.raises(UnveilError, match="partition 'sex' names a part twice"):
        make(partitions={"sex": ["f", "f"]})


def test_a_batch_is_entered_as_a_whole_or_not_at_all(make: MakeLedger, ask: Ask, path: Path) -> None:
    ledger = make("1")
    drawn: list[int] = []

    def booking(number: int, loss: str = "0.3") -> Booking:
        def draw() -> dict[str, int]:
            drawn.append(number)
            return {"value": number}

        return Booking(f"count {number}", PrivacyCost.of(loss), {}, draw)

    entries = ledger.book_together([booking(1), booking(2), booking(1), booking(2)])
    assert [entry.answer["value"] for entry in entries] == [1, 2, 1, 2]
    assert [entry.asked_before for entry in entries] == [False, False, True, True]
    assert (drawn, ledger.spent()) == ([1, 2], PrivacyCost.of("0.6"))
    with pytest.raises(UnveilError) as refused:
        ledger.book_together([booking(3, "0.2"), booking(4), booking(1)])
    assert str(refused.value) == (
        f"{path}: these 2 answers would spend ε = 0.5, but only ε = 0.4 is left of ε = 1; nothing was spent"
    )
    assert (drawn, ledger.spent()) == ([1, 2], PrivacyCost.of("0.6"))

    def fail() -> dict[str, int]:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        ledger.book_together([booking(5, "0.1"), Booking("fails", PrivacyCost.of("0.1"), {}, fail)])
    assert [entry.query for entry in Ledger.open(path).entries()] == ["count 1", "count 2"]
    assert ledger.book_together([]) == []


def test_two_openings_of_a_ledger_see_each_other(make: MakeLedger, ask: Ask, path: Path) -> None:
    one, two = make("0.3"), Ledger.open(path)
    two.check_data(one.versions()[0].identity)
    ask(one, "a")
    ask(two, "b")
    assert ask(one, "b", value=7).answer == {"value": 42}
    ask(one, "c")
    assert two.left() == PrivacyCost.of(0) and len(two.entries()) == 3
    with pytest.raises(UnveilError, match="only ε = 0 is left"):
        ask(two, "d")


def test_threads_share_a_ledger(make: MakeLedger, ask: Ask) -> None:
    ledger = make("1")
    refused = list[str]()

    def ask_many(name: int) -> None:
        for number in range(5):
            try:
                ask(ledger, f"{name} {number}")
            except UnveilError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=ask_many, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(refused), len(ledger.entries()), ledger.spent()) == (10, 10, PrivacyCost.of(1))


# ---- the data --------------------------------------------------------------------------------------------------------


def test_changed_data_are_refused_until_the_ledger_is_bound_to_them(
    make: MakeLedger, ask: Ask, path: Path, identity: Identity
) -> None:
    ledger = make("1", data=identity("first", "people"))
    ask(ledger, "count", value=1)
    again = Ledger.open(path)
    with pytest.raises(UnveilError) as refused:
        again.check_data(identity("second", "people"))
    assert str(refused.value) == (
        f"{path}: the data changed; if they are a new version about the same people, bind the ledger to them with "
        "unveil budget rebind. Nothing was answered"
    )
    with pytest.raises(UnveilError, match="the data are not those of the ledger; if they are a new version"):
        again.check_data(identity("second", "others"))
    with pytest.raises(UnveilError, match="were not checked"):
        ask(again, "count 2")
    again.rebind(identity("second", "more people"))
    with pytest.raises(UnveilError, match="were not checked against the version that the ledger is about now"):
        ask(ledger, "count 2")  # it was opened for the first version
    assert again.find("count") is None
    assert ask(again, "count", value=2).answer == {"value": 2}
    assert again.spent() == PrivacyCost.of("0.2")
    assert [(entry.version, entry.answer["value"]) for entry in Ledger.open(path).entries()] == [(0, 1), (1, 2)]
    assert [version.identity for version in ledger.versions()] == [
        identity("first", "people"),
        identity("second", "more people"),
    ]
    again.rebind(identity("second", "more people"))  # it is already
    assert len(again.versions()) == 2
    ledger.check_data(identity("second", "more people"))
    assert ask(ledger, "count").answer == {"value": 2}


def test_parts_of_two_versions_add_up(make: MakeLedger, ask: Ask, identity: Identity) -> None:
    ledger = make("1", partitions={"sex": ["f", "m"]})
    ask(ledger, "f", "0.6", part=Part("sex", "f"))
    ledger.rebind(identity("second"))
    with pytest.raises(UnveilError, match=r"only ε = 0\.4 is left"):
        ask(ledger, "m", "0.6", part=Part("sex", "m"))
    ask(ledger, "m", "0.4", part=Part("sex", "m"))
    assert ledger.spent() == PrivacyCost.of(1)


# ---- waiting ---------------------------------------------------------------------------------------------------------


def test_who_waits_too_long_is_told(make: MakeLedger, ask: Ask, path: Path) -> None:
    ledger = make()
    patient, impatient = Ledger.open(path), Ledger.open(path, wait_seconds=0.05)
    impatient.check_data(ledger.versions()[0].identity)

    def draw() -> dict[str, Any]:
        assert patient.spent() == PrivacyCost.of(0)  # whoever reads does not wait
        with pytest.raises(UnveilError) as refused:
            ask(impatient, "q")
        return {"said": str(refused.value)}

    said = ledger.book("q", PrivacyCost.of("0.1"), {}, draw).answer["said"]
    assert said == f"{path}: other processes have been using it for 0.05 seconds; try again when they are done"
    assert ask(impatient, "q").answer == {"said": said}


def test_waiting_ends_with_the_run(make: MakeLedger, ask: Ask, path: Path) -> None:
    ledger, run = make(), Run()
    other = Ledger.open(path, run=run)
    other.check_data(ledger.versions()[0].identity)

    def draw() -> dict[str, Any]:
        run.cancelled.set()
        with pytest.raises(KeyboardInterrupt):
            ask(other, "q")
        return {"value": 1}

    ledger.book("p", PrivacyCost.of("0.1"), {}, draw)
    assert ledger.find("q") is None


def test_a_reader_delays_a_writer_but_loses_nothing(make: MakeLedger, ask: Ask, path: Path) -> None:
    ledger = make()
    reader = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM records").fetchone()
    timer = threading.Timer(0.2, reader.close)
    timer.start()
    assert ask(ledger, "q").answer == {"value": 42}
    timer.join()
    assert len(ledger.entries()) == 1
