"""Write the parts of the documentation that follow from the code: ``cli.md`` from the commands' own ``--help``, the
settings and tolerances in ``policy.md`` from what the rooms declare, and ``api.md`` from what the package exports."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import UnionType

import click

import unveil
from unveil import questions
from unveil.cli.main import cli
from unveil.policy import PRESETS, Policy
from unveil.risk import Risk
from unveil.settings import Setting, declared_settings, option_text
from unveil.toml_writer import to_toml

__all__ = ["api_reference", "command_reference", "policy_page", "settings_reference"]

_LONG_DEFAULT = 40  # characters; a default that is longer is not spelled out

HERE = Path(__file__).parent
BLOCK = re.compile(r"(?<=<!-- generated: make docs -->\n).*(?=<!-- end -->)", re.DOTALL)


def command_reference() -> str:
    """The page about commands."""
    parts = ["# Command reference", "", "Generated from `--help`; `make docs` writes it anew.", ""]
    top = click.Context(cli, info_name="unveil", max_content_width=100, terminal_width=100)
    parts += ["## unveil", "", "```text", cli.get_help(top), "```", ""]
    return "\n".join([*parts, *_command_sections(cli, top)])


def _command_sections(group: click.Group, above: click.Context) -> Iterator[str]:
    """The help of every command of a group, and of the commands below them."""
    for name in group.list_commands(above):
        command = group.get_command(above, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=above, max_content_width=100, terminal_width=100)
        yield from (f"## {context.command_path}", "", "```text", command.get_help(context), "```", "")
        if isinstance(command, click.Group):
            yield from _command_sections(command, context)


def policy_page(page: str) -> str:
    """The page about policies with its generated part written anew."""
    assert BLOCK.search(page), "the page has lost its markers"
    return BLOCK.sub(lambda _: settings_reference(), page)


def settings_reference() -> str:
    """All settings, tolerances and presets, as tables."""
    parts = ["## Settings", "", *_settings(Policy, "At the top of the file; roles may also go under `[columns]`:")]
    for question in questions.QUESTIONS:
        if question.settings is not None:
            parts += [f"### {question.title}", "", *_settings(question.settings, f"Under `[{question.name}]`:")]
    parts += ["## Tolerances", "", "| finding | default | what it measures |", "|---|---|---|"]
    parts += [f"| `{risk.id}` | {_default(risk)} | {risk.summary} |" for risk in questions.all_risks().values()]
    parts += ["", "## Presets", "", "| preset | what differs from the defaults | source |", "|---|---|---|"]
    for name, source in PRESETS.items():
        changed = [f"`{r.id}` {r.presets[name]:g}" for r in questions.all_risks().values() if name in r.presets]
        parts.append(f"| `{name}` | {', '.join(changed) or '–'} | {source} |")
    return "\n".join([*parts, "", ""])


def _settings(owner: type, where: str) -> list[str]:
    fields = owner.__dataclass_fields__  # type: ignore[attr-defined]
    lines = [where, "", "| setting | option | default | meaning |", "|---|---|---|---|"]
    for name, setting in declared_settings(owner).items():
        field = fields[name]
        empty = (
            field.default is None
            or field.default in ((), "")
            or not isinstance(field.default, (int, str, tuple, float))
        )
        default = "–" if empty else f"`{to_toml(field.default)}`"
        option = f"`{option_text(name)}`" if setting.option else "–"
        lines.append(f"| `{name}` | {option} | {default} | {_meaning(setting)} |")
    return [*lines, ""]


def _meaning(setting: Setting) -> str:
    text = setting.help.replace("|", "\\|")
    return (
        f"{text} One of {', '.join(f'`{c}`' for c in setting.choices)}."
        if setting.kind == "text" and setting.choices
        else text
    )


def _default(risk: Risk) -> str:
    if risk.tolerance is None:
        return f"same as `{risk.tolerance_from.id}`" if risk.tolerance_from else "none (for information)"
    limit = f"{100 * risk.tolerance:g}%" if risk.unit == "share" else f"{risk.tolerance:g}"
    return f"at {'most' if risk.safer == 'lower' else 'least'} {limit}"


def api_reference() -> str:
    """The page about the library: every public name, with its signature and what its docstring says first."""
    modules = ["unveil", *(f"unveil.{question.name}" for question in questions.QUESTIONS)]
    parts = [
        "# Library reference",
        "",
        "The names in `unveil` are the stable interface. Each room also offers its own functions: `from unveil.linkage "
        "import best_bound`.",
        "",
        "`Floats`, `Ints`, `Small`, `Bools` and `Words` are numpy arrays of 64-bit numbers, 64-bit and 32-bit "
        "integers, truth values and 64-bit sets of bits.",
        "",
        "Generated from docstrings; `make docs` writes it anew.",
        "",
        *(f"- [{name}](#{name.replace('.', '')})" for name in modules),
        "",
    ]
    for name in modules:
        module = importlib.import_module(name)
        parts += [f"## {name}", "", _first_paragraph(module), ""]
        for public in sorted({*module.__all__} - {*(() if module is unveil else unveil.__all__)}):
            parts += [f"### {public}", "", *_description(public, getattr(module, public)), ""]
    return "\n".join(parts)


def _description(name: str, found: object) -> list[str]:
    if isinstance(found, UnionType):
        return [f"Any of {', '.join(f'`{part.__name__}`' for part in found.__args__)}."]
    if not inspect.isclass(found):
        return ["```python", f"{name}{_signature(found)}", "```", "", _first_paragraph(found)]
    members = [f"- `{member}{signature}`: {text}" for member, signature, text in _members(found)]
    return [_first_paragraph(found), *(["", *members] if members else [])]


def _members(owner: type) -> Iterator[tuple[str, str, str]]:
    """The methods and properties that a class documents itself, with their signatures."""
    for name, member in vars(owner).items():
        inner = getattr(member, "__func__", member)
        is_method = inspect.isfunction(inner)
        if name.startswith("_") or not (is_method or isinstance(inner, property | cached_property)):
            continue
        if text := _first_paragraph(inner):
            yield name, _signature(inner) if is_method else "", text


class _Annotation:
    """Text that a signature shows as it is, without quotes."""

    def __init__(self, text: object) -> None:
        self.text = str(text)

    def __repr__(self) -> str:
        return re.sub(r"unveil\.[\w.]*\.|npt\.", "", self.text)


def _signature(found: object) -> str:
    assert callable(found)
    signature = inspect.signature(found)
    parameters = [
        p.replace(
            annotation=p.annotation if p.annotation is p.empty else _Annotation(p.annotation),
            default=_Annotation("…") if len(repr(p.default)) > _LONG_DEFAULT else p.default,
        )
        for p in signature.parameters.values()
        if p.name not in ("self", "cls")
    ]
    return str(signature.replace(parameters=parameters, return_annotation=_Annotation(signature.return_annotation)))


def _first_paragraph(found: object) -> str:
    text = " ".join((inspect.getdoc(found) or "").split("\n\n")[0].split()).removesuffix("::")
    text = re.sub(r":(?:func|class|meth|mod|data|attr):`([^`]*)`", r"`\1`", text)
    return text.replace("``", "`")


def write_pages() -> None:
    """Write everything that is generated."""
    (HERE / "cli.md").write_text(command_reference(), encoding="utf-8")
    (HERE / "api.md").write_text(api_reference(), encoding="utf-8")
    page = HERE / "policy.md"
    page.write_text(policy_page(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write_pages()
