"""The verdict: may the data be released?

- any deciding finding over its tolerance → ``protect first``;
- else anything open, failed or truncated, a required question that could not be asked, or a column role that was only
  guessed → ``your call``;
- else ``release``: within tolerance against these attackers, which is not the same as safe.

The finding that decided is the one with the largest lower bound of subjects harmed. Scales are never averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from unveil.finding import Finding

__all__ = ["Decision", "Verdict", "decide"]

_NAMED = 4

Decision = Literal["release", "protect first", "your call"]


@dataclass(frozen=True)
class Verdict:
    """The decision, the id of the finding that decided it (if one did), and the reasons in words."""

    decision: Decision
    because: str | None
    sentence: str
    reasons: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 release, 1 protect first, 3 your call."""
        return {"release": 0, "protect first": 1, "your call": 3}[self.decision]

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain JSON values."""
        return {**asdict(self), "reasons": list(self.reasons)}

    def __repr__(self) -> str:
        return f"{self.decision}: {self.sentence}"


def decide(findings: Sequence[Finding], doubts: Sequence[str] = ()) -> Verdict:
    """The verdict on these findings; ``doubts`` are reasons beside them for which a person has to decide."""
    deciding = [f for f in findings if f.decides]
    over = sorted((f for f in deciding if f.status == "over"), key=lambda f: -f.harmed)
    if over:
        reasons = tuple(
            f"{f.title}: {f.value_text} {f.unit_text}".strip() + f", tolerated {f.tolerance_text}" for f in over
        )
        return Verdict("protect first", over[0].id, over[0].sentence, reasons)
    doubtful = [f for f in deciding if f.status in ("open", "failed") or f.method == "truncated"]
    how = {"open": "is open", "failed": "could not be measured"}
    reasons = (*(f"{f.title} {how.get(f.status or '', 'stopped at its budget')}." for f in doubtful), *doubts)
    if not deciding:
        reasons += ("Nothing was measured against a tolerance.",)
    if reasons:
        worst_id = max(doubtful, key=lambda f: f.harmed).id if doubtful else None
        return Verdict("your call", worst_id, " ".join(reasons), reasons)
    worst = max(deciding, key=lambda f: f.harmed)
    said = "The deciding finding is"
    if len(deciding) > 1:
        said = "Both deciding findings are" if len(deciding) == 2 else f"All {len(deciding)} deciding findings are"
    because = worst.id if worst.harmed > 0 else None
    return Verdict("release", because, f"{said} within tolerance against these attackers: {_titles(deciding)}.")


def _titles(deciding: Sequence[Finding]) -> str:
    """What was decided by: the first few."""
    titles = list(dict.fromkeys(f.title for f in deciding))
    more = f"; and {len(titles) - _NAMED:,} more" if len(titles) > _NAMED else ""
    return "; ".join(titles[:_NAMED]) + more
