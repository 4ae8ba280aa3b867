"""The room ``dp``: can I answer questions instead of releasing?

Differential privacy (C. Dwork, F. McSherry, K. Nissim, A. Smith, *Calibrating noise to sensitivity in private data
analysis*, TCC 2006): each answer is drawn so that it would have been nearly as likely without any one person.
"""
