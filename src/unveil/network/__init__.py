"""Which node is this person? Attacks on graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from unveil.network.degrees import degree_class_sizes as degree_class_sizes
else:
    __all__, __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "degrees": "degree_class_sizes",
        },
    )
