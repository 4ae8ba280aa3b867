"""What if the attacker roughly knows how popular each item is?

``ask.py`` is the door. ``beliefs.py`` says what an attacker believes, ``degree_estimates.py`` and
``extreme_knowledge.py`` say what follows at once, ``item_recipe.py`` and ``itemset_recipe.py`` advise whether to
release, ``correlation.py`` and ``never_together.py`` add knowledge of pairs, and ``protection_search.py`` finds what
to change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from unveil.items.beliefs import Beliefs as Beliefs
    from unveil.items.correlation import (
        ExpectedCracks as ExpectedCracks,
        PairKnowledgeGain as PairKnowledgeGain,
        RefinedAttack as RefinedAttack,
        filter_single_pair as filter_single_pair,
        identify_and_filter as identify_and_filter,
        match_known_pairs as match_known_pairs,
        pair_knowledge_gain as pair_knowledge_gain,
        refine_and_match as refine_and_match,
        refine_beliefs as refine_beliefs,
        select_nearly_always as select_nearly_always,
        solve_expected_cracks as solve_expected_cracks,
    )
    from unveil.items.degree_estimates import (
        crack_estimates as crack_estimates,
        o_estimate as o_estimate,
        os2_estimate as os2_estimate,
        os2_estimates as os2_estimates,
        os_estimate as os_estimate,
        os_estimates as os_estimates,
    )
    from unveil.items.extreme_knowledge import (
        exact_chance as exact_chance,
        exact_crack_share as exact_crack_share,
        exact_cracks as exact_cracks,
        ignorant_chance as ignorant_chance,
        ignorant_cracks as ignorant_cracks,
        ignorant_listed_cracks as ignorant_listed_cracks,
    )
    from unveil.items.frequency_groups import FrequencyGroups as FrequencyGroups
    from unveil.items.item_changes import (
        ItemChange as ItemChange,
        Usefulness as Usefulness,
        apply_change as apply_change,
        carry_beliefs as carry_beliefs,
        identity_change as identity_change,
        measure_usefulness as measure_usefulness,
        pseudonymise_baskets as pseudonymise_baskets,
    )
    from unveil.items.item_pairs import (
        ItemPairs as ItemPairs,
        cooccurrence_table as cooccurrence_table,
        pair_counts as pair_counts,
        top_pairs as top_pairs,
    )
    from unveil.items.item_recipe import (
        MixedUpItems as MixedUpItems,
        ItemRecipe as ItemRecipe,
        assess_mixed_up_items as assess_mixed_up_items,
        assess_risk as assess_risk,
        mix_up_wrong_items as mix_up_wrong_items,
    )
    from unveil.items.itemset_recipe import (
        ItemsetRecipe as ItemsetRecipe,
        MixedUpItemsets as MixedUpItemsets,
        assess_mixed_up_itemsets as assess_mixed_up_itemsets,
        assess_risk_itemsets as assess_risk_itemsets,
    )
    from unveil.items.itemsets import (
        ItemsetRequirement as ItemsetRequirement,
        VulnerableShare as VulnerableShare,
        estimate_vulnerable_share as estimate_vulnerable_share,
        itemset_chances as itemset_chances,
        measure_vulnerable_share as measure_vulnerable_share,
    )
    from unveil.items.never_together import (
        ConditionalCracks as ConditionalCracks,
        pairs_still_apart as pairs_still_apart,
        solve_never_together as solve_never_together,
    )
    from unveil.items.sample_similarity import SampleKnowledge as SampleKnowledge, sample_knowledge as sample_knowledge
else:
    __all__, __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "beliefs": "Beliefs",
            "correlation": (
                "ExpectedCracks PairKnowledgeGain RefinedAttack filter_single_pair identify_and_filter "
                "match_known_pairs pair_knowledge_gain refine_and_match refine_beliefs select_nearly_always "
                "solve_expected_cracks"
            ),
            "degree_estimates": "crack_estimates o_estimate os2_estimate os2_estimates os_estimate os_estimates",
            "extreme_knowledge": (
                "exact_chance exact_crack_share exact_cracks ignorant_chance ignorant_cracks ignorant_listed_cracks"
            ),
            "frequency_groups": "FrequencyGroups",
            "item_changes": (
                "ItemChange Usefulness apply_change carry_beliefs identity_change measure_usefulness "
                "pseudonymise_baskets"
            ),
            "item_pairs": "ItemPairs cooccurrence_table pair_counts top_pairs",
            "item_recipe": "ItemRecipe MixedUpItems assess_mixed_up_items assess_risk mix_up_wrong_items",
            "itemset_recipe": "ItemsetRecipe MixedUpItemsets assess_mixed_up_itemsets assess_risk_itemsets",
            "itemsets": (
                "ItemsetRequirement VulnerableShare estimate_vulnerable_share itemset_chances measure_vulnerable_share"
            ),
            "never_together": "ConditionalCracks pairs_still_apart solve_never_together",
            "sample_similarity": "SampleKnowledge sample_knowledge",
        },
    )
