"""Documentation that cannot fall behind: the command reference, every finding, every preset and setting."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import unveil
from unveil.policy import PRESETS, Policy
from unveil.questions import QUESTIONS, all_risks, room_settings

DOCS = Path(__file__).parents[1] / "docs"


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_what_the_code_says() -> None:
    made = generator()
    assert (DOCS / "cli.md").read_text(encoding="utf-8") == made.command_reference(), "run `make docs`"
    assert (DOCS / "api.md").read_text(encoding="utf-8") == made.api_reference(), "run `make docs`"
    page = (DOCS / "policy.md").read_text(encoding="utf-8")
    assert page == made.policy_page(page), "run `make docs`"


def test_every_question_has_a_page_that_names_its_findings() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    for question in QUESTIONS:
        page = DOCS / f"{question.name}.md"
        text = page.read_text(encoding="utf-8")
        assert f"({page.name})" in index
        assert text.startswith(f"# {question.title}")
        for risk in question.risks:
            assert f"`{risk.id}`" in text, risk.id
        for heading in ("What it asks", "How it is computed", "What it does not say"):
            assert heading in text, (page.name, heading)


def test_the_policy_page_names_every_setting_risk_and_preset() -> None:
    text = (DOCS / "policy.md").read_text(encoding="utf-8")
    for name, value in Policy().to_dict().items():
        assert name in text, name
        assert all(f"`{inner}`" in text for inner in (value if name in room_settings() else ())), name
    for name in (*PRESETS, *all_risks()):
        assert f"`{name}`" in text


def test_the_public_names_are_documented() -> None:
    for name in unveil.__all__:
        assert (getattr(unveil, name).__doc__ or "").strip(), name


def test_the_readme_opens_with_the_two_commands() -> None:
    top = (DOCS.parent / "README.md").read_text(encoding="utf-8")[:1500]
    assert "make demo" in top
    assert "make test" in top
    assert ".png" in top
