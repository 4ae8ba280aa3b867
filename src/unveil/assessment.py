"""An assessment: the findings, the verdict, and how they came about.

It is plain, immutable data. The report, the terminal text and the JSON are three renderings of it; the JSON can be read
back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

from unveil.errors import UnveilError
from unveil.finding import Finding
from unveil.policy import Column
from unveil.verdict import Decision, Verdict

__all__ = ["SCHEMA_VERSION", "Assessment", "Column", "Provenance", "Summary", "Weighed"]

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Summary:
    """What was assessed: kind, name, size (``rows``, ``columns`` …) and what the reader noticed."""

    kind: str
    name: str
    size: Mapping[str, int]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain JSON values."""
        return {"kind": self.kind, "name": self.name, "size": dict(self.size), "notes": list(self.notes)}


@dataclass(frozen=True)
class Provenance:
    """How the assessment was made: enough to make it again. ``sha256`` is the hash of the release, ``beside`` those of
    whatever else was read."""

    sha256: str
    beside: Mapping[str, str]
    versions: Mapping[str, str]
    policy: Mapping[str, Any]
    seed: int
    started: str
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """The provenance as plain JSON values."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return plain | {
            "beside": dict(self.beside),
            "versions": dict(self.versions),
            "policy": dict(self.policy),
        }


@dataclass(frozen=True, kw_only=True)
class Weighed:
    """One protection that was tried: what it does, how useful it leaves the data (1: as before), the verdict after it,
    the share of subjects that the worst deciding finding still harms, and whether it was chosen. Where it cannot reach
    the tolerance there is no usefulness."""

    id: str
    title: str
    sentence: str
    usefulness: float | None = None
    decision: Decision | None = None
    harmed: tuple[float, float] | None = None
    chosen: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The protection as plain JSON values."""
        return {**asdict(self), "harmed": None if self.harmed is None else list(self.harmed)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Weighed:
        """The inverse of :meth:`to_dict`."""
        return cls(**{**data, "harmed": None if data["harmed"] is None else tuple(data["harmed"])})


@dataclass(frozen=True)
class Assessment:
    """The result of :func:`unveil.assess`.

    ``suggestion`` is the command-line option that would turn the guessed roles into given ones; ``protections`` are
    those that :func:`unveil.protect` weighed before it made this release.
    """

    release: Summary
    verdict: Verdict
    findings: tuple[Finding, ...]
    columns: tuple[Column, ...]
    suggestion: str | None
    provenance: Provenance
    protections: tuple[Weighed, ...] = ()

    def __getitem__(self, finding_id: str) -> Finding:
        for finding in self.findings:
            if finding.id == finding_id:
                return finding
        raise KeyError(finding_id)

    @property
    def decided_by(self) -> Finding | None:
        """The finding that decided the verdict."""
        return self[self.verdict.because] if self.verdict.because else None

    def to_dict(self) -> dict[str, Any]:
        """The assessment as plain JSON values, as the published schema describes them."""
        return {
            "schema_version": SCHEMA_VERSION,
            "release": self.release.to_dict(),
            "verdict": self.verdict.to_dict(),
            "findings": [f.to_dict() for f in self.findings],
            "columns": [asdict(c) for c in self.columns],
            "suggestion": self.suggestion,
            "provenance": self.provenance.to_dict(),
            "protections": [p.to_dict() for p in self.protections],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Assessment:
        """The inverse of :meth:`to_dict`."""
        if not isinstance(data, Mapping) or "schema_version" not in data:
            raise UnveilError("this is not an assessment that unveil wrote")
        version = data["schema_version"]
        if version != SCHEMA_VERSION:
            raise UnveilError(f"this assessment has schema version {version}; this unveil reads {SCHEMA_VERSION}")
        try:
            return cls._of(data)
        except (KeyError, TypeError, ValueError):
            raise UnveilError("this is not an assessment that unveil wrote: something in it is missing") from None

    @classmethod
    def _of(cls, data: Mapping[str, Any]) -> Assessment:
        release, verdict, provenance = data["release"], data["verdict"], data["provenance"]
        return cls(
            release=Summary(**{**release, "size": MappingProxyType(release["size"]), "notes": tuple(release["notes"])}),
            verdict=Verdict(**{**verdict, "reasons": tuple(verdict["reasons"])}),
            findings=tuple(Finding.from_dict(f) for f in data["findings"]),
            columns=tuple(Column(**c) for c in data["columns"]),
            suggestion=data["suggestion"],
            provenance=Provenance(
                **{**provenance, **{k: MappingProxyType(provenance[k]) for k in ("beside", "versions", "policy")}}
            ),
            protections=tuple(Weighed.from_dict(p) for p in data["protections"]),
        )

    def to_json(self) -> str:
        """The assessment as JSON text."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Assessment:
        """Read back what :meth:`to_json` wrote."""
        try:
            data = json.loads(text)
        except ValueError:
            raise UnveilError("this is not JSON") from None
        return cls.from_dict(data)

    def to_html(self) -> str:
        """The assessment as one self-contained page."""
        from unveil.report.html import page

        return page([self])

    def to_text(self) -> str:
        """The assessment as plain text."""
        from unveil.report.text import plain

        return plain(self)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        from unveil.report.html import fragment

        return fragment(self)
