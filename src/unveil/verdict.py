"""The verdict: may the data be released?

- ``protect first`` if any deciding finding is over its tolerance;
- else ``your call`` if a deciding finding is open, failed or truncated, if a required question could not be asked, or
  if a column role is only a guess;
- else ``release``: within tolerance against these attackers, which is not the same as safe.

Of the findings over their tolerance, the one with the largest lower bound of subjects harmed decides. ``release`` names
the largest harm of all findings, whether they decide or not. Scales are never averaged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from unveil.finding import Finding
from unveil.wording import count_text, singular_noun, unit_noun

__all__ = ["Decision", "Verdict", "decide_verdict"]

_MAX_TITLES = 4

Decision = Literal["release", "protect first", "your call"]


@dataclass(frozen=True)
class Verdict:
    """The decision, the finding that decided it or, for ``release``, harms most (its id, column and known columns, if
    there is one), and the reasons."""

    decision: Decision
    because: str | None
    sentence: str
    reasons: tuple[str, ...] = ()
    column: str | None = None
    known: tuple[str, ...] | None = None

    @property
    def exit_code(self) -> int:
        """0 release, 1 protect first, 3 your call."""
        return {"release": 0, "protect first": 1, "your call": 3}[self.decision]

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain JSON values."""
        known = None if self.known is None else list(self.known)
        return {**asdict(self), "reasons": list(self.reasons), "known": known}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Verdict:
        """The inverse of :meth:`to_dict`."""
        known = None if data["known"] is None else tuple(data["known"])
        return cls(**{**data, "reasons": tuple(data["reasons"]), "known": known})

    def __repr__(self) -> str:
        return f"{self.decision}: {self.sentence}"


def decide_verdict(findings: Sequence[Finding], doubts: Sequence[str] = ()) -> Verdict:
    """The verdict on these findings. ``doubts`` are further reasons why a person has to decide."""
    deciding = [f for f in findings if f.decides]
    over = sorted((f for f in deciding if f.status == "over"), key=lambda f: -f.harmed_share)
    if over:
        reasons = tuple(
            f"{f.title}: {f.value_text} {f.unit_text}".strip() + f", must be {f.tolerance_text}" for f in over
        )
        return _verdict_from("protect first", over[0], f"{over[0].sentence}{_unreachable_text(over[0])}", reasons)
    doubtful = [f for f in deciding if f.status in ("open", "failed") or f.method == "truncated"]
    reasons = (*(f"{f.title}: {_why_doubtful(f)}." for f in doubtful), *doubts)
    if not deciding:
        reasons += ("Nothing was measured against a tolerance.",)
    if reasons:
        doubted = max(doubtful, key=lambda f: f.harmed_share) if doubtful else None
        return _verdict_from("your call", doubted, " ".join(reasons), reasons)
    worst = max(findings, key=lambda f: f.harmed_share)
    subject = "The deciding finding is"
    if len(deciding) > 1:
        subject = "Both deciding findings are" if len(deciding) == 2 else f"All {len(deciding)} deciding findings are"
    sentence = f"{subject} within tolerance against these attackers: {_join_titles(deciding)}."
    return _verdict_from("release", worst if worst.harmed_share > 0 else None, sentence)


def _verdict_from(decision: Decision, finding: Finding | None, sentence: str, reasons: tuple[str, ...] = ()) -> Verdict:
    if finding is None:
        return Verdict(decision, None, sentence, reasons)
    return Verdict(decision, finding.id, sentence, reasons, finding.column, finding.known)


def _unreachable_text(finding: Finding) -> str:
    """That no protection of the same subjects can meet a tolerance, if someone who knows nothing exceeds it."""
    if not finding.is_unreachable or finding.baseline is None:
        return ""
    guessed = finding.text_in_unit(finding.baseline)
    if finding.direction == "higher":
        return (
            f" No coarser version of the same data can meet this tolerance ({finding.tolerance_text}): all of it "
            f"together has {guessed} {unit_noun(guessed, finding.unit)}."
        )
    unit = "" if finding.unit == "share" else f" {unit_noun(guessed, finding.unit)}".rstrip()
    return (
        f" No protection that keeps {_subjects_text(finding)} can meet this tolerance "
        f"({finding.tolerance_text}): guessing without the release already reaches {guessed}{unit}."
    )


def _subjects_text(finding: Finding) -> str:
    """All subjects, by the unit they are counted in."""
    noun = "subject" if finding.unit in ("", "share", "cracks") else singular_noun(finding.unit)
    return f"the only {noun}" if finding.subjects == 1 else f"all {count_text(finding.subjects, noun)}"


def _why_doubtful(finding: Finding) -> str:
    if finding.status == "failed":
        return "could not be measured"
    if finding.method == "truncated":
        return "the search ran out of its work budget"
    return f"the interval includes the tolerance ({finding.tolerance_text})"


def _join_titles(deciding: Sequence[Finding]) -> str:
    """The titles of the first few deciding findings."""
    titles = list(dict.fromkeys(f.title for f in deciding))
    more = f"; and {len(titles) - _MAX_TITLES:,} more" if len(titles) > _MAX_TITLES else ""
    return "; ".join(titles[:_MAX_TITLES]) + more
