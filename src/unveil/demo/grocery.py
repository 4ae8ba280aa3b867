"""An invented grocery shop: what was bought together, with product names replaced by numbers.

No such shop exists. It imitates what makes real baskets useful to a miner, and recognisable to a competitor:

- *popularity* is Zipf-like: a few products are in many baskets, most are rare. Many of the rare ones are bought equally
  often, which hides them from an attacker who knows only how popular a product is;
- *occasions*: some baskets are for breakfast, a barbecue and so on, and favour the products for that occasion;
- *size*: most baskets are small, a few are a week's shopping for a family.
"""

from __future__ import annotations

import numpy as np

from unveil.errors import UnveilError

__all__ = ["make_baskets"]

_OCCASIONS = {"breakfast": 0.2, "pasta night": 0.12, "barbecue": 0.1, "baking": 0.08, "party": 0.07, "baby": 0.05}
_OCCASION_FACTOR = 20.0  # how much likelier a product is on its occasion
_USUAL_SIZE = 6.0
_MAX_BASKET = 30


def make_baskets(rng: np.random.Generator, baskets: int = 4000, products: int = 180) -> list[list[str]]:
    """``baskets`` lists of distinct product numbers such as ``["14", "107"]``, 1 to 30 in each, in ascending order.

    Which product a number stands for is the secret: numbers are assigned at random, so they reveal neither popularity
    nor occasion.
    """
    if baskets < 1 or products < 1:
        raise UnveilError("grocery: the numbers of baskets and products must be at least 1")

    popularity = -np.log(np.arange(products) + 2.0)  # logarithm of Zipf's law, flattened a little at the top
    favour = np.zeros((len(_OCCASIONS) + 1, products))  # the last row is the ordinary basket
    for occasion in range(len(_OCCASIONS)):
        favour[occasion, rng.choice(products, -(-products // 15), replace=False)] = np.log(_OCCASION_FACTOR)
    shares = list(_OCCASIONS.values())
    occasions = rng.choice(len(favour), baskets, p=[*shares, 1 - sum(shares)])

    # A geometric number modulo the limit is again geometric, cut at the limit.
    limit = min(_MAX_BASKET, products)
    sizes = 1 + (rng.geometric(1 / _USUAL_SIZE, baskets) - 1) % limit

    # Gumbel noise on logarithmic weights: the n largest are n draws without replacement.
    wish = popularity + favour[occasions] + rng.gumbel(size=(baskets, products))
    favourites = np.argsort(-wish, axis=1)[:, :limit]
    number = rng.permutation(products) + 1
    return [list(map(str, np.sort(row[:size]).tolist())) for row, size in zip(number[favourites], sizes, strict=True)]
