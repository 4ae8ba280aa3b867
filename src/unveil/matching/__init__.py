"""Which pseudonym is which? The exact-probability kernel that the rooms build on.

``Candidates`` states what an attacker considers possible; ``solve`` finds how likely each pseudonym is to be cracked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from unveil.matching.blocks import (
        Block as Block,
        InfeasibleError as InfeasibleError,
        feasible_flow as feasible_flow,
        independent_blocks as independent_blocks,
    )
    from unveil.matching.candidates import Candidates as Candidates
    from unveil.matching.column_subsets import matrix_marginals as matrix_marginals
    from unveil.matching.data_flow import network_matrix as network_matrix
    from unveil.matching.metrics import (
        HeuristicAccuracy as HeuristicAccuracy,
        crack_distribution as crack_distribution,
        degree_of_anonymity as degree_of_anonymity,
        distribution_psi as distribution_psi,
        edge_probabilities as edge_probabilities,
        expected_cracks as expected_cracks,
        flat_matrix as flat_matrix,
        generalised_heuristic as generalised_heuristic,
        heuristic_accuracy as heuristic_accuracy,
        heuristic_cracks as heuristic_cracks,
        is_flat as is_flat,
        log_permanent as log_permanent,
        o_estimate as o_estimate,
        permanent as permanent,
        project_to_matrix as project_to_matrix,
        simulate_psi as simulate_psi,
        truth_curve as truth_curve,
    )
    from unveil.matching.screening import (
        BetheEstimate as BetheEstimate,
        bethe_estimate as bethe_estimate,
        instant_estimates as instant_estimates,
        one_step_estimate as one_step_estimate,
        sinkhorn_estimate as sinkhorn_estimate,
    )
    from unveil.matching.set_cracks import (
        CrackProbability as CrackProbability,
        set_crack_probabilities as set_crack_probabilities,
        set_crack_probability as set_crack_probability,
    )
    from unveil.matching.solver import (
        BlockReport as BlockReport,
        Budget as Budget,
        Solution as Solution,
        solve as solve,
    )
else:
    __all__, __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "blocks": "Block InfeasibleError feasible_flow independent_blocks",
            "candidates": "Candidates",
            "column_subsets": "matrix_marginals",
            "data_flow": "network_matrix",
            "metrics": (
                "HeuristicAccuracy crack_distribution degree_of_anonymity distribution_psi edge_probabilities "
                "expected_cracks flat_matrix generalised_heuristic heuristic_accuracy heuristic_cracks is_flat "
                "log_permanent o_estimate permanent project_to_matrix simulate_psi truth_curve"
            ),
            "screening": "BetheEstimate bethe_estimate instant_estimates one_step_estimate sinkhorn_estimate",
            "set_cracks": "CrackProbability set_crack_probabilities set_crack_probability",
            "solver": "BlockReport Budget Solution solve",
        },
    )
