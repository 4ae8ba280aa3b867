"""What else does a release tell about people, without anybody finding them?

``ask.py`` is the door. ``belief_gains.py`` measures how much a few facts raise belief in a sensitive value, and
``learned_values.py`` what they would tell by chance. ``relation.py`` says who has which attributes and what follows
from knowing some, ``named_attributes.py`` what they are called, ``privacy_score.py`` how bad that is for everybody, and
``explanations.py`` why. ``implying_sets.py`` says what implies a value, ``closed_sets.py`` which attributes belong
together, and ``fake_rows.py`` what fake rows change about that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from unveil.inference.belief_gains import *
    from unveil.inference.closed_sets import *
    from unveil.inference.explanations import *
    from unveil.inference.fake_rows import *
    from unveil.inference.implying_sets import *
    from unveil.inference.learned_values import *
    from unveil.inference.named_attributes import *
    from unveil.inference.privacy_score import *
    from unveil.inference.relation import *
else:
    __all__, __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "belief_gains": (
                "BeliefGains TellingColumns affordable_facts count_people drop_larger_sets lowest_that_reaches "
                "measure_gains most_telling_first reaches"
            ),
            "closed_sets": (
                "ClosedSets betti_numbers find_closed_sets find_free_faces find_minimal_non_faces find_simplices "
                "minimal_hitting_sets"
            ),
            "explanations": "Explanation Inference explain",
            "fake_rows": "FakeRows add_individual fill_with_fakes give_attributes is_free_set",
            "implying_sets": "Implication find_implying_sets",
            "learned_values": (
                "LearnedValues TellingRule find_best_rule find_rules measure_learned_items measure_learned_values "
                "value_shares"
            ),
            "named_attributes": "NamedAttribute NamedAttributes name_attributes number_values",
            "privacy_score": "PrivacyScores ScoreRange choose_method score",
            "relation": "DistinctRows Relation pack_bits unpack_bits word_classes",
        },
    )
