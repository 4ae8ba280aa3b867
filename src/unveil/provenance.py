"""Where an assessment comes from: keyed hashes of what was read, versions, and the policy as a result may show it."""

from __future__ import annotations

import datetime
from types import MappingProxyType
from typing import Any

from unveil.assessment import Provenance
from unveil.case import Case
from unveil.owner_key import OwnerKey
from unveil.policy import Policy
from unveil.run import Run
from unveil.settings import declared_settings

__all__ = ["make_provenance"]

_LIBRARIES = ("unveil", "numpy", "pyarrow", "duckdb")


def make_provenance(
    case: Case, policy: Policy, key: OwnerKey, run: Run, started: datetime.datetime, seconds: float
) -> Provenance:
    """The provenance of an assessment of a case under a policy as it was given."""
    return Provenance(
        **_hash_fields(case, key, run.reveal),
        versions=MappingProxyType(_library_versions()),
        policy=MappingProxyType(_public_policy(policy, case.release.kind, run.reveal)),
        seed=policy.seed,
        started=started.isoformat(timespec="seconds"),
        seconds=seconds,
    )


def _hash_fields(case: Case, key: OwnerKey, reveal: bool) -> dict[str, Any]:
    """What the provenance says about the release and everything that was read beside it."""
    held = {"original": case.original, **case.holds}
    digests = {name: release.digest for name, release in held.items() if release is not None}
    digests |= {f"hierarchy of {column}": made.digest for column, made in case.hierarchies.items()}
    return {
        "hmac_sha256": key.hash_text(case.release.digest),
        "beside": MappingProxyType({name: key.hash_text(digest) for name, digest in digests.items()}),
        "key_id": key.id,
        "plain_sha256": MappingProxyType({"release": case.release.digest, **digests}) if reveal else None,
    }


def _public_policy(policy: Policy, kind: str, reveal: bool) -> dict[str, Any]:
    """The policy as the result may show it: values of secret settings are hidden."""
    public = policy.to_dict()
    if not reveal:
        for room, chosen in policy.settings.items():
            for name, declaration in declared_settings(chosen).items():
                if declaration.secret:
                    public[room][name] = _hide_values(public[room][name], kind)
    return public


def _hide_values(value: Any, kind: str) -> Any:
    """A setting without the values of people: a list of them, lists per column, or numbers per column or value."""
    if isinstance(value, list):
        return ["hidden"] * len(value)
    return {
        _hide_name(what, number, kind): ["hidden"] * len(of) if isinstance(of, list) else of
        for number, (what, of) in enumerate(value.items(), 1)
    }


def _hide_name(what: str, number: int, kind: str) -> str:
    """The name of a column is no secret, but its value is (``column=value``), and so is an item."""
    column, found, _ = what.partition("=")
    if kind != "table":
        return f"hidden {number}"
    return f"{column}=hidden {number}" if found else what


def _library_versions() -> dict[str, str]:
    import platform
    from importlib.metadata import version

    return {"python": platform.python_version()} | {name: version(name) for name in _LIBRARIES}
