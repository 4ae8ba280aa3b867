"""Linkage attacks: targets per second, against a pandas merge for each target.

A survey of 8,619 people and 353 questions, half of them not answered, and 920,000 ratings of 3,706 films by 6,040
people; both are made up, with the shape of data that document 002 and others work with. Figures are CPU seconds for
1,000 targets: drawing what is known and what Scoreboard and Â make of it, or the merge with what is known alone.
What both start from, an index here and a frame there, is made before.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import numpy as np
from _measure import measure_work, print_figure, run_in_process

if TYPE_CHECKING:
    from unveil.linkage.attack.auxiliary import Auxiliary
    from unveil.linkage.records import Records

__all__ = ["main"]

_KNOWN = (2, 8, 20)
_PROTOTYPE = {"survey": (31_000, 250_000), "ratings": (5_000, 50_000)}
_SAMPLE = 40


def main() -> None:
    """Print the figures."""
    for name in ("survey", "ratings"):
        print(f"attack: {name}, CPU seconds for 1,000 targets")
        for m in map(str, _KNOWN):
            ours, merge = (run_in_process(__file__, part, name, m) for part in ("ours", "merge"))
            assert ours["check"] == merge["check"]
            print_figure(f"{m} things known, pandas merge", merge["cpu"], ours["cpu"], "Scoreboard and Â")
            low, high = _PROTOTYPE[name]
            told = f"{1_000 / ours['cpu']:,.0f} targets per second, {1_000 / ours['alone']:,.0f} without drawing"
            print(f"    {told}; a prototype made {low:,} to {high:,}")
        several = run_in_process(__file__, "several", name, "20")
        print_figure("2, 8 and 20 at once", several["cpu"], several["apart"], "one after the other")
        for rule in ("bare", "eccentric", "likeliest", "similar"):
            print_figure(f"8 things known, {_SAID[rule]}", several[rule], several["eight"], "Scoreboard and Â")
        print(f"    the index takes {several['index']:.3f} s CPU")
    worst = run_in_process(__file__, "worst", "ratings", "3")
    print_figure("the worst 3 points of everyone", worst["cpu"], worst["random"], "3 random points of everyone")


_SAID = {
    "bare": "B̂",
    "eccentric": "Scoreboard-RH",
    "likeliest": "posterior with errors",
    "similar": "Scoreboard and Â with similarity and attributes learned",
}


def _records(name: str) -> Records:
    return _survey() if name == "survey" else _ratings()


def _survey(n: int = 8_619, c: int = 353) -> Records:
    """213 questions with two answers, 97 with up to 13 and 43 with up to 103, as in §4.5 of document 002."""
    import pyarrow as pa

    from unveil.linkage.records import records_from_codes
    from unveil.release.codes import Codes

    random = np.random.default_rng(0)
    sizes = random.permutation(
        np.concatenate([np.full(213, 2), random.integers(3, 14, 97), random.integers(14, 104, 43)])
    )
    answered = np.clip(random.beta(1.2, 1.2, c), 0.02, 1)
    columns = {}
    for i, size in enumerate(sizes):
        codes = random.choice(size, n, p=random.dirichlet(np.full(size, 0.8))).astype(np.int32)
        codes[random.random(n) >= answered[i]] = -1
        columns[f"q{i}"] = Codes(codes, pa.array(np.arange(size)))
    return records_from_codes(columns)


def _ratings(n: int = 6_040, c: int = 3_706, many: int = 920_000) -> Records:
    """Films with a long tail, people with very different numbers of ratings, and stars in no relation to them."""
    import pyarrow as pa

    from unveil.linkage.records import records_from_ratings
    from unveil.release.codes import Codes

    random = np.random.default_rng(0)
    active = random.lognormal(0, 1.1, n)
    counts = np.clip(active / active.sum() * many, 20, c // 2).astype(np.int64)
    popular = -np.log(np.arange(c) + 30.0)
    films = [np.argpartition(-(popular + random.gumbel(size=c)), k)[:k] for k in counts]
    item, user = np.concatenate(films).astype(np.int32), np.repeat(np.arange(n, dtype=np.int32), counts)
    stars = random.choice(5, len(user), p=[0.06, 0.11, 0.26, 0.35, 0.22]).astype(np.int32)
    return records_from_ratings(
        Codes(user, pa.array(np.arange(n))),
        Codes(item, pa.array(np.arange(c))),
        Codes(stars, pa.array(np.arange(1, 6))),
    )


def _sample(records: Records, m: int) -> Auxiliary:
    """What is known of the targets of the baseline."""
    from unveil.linkage.attack.auxiliary import draw_knowledge

    rows = np.random.default_rng(1).choice(records.n, _SAMPLE, replace=False)
    return draw_knowledge(records, rows, m, np.random.default_rng(2))


def _ours(name: str, known: str) -> dict[str, float]:
    from unveil.linkage.attack.adversaries import (
        posting_index,
        record_comparison,
        scoreboard_adversary,
        target_outcomes,
    )
    from unveil.linkage.attack.auxiliary import draw_knowledge

    records, m = _records(name), int(known)
    like, sight = record_comparison(records), scoreboard_adversary().evidence
    posting_index(records)  # made once and kept

    def drawn() -> Auxiliary:
        return draw_knowledge(records, np.arange(records.n), m, np.random.default_rng(0))

    things = drawn()
    alone = measure_work(lambda: target_outcomes(records, things, sight, [m], like), repeat=9)["cpu"]
    both = measure_work(lambda: target_outcomes(records, drawn(), sight, [m], like), repeat=9)
    found = target_outcomes(records, _sample(records, m), sight, [m], like).size
    thousand = int((things.usable >= m).sum()) / 1_000
    return {**both, "cpu": both["cpu"] / thousand, "alone": alone / thousand, "check": float(np.nansum(found))}


def _merge(name: str, known: str) -> dict[str, float]:
    """How many rows a merge finds: on the columns known, or on film and stars, with as many hits as things known."""
    import pandas as pd

    records, m = _records(name), int(known)
    things = _sample(records, m)
    some = np.flatnonzero(things.usable >= m)
    if name == "survey":
        frame = pd.DataFrame(records.array, columns=list(records.names))
        parts = [pd.DataFrame([things.value[t]], columns=[records.names[i] for i in things.attribute[t]]) for t in some]

        def count(part: pd.DataFrame) -> int:
            return len(frame.merge(part, on=list(part.columns)))
    else:
        user = np.repeat(np.arange(records.n), records.support)
        frame = pd.DataFrame({"user": user, "film": records.attribute, "stars": records.value})
        parts = [pd.DataFrame({"film": things.attribute[t], "stars": things.value[t]}) for t in some]

        def count(part: pd.DataFrame) -> int:
            return int((frame.merge(part, on=["film", "stars"]).groupby("user").size() == m).sum())

    took = measure_work(lambda: [count(part) for part in parts], repeat=1)
    return {**took, "cpu": took["cpu"] * 1_000 / len(some), "check": float(sum(count(part) for part in parts))}


def _several(name: str, known: str) -> dict[str, float]:
    from unveil.linkage.attack.adversaries import (
        attributes_only_adversary,
        eccentricity_adversary,
        likeliest_adversary,
        posting_index,
        record_comparison,
        scoreboard_adversary,
        target_outcomes,
    )
    from unveil.linkage.attack.auxiliary import draw_knowledge

    records = _records(name)
    everyone = np.arange(records.n)  # a copy has no index yet
    like, close = record_comparison(records), record_comparison(records, "alike", 1.0, 0.5)
    posting_index(records)  # made once and kept
    sights = {
        "eight": scoreboard_adversary(),
        "bare": attributes_only_adversary(),
        "eccentric": eccentricity_adversary(),
        "likeliest": likeliest_adversary(0.05, 0.05),
    }
    rows = np.arange(records.n)
    things, few = (draw_knowledge(records, r, int(known), np.random.default_rng(0)) for r in (rows, rows[:500]))
    sight = scoreboard_adversary().evidence
    found = {
        "cpu": measure_work(lambda: target_outcomes(records, things, sight, _KNOWN, like))["cpu"],
        "apart": sum(
            measure_work(lambda m=m: target_outcomes(records, things, sight, [m], like))["cpu"] for m in _KNOWN
        ),
        "index": measure_work(lambda: posting_index(records.select(everyone)), repeat=3)["cpu"],
        "similar": measure_work(lambda: target_outcomes(records, few, sight, [8], close), repeat=3)["cpu"] * 2,
    }
    for rule, adversary in sights.items():
        fast = adversary.evidence.kind == "candidates"
        some = things if fast else few
        took = measure_work(lambda s=adversary.evidence, k=some: target_outcomes(records, k, s, [8], like), repeat=3)[
            "cpu"
        ]
        found[rule] = took * 1_000 / len(some)
    return found


def _worst(name: str, size: str) -> dict[str, float]:
    from unveil.linkage.attack.adversaries import scoreboard_adversary
    from unveil.linkage.attack.experiment import attack_records
    from unveil.linkage.attack.worst_case import worst_case

    records = _records(name)
    assert not worst_case(records, int(size)).is_truncated
    random = measure_work(
        lambda: attack_records(records, [scoreboard_adversary()], [int(size)], rng=np.random.default_rng(0)), repeat=3
    )["cpu"]
    return measure_work(lambda: worst_case(records, int(size)), repeat=3) | {"random": random}


JOBS = {"ours": _ours, "merge": _merge, "several": _several, "worst": _worst}

if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        part, name, known = sys.argv[1:]
        print(json.dumps(JOBS[part](name, known)))
