"""Two assessments side by side: what became better, what became worse, what cannot be told apart.

A risk is *better* or *worse* if its whole interval lies on the safer or the less safe side of the other one; exact
values are intervals of one point. Where the intervals overlap, the difference is *not distinguishable* from chance or
from what the bounds leave open. Estimates have no valid interval and are *not comparable*, unless they are equal.
``caveats`` say what else differs: another file, other tolerances, another seed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from unveil.assessment import Assessment
from unveil.errors import UnveilError
from unveil.finding import TOLERANCE_SLACK, Finding
from unveil.release.kinds import KIND_SINGULARS
from unveil.wording import list_text, safe_text

__all__ = ["Change", "ComparedFinding", "Comparison", "change_between", "compare"]

Change = Literal["better", "worse", "unchanged", "not distinguishable", "not comparable", "only before", "only after"]
_Key = tuple[str, str | None, tuple[str, ...] | None]


@dataclass(frozen=True)
class ComparedFinding:
    """One risk before and after; one of them is missing if only the other assessment measured it."""

    before: Finding | None
    after: Finding | None
    change: Change

    @property
    def finding(self) -> Finding:
        """The finding after or, if there is none, before."""
        found = self.after or self.before
        assert found is not None
        return found

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain JSON values."""
        f = self.finding
        sides = {name: _plain_side(found) for name, found in (("before", self.before), ("after", self.after))}
        about = {"id": f.id, "column": f.column, "known": None if f.known is None else list(f.known)}
        return {**about, "title": f.title, "unit": f.unit, "direction": f.direction, "change": self.change, **sides}


@dataclass(frozen=True)
class Comparison:
    """Two assessments of one kind of release, finding by finding, and what else differs between them."""

    before: Assessment
    after: Assessment
    findings: tuple[ComparedFinding, ...]
    caveats: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain JSON values."""
        verdicts = {
            name: {"release": a.release.name, "verdict": a.verdict.decision, "hmac_sha256": a.provenance.hmac_sha256}
            for name, a in (("before", self.before), ("after", self.after))
        }
        return {**verdicts, "caveats": list(self.caveats), "findings": [f.to_dict() for f in self.findings]}

    def to_json(self) -> str:
        """The comparison as JSON text."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n"

    def to_text(self) -> str:
        """The comparison as plain text."""
        from unveil.report.comparison_text import comparison_text

        return comparison_text(self)

    def to_markdown(self) -> str:
        """The comparison as Markdown, for a comment on a pull request."""
        from unveil.report.comparison_text import comparison_markdown

        return comparison_markdown(self)

    def __repr__(self) -> str:
        return self.to_text()


def compare(before: Assessment, after: Assessment) -> Comparison:
    """What changed from one assessment to another of the same kind of release."""
    kinds = [a.release.kind for a in (before, after)]
    if kinds[0] != kinds[1]:
        one, other = (KIND_SINGULARS.get(kind, safe_text(kind)) for kind in kinds)
        raise UnveilError(f"the first assessment is of {one}, the second of {other}; they cannot be compared")
    return Comparison(before, after, tuple(_compared_findings(before, after)), tuple(_caveats(before, after)))


def _compared_findings(before: Assessment, after: Assessment) -> Iterator[ComparedFinding]:
    """The findings of the second assessment in their order, then those of the first alone."""
    was, now = _findings_by_key(before), _findings_by_key(after)
    for key, found in now.items():
        old = was.get(key)
        yield ComparedFinding(old, found, "only after" if old is None else change_between(old, found))
    yield from (ComparedFinding(old, None, "only before") for key, old in was.items() if key not in now)


def _findings_by_key(assessment: Assessment) -> dict[_Key, Finding]:
    return {(f.id, f.column, f.known): f for f in assessment.findings}


def change_between(before: Finding, after: Finding) -> Change:
    """Whether a risk became better or worse, as far as the intervals tell."""
    was, now = _interval_of(before), _interval_of(after)
    if (before.unit, before.direction) != (after.unit, after.direction):
        return "not comparable"
    if was is None or now is None:
        return "unchanged" if _are_equal_estimates(before, after) else "not comparable"
    if _are_equal(was[0], now[0]) and _are_equal(was[1], now[1]):
        return "unchanged" if was[0] == was[1] or before.method == after.method else "not distinguishable"
    if now[1] < was[0]:
        return "better" if after.direction == "lower" else "worse"
    if now[0] > was[1]:
        return "worse" if after.direction == "lower" else "better"
    return "not distinguishable"


def _interval_of(finding: Finding) -> tuple[float, float] | None:
    """Where the true value lies; None if the finding does not say."""
    if finding.value is None or finding.method == "estimate":
        return None
    if finding.interval is not None:
        return finding.interval
    return (finding.value, finding.value) if finding.method == "exact" else None


def _are_equal_estimates(before: Finding, after: Finding) -> bool:
    """Whether the same estimate was made with the same result."""
    estimated = before.method == after.method == "estimate"
    return estimated and before.value is not None and after.value is not None and _are_equal(before.value, after.value)


def _are_equal(x: float, y: float) -> bool:
    return x == y or abs(x - y) <= TOLERANCE_SLACK * max(abs(x), abs(y))


# ---- what else differs -----------------------------------------------------------------------------------------------


def _count_subjects(assessment: Assessment) -> dict[str, int]:
    """What a release has, apart from columns."""
    return {name: count for name, count in assessment.release.size.items() if name != "columns"}


def _caveats(before: Assessment, after: Assessment) -> Iterator[str]:
    """What a reader must know before holding the numbers against each other."""
    hashes = _comparable_hashes(before, after)
    if hashes is None:
        yield "Whether both assessments are of the same data cannot be told: they share no key that was kept."
    elif hashes[0]["release"] == hashes[1]["release"]:
        yield "Both assessments are of the same data."
    if _count_subjects(before) != _count_subjects(after):
        yield "The releases differ in size; shares refer to the subjects of each."
    tolerances = _other_tolerances(before, after)
    if tolerances:
        yield f"The tolerances differ: {list_text(tolerances, 12)}. The verdicts follow different rules."
    settings = sorted(_other_settings(before, after))
    if settings:
        yield f"The policies differ in {list_text(settings, 12)}; the attackers may not be the same."
    if before.provenance.seed != after.provenance.seed:
        yield f"The seeds differ: {before.provenance.seed} before, {after.provenance.seed} after."
    was, now = hashes or [dict.fromkeys(a.provenance.beside, "") for a in (before, after)]
    held = sorted({name for name, _ in set(was.items()) ^ set(now.items())} - {"release"})
    if held:
        yield f"Other files were read beside the release: {list_text(held, 12)}."
    if before.not_asked != after.not_asked:
        yield "Not the same questions were asked."
    versions = [a.provenance.versions.get("unveil") for a in (before, after)]
    if versions[0] != versions[1]:
        yield f"unveil {safe_text(versions[0])} made the first assessment, unveil {safe_text(versions[1])} the second."


def _comparable_hashes(before: Assessment, after: Assessment) -> list[Mapping[str, str]] | None:
    """The hashes of the release and of what was read beside it, before and after; None if they have no key in common.
    Equal hashes are proof enough that they have."""
    made = (before.provenance, after.provenance)
    plain = [p.plain_sha256 for p in made if p.plain_sha256 is not None]
    if len(plain) == len(made):
        return plain
    ids, hashes = {p.key_id for p in made}, [{"release": p.hmac_sha256, **p.beside} for p in made]
    is_one_key = (len(ids) == 1 and None not in ids) or made[0].hmac_sha256 == made[1].hmac_sha256
    return list(hashes) if is_one_key else None


def _other_tolerances(before: Assessment, after: Assessment) -> list[str]:
    """The checks that are held against another limit, relative to the number of subjects where that is the rule."""
    policies = [dict(a.provenance.policy) for a in (before, after)]
    if policies[0].get("preset") != policies[1].get("preset"):
        return ["preset"]
    limits = [dict(p.get("tolerance", {})) for p in policies]
    return sorted(name for name in {**limits[0], **limits[1]} if limits[0].get(name) != limits[1].get(name))


def _other_settings(before: Assessment, after: Assessment) -> Iterator[str]:
    """The settings of the policies that differ, tolerances aside."""
    was, now = (dict(a.provenance.policy) for a in (before, after))
    for name in {**was, **now}:
        if name in ("tolerance", "preset", "seed") or was.get(name) == now.get(name):
            continue
        inner = [dict(p[name]) if isinstance(p.get(name), dict) else {} for p in (was, now)]
        if any(inner):
            yield from (f"{name}.{key}" for key in {**inner[0], **inner[1]} if inner[0].get(key) != inner[1].get(key))
        else:
            yield name


def _plain_side(finding: Finding | None) -> dict[str, Any] | None:
    if finding is None:
        return None
    keys = ("value", "interval", "method", "tolerance", "decides", "status")
    plain = finding.to_dict()
    return {key: plain[key] for key in keys}
