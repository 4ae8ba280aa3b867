"""Render assessments as one self-contained page, or as a fragment for a notebook.

Security, in one place:

- the page runs no script and loads nothing; its content security policy forbids everything except its own style sheet,
  which it names by hash;
- every value in a template passes through :func:`~unveil.wording.safe_text` (no control characters, no direction
overrides,
  limited length) and is then escaped; only our own pictures enter as markup;
- the page shows only what is in the assessment: aggregates and row numbers, unless the owner asked to reveal values.
The
  page then says so at the top.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from unveil import wording
from unveil.assessment import Assessment, ProtectionResult
from unveil.finding import Drawing
from unveil.report import arrangement, folding, phrases
from unveil.report.next_steps import next_steps
from unveil.toml_writer import drop_values, toml_lines
from unveil.wording import safe_text

if TYPE_CHECKING:
    import jinja2

    from unveil.weighed_protections import WeighedProtections

__all__ = ["render_fragment", "render_page", "render_weighed"]

_MAX_TEXT = 20_000  # a suggestion may name hundreds of columns


def render_page(assessments: Sequence[Assessment]) -> str:
    """One or more assessments as a self-contained HTML page."""
    if not assessments:
        raise ValueError("a page needs an assessment to show")
    revealed = any(phrases.reveals_values(a) for a in assessments)
    template = _template_environment().get_template("page.html.j2")
    return template.render(assessments=assessments, revealed=revealed, **_style_sheet()).lstrip()


def render_weighed(weighed: WeighedProtections) -> str:
    """Protections that were weighed against each other as a self-contained HTML page."""
    from unveil.report import weighed_charts, weighed_words

    template = _template_environment().get_template("weighed.html.j2")
    pictures = {
        "legend": _trusted_markup(weighed_charts.weighed_legend(weighed)),
        "frontier": _trusted_markup(weighed_charts.frontier_svg(weighed)),
        "panels": {
            is_of_attackers: [
                (measure, _trusted_markup(weighed_charts.panel_svg(weighed, measure, is_of_attackers)))
                for measure in weighed_words.drawn_measures(weighed, is_of_attackers)
            ]
            for is_of_attackers in (True, False)
        },
    }
    return template.render(w=weighed, said=weighed_words, **pictures, **_style_sheet()).lstrip()


def _style_sheet() -> dict[str, object]:
    """The style sheet of a page, and the content security policy that names it by hash."""
    style = _read_resource("style.css")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    return {"style": _trusted_markup(style), "csp": policy}


def render_fragment(assessment: Assessment, before: Assessment | None = None, caveats: Sequence[str] = ()) -> str:
    """The verdict and the findings as compact markup for a notebook. Of a protected release also the verdict
    ``before``, the protections that were tried, and the ``caveats`` of the one that was chosen."""
    style = _trusted_markup(_read_resource("fragment.css"))
    template = _template_environment().get_template("fragment.html.j2")
    return template.render(a=assessment, before=before, caveats=caveats, style=style)


@functools.cache
def _template_environment() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_read_resource),
        autoescape=True,
        finalize=_finalize_value,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(words=phrases, wording=wording, folding=folding, arrangement=arrangement)
    environment.globals.update(picture=_chart_markup, policy_lines=_policy_lines, next_steps=next_steps)
    environment.globals["front_picture"] = _front_markup
    environment.filters["name"] = safe_text
    return environment


def _read_resource(name: str) -> str:
    return files("unveil.report").joinpath(name).read_text(encoding="utf-8")


def _finalize_value(value: object) -> object:
    """Make the value of a template expression safe to show; jinja escapes it afterwards."""
    return value if hasattr(value, "__html__") else safe_text(value, _MAX_TEXT)


def _trusted_markup(text: str) -> object:
    """Our own text, which may enter the page unescaped."""
    from markupsafe import Markup

    return Markup(text)


def _chart_markup(curve: Drawing) -> object:
    from unveil.report.charts import chart_svg

    return _trusted_markup(chart_svg(curve))


def _front_markup(protections: Sequence[ProtectionResult]) -> object:
    from unveil.report.front_chart import front_svg

    return _trusted_markup(front_svg(protections))


def _policy_lines(policy: Mapping[str, Any]) -> Iterator[str]:
    """The policy as it could stand in ``unveil.toml``; settings without a value are left out."""
    return toml_lines(drop_values(policy, [None, [], {}]))
