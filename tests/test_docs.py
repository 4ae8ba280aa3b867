"""Documentation that cannot fall behind: the command reference, every finding, every preset and setting."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import unveil
from unveil.assess import QUESTIONS
from unveil.policy import PRESETS, Policy

DOCS = Path(__file__).parents[1] / "docs"


def test_the_command_reference_is_what_help_says() -> None:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (DOCS / "cli.md").read_text(encoding="utf-8") == module.reference(), "run `make docs`"


def test_every_question_has_a_page_that_names_its_findings() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    for question in QUESTIONS:
        page = DOCS / f"{question.name}.md"
        text = page.read_text(encoding="utf-8")
        assert f"({page.name})" in index
        assert text.startswith(f"# {question.title}")
        for finding in question.findings:
            assert f"`{finding}`" in text
        for heading in ("What it asks", "How it is computed", "What it does not say"):
            assert heading in text, (page.name, heading)


def test_every_finding_has_a_tolerance_or_is_known_to_have_none() -> None:
    asked = {finding for question in QUESTIONS for finding in question.findings}
    assert asked == PRESETS["default"].tolerance.keys()


def test_the_policy_page_names_every_setting_and_preset() -> None:
    text = (DOCS / "policy.md").read_text(encoding="utf-8")
    for name in Policy().to_dict():
        assert name in text, name
    for name in PRESETS:
        assert f"`{name}`" in text


def test_the_public_names_are_documented() -> None:
    for name in unveil.__all__:
        assert (getattr(unveil, name).__doc__ or "").strip(), name


def test_the_readme_opens_with_the_two_commands() -> None:
    top = (DOCS.parent / "README.md").read_text(encoding="utf-8")[:1500]
    assert "make demo" in top
    assert "make test" in top
    assert ".png" in top
