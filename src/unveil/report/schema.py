"""The published description of the JSON form of an assessment (JSON Schema 2020-12)."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

__all__ = ["schema"]


def schema() -> dict[str, Any]:
    """The schema that :meth:`unveil.assessment.Assessment.to_dict` obeys; a fresh copy."""
    text = files("unveil.report").joinpath("assessment.schema.json").read_text(encoding="utf-8")
    return dict(json.loads(text))
