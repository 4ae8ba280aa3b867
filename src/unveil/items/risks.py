"""What the question ``items`` can find."""

from __future__ import annotations

from unveil.risk import Risk

__all__ = [
    "ALPHA_MAX",
    "CORRELATION",
    "EXPECTED_CRACKS",
    "ITEMSETS_VULNERABLE",
    "NEVER_TOGETHER",
    "O_ESTIMATE",
    "POINT_KNOWLEDGE",
    "RISKS",
    "SAMPLE_KNOWLEDGE",
]

POINT_KNOWLEDGE = Risk(
    "items.point_knowledge",
    title="Items identified by someone who knows every frequency",
    unit="share",
    safer="lower",
    summary="The share of items that someone who knows exactly how often each is bought identifies on average.",
)
EXPECTED_CRACKS = Risk(
    "items.expected_cracks",
    title="Items identified by someone who roughly knows how often each is bought",
    unit="share",
    safer="lower",
    tolerance=0.1,
    per_subject=True,
    sampled=True,
    summary="The number of items that someone who roughly knows how often each is bought identifies on average; the "
    "tolerance is a share of all items.",
)
O_ESTIMATE = Risk(
    "items.o_estimate",
    title="Items identified, by the O-estimate",
    unit="share",
    safer="lower",
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
ITEMSETS_VULNERABLE = Risk(
    "items.itemsets_vulnerable",
    title="Sets of items that are likely to be identified",
    unit="share",
    safer="lower",
    tolerance=0.1,
    sampled=True,
    summary="The share of sets of items that an attacker identifies with a probability at or above the threshold.",
)
SAMPLE_KNOWLEDGE = Risk(
    "items.sample_knowledge",
    title="Items that someone with a sample is right about",
    unit="share",
    safer="lower",
    sampled=True,
    summary="The share of items whose frequency someone with a 10% sample of the baskets knows to within the "
    "sample's median gap.",
)
CORRELATION = Risk(
    "items.correlation",
    title="Items identified by someone who also knows what is bought together",
    unit="share",
    safer="lower",
    per_subject=True,
    sampled=True,
    follows=EXPECTED_CRACKS,
    summary="The number of items identified on average by someone who also knows the most frequent pairs; the "
    "tolerance is a share of all items.",
)
NEVER_TOGETHER = Risk(
    "items.never_together",
    needs="never_together",
    title="Items identified by someone who also knows what is never bought together",
    unit="share",
    safer="lower",
    per_subject=True,
    sampled=True,
    follows=EXPECTED_CRACKS,
    summary="The number of items identified on average by someone who also knows pairs that are never bought "
    "together; the tolerance is a share of all items.",
)

RISKS = (
    POINT_KNOWLEDGE,
    EXPECTED_CRACKS,
    O_ESTIMATE,
    ALPHA_MAX,
    ITEMSETS_VULNERABLE,
    SAMPLE_KNOWLEDGE,
    CORRELATION,
    NEVER_TOGETHER,
)
