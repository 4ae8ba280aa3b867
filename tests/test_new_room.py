"""A new room is one folder and one line: its setting, its holding and its finding show up everywhere by themselves."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

ROOM = '''
"""A toy room: how many rows are older than a number of years?"""

from dataclasses import dataclass

from unveil import questions
from unveil.holding import Holding
from unveil.question import Question
from unveil.risk import Risk
from unveil.settings import setting


@dataclass(frozen=True, kw_only=True)
class ToySettings:
    oldest: int = setting(3, kind="whole number", at_least=1, metavar="YEARS", help="How old a toy may be.")


BROKEN = Risk("toys.broken", title="Broken toys", unit="share", safer="lower", tolerance=0.5,
              summary="The share of toys that are older than they may be.")


def ask(case, policy, run):
    oldest = policy.settings_for(ToySettings).oldest
    ages = [int(a) for a in case.release.codes(["age"], policy.missing)["age"].values.to_pylist()]
    share = sum(a > oldest for a in ages) / len(ages)
    held = "catalogue" in case.holds
    yield BROKEN.finding(policy, value=share, subjects=len(ages), share=share, attacker="A child.",
                         sentence=f"{share:.0%} of the toys break, catalogue at hand: {held}.")


QUESTION = Question(
    name="toys", title="Which toys break?", kinds=("table",), risks=(BROKEN,), ask=ask, settings=ToySettings,
    holdings=(Holding("catalogue", "table", "A catalogue of toys."),),
)
questions.QUESTIONS += (QUESTION,)
'''

MAIN = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import toys
from unveil.cli import main
main()
"""


def unveil_with_toys(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", MAIN, str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "toys.py").write_text(ROOM)
    (tmp_path / "t.csv").write_text("age,colour\n" + "".join(f"{age},red\n" for age in (1, 2, 3, 4)))
    (tmp_path / "c.csv").write_text("age,price\n1,2\n")
    return tmp_path


def test_its_setting_and_its_holding_are_options(folder: Path) -> None:
    text = unveil_with_toys(folder, "assess", "--help").stdout
    assert "--oldest YEARS" in text
    assert "How old a toy may be; 3 by default." in " ".join(text.split())
    assert "--catalogue FILE" in text
    assert "--oldest" not in unveil_with_toys(folder, "link", "--help").stdout


def test_its_finding_is_in_text_json_and_html(folder: Path) -> None:
    asked = (
        "assess",
        "t.csv",
        "--only",
        "toys",
        "--oldest",
        "1",
        "--catalogue",
        "c.csv",
        "--insensitive",
        "age,colour",
    )
    text = unveil_with_toys(folder, *asked)
    assert text.returncode == 1, text.stderr
    assert "75% of the toys break, catalogue at hand: True." in " ".join(text.stdout.split())
    found = json.loads(unveil_with_toys(folder, *asked, "--format", "json").stdout)
    (finding,) = found["findings"]
    assert (finding["id"], finding["value"], finding["status"]) == ("toys.broken", 0.75, "over")
    assert found["provenance"]["policy"]["toys"] == {"oldest": 1}
    page = unveil_with_toys(folder, *asked, "--format", "html").stdout
    assert "Broken toys" in page and "Which toys break?" in page


def test_the_policy_file_has_its_setting_and_its_tolerance(folder: Path) -> None:
    (folder / "unveil.toml").write_text("[toys]\noldest = 9\n[tolerance]\ntoys.broken = 0\n")
    found = json.loads(unveil_with_toys(folder, "assess", "t.csv", "--only", "toys", "--format", "json").stdout)
    assert (found["findings"][0]["value"], found["findings"][0]["status"]) == (0, "within")
    for text, complaint in (
        ("[toys]\noldest = 0\n", "toys.oldest must be a whole number, 1 or more"),
        ("[toys]\noldst = 2\n", "did you mean 'oldest'"),
        ("oldest = 2\n", "write oldest = ... under [toys]"),
        ("[tolerance]\ntoys.broken = 2\n", "share between 0 and 1"),
    ):
        (folder / "unveil.toml").write_text(text)
        refused = unveil_with_toys(folder, "assess", "t.csv")
        assert (refused.returncode, complaint in refused.stderr) == (2, True), refused.stderr


def test_schemas_and_the_policy_of_init_know_it(folder: Path) -> None:
    policy = json.loads(unveil_with_toys(folder, "schema", "policy").stdout)
    assert policy["properties"]["toys"]["properties"]["oldest"]["minimum"] == 1
    assert "toys.broken" in policy["properties"]["tolerance"]["properties"]
    assessment = json.loads(unveil_with_toys(folder, "schema").stdout)
    assert "oldest" in assessment["$defs"]["policy"]["properties"]["toys"]["properties"]
    unveil_with_toys(folder, "init", "t.csv", "-o", "p.toml")
    written = (folder / "p.toml").read_text()
    assert "# How old a toy may be." in written and "# oldest = 3" in written
    assert "# The share of toys that are older than they may be.\n# toys.broken = 0.5" in written


def test_the_documentation_lists_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from unveil import questions

    monkeypatch.setattr(questions, "QUESTIONS", questions.QUESTIONS)  # the toy room is gone again afterwards
    spec = importlib.util.spec_from_file_location("toys", folder / "toys.py")
    assert spec is not None and spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    generate = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert generate is not None and generate.loader is not None
    module = importlib.util.module_from_spec(generate)
    generate.loader.exec_module(module)
    page = module.settings_reference()
    assert "| `toys.broken` | at most 50% |" in page
    assert "`oldest`" in page and "`--oldest`" in page
