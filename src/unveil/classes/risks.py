"""What the question ``classes`` can find."""

from __future__ import annotations

from functools import partial

from unveil.risk import AVERAGE_RISK, CLASS_SIZE, Risk

__all__ = ["RISKS", "SIZE_RISKS", "VALUE_RISKS"]

_table_risk = partial(Risk, release_kinds=("table",))
_share_risk = partial(_table_risk, unit="share", safer="lower")
_count_risk = partial(_table_risk, unit="count", safer="higher")
_number_risk = partial(_table_risk, unit="number", safer="lower")

K = _count_risk(
    "classes.k",
    title="Smallest class (k)",
    tolerance=5,
    quantity=CLASS_SIZE,
    presets={"ema-0070": 11, "health-canada": 11, "cms-11": 11, "frequency-3": 3},
    summary="The smallest number of people who look the same to the attacker.",
)
UNIQUES = _share_risk(
    "classes.uniques",
    title="Unique people",
    summary="The share of people who are unique in what the attacker knows.",
)
DISTINCTION = _share_risk(
    "classes.distinction",
    title="People left without duplicates (distinction)",
    summary="The share of people who would remain if only one of those who look the same were kept.",
    detail_of=UNIQUES,
)
SEPARATION = _share_risk(
    "classes.separation",
    title="Pairs of people told apart (separation)",
    summary="The share of all pairs of people who differ in what the attacker knows.",
    detail_of=UNIQUES,
)
AT_RISK = _share_risk(
    "classes.at_risk",
    title="People in small classes",
    summary="The share of people who are in classes smaller than the tolerated k.",
)
REIDENTIFICATION = _share_risk(
    "classes.reidentification",
    title="Average re-identification risk",
    quantity=AVERAGE_RISK,
    presets={"ema-0070": 0.09, "health-canada": 0.09},
    summary="The average probability of picking the right person among those who match.",
)

L_DISTINCT = _count_risk(
    "classes.l_distinct",
    title="Fewest sensitive values in a class (ℓ)",
    tolerance=2,
    summary="The smallest number of different values that a sensitive column has in a class.",
)
ALPHA = _share_risk(
    "classes.alpha",
    title="Largest share of one value in a class (α)",
    summary="The largest share of a class that has the same sensitive value.",
    detail_of=L_DISTINCT,
)
RECURSIVE_C = _number_risk(
    "classes.recursive_c",
    title="Recursive (c, ℓ)-diversity (c)",
    summary="The c above which every class is recursively (c, ℓ)-diverse, for the tolerated ℓ.",
    detail_of=L_DISTINCT,
)
L_ENTROPY = _table_risk(
    "classes.l_entropy",
    title="Least diverse class by entropy (ℓ)",
    unit="number",
    safer="higher",
    summary="How many equally frequent values would be as diverse as the least diverse class.",
)
T = _share_risk(
    "classes.t",
    title="Largest difference between a class and the table (t)",
    summary="The largest difference between the sensitive values of a class and those of the table, from 0 to 1.",
)
BETA = _number_risk(
    "classes.beta",
    title="Largest relative gain in belief (basic β)",
    summary="The largest relative increase of a sensitive value's share in a class over its share in the table.",
    detail_of=T,
)
BETA_ENHANCED = _number_risk(
    "classes.beta_enhanced",
    title="Largest relative gain in belief (enhanced β)",
    summary="Basic β, but infinite where a value gains more than its rarity in the table permits.",
    detail_of=T,
)
DELTA_DISCLOSURE = _number_risk(
    "classes.delta_disclosure",
    title="Largest change in a share (δ-disclosure)",
    summary="The largest logarithm of the ratio between a value's share in a class and in the table.",
    detail_of=T,
)
HOMOGENEITY = _share_risk(
    "classes.homogeneity",
    title="Sensitive values known without finding the person",
    summary="The share of people in classes in which everybody has the same sensitive value.",
)

KNOWN_COLUMNS = _share_risk(
    "classes.known_columns",
    title="Average re-identification risk with a few columns known",
    summary="The average re-identification risk when an attacker knows the three columns that help them most.",
)
DIS_SUDA = _share_risk(
    "classes.dis_suda",
    title="Highest DIS-SUDA score",
    summary="The probability that a match with the most conspicuous row is right, by a rule of thumb.",
    detail_of=KNOWN_COLUMNS,
)
KNOWN_ITEMS = Risk(
    "classes.known_items",
    release_kinds=("transactions",),
    title="Fewest baskets with the same few items (kᵐ)",
    unit="count",
    safer="higher",
    summary="The smallest number of baskets that contain the same few items.",
)

INTERSECTION = _share_risk(
    "classes.intersection",
    needs="earlier",
    title="Sensitive values known from several releases together",
    tolerance=0,
    summary="The share of people for whom only one sensitive value is possible in all releases.",
)
POPULATION_UNIQUES = _share_risk(
    "classes.population_uniques",
    title="Rows that match only one person in the population",
    sampled=True,
    summary="The share of rows that only one person in the whole population matches.",
)
K_MAP = _count_risk(
    "classes.k_map",
    title="Fewest people in the population who match a row (k-map)",
    summary="The smallest number of people in the population who match the same row.",
)
PRESENCE = _share_risk(
    "classes.presence",
    title="Highest probability of being in the release (δ-presence)",
    summary="How sure an attacker can be that somebody in the population is in the release.",
)
INDIVIDUAL_RISK = _share_risk(
    "classes.individual_risk",
    title="Average re-identification risk in the population, by weights",
    summary="The average probability of finding a row's person in the population, estimated from sampling weights.",
)
HOUSEHOLD_RISK = _share_risk(
    "classes.household_risk",
    title="Average risk that somebody in the household is found",
    summary="The average probability that at least one member of a row's household is found.",
)
HOUSEHOLD_UNIQUES = _share_risk(
    "classes.household_uniques",
    title="Rows in households that are unique by their members",
    summary="The share of rows in households that differ from every other in what is known about their members.",
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
    INDIVIDUAL_RISK,
    HOUSEHOLD_RISK,
    HOUSEHOLD_UNIQUES,
    KNOWN_ITEMS,
)
