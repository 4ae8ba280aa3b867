"""The book in which every private answer about a data set is entered, with what it cost, before the answer leaves.

* Spend and answer are entered in one transaction, and on the disk before anyone sees the answer. A process that is
  killed at any moment has answered nothing that is not booked; what is booked is answered again for nothing.
* The question's canonical text is the key: whoever asks the same again gets the same answer.
* Questions are entered one after another, however many processes ask. Together they never cost more than the total.
* A ledger is about the data it was made for. :meth:`Ledger.rebind` carries the spend to a new version of the data.
* Records are sealed (:mod:`.history`), and an older copy of a ledger is refused (:mod:`.register`).

What it does not notice: a ledger and a register that are both put back to an earlier state; a second ledger on another
computer or for a set of people that differs in a single id; whoever has the owner's key; and a disk that loses what it
said was written. Keep a ledger on a local disk: shared ones may not know locks.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unveil.errors import UnveilError
from unveil.ledger.data_identity import DataIdentity
from unveil.ledger.history import DataVersion, Entry, History, Record, answer_record, data_record, first_key_id
from unveil.ledger.ledger_file import DAMAGED, EDITED, LedgerFile, Transaction
from unveil.ledger.patience import Patience
from unveil.ledger.privacy_cost import UNITS, PrivacyCost
from unveil.ledger.register import Facts, HeldMark, KnownLedger, Mark, Register
from unveil.ledger.spending import Part
from unveil.owner_key import OwnerKey, load_owner_key
from unveil.release.delivery_journal import deferred_signals
from unveil.run import Run
from unveil.settings import option_text
from unveil.wording import count_text, list_text, safe_text, verb

__all__ = ["Booking", "Ledger"]

_ID_BYTES = 6
_OTHER_KEY = "was made with another owner's key; name that key with UNVEIL_KEY"
_NEVER_SEEN = "this computer has not seen this ledger before, so that an older copy of it would not be noticed"
_OPEN_TO_OTHERS = "others may read or change the ledger; restrict it with chmod 600"


@dataclass(frozen=True)
class Booking:
    """A question to be answered: its canonical text, what the answer costs, how it is found, as JSON can say it, and
    the function that draws it. ``part`` says that the answer depends on the rows of one part alone, and that each
    person has rows in at most one part (:mod:`.spending`)."""

    query: str
    cost: PrivacyCost
    details: Mapping[str, Any]
    draw: Callable[[], Mapping[str, Any]]
    part: Part | None = None


class Ledger:
    """A ledger, made with :meth:`create` or opened with :meth:`open`. ``notes``: what its owner should know."""

    def __init__(self, file: LedgerFile, register: Register, key: OwnerKey) -> None:
        self._file, self._register = file, register
        self._key, self._history = key, History(key)
        self._guard = threading.RLock()
        self._checked_version = -1
        self._notes = [*key.notes]

    @classmethod
    def create(
        cls,
        path: str | Path,
        terms: Mapping[str, Any],
        total: PrivacyCost,
        data: DataIdentity,
        *,
        unit: str = "epsilon",
        partitions: Mapping[str, Sequence[str]] | None = None,
        another_budget: bool = False,
        run: Run | None = None,
        wait_seconds: float = 60,
    ) -> Ledger:
        """Make a ledger for a data set, with a total that never changes.

        ``terms`` is what its answers presuppose, as JSON can say it. ``unit`` says what the total's loss is counted in,
        ``epsilon`` or ``rho``. ``partitions`` are the names of columns with the names of their parts. A second ledger
        about the same data or people is refused, unless they are to have ``another_budget``; the ledger then says so.
        """
        if unit not in UNITS:
            raise ValueError(f"the unit must be one of {list_text(UNITS)}")
        if not total.loss or total.delta >= 1:
            raise UnveilError(f"the total {UNITS[unit]} must be above 0, and δ below 1")
        partitions = {name: [*parts] for name, parts in (partitions or {}).items()}
        for name, parts in partitions.items():
            if len(set(parts)) < len(parts):
                raise UnveilError(f"partition {safe_text(name)!r} names a part twice")
        ledger, name = cls._at(path, run, wait_seconds), secrets.token_hex(_ID_BYTES)
        made = {"ledger": name, "key": ledger._key.id, "unit": unit, "terms": terms, "partitions": partitions}
        with ledger._register.holding_facts() as facts:
            beside = ledger._ledgers_beside(facts, data, another_budget)
            record = data_record(0, total, {**made, "data": data.hashes, "beside": beside})
            records = ledger._history.seal([record])
            ledger._file.create(records[0])
            ledger._history.append(records[0])
            facts.add_ledger(KnownLedger(name, record.written[:10]), data.hashes)
        with ledger._register.holding_mark(name) as held:
            ledger._advance(held)
        ledger._checked_version = 0
        return ledger

    @classmethod
    def open(cls, path: str | Path, *, run: Run | None = None, wait_seconds: float = 60) -> Ledger:
        """Open a ledger; one that is damaged, changed by hand or an older copy is refused."""
        ledger = cls._at(path, run, wait_seconds)
        with ledger._file.reading() as transaction:
            if not transaction.is_whole():
                raise ledger._file.error(DAMAGED)
            if first_key_id(transaction) != ledger._key.id:
                raise ledger._file.error(_OTHER_KEY)
            ledger._catch_up(transaction)
        mark = ledger._register.read_mark(ledger.id)
        ledger._refresh()  # others may have entered something before they advanced the mark
        ledger._check_mark(mark)
        if mark is None and not ledger._register.notes:
            ledger._notes.append(f"{safe_text(path, 200)}: {_NEVER_SEEN}")
        with ledger._register.holding_facts() as facts:
            ledger._add_versions(facts)
        if ledger._file.is_open_to_others():
            ledger._notes.append(f"{safe_text(path, 200)}: {_OPEN_TO_OTHERS}")
        return ledger

    # ---- what it says ------------------------------------------------------------------------------------------------

    @property
    def path(self) -> Path:
        """Where the ledger is."""
        return self._file.path

    @property
    def id(self) -> str:
        """What tells this ledger from all others, whatever its file is called."""
        return str(self._history.made["ledger"])

    @property
    def terms(self) -> Mapping[str, Any]:
        """What its answers presuppose, as it was made with."""
        found: Mapping[str, Any] = self._history.made["terms"]
        return found

    @property
    def unit(self) -> str:
        """What losses are counted in: ``epsilon`` or ``rho``."""
        return str(self._history.made["unit"])

    @property
    def partitions(self) -> Mapping[str, Sequence[str]]:
        """The columns that divide the rows, with their parts."""
        found: Mapping[str, Sequence[str]] = self._history.made["partitions"]
        return found

    @property
    def total(self) -> PrivacyCost:
        """What all answers together may cost."""
        return self._history.total

    @property
    def notes(self) -> tuple[str, ...]:
        """What the owner should know, such as what cannot be remembered."""
        return (*dict.fromkeys([*self._notes, *self._register.notes]),)

    def spent(self) -> PrivacyCost:
        """What all answers cost so far."""
        self._refresh()
        return self._history.spending.total()

    def left(self, part: Part | None = None) -> PrivacyCost:
        """What the next answer may cost, or the next one about a part."""
        self._refresh()
        return self._left(part)

    def entries(self) -> list[Entry]:
        """All answers, in the order in which they were entered."""
        self._refresh()
        return [*self._history.entries]

    def versions(self) -> list[DataVersion]:
        """The versions of the data, in order; the last one is the current one."""
        self._refresh()
        return [*self._history.versions]

    def find(self, query: str) -> Entry | None:
        """The answer to a question that was asked before about this version of the data: it costs nothing."""
        self._refresh()
        return self._history.find(query)

    # ---- what is entered ---------------------------------------------------------------------------------------------

    def book(
        self,
        query: str,
        cost: PrivacyCost,
        details: Mapping[str, Any],
        draw: Callable[[], Mapping[str, Any]],
        part: Part | None = None,
    ) -> Entry:
        """Answer a question: enter what ``draw`` returns together with its cost, and return it once it is on the disk.

        If the question was asked before, its answer is returned and ``draw`` is not called. If the cost exceeds what is
        left, or if anything goes wrong, nothing is spent.
        """
        return self.book_together([Booking(query, cost, details, draw, part)])[0]

    def book_together(self, bookings: Sequence[Booking]) -> list[Entry]:
        """Answer several questions, all of them or none."""
        for booking in bookings:
            self._check_booking(booking)
        with self._writing() as (transaction, held):
            if self._checked_version != self._history.version:
                raise self._file.error(
                    "the data were not checked against the version that the ledger is about now; nothing was spent. "
                    "Ask again"
                )
            new = {each.query: each for each in reversed(bookings) if self._history.find(each.query) is None}
            self._check_affordable([*new.values()])
            if new:
                self._enter(transaction, held, [self._draw(each) for each in reversed(new.values())])
            return [replace(self._entry(each.query), asked_before=each is not new.get(each.query)) for each in bookings]

    def price(self, costs: Sequence[tuple[PrivacyCost, Part | None]]) -> PrivacyCost:
        """By how much answers at these costs would raise what is spent; some of them may be about one part each."""
        self._refresh()
        spending = self._history.spending.copy()
        for cost, part in costs:
            spending.add(cost, part, self._history.version)
        return spending.total() - self._history.spending.total()

    def _draw(self, booking: Booking) -> Record:
        content = {"details": booking.details, "answer": booking.draw()}
        return answer_record(self._history.version, booking.query, booking.cost, booking.part, content)

    def _entry(self, query: str) -> Entry:
        found = self._history.find(query)
        assert found is not None
        return found

    def _check_booking(self, booking: Booking) -> None:
        """Refuse a question that no ledger, or this one, can enter."""
        try:
            usable = bool(booking.query) and "\0" not in booking.query and bool(booking.query.encode())
        except UnicodeEncodeError:
            usable = False
        if not usable:
            raise self._file.error("the question cannot be entered as text; nothing was spent")
        if not booking.cost.loss:
            raise self._file.error(f"an answer must cost more than {UNITS[self.unit]} = 0; nothing was spent")
        if booking.part and booking.part.name not in self.partitions.get(booking.part.partition, ()):
            raise self._file.error(
                f"{safe_text(booking.part.name)!r} is not a declared part of {safe_text(booking.part.partition)!r}; "
                "nothing was spent"
            )

    def _check_affordable(self, bookings: Sequence[Booking]) -> None:
        spending = self._history.spending.copy()
        for each in bookings:
            spending.add(each.cost, each.part, self._history.version)
        if spending.total().fits(self.total):
            return
        spent = self._history.spending.total()
        with_delta = bool(self.total.delta or spending.total().delta)
        more, left, total = (
            cost.text(self.unit, with_delta) for cost in (spending.total() - spent, self.total - spent, self.total)
        )
        answers = "the answer" if len(bookings) == 1 else f"these {count_text(len(bookings), 'answer')}"
        raise self._file.error(f"{answers} would spend {more}, but only {left} is left of {total}; nothing was spent")

    # ---- the data ----------------------------------------------------------------------------------------------------

    def check_data(self, data: DataIdentity) -> None:
        """Refuse data that are not the version that the ledger is about. Whoever books must have checked the data."""
        self._refresh()
        current = self._history.versions[-1].identity
        if data.content != current.content:
            what = "the data changed" if data.people == current.people else "the data are not those of the ledger"
            raise self._file.error(
                f"{what}; if they are a new version about the same people, bind the ledger to them with unveil budget "
                "rebind. Nothing was answered"
            )
        self._checked_version = self._history.version

    def rebind(self, data: DataIdentity, *, another_budget: bool = False) -> None:
        """Bind the ledger to a new version of its data: what was spent stays spent, and questions are asked anew."""
        with self._writing() as (transaction, held), self._register.holding_facts() as facts:
            if data != self._history.versions[-1].identity:
                beside = self._ledgers_beside(facts, data, another_budget)
                content = {"data": data.hashes, "beside": beside}
                self._enter(transaction, held, [data_record(self._history.version + 1, None, content)])
                self._add_versions(facts)
            self._checked_version = self._history.version

    def _ledgers_beside(self, facts: Facts, data: DataIdentity, another_budget: bool) -> list[str]:
        """The ids of other ledgers about the same data or people, which are refused unless they are meant."""
        others = facts.ledgers_about(data.hashes, but=self._history.made.get("ledger"))
        if others and not another_budget:
            names = list_text(f"ledger {known.ledger} of {known.date}" for known in others)
            raise self._file.error(
                f"{names} {verb(len(others), 'is', 'are')} about the same data or people already. Use that, or pass "
                f"{option_text('another_budget')} if the people are to bear the loss of both"
            )
        return [known.ledger for known in others]

    def _add_versions(self, facts: Facts) -> None:
        for version in self._history.versions:
            facts.add_ledger(KnownLedger(self.id, version.since.date().isoformat()), version.identity.hashes)

    # ---- the file ----------------------------------------------------------------------------------------------------

    @classmethod
    def _at(cls, path: str | Path, run: Run | None, wait_seconds: float) -> Ledger:
        """A ledger of which nothing was read yet."""
        key = load_owner_key()
        if not key.is_kept:
            raise UnveilError(
                f"{safe_text(path, 200)}: a ledger is sealed with the owner's key, and none can be kept; name a file "
                "for the key with UNVEIL_KEY"
            )
        patience = Patience(wait_seconds, run or Run())
        return cls(LedgerFile(Path(path), patience), Register(patience), key)

    @contextmanager
    def _writing(self) -> Iterator[tuple[Transaction, HeldMark | None]]:
        """A transaction that knows all records and whether they are the newest."""
        with (
            self._guard,
            self._file.writing() as transaction,
            self._register.holding_mark(self.id) as held,
        ):
            self._catch_up(transaction)
            self._check_mark(held and held.mark)
            yield transaction, held

    def _enter(self, transaction: Transaction, held: HeldMark | None, records: Sequence[Record]) -> None:
        """Return once the records are on the disk."""
        sealed = self._history.seal(records)
        for record in sealed:
            transaction.append(record)
        transaction.commit()
        with deferred_signals():
            for record in sealed:
                self._history.append(record)
            self._advance(held)

    def _advance(self, held: HeldMark | None) -> None:
        self._register.advance(held, Mark(len(self._history.seals), self._history.seals[-1]))

    def _refresh(self) -> None:
        with self._guard, self._file.reading() as transaction:
            self._catch_up(transaction)

    def _catch_up(self, transaction: Transaction) -> None:
        if not self._history.catch_up(transaction):
            raise self._file.error(EDITED)

    def _check_mark(self, mark: Mark | None) -> None:
        """Refuse a ledger without what the register saw in it."""
        if mark is None:
            return
        missing = mark.records - len(self._history.seals)
        if missing > 0:
            raise self._file.error(
                f"is an older copy: at least {count_text(missing, 'entry')} {verb(missing, 'is', 'are')} missing from "
                "it; use the newest copy"
            )
        if self._history.seals[mark.records - 1] != mark.seal:
            raise self._file.error(
                "is another copy: entries that were made in a copy are missing from it; use that copy"
            )

    def _left(self, part: Part | None) -> PrivacyCost:
        spending = self._history.spending
        return self.total - (spending.total() if part is None else spending.total_for(part, self._history.version))
