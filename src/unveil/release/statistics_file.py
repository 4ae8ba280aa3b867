"""Files of statistics packages: SPSS, Stata and SAS.

Values are the codes that are stored, not their labels: two codes may share a label, so that codes tell people apart at
least as well. What the file itself declares as missing is missing.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from unveil.engine import Engine
from unveil.release.foreign_columns import import_format_library, read_foreign_file, typed_column
from unveil.release.source_file import Origin, file_digest
from unveil.release.table import Table, register_table
from unveil.wording import count_text, verb

__all__ = ["read_sas", "read_sas_transport", "read_spss", "read_spss_portable", "read_stata"]


def _read_encoded(
    function: str, what: str, path: Path, *, engine: Engine | None = None, encoding: str | None = None
) -> Table:
    return _read_file(function, what, path, engine, {} if encoding is None else {"encoding": encoding})


def read_spss_portable(path: Path, *, engine: Engine | None = None) -> Table:
    """A portable file of SPSS, whose characters have an encoding of their own."""
    return _read_file("read_por", "SPSS", path, engine, {})


def _read_file(function: str, what: str, path: Path, engine: Engine | None, options: dict[str, str]) -> Table:
    """A table from a file that this function of pyreadstat reads."""
    import pyarrow as pa

    pyreadstat = import_format_library("pyreadstat", path, f"{what} files")
    origin, sha256 = Origin.of_file(path), file_digest(path)

    def read() -> tuple[pa.Table, Any]:
        columns, facts = getattr(pyreadstat, function)(str(path), output_format="dict", **options)
        rows = {len(values) for values in columns.values()}
        if len(rows) > 1 or (facts.number_rows is not None and rows and rows != {facts.number_rows}):
            raise ValueError("fewer rows than announced")
        return pa.Table.from_arrays([typed_column(v) for v in columns.values()], list(columns)), facts

    table, facts = read_foreign_file(path, what, read)
    origin.check_unchanged()
    labelled = sum(bool(labels) for labels in facts.variable_value_labels.values())
    notes = (
        f"{count_text(labelled, 'column')} {verb(labelled, 'has', 'have')} value labels; the codes were read, not the "
        "labels",
    )
    return register_table(table, path.name, sha256, engine, notes=notes if labelled else ())


read_spss = partial(_read_encoded, "read_sav", "SPSS")
read_stata = partial(_read_encoded, "read_dta", "Stata")
read_sas = partial(_read_encoded, "read_sas7bdat", "SAS")
read_sas_transport = partial(_read_encoded, "read_xport", "SAS")
