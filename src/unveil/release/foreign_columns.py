"""Columns of files that other programs keep: values as Python sees them, each column with one type.

The libraries that read such files are not installed with unveil but with its extra called formats.
"""

from __future__ import annotations

import datetime
import importlib
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from unveil.errors import UnveilError
from unveil.wording import safe_text

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["import_format_library", "read_foreign_file", "typed_column"]

_LARGEST_EXACT = 2**53  # whole numbers up to here are exact as floating-point numbers
_INT64 = 2**63
_T = TypeVar("_T")


def import_format_library(name: str, path: Path, what: str) -> Any:
    """A library of the extra called formats, or an error that says how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise UnveilError(
            f"{safe_text(path.name)}: reading {what} needs {name}; install it with: pip install 'unveil[formats]'"
        ) from None


def read_foreign_file(path: Path, what: str, read: Callable[[], _T]) -> _T:
    """What ``read`` returns. Whatever a library makes of a damaged file becomes one clear line that quotes no data."""
    try:
        with warnings.catch_warnings():  # which may quote what they warn of
            warnings.simplefilter("ignore")
            return read()
    except (UnveilError, MemoryError):
        raise
    except Exception:
        raise UnveilError(
            f"{safe_text(path.name)}: not a readable {what} file; write it again, or export it as CSV"
        ) from None


def typed_column(values: Sequence[Any]) -> pa.Array:
    """Values of one column with the type that all of them share; as text if they share none.

    Numbers that are all whole become whole numbers, since such files often hold every number as a fraction. Times that
    are all midnight become dates.

    >>> typed_column([34.0, None]).to_pylist(), typed_column([1, 1.5]).to_pylist(), typed_column([7.0, "x"]).to_pylist()
    ([34, None], [1.0, 1.5], ['7', 'x'])
    """
    import pyarrow as pa

    kinds = {type(v) for v in values if v is not None}
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds and kinds <= {int, float}:
        whole = all(v is None or _is_whole(v) for v in values)
        return pa.array([_as_number(v, int if whole else float) for v in values], pa.int64() if whole else pa.float64())
    if kinds and kinds <= {datetime.date, datetime.datetime}:
        moments = pa.array([None if v is None else _as_moment(v) for v in values], pa.timestamp("us"))
        return moments.cast(pa.date32()) if all(v is None or _is_date(v) for v in values) else moments
    if kinds == {datetime.time}:
        return pa.array(values, pa.time64("us"))
    if kinds == {datetime.timedelta}:
        return pa.array(values, pa.duration("us"))
    return pa.array([None if v is None else _value_text(v) for v in values], pa.string())


def _is_whole(value: float) -> bool:
    return abs(value) < _INT64 if isinstance(value, int) else abs(value) <= _LARGEST_EXACT and value == int(value)


def _as_number(value: float | None, kind: type[float]) -> float | None:
    return None if value is None else kind(value)


def _is_date(value: datetime.date) -> bool:
    return not isinstance(value, datetime.datetime) or value.time() == datetime.time()


def _as_moment(value: datetime.date) -> datetime.datetime:
    return value if isinstance(value, datetime.datetime) else datetime.datetime.combine(value, datetime.time())


def _value_text(value: Any) -> str:
    """A value in a column of several types, as its program shows it."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and _is_whole(value):
        return str(int(value))
    return str(value.date()) if isinstance(value, datetime.datetime) and _is_date(value) else str(value)
