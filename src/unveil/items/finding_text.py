"""What all findings about items share: the paper that they come from, and how they treat missing values."""

__all__ = ["LAKSHMANAN", "MISSING_VALUES"]

LAKSHMANAN = (
    "L. Lakshmanan, R. Ng, G. Ramesh, On disclosure risk analysis of anonymized itemsets in the presence of prior "
    "knowledge, ACM TKDD 2(3), 2008"
)
MISSING_VALUES = "Empty baskets are left out; an item counts once per basket."
