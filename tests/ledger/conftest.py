"""Ledgers to test with, each test with an owner's key and a register of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unveil.ledger import DataDigests, DataIdentity, Ledger, PrivacyCost, identify_data

MakeLedger = Callable[..., Ledger]


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The owner's configuration folder."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "unveil"


@pytest.fixture
def identity() -> Callable[..., DataIdentity]:
    """The identity of data with this content and these people."""
    return lambda content="patients", people=None: identify_data(lambda: DataDigests(content, people))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the ledger is."""
    (tmp_path / "ledgers").mkdir()
    return tmp_path / "ledgers" / "patients.ledger"


@pytest.fixture
def make(path: Path, identity: Callable[..., DataIdentity]) -> MakeLedger:
    """Make a ledger, by default with a total of 1."""

    def make_ledger(total: PrivacyCost | str = "1", **options: Any) -> Ledger:
        cost = PrivacyCost.of(total) if isinstance(total, str) else total
        data = options.pop("data", None) or identity()
        return Ledger.create(options.pop("path", path), {"columns": ["age"]}, cost, data, **options)

    return make_ledger


@pytest.fixture
def ask() -> Callable[..., Any]:
    """Ask a question, by default for 0.1, whose answer is a number."""

    def ask_ledger(ledger: Ledger, query: str, loss: str = "0.1", value: object = 42, **options: Any) -> Any:
        return ledger.book(query, PrivacyCost.of(loss), {"mechanism": "geometric"}, lambda: {"value": value}, **options)

    return ask_ledger
