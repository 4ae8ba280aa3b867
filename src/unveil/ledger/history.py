"""The records of a ledger, in order, each sealed together with those before it.

A *seal* is the keyed hash of a record and of the seal before it. Whoever changes, inserts or removes a record without
the owner's key breaks the seals from there on. The records that are cut off at the end are told by the register.
"""

from __future__ import annotations

import contextlib
import datetime
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple

from unveil.ledger.data_identity import DataIdentity
from unveil.ledger.ledger_file import Transaction
from unveil.ledger.privacy_cost import PrivacyCost, fraction_text
from unveil.ledger.spending import Part, Spending
from unveil.owner_key import OwnerKey
from unveil.release.delivery_journal import deferred_signals

__all__ = ["DataVersion", "Entry", "History", "Record", "answer_record", "data_record", "first_key_id"]

_COLUMNS = "number, kind, version, query, loss, delta, partition, part, content, written, seal"


class Record(NamedTuple):
    """A row of a ledger's file."""

    number: int
    kind: str
    version: int
    query: str | None
    loss: str | None
    delta: str | None
    partition: str | None
    part: str | None
    content: str
    written: str
    seal: str

    @property
    def cost(self) -> PrivacyCost:
        """What an answer costs, or the total of a ledger."""
        return PrivacyCost(Fraction(self.loss or 0), Fraction(self.delta or 0))


@dataclass(frozen=True)
class Entry:
    """An answer: the question's canonical text, what it cost, how it was found, and when it was entered. ``version`` is
    that of the data; ``asked_before`` says that this time it cost nothing."""

    query: str
    cost: PrivacyCost
    part: Part | None
    details: Mapping[str, Any]
    answer: Mapping[str, Any]
    when: datetime.datetime
    version: int
    asked_before: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class DataVersion:
    """A version of the data, since when the ledger is about it, and the ids of other ledgers that were known to be
    about the same people."""

    identity: DataIdentity
    since: datetime.datetime
    beside: tuple[str, ...]


class History:
    """What the records say, after every seal was checked."""

    def __init__(self, key: OwnerKey) -> None:
        self._key = key
        self.seals: list[str] = []
        self.made: Mapping[str, Any] = {}
        self.total = PrivacyCost(Fraction(0))
        self.versions: list[DataVersion] = []
        self.entries: list[Entry] = []
        self.spending = Spending()
        self._asked: dict[tuple[int, str], Entry] = {}

    @property
    def version(self) -> int:
        """The number of the current version of the data."""
        return len(self.versions) - 1

    def find(self, query: str) -> Entry | None:
        """The answer to a question that was asked before about the current version of the data."""
        found = self._asked.get((self.version, query))
        return found and replace(found, asked_before=True)

    def catch_up(self, transaction: Transaction) -> bool:
        """Read what was entered since; False if the records are not those that unveil wrote."""
        known = len(self.seals)
        rows = transaction.rows(f"SELECT {_COLUMNS} FROM records WHERE number >= ? ORDER BY number", max(known - 1, 0))
        records = [Record(*row) for row in rows]
        if known and not (records and records.pop(0).seal == self.seals[-1]):
            return False
        with deferred_signals():
            return bool(known or records) and all(self.append(record) for record in records)

    def seal(self, records: Sequence[Record]) -> list[Record]:
        """The same records, numbered and sealed as those that follow."""
        sealed = list[Record]()
        for record in records:
            before = sealed[-1].seal if sealed else self._last_seal
            sealed.append(self._sealed(record._replace(number=len(self.seals) + len(sealed)), before))
        return sealed

    def append(self, record: Record) -> bool:
        """Enter the record that follows; False if it does not, or if its seal is broken."""
        sealed = self._sealed(record, self._last_seal)
        if record.number != len(self.seals) or not hmac.compare_digest(sealed.seal, record.seal):
            return False
        content, when = json.loads(record.content), datetime.datetime.fromisoformat(record.written)
        if record.kind == "answer":
            self._add_answer(record, content, when)
        else:
            self.versions.append(DataVersion(DataIdentity(*content["data"]), when, tuple(content["beside"])))
        if record.kind == "made":
            self.made, self.total = MappingProxyType(content), record.cost
        self.seals.append(record.seal)
        return True

    def _add_answer(self, record: Record, content: Mapping[str, Any], when: datetime.datetime) -> None:
        part = Part(record.partition, record.part) if record.partition is not None and record.part is not None else None
        query = record.query or ""
        entry = Entry(query, record.cost, part, content["details"], content["answer"], when, record.version)
        self.entries.append(entry)
        self.spending.add(entry.cost, part, record.version)
        self._asked[record.version, query] = entry

    @property
    def _last_seal(self) -> str:
        return self.seals[-1] if self.seals else ""

    def _sealed(self, record: Record, before: str) -> Record:
        return record._replace(seal=self._key.hash_text("unveil ledger: record " + to_json([before, *record[:-1]])))


def answer_record(version: int, query: str, cost: PrivacyCost, part: Part | None, content: Mapping[str, Any]) -> Record:
    """An answer about a version of the data, not yet sealed."""
    partition, name = part or (None, None)
    fields = (query, fraction_text(cost.loss), fraction_text(cost.delta), partition, name)
    return Record(0, "answer", version, *fields, to_json(content), _now(), "")


def data_record(version: int, total: PrivacyCost | None, content: Mapping[str, Any]) -> Record:
    """A new ledger with its total, or a new version of the data, not yet sealed."""
    kind, loss, delta = "rebound", None, None
    if total is not None:
        kind, loss, delta = "made", fraction_text(total.loss), fraction_text(total.delta)
    return Record(0, kind, version, None, loss, delta, None, None, to_json(content), _now(), "")


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def first_key_id(transaction: Transaction) -> str | None:
    """Under which key the first record says that a ledger is sealed; None if it says nothing."""
    with contextlib.suppress(LookupError, ValueError, TypeError):
        return str(json.loads(transaction.rows("SELECT content FROM records WHERE number = 0")[0][0])["key"])
    return None


def to_json(value: object) -> str:
    """Compact JSON in ASCII; a number that is not finite is an error."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"))
