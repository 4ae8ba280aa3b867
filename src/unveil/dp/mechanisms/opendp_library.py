"""The library that draws the noise: OpenDP, loaded when the first noise is drawn.

Its samplers work on exact integers and fractions with the operating system's randomness, so that the attack on
floating-point noise (Mironov 2012) finds nothing. It is an optional part of unveil because of its size.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

from unveil.errors import UnveilError

__all__ = ["load_opendp"]


@cache
def load_opendp() -> Any:
    """OpenDP's prelude with the features that the mechanisms need."""
    try:
        opendp = importlib.import_module("opendp.prelude")
    except ImportError:
        raise UnveilError('drawing noise needs OpenDP; install it with: pip install "unveil[dp]"') from None
    opendp.enable_features("contrib")
    return opendp
