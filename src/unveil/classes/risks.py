"""What the question ``classes`` can find."""

from __future__ import annotations

from unveil.risk import Risk

__all__ = [
    "ALPHA",
    "AT_RISK",
    "BETA",
    "BETA_ENHANCED",
    "DELTA_DISCLOSURE",
    "DISTINCTION",
    "DIS_SUDA",
    "HOMOGENEITY",
    "INTERSECTION",
    "KNOWN_COLUMNS",
    "KNOWN_ITEMS",
    "K_MAP",
    "L_DISTINCT",
    "L_ENTROPY",
    "POPULATION_UNIQUES",
    "PRESENCE",
    "RECURSIVE_C",
    "REIDENTIFICATION",
    "RISKS",
    "SEPARATION",
    "SIZE_RISKS",
    "UNIQUES",
    "VALUE_RISKS",
    "K",
    "T",
]

# ---- how many look alike ---------------------------------------------------------------------------------------------

K = Risk(
    "classes.k",
    about=("table",),
    title="Smallest class (k)",
    unit="count",
    safer="higher",
    tolerance=5,
    presets={"ema-0070": 11, "health-canada": 11, "cms-11": 11, "frequency-3": 3},
    summary="The smallest number of people who look the same to the attacker.",
)
UNIQUES = Risk(
    "classes.uniques",
    about=("table",),
    title="Unique people",
    unit="share",
    safer="lower",
    summary="The share of people who are unique in what the attacker knows.",
)
DISTINCTION = Risk(
    "classes.distinction",
    about=("table",),
    title="People left without duplicates (distinction)",
    unit="share",
    safer="lower",
    summary="The share of people who would remain if only one of those who look the same were kept.",
    detail_of=UNIQUES,
)
SEPARATION = Risk(
    "classes.separation",
    about=("table",),
    title="Pairs of people told apart (separation)",
    unit="share",
    safer="lower",
    summary="The share of all pairs of people who differ in what the attacker knows.",
    detail_of=UNIQUES,
)
AT_RISK = Risk(
    "classes.at_risk",
    about=("table",),
    title="People in small classes",
    unit="share",
    safer="lower",
    summary="The share of people who are in classes smaller than the tolerated k.",
)
REIDENTIFICATION = Risk(
    "classes.reidentification",
    about=("table",),
    title="Average re-identification risk",
    unit="share",
    safer="lower",
    presets={"ema-0070": 0.09, "health-canada": 0.09},
    summary="The average probability of picking the right person among those who match.",
)

# ---- what a class gives away -----------------------------------------------------------------------------------------

L_DISTINCT = Risk(
    "classes.l_distinct",
    about=("table",),
    title="Fewest sensitive values in a class (ℓ)",
    unit="count",
    safer="higher",
    tolerance=2,
    summary="The smallest number of different values that a sensitive column has in a class.",
)
ALPHA = Risk(
    "classes.alpha",
    about=("table",),
    title="Largest share of one value in a class (α)",
    unit="share",
    safer="lower",
    summary="The largest share of a class that has the same sensitive value.",
    detail_of=L_DISTINCT,
)
RECURSIVE_C = Risk(
    "classes.recursive_c",
    about=("table",),
    title="Recursive (c, ℓ)-diversity (c)",
    unit="number",
    safer="lower",
    summary="The c above which every class is recursively (c, ℓ)-diverse, for the tolerated ℓ.",
    detail_of=L_DISTINCT,
)
L_ENTROPY = Risk(
    "classes.l_entropy",
    about=("table",),
    title="Least diverse class by entropy (ℓ)",
    unit="number",
    safer="higher",
    summary="How many equally frequent values would be as diverse as the least diverse class.",
)
T = Risk(
    "classes.t",
    about=("table",),
    title="Largest difference between a class and the table (t)",
    unit="share",
    safer="lower",
    summary="The largest difference between the sensitive values of a class and those of the table, from 0 to 1.",
)
BETA = Risk(
    "classes.beta",
    about=("table",),
    title="Largest relative gain in belief (basic β)",
    unit="number",
    safer="lower",
    summary="The largest relative increase of a sensitive value's share in a class over its share in the table.",
    detail_of=T,
)
BETA_ENHANCED = Risk(
    "classes.beta_enhanced",
    about=("table",),
    title="Largest relative gain in belief (enhanced β)",
    unit="number",
    safer="lower",
    summary="Basic β, but infinite where a value gains more than its rarity in the table permits.",
    detail_of=T,
)
DELTA_DISCLOSURE = Risk(
    "classes.delta_disclosure",
    about=("table",),
    title="Largest change in a share (δ-disclosure)",
    unit="number",
    safer="lower",
    summary="The largest logarithm of the ratio between a value's share in a class and in the table.",
    detail_of=T,
)
HOMOGENEITY = Risk(
    "classes.homogeneity",
    about=("table",),
    title="Sensitive values known without finding the person",
    unit="share",
    safer="lower",
    summary="The share of people in classes in which everybody has the same sensitive value.",
)

# ---- how much must be known ------------------------------------------------------------------------------------------

KNOWN_COLUMNS = Risk(
    "classes.known_columns",
    about=("table",),
    title="Average re-identification risk with a few columns known",
    unit="share",
    safer="lower",
    summary="The average re-identification risk when an attacker knows the three columns that help them most.",
)
DIS_SUDA = Risk(
    "classes.dis_suda",
    about=("table",),
    title="Highest DIS-SUDA score",
    unit="share",
    safer="lower",
    summary="The probability that a match with the most conspicuous row is right, by a rule of thumb.",
    detail_of=KNOWN_COLUMNS,
)
KNOWN_ITEMS = Risk(
    "classes.known_items",
    about=("transactions",),
    title="Fewest baskets with the same few items (kᵐ)",
    unit="count",
    safer="higher",
    summary="The smallest number of baskets that contain the same few items.",
)

# ---- what others hold ------------------------------------------------------------------------------------------------

INTERSECTION = Risk(
    "classes.intersection",
    about=("table",),
    needs="earlier",
    title="Sensitive values known from several releases together",
    unit="share",
    safer="lower",
    tolerance=0,
    summary="The share of people for whom only one sensitive value is possible in all releases.",
)
POPULATION_UNIQUES = Risk(
    "classes.population_uniques",
    about=("table",),
    title="Rows that match only one person in the population",
    unit="share",
    safer="lower",
    sampled=True,
    summary="The share of rows that only one person in the whole population matches.",
)
K_MAP = Risk(
    "classes.k_map",
    about=("table",),
    title="Fewest people in the population who match a row (k-map)",
    unit="count",
    safer="higher",
    summary="The smallest number of people in the population who match the same row.",
)
PRESENCE = Risk(
    "classes.presence",
    about=("table",),
    title="Highest probability of being in the release (δ-presence)",
    unit="share",
    safer="lower",
    summary="How sure an attacker can be that somebody in the population is in the release.",
)

SIZE_RISKS = (K, UNIQUES, DISTINCTION, SEPARATION, AT_RISK, REIDENTIFICATION)
"""What follows from the sizes of the classes."""
VALUE_RISKS = (L_DISTINCT, ALPHA, RECURSIVE_C, L_ENTROPY, T, BETA, BETA_ENHANCED, DELTA_DISCLOSURE, HOMOGENEITY)
"""What follows from the sensitive values in the classes."""
RISKS = (
    *SIZE_RISKS,
    *VALUE_RISKS,
    KNOWN_COLUMNS,
    DIS_SUDA,
    INTERSECTION,
    POPULATION_UNIQUES,
    K_MAP,
    PRESENCE,
    KNOWN_ITEMS,
)
