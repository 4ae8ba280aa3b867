"""Missing values that match anything, against plain grouping and against comparing every row with every other by numpy.

Adult (nine columns) as it is, where ``?`` is missing, and with more values taken out at random; and 300,000 different
rows of nine columns, where comparing takes too long to wait for. All start from columns of codes.
"""

from __future__ import annotations

import json
import sys

from _measure import data_folder, measure_work, print_figure, run_in_process

__all__ = ["main"]

_NINE = (
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native-country",
)
_SPANS = (70, 8, 16, 7, 14, 6, 5, 2, 40)
_LARGE = "300,000 different rows"


def main() -> None:
    """Print the figures."""
    data = data_folder()
    files = [] if data is None else [str(data / "tables" / "adult.csv")]
    for source, share in [(f, s) for f in files for s in ("0", "0.05", "0.2")] + [(_LARGE, s) for s in ("0.05", "0.2")]:
        name = "Adult" if source in files else _LARGE
        plain, ours, values = (run_in_process(__file__, part, source, share) for part in ("plain", "maybe", "values"))
        said = "as it is" if share == "0" else f"{float(share):.0%} of values missing"
        print(f"wildcard: {name}, {said}: {ours['profiles']:,} profiles of {ours['patterns']:,} patterns")
        if source in files:
            slow = run_in_process(__file__, "pairwise", source, share)
            print_figure("comparing all rows by numpy", slow["cpu"], ours["cpu"], "how many may be the same")
        print_figure("how many may be the same", ours["cpu"], plain["cpu"], "plain grouping")
        print_figure("and with which values", values["cpu"], plain["values"], "plain classes with values")
    complete = run_in_process(__file__, "maybe", _LARGE, "0")
    print_figure(
        "without missing values",
        complete["cpu"],
        run_in_process(__file__, "plain", _LARGE, "0")["cpu"],
        "plain grouping",
        goal=1.5,
    )


def _codes(source: str, share: str):  # type: ignore[no-untyped-def]
    """Columns of codes and a sensitive one, with a share of values missing."""
    import numpy as np
    import pyarrow.csv as csv

    random = np.random.default_rng(0)
    if source == _LARGE:
        columns = [random.integers(0, span, 300_000) for span in _SPANS]
        sensitive = random.integers(0, 20, 300_000).astype(np.int32)
    else:
        table = csv.read_csv(source)
        columns = []
        for name in _NINE:
            coded = table[name].combine_chunks().dictionary_encode()
            unknown = np.array([str(v).strip() == "?" for v in coded.dictionary.to_pylist()])
            codes = np.asarray(coded.indices)
            columns.append(np.where(unknown[codes], -1, codes))
        sensitive = np.asarray(table["salary-class"].combine_chunks().dictionary_encode().indices, np.int32)
    gone = [random.random(len(codes)) < float(share) for codes in columns]
    return [np.where(g, -1, codes).astype(np.int32) for g, codes in zip(gone, columns, strict=True)], sensitive


def _plain(source: str, share: str) -> dict[str, float]:
    """Grouping with missing as a value of its own, as ``maybe`` begins with; and the classes with their values."""
    import numpy as np

    from unveil.classes.diversity import group_sensitive_values
    from unveil.grouping import class_ids, pack_columns

    columns, sensitive = _codes(source, share)
    rows = len(sensitive)
    took = measure_work(lambda: np.bincount(class_ids(columns, rows)[0]))
    return took | {
        "values": measure_work(lambda: group_sensitive_values(*pack_columns(columns, rows, 99), sensitive))["cpu"]
    }


def _maybe(source: str, share: str) -> dict[str, float]:
    from unveil.classes.wildcard import find_neighbourhoods

    columns, sensitive = _codes(source, share)
    found = find_neighbourhoods(columns, None, len(sensitive))
    kinds = {"profiles": len(found.members), "patterns": 1 if found.patterns is None else len(found.patterns)}
    return measure_work(lambda: find_neighbourhoods(columns, None, len(sensitive)), repeat=3) | kinds


def _values(source: str, share: str) -> dict[str, float]:
    from unveil.classes.wildcard import find_neighbourhoods, neighbourhood_classes

    columns, sensitive = _codes(source, share)
    found = find_neighbourhoods(columns, None, len(sensitive))
    return measure_work(lambda: neighbourhood_classes(found, sensitive), repeat=3)


def _pairwise(source: str, share: str) -> dict[str, float]:
    """Different rows only, as for ours."""
    import numpy as np

    from reference.naive_wildcard import match_counts

    columns, _ = _codes(source, share)
    rows, members = np.unique(np.array(columns), axis=1, return_counts=True)
    return measure_work(lambda: match_counts(list(rows), members), repeat=1)


JOBS = {"plain": _plain, "maybe": _maybe, "values": _values, "pairwise": _pairwise}

if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        part, source, share = sys.argv[1:]
        print(json.dumps(JOBS[part](source, share)))
