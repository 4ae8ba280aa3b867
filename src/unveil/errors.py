"""What can go wrong that a user can mend.

An :class:`UnveilError` carries one line: what is wrong, where (file, row or column), and what to do about it.
The command line prints that line and exits with 2; no other exception is meant for a user's eyes. The line never
quotes a data value, so that an error message cannot leak what the report is careful to hide.
"""

__all__ = ["UnveilError"]


class UnveilError(Exception):
    """Bad usage or bad data, said in one line that names the place and the remedy."""
