"""Protecting Adult (32,561 rows, eight quasi-identifiers): what choosing costs against one attack, and how useful the
chosen plan leaves the table beside two plain ways to the same aim. Columns have the hierarchies that come with ARX.

In lockstep, all columns go up level by level together, one without a level left being left out while three columns
stay; rows only leaves out the rows that are most likely found, a percent at a time. Usefulness is the share of rows
kept times the mean share of entropy that columns keep.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

from _measure import data_folder, measure_work, print_figure, run_in_process

if TYPE_CHECKING:
    from unveil.linkage.protections.plan_search import PlanSearch

__all__ = ["main"]

_QUASI = ("age", "sex", "race", "marital-status", "education", "native-country", "workclass", "occupation")
_AIMS = ((4, 0.1), (4, 0.05), (4, 0.02), (8, 0.5), (8, 0.2), (8, 0.1))
_KINDS = {"columns": ("columns",), "values": ("values",), "rows": ("rows",), "mixed": ("columns", "values", "rows")}


def main() -> None:
    """Print the figures."""
    print("protect_tables: Adult, eight quasi-identifiers")
    data = data_folder()
    if data is None:
        return
    file = str(data / "tables" / "adult.csv")
    for known, aim in _AIMS:
        took = run_in_process(__file__, file, str(known), str(aim))
        named = f"one attack, {known} known, at most {aim:g} found"
        for kind in _KINDS:
            print_figure(f"choosing {kind}", took[f"{kind} cpu"], took["attack"], named)
        ways = [f"{way} {took[way]:.3f}" if took[way] else f"{way} out of reach" for way in ("lockstep", *_KINDS)]
        print(f"  usefulness at {aim:g}, now {took['now']:.3f}: {', '.join(ways)}")


def _figures(file: str, known: int, aim: float) -> dict[str, float]:
    import unveil
    from unveil import Case, Policy, Run
    from unveil.linkage.protect import plan_search
    from unveil.linkage.protections.greedy_search import smallest_plan
    from unveil.release.hierarchy import Hierarchy

    table = unveil.read(file, strip=True)
    insensitive = tuple(c for c in table.columns if c not in _QUASI)
    said = Policy(quasi=_QUASI, insensitive=insensitive, settings={"linkage": {"known": known}})
    levels = {c: Hierarchy.read(Path(file).parent / "adult-hierarchies" / f"adult_hierarchy_{c}.csv") for c in _QUASI}
    search = plan_search(Case(table, hierarchies=levels), said, Run())
    found = {
        "now": search.success_bound(search.unchanged_plan),
        "attack": measure_work(lambda: search.attack_plan(search.unchanged_plan))["cpu"],
    }
    for name, kinds in _KINDS.items():
        fresh = plan_search(Case(table, hierarchies=levels), said, Run())
        start = process_time()
        plan = smallest_plan(fresh, aim, kinds)
        found[f"{name} cpu"] = process_time() - start
        found[name] = 0.0 if plan is None else fresh.plan_usefulness(plan)
    found["lockstep"] = _lockstep(search, aim)
    return found


def _lockstep(search: PlanSearch, aim: float) -> float:
    """All columns a level up, again and again; the last three stay on their coarsest labels."""
    from unveil.linkage.protections.table_search import MIN_COLUMNS

    plan = search.unchanged_plan
    for level in range(1, max(ladder.left_out_level for ladder in search.ladders) + 1):
        for i, ladder in enumerate(search.ladders):
            stays = (
                plan.levels[i] < ladder.left_out_level == min(level, ladder.left_out_level)
                and len(search.kept_columns(plan)) <= MIN_COLUMNS
            )
            plan = plan.move_column(i, min(level, ladder.left_out_level - stays), 0)
        if search.success_bound(plan) <= aim:
            return float(search.plan_usefulness(plan))
    return 0.0


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(_figures(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))))
    else:
        main()
