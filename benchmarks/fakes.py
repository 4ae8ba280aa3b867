"""Fake rows: which certain inferences they remove and which beliefs they leave, and why they are not the default.

Adult, salary class from two facts out of six: age in eight quantiles, education, occupation, relationship, sex and
native country; facts count however few people share them. Shares are of the real people. The baseline copies real
people and gives them the other salary class, whoever contradicts most inferences first.
"""

from __future__ import annotations

from itertools import combinations

from _measure import data_folder

__all__ = ["main"]

_KNOWN = ("age", "education", "occupation", "relationship", "sex", "native-country")
_FACTS = 2


def main() -> None:
    """Print the figures."""
    import numpy as np

    import unveil
    from unveil.inference import fill_with_fakes

    print(f"fakes: what fake rows change about inferences from {_FACTS} facts")
    data = data_folder()
    if data is None:
        return
    codes = unveil.read(data / "tables" / "adult.csv").codes([*_KNOWN, "salary-class"])
    ages = np.array([int(value) for value in codes["age"].values])[codes["age"].codes]
    bins = np.searchsorted(np.quantile(ages, np.arange(1, 8) / 8), ages).astype(np.int32)
    columns, salary = [bins, *(codes[c].codes for c in _KNOWN[1:])], codes["salary-class"].codes
    fakes = fill_with_fakes(columns, salary, facts=_FACTS, rng=np.random.default_rng(0))
    given_away = _print_shares("as it is", columns, salary)
    _print_shares("fakes", columns, salary, fakes.facts, fakes.values, given_away)
    _print_shares("copies of real people", columns, salary, *_copy_people(columns, salary), given_away)


def _print_shares(what, columns, sensitive, facts=None, values=(), given_away=None):  # type: ignore[no-untyped-def]
    """Print, and return, about which real people two facts are certain, beside fakes; and about how many of all, and of
    those given away before, they leave a belief of .9 or more."""
    import numpy as np

    from unveil.inference import measure_gains

    real = len(sensitive)
    if facts is not None:
        columns = [np.append(own, facts[:, c]).astype(np.int32) for c, own in enumerate(columns)]
        sensitive = np.append(sensitive, values).astype(np.int32)
    found = measure_gains(columns, sensitive, facts=_FACTS, fewest=1, gain=0.5)
    belief = (found.best[_FACTS] + (np.bincount(sensitive) / len(sensitive))[sensitive])[:real]
    certain, is_sure = found.certain[_FACTS][:real], belief >= 0.9 - 1e-12
    before = "" if given_away is None else f", for {is_sure[given_away].mean():.1%} of those who were certain"
    print(
        f"  {what}: {len(values):,} rows ({len(values) / real:.1%}), certain for {certain.mean():.1%} of {real:,} "
        f"people, belief of at least .9 for {is_sure.mean():.1%}{before}"
    )
    return certain


def _copy_people(columns, salary):  # type: ignore[no-untyped-def]
    """Rows of real people with the other salary class that contradict everything certain, chosen greedily."""
    import numpy as np

    people = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    rows, of_person = people[0], people[1].ravel()
    contradicts = {0: [], 1: []}  # by salary class: which rows share the facts that it follows from
    for size in range(1, _FACTS + 1):
        for known in combinations(range(len(columns)), size):
            cell = np.unique(rows[:, known], axis=0, return_inverse=True)[1].ravel()
            low, high = np.full(cell.max() + 1, 1), np.zeros(cell.max() + 1, np.int64)
            np.minimum.at(low, cell[of_person], salary)
            np.maximum.at(high, cell[of_person], salary)
            for one in np.flatnonzero(low == high).tolist():
                contradicts[int(low[one])].append(cell == one)
    chosen, values = [], []
    for salary_class, cells in contradicts.items():
        left = np.array(cells)
        while len(left):
            best = int(left.sum(axis=0).argmax())
            left = left[~left[:, best]]
            chosen.append(rows[best])
            values.append(1 - salary_class)
    return np.array(chosen), values


if __name__ == "__main__":
    main()
