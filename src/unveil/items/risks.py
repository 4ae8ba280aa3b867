"""What the question ``items`` can find."""

from __future__ import annotations

from functools import partial

from unveil.risk import Risk

__all__ = ["RISKS"]

_share_risk = partial(Risk, unit="share", safer="lower")

POINT_KNOWLEDGE = _share_risk(
    "items.point_knowledge",
    title="Items identified by someone who knows every frequency",
    summary="The share of items that someone who knows exactly how often each is bought identifies on average.",
)
EXPECTED_CRACKS = _share_risk(
    "items.expected_cracks",
    title="Items identified by someone who roughly knows how often each is bought",
    tolerance=0.1,
    per_subject=True,
    sampled=True,
    summary="The number of items that someone who roughly knows how often each is bought identifies on average; the "
    "tolerance is a share of all items.",
)
O_ESTIMATE = _share_risk(
    "items.o_estimate",
    title="Items identified, by the O-estimate",
    per_subject=True,
    detail_of=EXPECTED_CRACKS,
    summary="The published estimate of the same number; the tolerance is a share of all items.",
)
ALPHA_MAX = Risk(
    "items.alpha_max",
    title="Share of items the attacker may be right about",
    unit="share",
    safer="higher",
    sampled=True,
    summary="The largest share of items that an attacker may be right about without identifying more than tolerated.",
)
ITEMSETS_VULNERABLE = _share_risk(
    "items.itemsets_vulnerable",
    title="Sets of items that are likely to be identified",
    tolerance=0.1,
    sampled=True,
    summary="The share of sets of items that an attacker identifies with a probability at or above the threshold.",
)
SAMPLE_KNOWLEDGE = _share_risk(
    "items.sample_knowledge",
    title="Items identified by someone who knows the frequencies in a sample",
    sampled=True,
    per_subject=True,
    summary="The number of items that someone who takes frequencies from a 10% sample of the baskets identifies on "
    "average; the tolerance is a share of all items.",
)
_added_knowledge_risk = partial(_share_risk, per_subject=True, sampled=True, tolerance_from=EXPECTED_CRACKS)
CORRELATION = _added_knowledge_risk(
    "items.correlation",
    title="Items identified by someone who also knows what is bought together",
    summary="The number of items identified on average by someone who also knows the most frequent pairs; the "
    "tolerance is a share of all items.",
)
NEVER_TOGETHER = _added_knowledge_risk(
    "items.never_together",
    needs="never_together",
    title="Items identified by someone who also knows what is never bought together",
    summary="The number of items identified on average by someone who also knows pairs that are never bought "
    "together; the tolerance is a share of all items.",
)
SIMILAR_PAIRS = _added_knowledge_risk(
    "items.similar_pairs",
    title="Items identified by someone with similar baskets who compares what is bought together",
    summary="The number of items that an attack by matching pairs names correctly, counted with the truth, for someone "
    "with similar baskets; it then decides. Without them, for information, someone with a 10% sample. The tolerance is "
    "a share of all items.",
)

RISKS = (
    POINT_KNOWLEDGE,
    EXPECTED_CRACKS,
    O_ESTIMATE,
    ALPHA_MAX,
    ITEMSETS_VULNERABLE,
    SAMPLE_KNOWLEDGE,
    SIMILAR_PAIRS,
    CORRELATION,
    NEVER_TOGETHER,
)
