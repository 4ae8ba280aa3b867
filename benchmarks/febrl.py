"""Linking febrl 4a with 4b without names, against splink and recordlinkage on the same columns.

5,000 people and as many records with errors, one for each. All sides compare for equality, estimate error rates and the
share of matches by expectation and maximisation from the two files alone, and link at a probability of one half: splink
and recordlinkage judge pairs one by one, unveil says which of all rows is the person's. The peers are told to compare
pairs that agree in at least one column other than the state; unveil compares all. Every side is given the columns in
memory; CPU seconds are the least of three runs after one to warm up.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from _measure import data_folder, install_peer, measure_work

__all__ = ["main"]

_WANTED = {"splink": "splink==5.0.0 pandas==3.1.1", "recordlinkage": "recordlinkage==0.16"}
_COLUMNS = ("street_number", "address_1", "address_2", "suburb", "postcode", "state", "date_of_birth")
_VARIANTS = {"address and birth": _COLUMNS, "the same and social security": (*_COLUMNS, "soc_sec_id")}

Columns = dict[str, list[str | None]]
Links = list[tuple[int, int]]
"""Rows of the second file with rows of the first."""


def main() -> None:
    """Print how good and how fast each side is."""
    print("febrl 4a–4b without names: links at a probability of one half")
    data = data_folder()
    if data is None:
        return
    folder = str(data / "records" / "febrl")
    for variant in _VARIANTS:
        ours = _ran(sys.executable, "unveil", folder, variant)
        print(f"  {variant}: {', '.join(_VARIANTS[variant])}")
        for who, said in ours["links"].items():
            print(f"    unveil, {who}: {_told(said)}")
        for peer, wanted in _WANTED.items():
            python = install_peer(peer, wanted)
            if python is None:
                print(f"    {peer} could not be installed in benchmarks/peers; nothing to compare with")
                continue
            theirs = _ran(python, peer, folder, variant)
            for who, said in theirs["links"].items():
                print(f"    {wanted.split()[0]}, {who}: {_told(said)}")
            print(
                f"    unveil takes {ours['cpu'] / theirs['cpu']:.2f} × {peer}  ({ours['cpu']:.3f} against "
                f"{theirs['cpu']:.3f} s CPU)"
            )


def _told(said: dict[str, float]) -> str:
    links, right, true = said["links"], said["right"], said["true"]
    precision, recall, f1 = right / max(1, links), right / true, 2 * right / (links + true)
    promised = f" ({said['expected']:.4f} expected)" if "expected" in said else ""
    return f"precision {precision:.4f}{promised}, recall {recall:.4f}, F1 {f1:.4f}, {links:,.0f} links"


def _ran(python: str | Path, who: str, folder: str, variant: str) -> dict[str, Any]:
    """What one side finds and needs, in a process of its own."""
    command = [python, __file__, who, folder, variant]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _side(who: str, folder: str, variant: str) -> dict[str, Any]:
    files = [_read(Path(folder) / f"dataset4{which}.csv") for which in "ab"]
    places = {name.split("-")[1]: row for row, name in enumerate(map(str, files[0]["rec_id"]))}
    true = [places[str(name).split("-")[1]] for name in files[1]["rec_id"]]
    chosen = _VARIANTS[variant]
    released, known = ({name: file[name] for name in chosen} for file in files)
    sides: dict[str, Callable[..., dict[str, Any]]] = {
        "unveil": _unveil,
        "splink": _splink,
        "recordlinkage": _recordlinkage,
    }
    return sides[who](released, known, true)


def _read(path: Path) -> Columns:
    with open(path, newline="") as file:
        head, *rows = [[value.strip() for value in row] for row in csv.reader(file) if row]
    return {name: [row[i] or None for row in rows] for i, name in enumerate(head)}


def _judged(links: Iterable[tuple[int, int]], true: list[int]) -> dict[str, float]:
    pairs = list(links)
    return {"links": len(pairs), "right": sum(true[person] == row for person, row in pairs), "true": len(true)}


def _unveil(released: Columns, known: Columns, true: list[int]) -> dict[str, Any]:
    import numpy as np
    import pyarrow as pa

    from unveil.linkage.link.assignment import Assignment, assign_links
    from unveil.linkage.link.best_match import Linkage, link_people
    from unveil.linkage.link.error_rates import estimate_error_rates
    from unveil.linkage.link.file_pair import pair_files, records_from_both
    from unveil.linkage.link.link_quality import assignment_quality, match_quality
    from unveil.release.codes import encode_column

    made = [
        {name: pa.chunked_array([pa.array(values, pa.string())]) for name, values in side.items()}
        for side in (released, known)
    ]

    def work() -> tuple[Linkage, Assignment]:
        sides = pair_files(
            *records_from_both(*({name: encode_column(own) for name, own in side.items()} for side in made))
        )
        rates = estimate_error_rates(sides)  # nobody says that everyone is in both files
        found = link_people(
            sides, scoring="likelihood", errors=rates.errors, outside=rates.outside, evidence=rates.evidence
        )
        return found, assign_links(found)

    found, together = work()
    people = range(len(true))
    results = {
        "best row of each": match_quality(found, people, true),
        "best rows that stand out by 1.5 σ": match_quality(
            found, people, true, np.flatnonzero((found.eccentricity >= 1.5) & (found.best >= 0))
        ),
        "one to one": assignment_quality(together, people, true),
    }
    said = {
        name: {"links": q.links, "right": q.right_links, "true": q.true_pairs}
        | ({} if name == "one to one" else {"expected": q.expected_precision})
        for name, q in results.items()
    }
    return {"links": said, "cpu": measure_work(work, 3)["cpu"]}


def _splink(released: Columns, known: Columns, true: list[int]) -> dict[str, Any]:
    import pandas as pd
    import splink.comparison_library as cl
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    frames = [pd.DataFrame(side).assign(unique_id=range(len(true))) for side in (released, known)]
    settings = SettingsCreator(
        link_type="link_only",
        comparisons=[cl.ExactMatch(name).configure(term_frequency_adjustments=True) for name in released],
        blocking_rules_to_generate_predictions=[block_on(name) for name in released if name != "state"],
    )

    def work() -> pd.DataFrame:
        database = DuckDBAPI()
        names = ("a", "b")  # the order of the names is that of the files
        tables = [database.register(frame, dataset_display_name=n) for frame, n in zip(frames, names, strict=True)]
        linker = Linker(tables, settings)
        training = linker.training
        rules = [block_on("date_of_birth", "postcode"), block_on("address_1", "street_number")]
        training.estimate_probability_two_random_records_match(rules, recall=0.8)
        training.estimate_u_using_random_sampling(max_pairs=1e6)
        for name in ("date_of_birth", "postcode"):
            training.estimate_parameters_using_expectation_maximisation(block_on(name))
        return linker.inference.predict(threshold_match_probability=0.5).as_pandas_dataframe()

    found = work()
    assert (found["source_dataset_l"] == "a").all()
    best = found.sort_values("match_weight").groupby("unique_id_r").tail(1)
    said = {
        name: _judged(zip(pairs["unique_id_r"], pairs["unique_id_l"], strict=True), true)
        for name, pairs in (("all pairs", found), ("best row of each", best))
    }
    return {"links": said, "cpu": measure_work(work, 3)["cpu"]}


def _recordlinkage(released: Columns, known: Columns, true: list[int]) -> dict[str, Any]:
    import pandas as pd
    import recordlinkage

    frames = [pd.DataFrame(side) for side in (released, known)]

    def work() -> pd.Series:
        index = recordlinkage.Index()
        for name in released:
            if name != "state":
                index.block(name)
        compare = recordlinkage.Compare(n_jobs=1)
        for name in released:
            compare.exact(name, name, label=name)
        agreed = compare.compute(index.index(*frames), *frames)
        model = recordlinkage.ECMClassifier()
        model.fit(agreed)
        return model.prob(agreed)

    found = work()
    likely = found[found >= 0.5]
    best = likely.groupby(level=1).idxmax()
    said = {
        "all pairs": _judged(((person, row) for row, person in likely.index), true),
        "best row of each": _judged(((person, row) for row, person in best), true),
    }
    return {"links": said, "cpu": measure_work(work, 3)["cpu"]}


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        print(json.dumps(_side(*sys.argv[1:])))
