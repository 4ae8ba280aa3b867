"""The room ``dp``: can I answer questions instead of releasing?

Differential privacy (C. Dwork, F. McSherry, K. Nissim, A. Smith, *Calibrating noise to sensitivity in private data
analysis*, TCC 2006): each answer is drawn so that it would have been nearly as likely without any one person.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from unveil.dp.belief import belief_bounds as belief_bounds
    from unveil.dp.curator import (
        PricedQuestion as PricedQuestion,
        PrivateAnswer as PrivateAnswer,
        make_ledger as make_ledger,
        price_questions as price_questions,
        query as query,
        rebind_ledger as rebind_ledger,
    )
    from unveil.dp.declarations import (
        CategoryColumn as CategoryColumn,
        DeclaredTable as DeclaredTable,
        NumberColumn as NumberColumn,
    )
    from unveil.dp.query_language import Question as Question, parse_question as parse_question
else:
    __all__, __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "belief": "belief_bounds",
            "curator": "PricedQuestion PrivateAnswer make_ledger price_questions query rebind_ledger",
            "declarations": "CategoryColumn DeclaredTable NumberColumn",
            "query_language": "Question parse_question",
        },
    )
