"""What if the attacker roughly knows how popular each item is?

``ask.py`` is the door. ``beliefs.py`` says what an attacker believes, ``degree_estimates.py`` and
``extreme_knowledge.py`` say what follows at once, ``item_recipe.py`` and ``itemset_recipe.py`` advise whether to
release, ``correlation.py`` and ``never_together.py`` add knowledge of pairs, ``pair_matching.py`` and
``pair_attack.py`` match all pairs at once, and ``protection_search.py`` finds what to change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from unveil.items.beliefs import *
    from unveil.items.correlation import *
    from unveil.items.degree_estimates import *
    from unveil.items.extreme_knowledge import *
    from unveil.items.frequency_groups import *
    from unveil.items.item_changes import *
    from unveil.items.item_pairs import *
    from unveil.items.item_recipe import *
    from unveil.items.item_triples import *
    from unveil.items.itemset_recipe import *
    from unveil.items.itemsets import *
    from unveil.items.mixed_up_itemsets import *
    from unveil.items.never_together import *
    from unveil.items.pair_attack import *
    from unveil.items.pair_matching import *
    from unveil.items.sample_similarity import *
else:
    __all__, __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "beliefs": "Beliefs WeightedRanges",
            "correlation": (
                "PairAttack RefinedAttack attack_with_pairs identify_and_filter match_known_pairs "
                "pairs_still_together refine_and_match refine_beliefs select_nearly_always"
            ),
            "degree_estimates": "crack_estimates o_estimate os2_estimates os_estimates",
            "extreme_knowledge": (
                "exact_chance exact_crack_share exact_cracks ignorant_chance ignorant_cracks ignorant_listed_cracks"
            ),
            "frequency_groups": "FrequencyGroups",
            "item_changes": (
                "ItemChange Usefulness apply_change carry_beliefs identity_change measure_usefulness "
                "pseudonymise_baskets"
            ),
            "item_pairs": "ItemPairs cooccurrence_table pair_counts top_pairs",
            "item_triples": "ItemTriples top_triples triple_counts",
            "item_recipe": "ItemRecipe assess_risk largest_safe_share mixed_up_cracks published_alpha_max",
            "itemset_recipe": "ItemsetRecipe assess_risk_itemsets",
            "itemsets": (
                "ItemsetRequirement VulnerableShare choose_itemsets estimate_vulnerable_share itemset_chances "
                "measure_vulnerable_share"
            ),
            "mixed_up_itemsets": "MixedUpItemsets assess_mixed_up_itemsets exchange_probabilities",
            "never_together": "ConditionalCracks pairs_still_apart solve_never_together",
            "pair_attack": "AttackTarget NamedBaskets NamedItems attack_by_pairs draw_baskets named_baskets",
            "pair_matching": "ItemMatching PairProblem PairShares climb_by_exchanges find_ties group_ties match_items",
            "sample_similarity": "SampleKnowledge SampleMean sample_knowledge",
        },
    )
