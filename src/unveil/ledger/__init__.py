"""The book of private answers: what was asked about a data set, what it cost, and what was answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from unveil.ledger.data_identity import (
        DataDigests as DataDigests,
        DataIdentity as DataIdentity,
        identify_data as identify_data,
    )
    from unveil.ledger.history import DataVersion as DataVersion, Entry as Entry
    from unveil.ledger.ledger import Booking as Booking, Ledger as Ledger
    from unveil.ledger.privacy_cost import PrivacyCost as PrivacyCost
    from unveil.ledger.spending import Part as Part, Spending as Spending
else:
    __all__, __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "data_identity": "DataDigests DataIdentity identify_data",
            "history": "DataVersion Entry",
            "ledger": "Booking Ledger",
            "privacy_cost": "PrivacyCost",
            "spending": "Part Spending",
        },
    )
