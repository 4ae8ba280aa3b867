"""Which record is the person I know a few things about?

``ask.py`` is the door. ``people.py``, ``records.py`` and ``similarity.py`` say who can be looked for and how values
compare. ``attack/`` plays the attack, ``sparsity/`` measures how alike records are, ``theorems/`` says what that
guarantees an attacker, and ``link/`` matches a file of known people with the release. ``protect.py`` offers the
protections that ``protections/`` searches for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from unveil.linkage.attack.adversaries import (
        Adversary as Adversary,
        attributes_only_adversary as attributes_only_adversary,
        bayesian_adversary as bayesian_adversary,
        eccentricity_adversary as eccentricity_adversary,
        entropic_adversary as entropic_adversary,
        least_support_adversary as least_support_adversary,
        likeliest_adversary as likeliest_adversary,
        scoreboard_adversary as scoreboard_adversary,
    )
    from unveil.linkage.attack.auxiliary import (
        Auxiliary as Auxiliary,
        Knowledge as Knowledge,
        draw_knowledge as draw_knowledge,
    )
    from unveil.linkage.attack.exact_success import ExactSuccess as ExactSuccess, count_success as count_success
    from unveil.linkage.attack.experiment import (
        Outcome as Outcome,
        SupportGroup as SupportGroup,
        attack_records as attack_records,
        attack_with_knowledge as attack_with_knowledge,
    )
    from unveil.linkage.attack.success import measure_success as measure_success
    from unveil.linkage.attack.worst_case import WorstCase as WorstCase, worst_case as worst_case
    from unveil.linkage.equal_records import count_copies as count_copies
    from unveil.linkage.link.assignment import Assignment as Assignment, assign_links as assign_links
    from unveil.linkage.link.best_match import Linkage as Linkage, link_people as link_people
    from unveil.linkage.link.candidates import (
        CandidateRows as CandidateRows,
        count_candidates as count_candidates,
        find_candidates as find_candidates,
    )
    from unveil.linkage.link.error_rates import ErrorRates as ErrorRates, estimate_error_rates as estimate_error_rates
    from unveil.linkage.link.file_pair import (
        FilePair as FilePair,
        pair_files as pair_files,
        records_from_both as records_from_both,
    )
    from unveil.linkage.link.link_quality import (
        LinkQuality as LinkQuality,
        assignment_quality as assignment_quality,
        assignment_range as assignment_range,
        match_quality as match_quality,
    )
    from unveil.linkage.link.one_to_one import OneToOne as OneToOne, one_to_one_chances as one_to_one_chances
    from unveil.linkage.records import (
        Records as Records,
        records_from_codes as records_from_codes,
        records_from_ratings as records_from_ratings,
    )
    from unveil.linkage.similarity import (
        Similarity as Similarity,
        any_value as any_value,
        equal_values as equal_values,
        linear_similarity as linear_similarity,
        parse_similarity as parse_similarity,
        within_days as within_days,
        within_distance as within_distance,
    )
    from unveil.linkage.sparsity.long_tail import (
        LongTail as LongTail,
        attribute_tail as attribute_tail,
        rare_attributes as rare_attributes,
    )
    from unveil.linkage.sparsity.nearest_records import (
        NearestRecords as NearestRecords,
        nearest_records as nearest_records,
    )
    from unveil.linkage.sparsity.sparsity_function import (
        SparsityFunction as SparsityFunction,
        measure_sparsity as measure_sparsity,
    )
    from unveil.linkage.theorems.best_bound import best_bound as best_bound, sparsity_steps as sparsity_steps
    from unveil.linkage.theorems.corollaries import (
        doubling_width as doubling_width,
        halving_kappa as halving_kappa,
        learned_values as learned_values,
    )
    from unveil.linkage.theorems.guarantees import (
        Guarantee as Guarantee,
        Hypothesis as Hypothesis,
        guarantee_for_m as guarantee_for_m,
        guarantee_for_p as guarantee_for_p,
    )
    from unveil.linkage.theorems.record_agreement import (
        AgreementBounds as AgreementBounds,
        agreement_bounds as agreement_bounds,
    )
    from unveil.linkage.theorems.statements import Theorem as Theorem, TheoremCase as TheoremCase
else:
    __all__, __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "attack.adversaries": (
                "Adversary attributes_only_adversary bayesian_adversary eccentricity_adversary entropic_adversary "
                "least_support_adversary likeliest_adversary scoreboard_adversary"
            ),
            "attack.auxiliary": "Auxiliary Knowledge draw_knowledge",
            "attack.exact_success": "ExactSuccess count_success",
            "attack.experiment": "Outcome SupportGroup attack_records attack_with_knowledge",
            "attack.success": "measure_success",
            "attack.worst_case": "WorstCase worst_case",
            "equal_records": "count_copies",
            "link.assignment": "Assignment assign_links",
            "link.best_match": "Linkage link_people",
            "link.candidates": "CandidateRows count_candidates find_candidates",
            "link.error_rates": "ErrorRates estimate_error_rates",
            "link.file_pair": "FilePair pair_files records_from_both",
            "link.link_quality": "LinkQuality assignment_quality assignment_range match_quality",
            "link.one_to_one": "OneToOne one_to_one_chances",
            "records": "Records records_from_codes records_from_ratings",
            "similarity": (
                "Similarity any_value equal_values linear_similarity parse_similarity within_days within_distance"
            ),
            "sparsity.long_tail": "LongTail attribute_tail rare_attributes",
            "sparsity.nearest_records": "NearestRecords nearest_records",
            "sparsity.sparsity_function": "SparsityFunction measure_sparsity",
            "theorems.best_bound": "best_bound sparsity_steps",
            "theorems.corollaries": "doubling_width halving_kappa learned_values",
            "theorems.guarantees": "Guarantee Hypothesis guarantee_for_m guarantee_for_p",
            "theorems.record_agreement": "AgreementBounds agreement_bounds",
            "theorems.statements": "Theorem TheoremCase",
        },
    )
