"""unveil: just how safe is your anonymised data?

Read a release, assess it, read the verdict::

    import unveil

    release = unveil.read("patients.csv")
    policy = unveil.Policy(quasi=(("age", "zip", "sex"),), sensitive=("diagnosis",))
    print(unveil.assess(release, policy))

The names in ``__all__`` are the stable interface.
"""

from unveil.assess import assess
from unveil.assessment import Assessment
from unveil.case import Case
from unveil.comparison import Comparison, compare
from unveil.engine import Engine
from unveil.errors import UnveilError
from unveil.finding import Finding
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

__all__ = [
    "Assessment",
    "Case",
    "Comparison",
    "Engine",
    "Finding",
    "Graph",
    "Matrix",
    "Policy",
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
    "protect",
    "read",
    "weigh",
    "write",
]
