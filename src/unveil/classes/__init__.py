"""How many look alike? Equivalence classes of the rows of a table.

``ask.py`` is the door. ``table_classes.py`` counts classes, ``diversity.py`` says what a class reveals,
``known_columns.py``, ``minimal_uniques.py`` and ``known_items.py`` say how much an attacker must know,
``intersection.py`` plays several releases against each other, and ``population_estimates.py`` looks from the sample to
the population.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from unveil.classes.candidate_classes import *
    from unveil.classes.diversity import *
    from unveil.classes.intersection import *
    from unveil.classes.known_columns import *
    from unveil.classes.known_items import *
    from unveil.classes.known_population import *
    from unveil.classes.minimal_uniques import *
    from unveil.classes.missing_values import *
    from unveil.classes.population_estimates import *
    from unveil.classes.table_classes import *
    from unveil.classes.wildcard import *
else:
    __all__, __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "candidate_classes": "CandidateClasses find_candidate_classes",
            "diversity": "SensitiveClasses group_sensitive_values",
            "intersection": (
                "Intersection IntersectionStep PosteriorValues ReleaseView common_codes intersect_releases "
                "possible_values posterior_values"
            ),
            "known_columns": (
                "ColumnContributions IdentifyingSet IdentifyingSets KnownColumns ShapleyValues ShareBand "
                "find_identifying_sets risk_by_columns_known shapley_values"
            ),
            "known_items": "KnownItems measure_known_items",
            "known_population": "PopulationMatches match_population",
            "minimal_uniques": "MinimalUniques dis_suda_scores find_minimal_uniques smallest_unique_set",
            "missing_values": "MissingValues",
            "population_estimates": (
                "ClassSample PopulationBounds PopulationEstimate dankar_estimate least_population_class "
                "pitman_estimate population_bounds smallest_sample_class snb_estimate zayatz_estimate"
            ),
            "table_classes": "SmallClass classes_with_values count_class_sizes smallest_classes",
            "wildcard": "Neighbourhoods find_neighbourhoods neighbourhood_classes",
        },
    )
