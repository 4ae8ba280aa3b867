"""What does a missing value mean? There are three readings; every finding names the one it used.

A missing or suppressed quasi-identifier can be read as a *value* of its own, which agrees only with the same text: the
default. As a *wildcard* it agrees with anything (:mod:`unveil.classes.wildcard`), as in sdcMicro and in ARX's wildcard
risk. If it is *excluded*, rows that lack any quasi-identifier are left out.

A missing sensitive value is nobody's value. Its row counts towards the size of its class, but not towards the number of
different values: in a class of flu, flu and missing, an attacker will assume that everybody has the flu.
"""

from __future__ import annotations

from dataclasses import dataclass

from unveil.policy import Policy

__all__ = ["MissingValues"]

_READING_TEXTS: dict[str, str] = {
    "value": "A missing quasi-identifier counts as a value of its own, which never understates the risk.",
    "wildcard": "A missing quasi-identifier fits anything; this understates the risk from an attacker who knows it.",
    "excluded": "Rows that lack a quasi-identifier are left out; the findings say nothing about the people in them.",
}
_SENSITIVE_TEXT = " A missing sensitive value does not count towards the values in a class."


@dataclass(frozen=True)
class MissingValues:
    """The texts that stand for a missing value, ignoring surrounding spaces, and how to read a missing
    quasi-identifier. Nulls and NaN are always missing."""

    texts: tuple[str, ...] = ()
    read_as: str = "value"

    @classmethod
    def from_policy(cls, policy: Policy) -> MissingValues:
        """The policy's choice."""
        return cls(policy.missing, policy.missing_as)

    @property
    def is_own_value(self) -> bool:
        """Whether a missing value is a value of its own."""
        return self.read_as == "value"

    @property
    def quasi_texts(self) -> tuple[str, ...]:
        """The texts that mean missing in a quasi-identifier; none if missing is a value of its own."""
        return () if self.is_own_value else self.texts

    def describe(self, sensitive: bool = False) -> str:
        """How missing values were read, as text for a finding; optionally also those of a sensitive column."""
        return _READING_TEXTS[self.read_as] + (_SENSITIVE_TEXT if sensitive else "")
