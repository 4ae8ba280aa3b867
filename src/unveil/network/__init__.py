"""Which node is this person? Attacks on graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from unveil.network.active_attack import *
    from unveil.network.active_search import *
    from unveil.network.degrees import *
    from unveil.network.planted_detection import *
    from unveil.network.planted_nodes import *
else:
    __all__, __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "active_attack": "InsiderAttack form_coalition measure_active_attack measure_coalition_attack",
            "active_search": (
                "EXACT MAX_KNOWN_NODES WIDENING KnownSubgraph Recovery SubgraphCopies Tolerance find_copies "
                "has_symmetry identify_targets nodes_linked_with recover_nodes search_order"
            ),
            "degrees": "degree_class_sizes",
            "planted_detection": "PlantedDetection local_clustering_of measure_detection",
            "planted_nodes": (
                "AttackedGraph accidental_copy_bound choose_degree_window plant_nodes planted_nodes_for_bound "
                "planted_nodes_in_theory"
            ),
        },
    )
