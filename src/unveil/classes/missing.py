"""What a missing value is: three readings, of which a finding names the one it used.

A quasi-identifier that is missing or suppressed can be read in three ways:

- as a *value* of its own: it agrees with the same text only. Whoever sees which values are missing can do no better, so
  this never understates the risk, and is the default;
- as a *wildcard* that agrees with anything, as sdcMicro counts and ARX's wildcard risk does
  (:mod:`unveil.classes.wildcard`). It understates what someone achieves who knows the value that is missing: rows with
  another value are counted as if they might be the person's;
- *excluded*: rows that lack any of the quasi-identifiers are left out. It says nothing about the people in them.

A sensitive value that is missing is nobody's value. Its row counts for the size of its class, but adds nothing to how
many different values there are: in a class of flu, flu and missing, everybody will be taken to have the flu.
"""

from __future__ import annotations

from dataclasses import dataclass

from unveil.policy import Policy

__all__ = ["Missing"]

_SAID: dict[str, str] = {
    "value": "A missing quasi-identifier is a value of its own, which never understates the risk.",
    "wildcard": "A missing quasi-identifier fits anything; that understates what someone achieves who knows it.",
    "excluded": "Rows that lack a quasi-identifier are left out; nothing is said about the people in them.",
}
_SENSITIVE = " A missing sensitive value adds nothing to how many values a class has."


@dataclass(frozen=True)
class Missing:
    """The texts that stand for a missing value, spaces around them aside, and how a missing quasi-identifier is read.
    Nulls and NaN are missing in any case."""

    texts: tuple[str, ...] = ()
    read_as: str = "value"

    @classmethod
    def of(cls, policy: Policy) -> Missing:
        """As the policy says."""
        return cls(policy.missing, policy.missing_as)

    @property
    def plain(self) -> bool:
        """Whether missing values are values like all others."""
        return self.read_as == "value"

    @property
    def in_quasi(self) -> tuple[str, ...]:
        """The texts that are missing when they stand in a quasi-identifier; as a value of its own none is."""
        return () if self.plain else self.texts

    def said(self, sensitive: bool = False) -> str:
        """How missing values were read, for a finding; also those of a sensitive column."""
        return _SAID[self.read_as] + (_SENSITIVE if sensitive else "")
