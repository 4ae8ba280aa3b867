"""unveil: just how safe is your anonymised data?

Read a release, assess it, read the verdict::

    import unveil

    release = unveil.read("patients.csv")
    policy = unveil.Policy(quasi=(("age", "zip", "sex"),), sensitive=("diagnosis",))
    print(unveil.assess(release, policy))

The names in ``__all__`` are the stable interface.
"""

from typing import TYPE_CHECKING

from unveil.assess import assess
from unveil.assessment import Assessment
from unveil.case import Case
from unveil.comparison import Comparison, compare
from unveil.engine import Engine
from unveil.errors import UnveilError
from unveil.finding import Finding
from unveil.lazy_exports import lazy_exports
from unveil.policy import Policy
from unveil.protect import ProtectedRelease, protect
from unveil.recipe import Recipe
from unveil.release import Graph, Matrix, Table, Transactions
from unveil.release.read import read
from unveil.release.write import write
from unveil.run import Run
from unveil.verdict import Verdict
from unveil.weigh import weigh
from unveil.weighed_protections import WeighedProtection, WeighedProtections

if TYPE_CHECKING:
    from unveil.dp.curator import PrivateAnswer, make_ledger, query
    from unveil.dp.declarations import CategoryColumn, DeclaredTable, NumberColumn
    from unveil.ledger.ledger import Ledger
else:
    _, __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "dp.curator": "PrivateAnswer make_ledger query",
            "dp.declarations": "CategoryColumn DeclaredTable NumberColumn",
            "ledger.ledger": "Ledger",
        },
    )

__all__ = [
    "Assessment",
    "Case",
    "CategoryColumn",
    "Comparison",
    "DeclaredTable",
    "Engine",
    "Finding",
    "Graph",
    "Ledger",
    "Matrix",
    "NumberColumn",
    "Policy",
    "PrivateAnswer",
    "ProtectedRelease",
    "Recipe",
    "Run",
    "Table",
    "Transactions",
    "UnveilError",
    "Verdict",
    "WeighedProtection",
    "WeighedProtections",
    "assess",
    "compare",
    "make_ledger",
    "protect",
    "query",
    "read",
    "weigh",
    "write",
]
