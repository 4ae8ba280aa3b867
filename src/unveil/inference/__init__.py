"""What else does a release tell about people, without anybody finding them?

``ask.py`` is the door. ``belief_gains.py`` measures how much a few facts raise belief in a sensitive value, and
``learned_values.py`` what they would tell by chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from unveil.inference.belief_gains import *
    from unveil.inference.learned_values import *
else:
    __all__, __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "belief_gains": "BeliefGains TellingColumns affordable_facts measure_gains",
            "learned_values": "LearnedValues TellingFacts measure_learned_values telling_facts",
        },
    )
