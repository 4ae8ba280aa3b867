"""Export a package's public names without importing the modules that define them (PEP 562).

The command line imports every room's door, so a room must not import its kernels when it is itself imported. A package
lists its names by module; the first use of a name imports its module.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["lazy_exports"]


def lazy_exports(
    package: str, names_by_module: Mapping[str, str]
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__all__``, ``__getattr__`` and ``__dir__`` of a package whose modules define these names.

    Modules are relative to the package, and their names are separated by blanks. The package imports the same names
    under ``TYPE_CHECKING``, so that type checkers and editors know them.

    >>> names, get, _ = lazy_exports("unveil", {"errors": "UnveilError"})
    >>> names, get("UnveilError").__name__
    (['UnveilError'], 'UnveilError')
    """
    module_of = {name: f"{package}.{module}" for module, names in names_by_module.items() for name in names.split()}

    def __getattr__(name: str) -> Any:  # noqa: N807
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(module_of[name]), name)
        setattr(sys.modules[package], name, found)  # Python finds it without asking again
        return found

    def __dir__() -> list[str]:  # noqa: N807
        return sorted({*vars(sys.modules[package]), *module_of})

    return sorted(module_of), __getattr__, __dir__
