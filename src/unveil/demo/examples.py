"""The four examples: what is written, and under which policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from unveil.release import Graph, Release, Transactions
from unveil.release.table import table_of
from unveil.release.target import atomic
from unveil.release.write import write

if TYPE_CHECKING:
    import numpy as np

__all__ = ["EXAMPLES", "Example"]


@dataclass(frozen=True)
class Example:
    """A release made from a seed, and its policy as TOML."""

    file: str
    make: Callable[[np.random.Generator], Release]
    policy: str

    def write(self, directory: Path, seed: int) -> tuple[Path, Path]:
        """Write the release and its policy; returns both paths."""
        import numpy as np

        release, policy = directory / self.file, directory / Path(self.file).with_suffix(".toml")
        write(self.make(np.random.default_rng(seed)), release)
        with atomic(policy) as written:
            written.write(self.policy.encode())
        return release, policy


def _patients(rng: np.random.Generator) -> Release:
    from unveil.demo.hospital import hospital

    return table_of(hospital(rng))


def _baskets(rng: np.random.Generator) -> Release:
    from unveil.demo.grocery import grocery

    return Transactions.from_baskets(grocery(rng))


def _friends(rng: np.random.Generator) -> Release:
    from unveil.demo.friends import friends

    edges = friends(rng)
    return Graph.from_edges(edges[:, 0], edges[:, 1])


def _films(rng: np.random.Generator) -> Release:
    from unveil.demo.films import films

    return table_of(films(rng))


EXAMPLES = (
    Example(
        "patients.csv",
        _patients,
        """\
# A hospital wants to publish last year's visits.
[columns]
identifier = ["name"]
quasi = [
    ["birth_date", "sex", "zip"],   # what a neighbour or an employer knows
    ["admitted", "ward", "sex"],    # what a visitor of the ward knows
]
sensitive = ["diagnosis"]
insensitive = ["days", "cost"]
subject = "patient"                 # a patient can have several visits

[tolerance]
classes.k = 5
""",
    ),
    Example(
        "baskets.dat",
        _baskets,
        """\
# A grocer wants to publish what is bought together, products replaced by numbers.
[tolerance]
items.expected_cracks = 0.1
""",
    ),
    Example(
        "films.csv",
        _films,
        """\
# A film club wants to publish its members' ratings, names replaced by numbers.
things_known = 3                    # what a colleague heard someone say about films

[columns]
ratings = ["person", "film", "stars", "date"]

[compare]
stars = "1"                         # give or take a star
date = "30d"                        # and a month

[tolerance]
linkage.success = 0.1
""",
    ),
    Example(
        "friends.edges",
        _friends,
        """\
# A network wants to publish who knows whom, names replaced by numbers.
[tolerance]
network.degree_k = 5
""",
    ),
)
