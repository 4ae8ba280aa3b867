"""The examples, each with its policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from unveil.release import Graph, Release, Transactions
from unveil.release.delivery import open_atomic
from unveil.release.table import table_from_frame
from unveil.release.write import write

if TYPE_CHECKING:
    import numpy as np

__all__ = ["EXAMPLES", "Example"]


@dataclass(frozen=True)
class Example:
    """A release generated from a seed, and its policy as TOML. If there is a ``protected_file``, a safer version of it
    is made as well."""

    file: str
    make: Callable[[np.random.Generator], Release]
    policy: str
    protected_file: str = ""

    def write(self, directory: Path, seed: int) -> tuple[Path, Path]:
        """Write the release and its policy; returns both paths."""
        import numpy as np

        release, policy = directory / self.file, directory / Path(self.file).with_suffix(".toml")
        write(self.make(np.random.default_rng(seed)), release)
        with open_atomic(policy) as written:
            written.write(self.policy.encode())
        return release, policy


def _make_patients(rng: np.random.Generator) -> Release:
    from unveil.demo.hospital import make_visits

    return table_from_frame(make_visits(rng))


def _make_baskets(rng: np.random.Generator) -> Release:
    from unveil.demo.grocery import make_baskets

    return Transactions.from_baskets(make_baskets(rng))


def _make_friends(rng: np.random.Generator) -> Release:
    from unveil.demo.friends import make_friendships

    edges = make_friendships(rng)
    return Graph.from_edges(edges[:, 0], edges[:, 1])


def _make_films(rng: np.random.Generator) -> Release:
    from unveil.demo.films import make_ratings

    return table_from_frame(make_ratings(rng))


def _make_survey(rng: np.random.Generator) -> Release:
    from unveil.demo.survey import make_answers

    return table_from_frame(make_answers(rng))


EXAMPLES = (
    Example(
        "patients.csv",
        _make_patients,
        """\
# A hospital wants to publish last year's visits.
[columns]
identifier = ["name"]
quasi = [
    ["birth_date", "sex", "zip"],   # what a neighbour or an employer knows
    ["admitted", "ward", "sex"],    # what a visitor to the ward knows
]
sensitive = ["diagnosis"]
insensitive = ["days", "cost"]
subject = "patient"                 # a patient can have several visits

[tolerance]
classes.k = 5
""",
        protected_file="patients-protected.csv",
    ),
    Example(
        "baskets.dat",
        _make_baskets,
        """\
# A grocer wants to publish what is bought together, products replaced by numbers.
[tolerance]
items.expected_cracks = 0.1
""",
    ),
    Example(
        "films.csv",
        _make_films,
        """\
# A film club wants to publish its members' ratings, names replaced by numbers.
[columns]
ratings = ["person", "film", "stars", "date"]

[linkage]
known = 3                           # what a colleague heard someone say about films

[linkage.compare]
stars = "1"                         # give or take a star
date = "30d"                        # and a month

[tolerance]
linkage.success = 0.1
""",
    ),
    Example(
        "friends.edges",
        _make_friends,
        """\
# A network wants to publish who knows whom, names replaced by numbers.
[tolerance]
network.degree_k = 5
""",
    ),
    Example(
        "survey.csv",
        _make_survey,
        """\
# A town wants to publish how content its people are, in coarse groups.
rows_are_people = true              # nobody was asked twice

[columns]
quasi = ["age_group", "district", "sex"]
sensitive = ["answer"]
""",
    ),
)
