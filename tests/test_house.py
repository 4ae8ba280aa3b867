"""The house: what rooms may and may not do, read from their source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from unveil.cli.protect import command as protect
from unveil.questions import QUESTIONS

SOURCE = Path(__file__).parents[1] / "src" / "unveil"
ROOMS = sorted({q.name for q in QUESTIONS} - {"release"})
SHARED = {"matching", "release"}  # the kernel for "which is which", and what is released
ABOVE = {"assess", "protect", "cli", "report", "demo", "questions", "assessment", "verdict"}
OPENING = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "unlink", "mkdir", "urlopen", "system"}
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def sources(room: str) -> list[Path]:
    return sorted((SOURCE / room).rglob("*.py"))


def nodes(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def imported_modules(path: Path) -> set[str]:
    """Everything that a file imports, wherever it does."""
    found = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, path
            found |= (
                {f"{node.module}.{alias.name}" for alias in node.names} if node.module == "unveil" else {node.module}
            )
    return found


def imported(path: Path) -> set[str]:
    """The parts of the package that a file imports."""
    return {name.split(".")[1] for name in imported_modules(path) if name.startswith("unveil.")}


def called(path: Path) -> set[str]:
    """The last names of everything that a file calls."""
    calls = (node.func for node in nodes(path) if isinstance(node, ast.Call))
    return {f.id if isinstance(f, ast.Name) else f.attr for f in calls if isinstance(f, (ast.Name, ast.Attribute))}


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_knows_another_or_who_asks(room: str) -> None:
    assert sources(room)
    for path in sources(room):
        assert not imported(path) & ((set(ROOMS) - SHARED - {room}) | ABOVE), path


def test_what_all_rooms_share_knows_no_room() -> None:
    for path in (*SOURCE.glob("*.py"), *sources("release"), *sources("ledger")):
        if path.stem not in ("questions", "__init__", "__main__"):
            assert not imported(path) & set(ROOMS), path


@pytest.mark.parametrize("room", [*ROOMS])
def test_no_room_prints_or_touches_files(room: str) -> None:
    for path in sources(room):
        assert not called(path) & {"print", "echo", *OPENING}, path
        assert not {"click", "rich", "argparse"} & {name.split(".")[0] for name in imported_modules(path)}, path


@pytest.mark.parametrize("room", [*ROOMS, "release"])
def test_no_room_names_an_option_of_the_command_line(room: str) -> None:
    """It says which setting is meant, and :func:`unveil.settings.option_text` how that is typed."""
    for path in sources(room):
        for node in nodes(path):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not FLAG.search(node.value), (path, node.lineno, node.value)


@pytest.mark.parametrize("room", [*ROOMS, "release"])
def test_only_doors_make_findings(room: str) -> None:
    for path in sources(room):
        makes = called(path) & {"finding", "Finding"}
        assert not makes or path.name.startswith("ask"), path
        assert "Finding" not in makes, f"{path}: findings are made by a Risk"


def test_every_risk_is_declared_once_and_belongs_to_its_room() -> None:
    ids = [risk.id for q in QUESTIONS for risk in q.risks]
    assert len(set(ids)) == len(ids)
    for question in QUESTIONS:
        for risk in question.risks:
            assert risk.question == question.name
            assert risk.summary.endswith(".")
            for other in (risk.tolerance_from, risk.detail_of):
                assert other is None or other in question.risks


def test_every_protection_says_in_one_line_what_it_does() -> None:
    said = {method: offer.summary for q in QUESTIONS for method, offer in q.protections.items()}
    for method, summary in said.items():
        assert summary.endswith("."), method
        assert len(f"  {method}  {summary}") < 78, method
    context = click.Context(protect, terminal_width=80)
    assert all(summary in protect.get_help(context) for summary in said.values())


def test_every_module_says_what_it_is_and_what_it_offers() -> None:
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), path
        if path.stem not in ("__init__", "__main__"):
            names = {t.id for n in tree.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)}
            assert "__all__" in names, path


# ---- what is declared in a room is named nowhere else ----------------------------------------------------------------


def test_no_risk_is_named_outside_its_room_but_as_an_example() -> None:
    """Docstrings may name a risk, and texts that say that it is an example; code takes it from the room that declares
    it."""
    ids = sorted(re.escape(risk.id) for q in QUESTIONS for risk in q.risks)
    named, example = re.compile(rf"(?<![\w.])({'|'.join(ids)})(?![\w])"), re.compile("Examples:|such as |Write ")
    for path in (*SOURCE.glob("*.py"), *sources("cli"), *sources("report")):
        all_nodes = list(nodes(path))
        docstrings = [node.value for node in all_nodes if isinstance(node, ast.Expr)]
        for node in all_nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings:
                found = named.search(node.value)
                assert not found or example.search(node.value[: found.start()]), (path, node.lineno, node.value)


def test_tests_import_no_private_names() -> None:
    for path in (*Path(__file__).parent.rglob("*.py"), *(SOURCE.parents[1] / "benchmarks").glob("*.py")):
        for node in nodes(path):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "unveil":
                parts = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
                assert not [p for p in parts if p.startswith("_") and not p.startswith("__")], (path, parts)


# ---- docstrings ------------------------------------------------------------------------------------------------------

QUOTED = re.compile(r"(?<!:)``([A-Za-z_][\w.]*)``")
NAMES_FROM_ELSEWHERE = {
    "hatch_build.py", "unveil.toml", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "c0", "c1",
    "lungs", "patient_id",  # examples of values and columns
    "suda2", "freqCalc", "LocationAttack", "Propagate",  # functions of other programs, steps of published algorithms
}  # fmt: skip


def known_names() -> set[str]:
    """Every name in the package: modules, functions, classes, fields, arguments, and texts of one word."""
    names = {part for path in SOURCE.rglob("*.py") for part in (path.stem, path.name, path.parent.name)}
    for path in SOURCE.rglob("*.py"):
        for node in nodes(path):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                names.add(node.name)
            elif isinstance(node, ast.Name):
                names.add(node.id)
            elif isinstance(node, ast.Attribute):
                names.add(node.attr)
            elif isinstance(node, ast.arg):
                names.add(node.arg)
            elif isinstance(node, ast.alias):
                names |= {*node.name.split("."), node.asname or ""}
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value:
                names.add(node.value)
    return names


def test_docstrings_name_only_what_there_is() -> None:
    names = known_names() | NAMES_FROM_ELSEWHERE
    unknown = [
        (str(path.relative_to(SOURCE)), name)
        for path in SOURCE.rglob("*.py")
        for node in nodes(path)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        for name in QUOTED.findall(ast.get_docstring(node) or "")
        if name not in names and not {*name.split(".")} <= names
    ]
    assert not unknown
