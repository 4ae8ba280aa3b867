"""Assessments become one self-contained page, or a fragment for a notebook.

Security, in one place:

- the page runs no script and asks for nothing from outside; its content security policy forbids everything but the
  style sheet it carries, which is named by its hash;
- every value set into a template passes through :func:`~unveil.wording.shown` (no control characters, no direction
  overrides, not endless) and is then escaped; only pictures drawn by ``charts.py`` and ``links.py`` enter as markup;
- nothing enters that is not in the assessment, and assessments hold aggregates and row numbers unless the owner asked
  to reveal values; then the page says so at the top.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from unveil import wording
from unveil.assessment import Assessment
from unveil.finding import Curve, Links
from unveil.report import words
from unveil.toml import toml
from unveil.wording import shown

if TYPE_CHECKING:
    import jinja2

__all__ = ["fragment", "page"]

_LONGEST = 20_000  # a suggestion may name hundreds of columns
_NAME = 200


def page(assessments: Sequence[Assessment]) -> str:
    """The assessments (at least one) as one HTML page that needs nothing else."""
    if not assessments:
        raise ValueError("a page needs an assessment to show")
    style = _read("style.css")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    revealed = any(words.reveals(a) for a in assessments)
    template = _environment().get_template("page.html.j2")
    return template.render(assessments=assessments, style=_markup(style), csp=policy, revealed=revealed).lstrip()


def fragment(assessment: Assessment) -> str:
    """The verdict and the findings as compact markup for a notebook."""
    template = _environment().get_template("fragment.html.j2")
    return template.render(a=assessment, style=_markup(_read("fragment.css")))


@functools.cache
def _environment() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_read),
        autoescape=True,
        finalize=_finalize,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(words=words, wording=wording, picture=_picture, policy_lines=_policy_lines)
    environment.filters["name"] = shown
    return environment


def _read(name: str) -> str:
    return files("unveil.report").joinpath(name).read_text(encoding="utf-8")


def _finalize(value: object) -> object:
    """What every expression of a template passes through before it is escaped."""
    return value if hasattr(value, "__html__") else shown(value, _LONGEST)


def _markup(text: str) -> object:
    """Text of our own that may enter the page unescaped."""
    from markupsafe import Markup

    return Markup(text)


def _picture(curve: Curve | Links) -> object:
    from unveil.report.charts import svg

    return _markup(svg(curve))


def _policy_lines(policy: Mapping[str, Any]) -> Iterator[str]:
    """The policy as it could stand in ``unveil.toml``; settings that are empty are left out."""
    for key, value in policy.items():
        if key != "tolerance" and value not in (None, [], {}):
            yield f"{key} = {toml(value)}"
    if policy.get("tolerance"):
        yield ""
        yield "[tolerance]"
        yield from (f"{key} = {toml(value)}" for key, value in policy["tolerance"].items())
