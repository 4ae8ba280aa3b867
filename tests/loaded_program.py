"""What the command line may load. A process that forks others imports this module once for all of them."""

from __future__ import annotations

import importlib
import pkgutil

import altair  # noqa: F401
import pandas as pd  # noqa: F401
import pyarrow.pandas_compat  # noqa: F401
import rich.console
import rich.progress
import rich.table  # noqa: F401
from numba.core.registry import cpu_target

import unveil

for module in pkgutil.walk_packages(unveil.__path__, "unveil."):
    if module.name.split(".")[1] not in ("__main__", "_shipped"):
        importlib.import_module(module.name)

cpu_target.target_context.refresh()  # what numba loads before its first kernel
cpu_target.typing_context.refresh()
