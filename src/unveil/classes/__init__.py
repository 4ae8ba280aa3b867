"""How many look alike? Equivalence classes of the rows of a table.

``ask.py`` is the door, and each ``ask_*.py`` makes the findings about one idea. Below them, ``table_classes.py`` counts
classes, ``diversity.py`` says what a class reveals, ``known_columns.py``, ``minimal_uniques.py`` and ``known_items.py``
say how much an attacker must know, ``intersection.py`` plays several releases against each other, and
``population_estimates.py`` looks from the sample to the population.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from unveil.classes.candidate_classes import (
        CandidateClasses as CandidateClasses,
        find_candidate_classes as find_candidate_classes,
    )
    from unveil.classes.diversity import (
        SensitiveClasses as SensitiveClasses,
        group_sensitive_values as group_sensitive_values,
    )
    from unveil.classes.intersection import (
        Intersection as Intersection,
        IntersectionStep as IntersectionStep,
        PosteriorValues as PosteriorValues,
        ReleaseView as ReleaseView,
        common_codes as common_codes,
        intersect_releases as intersect_releases,
        possible_values as possible_values,
        posterior_values as posterior_values,
    )
    from unveil.classes.known_columns import (
        ColumnContributions as ColumnContributions,
        IdentifyingSet as IdentifyingSet,
        IdentifyingSets as IdentifyingSets,
        KnownColumns as KnownColumns,
        ShapleyValues as ShapleyValues,
        ShareBand as ShareBand,
        find_identifying_sets as find_identifying_sets,
        risk_by_columns_known as risk_by_columns_known,
        shapley_values as shapley_values,
    )
    from unveil.classes.known_items import KnownItems as KnownItems, measure_known_items as measure_known_items
    from unveil.classes.known_population import (
        PopulationMatches as PopulationMatches,
        match_population as match_population,
    )
    from unveil.classes.minimal_uniques import (
        MinimalUniques as MinimalUniques,
        dis_suda_scores as dis_suda_scores,
        find_minimal_uniques as find_minimal_uniques,
        smallest_unique_set as smallest_unique_set,
    )
    from unveil.classes.missing_values import MissingValues as MissingValues
    from unveil.classes.population_estimates import (
        ClassSample as ClassSample,
        PopulationBounds as PopulationBounds,
        PopulationEstimate as PopulationEstimate,
        dankar_estimate as dankar_estimate,
        pitman_estimate as pitman_estimate,
        population_bounds as population_bounds,
        snb_estimate as snb_estimate,
        zayatz_estimate as zayatz_estimate,
    )
    from unveil.classes.table_classes import (
        SmallClass as SmallClass,
        classes_with_values as classes_with_values,
        count_class_sizes as count_class_sizes,
        smallest_classes as smallest_classes,
    )
    from unveil.classes.wildcard import (
        Neighbourhoods as Neighbourhoods,
        find_neighbourhoods as find_neighbourhoods,
        neighbourhood_classes as neighbourhood_classes,
    )
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
                "ClassSample PopulationBounds PopulationEstimate dankar_estimate pitman_estimate population_bounds "
                "snb_estimate zayatz_estimate"
            ),
            "table_classes": "SmallClass classes_with_values count_class_sizes smallest_classes",
            "wildcard": "Neighbourhoods find_neighbourhoods neighbourhood_classes",
        },
    )
