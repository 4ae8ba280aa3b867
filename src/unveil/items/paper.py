"""What the findings about items have in common: the paper they come from, and how missing values are treated."""

__all__ = ["LAKSHMANAN", "MISSING"]

LAKSHMANAN = (
    "L. Lakshmanan, R. Ng, G. Ramesh, On disclosure risk analysis of anonymized itemsets in the presence of prior "
    "knowledge, ACM TKDD 2(3), 2008"
)
MISSING = "Empty baskets are left out; an item counts once per basket."
