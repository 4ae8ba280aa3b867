"""Which node is this person? Attacks on graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from unveil.network.active.attack import InsiderAttack as InsiderAttack
    from unveil.network.active.attack import form_coalition as form_coalition
    from unveil.network.active.attack import measure_active_attack as measure_active_attack
    from unveil.network.active.attack import measure_coalition_attack as measure_coalition_attack
    from unveil.network.active.search import KnownSubgraph as KnownSubgraph
    from unveil.network.active.search import Recovery as Recovery
    from unveil.network.active.search import SubgraphCopies as SubgraphCopies
    from unveil.network.active.search import Tolerance as Tolerance
    from unveil.network.active.search import find_copies as find_copies
    from unveil.network.active.search import recover_nodes as recover_nodes
    from unveil.network.degrees import degree_class_sizes as degree_class_sizes
    from unveil.network.passive.attack import Matches as Matches
    from unveil.network.passive.calibration import Calibration as Calibration
    from unveil.network.passive.calibration import calibrate_matches as calibrate_matches
    from unveil.network.owner_changes import OwnerChanges as OwnerChanges
    from unveil.network.owner_changes import compare_with_original as compare_with_original
    from unveil.network.active.planted_detection import PlantedDetection as PlantedDetection
    from unveil.network.active.planted_detection import measure_detection as measure_detection
    from unveil.network.active.planted_nodes import AttackedGraph as AttackedGraph
    from unveil.network.active.planted_nodes import accidental_copy_bound as accidental_copy_bound
    from unveil.network.active.planted_nodes import choose_degree_window as choose_degree_window
    from unveil.network.active.planted_nodes import plant_nodes as plant_nodes
    from unveil.network.active.planted_nodes import planted_nodes_for_bound as planted_nodes_for_bound
    from unveil.network.active.planted_nodes import planted_nodes_in_theory as planted_nodes_in_theory
    from unveil.network.passive.two_views import MatchQuality as MatchQuality
    from unveil.network.passive.two_views import RepeatedQuality as RepeatedQuality
    from unveil.network.passive.two_views import TwoViews as TwoViews
    from unveil.network.passive.two_views import match_by_degree as match_by_degree
    from unveil.network.passive.two_views import match_quality as match_quality
    from unveil.network.passive.two_views import random_recall as random_recall
    from unveil.network.passive.two_views import recall_by_degree as recall_by_degree
    from unveil.network.passive.two_views import repeat_attack as repeat_attack
    from unveil.network.passive.two_views import draw_seeds as draw_seeds
    from unveil.network.passive.unmasking import MeasuredNames as MeasuredNames
    from unveil.network.passive.unmasking import NamedNodes as NamedNodes
    from unveil.network.passive.unmasking import NetworkPair as NetworkPair
    from unveil.network.passive.unmasking import measure_names as measure_names
    from unveil.network.passive.unmasking import name_nodes as name_nodes
else:
    __all__, __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "active.attack": "InsiderAttack form_coalition measure_active_attack measure_coalition_attack",
            "active.search": "KnownSubgraph Recovery SubgraphCopies Tolerance find_copies recover_nodes",
            "degrees": "degree_class_sizes",
            "passive.attack": "Matches",
            "passive.calibration": "Calibration calibrate_matches",
            "owner_changes": "OwnerChanges compare_with_original",
            "active.planted_detection": "PlantedDetection measure_detection",
            "active.planted_nodes": (
                "AttackedGraph accidental_copy_bound choose_degree_window plant_nodes "
                "planted_nodes_for_bound planted_nodes_in_theory"
            ),
            "passive.two_views": (
                "MatchQuality RepeatedQuality TwoViews match_by_degree match_quality random_recall recall_by_degree "
                "repeat_attack draw_seeds"
            ),
            "passive.unmasking": "MeasuredNames NamedNodes NetworkPair measure_names name_nodes",
        },
    )
