"""What the rooms export: documented names, loaded when they are used, and known to type checkers."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOMS = ("classes", "dp", "inference", "items", "ledger", "linkage", "matching", "network", "release")
EACH = pytest.mark.parametrize("room", ROOMS)


def checked_names(path: Path) -> dict[str, str]:
    """The names that a package re-exports to type checkers, with their modules."""
    imports = (
        node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.ImportFrom)
    )
    return {
        name: node.module or ""
        for node in imports
        for alias in node.names
        for name in (importlib.import_module(node.module or "").__all__ if alias.name == "*" else [alias.name])
        if alias.name in ("*", alias.asname)
    }


@EACH
def test_every_exported_name_is_documented_and_comes_from_where_type_checkers_look(room: str) -> None:
    package = importlib.import_module(f"unveil.{room}")
    assert package.__file__ is not None
    modules = checked_names(Path(package.__file__))
    assert set(package.__all__) - {"Release"} == set(modules)
    for name, module in modules.items():
        found = getattr(package, name)
        assert found is getattr(importlib.import_module(module), name)
        assert (found.__doc__ or "").strip() and not found.__doc__.startswith(f"{name}("), name
        assert name in dir(package)


@EACH
def test_no_exported_name_hides_a_module(room: str) -> None:
    package = importlib.import_module(f"unveil.{room}")
    assert not set(package.__all__) & {module.name for module in pkgutil.iter_modules(package.__path__)}


@EACH
def test_an_unknown_name_is_refused(room: str) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        importlib.import_module(f"unveil.{room}").nonsense  # noqa: B018


def test_importing_rooms_loads_no_kernels() -> None:
    rooms = ", ".join(f"unveil.{room}" for room in ROOMS)
    code = f"import sys, {rooms}; print(*{{'numba', 'numpy', 'scipy'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not done.stdout.strip()
