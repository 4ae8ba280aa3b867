"""OpenDP is optional: nothing loads it before noise is drawn, and its absence is one clear line."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import pytest

import unveil.dp
from unveil.dp.mechanisms.opendp_library import load_opendp
from unveil.errors import UnveilError


def test_nothing_of_it_is_loaded_with_the_room() -> None:
    modules = [module.name for module in pkgutil.walk_packages(unveil.dp.__path__, "unveil.dp.")]
    code = (
        f"import sys, importlib; [importlib.import_module(name) for name in {modules}]; print('opendp' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"


def test_its_absence_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(UnveilError, match=r'install it with: pip install "unveil\[dp\]"'):
        load_opendp.__wrapped__()
