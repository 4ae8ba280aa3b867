"""What is released: tables, transactions, graphs and candidate matrices, with their readers and writers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.lazy_exports import lazy_exports
from unveil.release.graph import Graph as Graph
from unveil.release.matrix import Matrix as Matrix
from unveil.release.table import Table as Table
from unveil.release.transactions import Transactions as Transactions

if TYPE_CHECKING:
    from unveil.release.codes import Codes as Codes, encode_column as encode_column
    from unveil.release.column_profile import ColumnProfile as ColumnProfile, profile_columns as profile_columns
    from unveil.release.hierarchy import Hierarchy as Hierarchy
    from unveil.release.secret_mapping import truth_from_mapping as truth_from_mapping
    from unveil.release.label_matching import hierarchy_matcher as hierarchy_matcher, match_labels as match_labels
    from unveil.release.matrix import read_truth as read_truth
    from unveil.release.repeated_subjects import (
        RepeatedSubjects as RepeatedSubjects,
        find_repeated_subjects as find_repeated_subjects,
    )
    from unveil.release.roles import RoleGuess as RoleGuess, suggest_roles as suggest_roles
    from unveil.release.table import table_from_frame as table_from_frame
else:
    _lazy_names, __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "codes": "Codes encode_column",
            "column_profile": "ColumnProfile profile_columns",
            "hierarchy": "Hierarchy",
            "secret_mapping": "truth_from_mapping",
            "label_matching": "hierarchy_matcher match_labels",
            "matrix": "read_truth",
            "repeated_subjects": "RepeatedSubjects find_repeated_subjects",
            "roles": "RoleGuess suggest_roles",
            "table": "table_from_frame",
        },
    )
    __all__ = sorted(["Graph", "Matrix", "Release", "Table", "Transactions", *_lazy_names])

Release = Table | Transactions | Graph | Matrix
