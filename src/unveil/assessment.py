"""An assessment: the findings, the verdict, and how they were made.

It is plain, immutable data. The HTML report, the terminal text and the JSON are renderings of it; the JSON can be read
back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from unveil.errors import UnveilError
from unveil.finding import Finding
from unveil.owner_key import load_owner_key
from unveil.policy import Column
from unveil.usefulness.use_measure import UseMeasure
from unveil.verdict import Decision, Verdict
from unveil.wording import did_you_mean, safe_text

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["SCHEMA_VERSION", "Assessment", "Column", "ProtectionResult", "Provenance", "Summary", "TypedCommand"]

SCHEMA_VERSION = 3
_FRAME_COLUMNS = (
    "id", "question", "column", "known", "title", "value", "low", "high", "unit", "method", "confidence", "subjects",
    "share_low", "share_high", "tolerance", "direction", "decides", "status", "baseline", "attacker", "sentence",
)  # fmt: skip
_FRAME_NUMBERS = ("value", "low", "high", "confidence", "share_low", "share_high", "tolerance", "baseline")


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
    """How the assessment was made, in enough detail to repeat it.

    ``hmac_sha256`` is the hash of the release under the owner's key; ``beside`` holds those of all other files that
    were read. ``key_id`` says which key that was; it is None if the key was not kept, so that the hashes cannot be
    compared with those of other runs. ``plain_sha256`` holds the hashes without a key, only when the owner asked to
    reveal: with these, anyone can check a guess at the data.
    """

    hmac_sha256: str
    beside: Mapping[str, str]
    key_id: str | None
    plain_sha256: Mapping[str, str] | None
    versions: Mapping[str, str]
    policy: Mapping[str, Any]
    seed: int
    started: str
    seconds: float

    def with_digest(self, digest: str) -> Provenance:
        """The provenance of the same assessment if the release is written to a file with this SHA-256."""
        plain = None if self.plain_sha256 is None else {**self.plain_sha256, "release": digest}
        return replace(self, hmac_sha256=load_owner_key().hash_text(digest), plain_sha256=plain)

    def to_dict(self) -> dict[str, Any]:
        """The provenance as plain JSON values."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: dict(value) if isinstance(value, Mapping) else value for name, value in values.items()}


@dataclass(frozen=True)
class TypedCommand:
    """What was typed on the command line, ready to be typed again: the file, the options that say how to read it, and
    by name those that make up the policy or say what an attacker holds. ``is_secret``: some hold values from the data.
    """

    file: str
    reading: tuple[str, ...]
    options: Mapping[str, tuple[str, ...]]
    is_secret: bool = False


@dataclass(frozen=True, kw_only=True)
class ProtectionResult:
    """One protection that was tried, and its outcome.

    ``usefulness`` is how useful it leaves the data (1: as before), or None if it cannot reach the tolerance.
    ``decision`` is the verdict after it, ``harmed`` the share of subjects that the risk which decided before it
    still harms. ``comparison`` says whether another one keeps more at no more harm, and ``use`` what the data can still
    be used for.
    """

    id: str
    title: str
    sentence: str
    usefulness: float | None = None
    decision: Decision | None = None
    harmed: tuple[float, float] | None = None
    chosen: bool = False
    comparison: str = ""
    use: tuple[UseMeasure, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The protection as plain JSON values."""
        harmed = None if self.harmed is None else list(self.harmed)
        return {**asdict(self), "harmed": harmed, "use": [measure.to_dict() for measure in self.use]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ProtectionResult:
        """The inverse of :meth:`to_dict`."""
        harmed = None if data["harmed"] is None else tuple(data["harmed"])
        return cls(**{**data, "harmed": harmed, "use": tuple(UseMeasure.from_dict(m) for m in data["use"])})


@dataclass(frozen=True)
class Assessment:
    """The result of :func:`unveil.assess`.

    ``suggestion`` holds the command-line options that state the guessed roles explicitly. ``protections`` are those
    that :func:`unveil.protect` compared before it made this release. ``not_asked`` names the questions and risks that
    were left out on request, ``checks_off`` the risks whose tolerance the policy turns off. ``doubts`` are the reasons
    why a person would have to decide even if nothing failed. ``artefacts`` are for the owner's eyes only and are never
    written with the rest, and neither is ``unprotectable``, why no protection suits the release. ``typed`` is the
    command that asked for it, if one did, for the commands that pages print.
    """

    release: Summary
    verdict: Verdict
    findings: tuple[Finding, ...]
    columns: tuple[Column, ...]
    suggestion: str | None
    provenance: Provenance
    protections: tuple[ProtectionResult, ...] = ()
    not_asked: tuple[str, ...] = ()
    checks_off: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    artefacts: Mapping[str, Callable[[], pa.Table]] = field(
        default_factory=lambda: MappingProxyType({}), repr=False, compare=False
    )
    typed: TypedCommand | None = field(default=None, repr=False, compare=False)
    unprotectable: str = field(default="", repr=False, compare=False)

    def __getitem__(self, finding_id: str) -> Finding:
        return self.find(finding_id)

    def find(self, finding_id: str, *, column: str | None = None, known: Sequence[str] | None = None) -> Finding:
        """The first finding of a risk; of those about ``column`` or someone who knows ``known``, if they are given."""
        for finding in self.findings:
            fits = (column is None or finding.column == column) and (known is None or finding.known == tuple(known))
            if finding.id == finding_id and fits:
                return finding
        ids = dict.fromkeys(finding.id for finding in self.findings)
        raise KeyError(f"no finding {safe_text(finding_id)!r} here{did_you_mean(finding_id, ids)}")

    @property
    def deciding_finding(self) -> Finding | None:
        """The finding that decided the verdict; for ``release``, the one that harms most."""
        because = self.verdict
        if because.because is None:
            return None
        return next(
            f for f in self.findings
            if (f.id, f.column, f.known) == (because.because, because.column, because.known)
        )  # fmt: skip

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
            "not_asked": list(self.not_asked),
            "checks_off": list(self.checks_off),
            "doubts": list(self.doubts),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Assessment:
        """The inverse of :meth:`to_dict`."""
        if not isinstance(data, Mapping) or "schema_version" not in data:
            raise UnveilError("this is not an assessment that unveil wrote")
        version = data["schema_version"]
        if version != SCHEMA_VERSION:
            raise UnveilError(
                f"this assessment has schema version {safe_text(version)}; this unveil reads {SCHEMA_VERSION}"
            )
        try:
            return cls._from_valid_dict(data)
        except (KeyError, TypeError, ValueError):
            raise UnveilError("this is not an assessment that unveil wrote: a field is missing or malformed") from None

    @classmethod
    def _from_valid_dict(cls, data: Mapping[str, Any]) -> Assessment:
        release, provenance = data["release"], data["provenance"]
        return cls(
            release=Summary(**{**release, "size": MappingProxyType(release["size"]), "notes": tuple(release["notes"])}),
            verdict=Verdict.from_dict(data["verdict"]),
            findings=tuple(Finding.from_dict(f) for f in data["findings"]),
            columns=tuple(Column(**c) for c in data["columns"]),
            suggestion=data["suggestion"],
            provenance=Provenance(
                **{
                    **provenance,
                    **{k: MappingProxyType(provenance[k]) for k in ("beside", "versions", "policy")},
                    "plain_sha256": None if (plain := provenance["plain_sha256"]) is None else MappingProxyType(plain),
                }
            ),
            protections=tuple(ProtectionResult.from_dict(p) for p in data["protections"]),
            not_asked=tuple(data["not_asked"]),
            checks_off=tuple(data["checks_off"]),
            doubts=tuple(data["doubts"]),
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
        except RecursionError:
            raise UnveilError("nests lists or objects too deeply; check that it is an assessment") from None
        return cls.from_dict(data)

    def to_frame(self) -> pd.DataFrame:
        """The findings as a pandas frame, a row each; ``low`` and ``high`` are the ends of the interval, ``share_low``
        and ``share_high`` those of the share of subjects harmed. Needs pandas, which unveil does not install."""
        try:
            import pandas as pd
        except ImportError:
            raise UnveilError("to_frame needs pandas: pip install pandas; or use to_dict") from None
        frame = pd.DataFrame([_finding_row(f) for f in self.findings], columns=_FRAME_COLUMNS)
        return frame.astype(dict.fromkeys(_FRAME_NUMBERS, "float64"))

    def to_html(self) -> str:
        """The assessment as one self-contained page."""
        from unveil.report.html import render_page

        return render_page([self])

    def to_text(self, details: bool = False) -> str:
        """The assessment as plain text: the summary on one screen or, with details, everything."""
        from unveil.report.terminal import plain_text

        return plain_text(self, details)

    def to_markdown(self) -> str:
        """The assessment as Markdown, for a comment on a pull request."""
        from unveil.report.markdown import render_markdown

        return render_markdown(self)

    def to_junit(self) -> str:
        """The assessment as JUnit XML, for continuous integration."""
        from unveil.report.junit import render_junit

        return render_junit(self)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        from unveil.report.html import render_fragment

        return render_fragment(self)


def _finding_row(finding: Finding) -> dict[str, Any]:
    """A finding as a row of a frame."""
    low, high = finding.interval or (None, None)
    share_low, share_high = finding.share or (None, None)
    ends = {"low": low, "high": high, "share_low": share_low, "share_high": share_high}
    known = None if finding.known is None else ", ".join(finding.known)
    return {name: getattr(finding, name, None) for name in _FRAME_COLUMNS} | ends | {"known": known}
