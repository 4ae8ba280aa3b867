"""What to do next: commands that say what the policy says, and advice that fits the verdict."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pytest

import unveil
from contract.cases import CASES, assessed
from unveil import Policy, assess, read
from unveil.assessment import Assessment
from unveil.cli.main import cli
from unveil.cli.policy import make_policy
from unveil.report.next_steps import next_steps, policy_options_text
from unveil.settings import declared_settings


def parsed_policy(command: str) -> Policy:
    """The policy that a printed command leads to, by the command line's own parser."""
    name, *arguments = shlex.split(command)[1:]
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    context = found.make_context(name, arguments, resilient_parsing=False)
    return make_policy(context.params | {"no_policy": True}, lambda line: None)


def relevant(policy: Policy, kind: str) -> dict[str, object]:
    """What a policy says about a kind of release."""
    plain = policy.to_dict()
    for question in unveil.questions.QUESTIONS:
        if question.settings is None:
            continue
        if kind not in question.kinds:
            plain.pop(question.name)
            continue
        for name, setting in declared_settings(question.settings).items():
            if kind not in (setting.release_kinds or question.kinds):
                plain[question.name].pop(name)
    return plain


@pytest.mark.parametrize("name", CASES)
def test_the_command_repeats_the_policy(name: str) -> None:
    attacked = CASES[name]()
    kind = attacked.case.release.kind
    options = policy_options_text(attacked.policy.to_dict(), kind)
    if options is None:
        return
    found = parsed_policy(f"unveil protect x {options} -o y")
    assert relevant(found, kind) == relevant(attacked.policy, kind)


def test_most_policies_can_be_typed() -> None:
    typed = [policy_options_text(c.policy.to_dict(), c.case.release.kind) for c in (made() for made in CASES.values())]
    assert sum(text is not None for text in typed) > len(typed) / 2


@pytest.mark.parametrize(
    "policy",
    [
        Policy(quasi=(("a b", "c,d"), ("it's",)), sensitive=('"x"',), tolerance={"classes.k": None, "classes.t": 0.25}),
        Policy(quasi=(("age",),), rows_are_people=True, missing=("", "-"), preset="cms-11", seed=7),
        Policy(quasi=(("age",),), hierarchy={"age": "intervals:5,10"}, settings={"linkage": {"compare": {"age": "2"}}}),
        Policy(ratings=("person", "film", "stars"), settings={"linkage": {"known": 3}}),
    ],
)
def test_hard_policies_are_repeated(policy: Policy) -> None:
    options = policy_options_text(policy.to_dict(), "table")
    assert options is not None
    assert relevant(parsed_policy(f"unveil protect x.csv {options} -o y.csv"), "table") == relevant(policy, "table")


def test_secret_values_are_not_put_into_a_command() -> None:
    policy = Policy(quasi=(("age",),), sensitive=("d",), settings={"classes": {"ruled_out": {"d": ["flu"]}}})
    assert policy_options_text(policy.to_dict(), "table") is None


def test_what_no_protection_lowers_is_said(hospital: Assessment) -> None:
    """One of its findings is of no room that offers protections."""
    steps = next_steps(hospital)
    assert [s.sentence for s in steps] == [
        "Do not release this version.",
        "Release coarser values, or less: unveil has no protection against this yet. Then assess the new file:",
    ]
    assert steps[-1].command is not None
    assert steps[-1].command.startswith("unveil assess patients-2025.csv --identifier case_id")
    assert steps[-1].command.endswith("--population FILE")


def test_a_protection_that_leaves_out_identifiers_is_advised() -> None:
    table = pa.table({"name": [f"n{k}" for k in range(20)], "sex": ["f", "m"] * 10})
    found = assess(table, Policy(identifier=("name",), quasi=(("sex",),)))
    assert [s.sentence for s in next_steps(found)] == [
        "Do not release this version.",
        "Make a safer version, which is then assessed again.",
    ]


@pytest.mark.parametrize(
    "more",
    [
        {"tolerance": {"classes.k": 1, "linkage.success": 0.1}},
        {"tolerance": {"classes.k": 5, "linkage.success": 0.1}},
        {"tolerance": {"classes.k": 1, "linkage.success": 0.1}, "subject": "who"},
    ],
)
def test_a_protection_that_would_be_refused_was_advised(more: dict[str, Any], unveil: Any, tmp_path: Path) -> None:
    """What is advised works when it is typed."""
    rows = {c: [str(i * k % 17) for i in range(40)] for c, k in (("a", 3), ("b", 5), ("c", 7))}
    (tmp_path / "t.csv").write_text(
        "who,a,b,c\n" + "".join(f"{i % 30},{','.join(v)}\n" for i, v in enumerate(zip(*rows.values(), strict=True)))
    )
    policy = Policy(quasi=("a", "b", "c"), insensitive=() if "subject" in more else ("who",), **more)
    found = assess(read(tmp_path / "t.csv"), policy)
    assert found.verdict.decision == "protect first"
    command = next_steps(found)[-1].command
    assert command is not None and command.startswith("unveil protect t.csv")
    done = unveil(*shlex.split(command)[1:])
    assert done.returncode in (0, 3) and (tmp_path / "t-protected.csv").exists(), done.stderr


@pytest.mark.parametrize("name", CASES)
def test_no_advice_turns_a_check_off_or_protects_what_may_be_released(name: str) -> None:
    found = assessed(name)
    steps = next_steps(found)
    assert steps
    text = " ".join(f"{s.sentence} {s.command or ''}" for s in steps)
    off = [f for f in found.provenance.policy["tolerance"].values() if f is False]
    assert text.count("=off") <= 2 * len(off)
    assert ("unveil protect" in text) <= (found.verdict.decision == "protect first")


def test_a_graph_is_protected_into_a_file_that_holds_graphs() -> None:
    found = assessed("graph")
    (command,) = [s.command for s in next_steps(replace(found)) if s.command]
    assert command == "unveil protect graph -o graph-protected.edges"


def test_a_command_named_a_file_that_was_standard_input(tmp_path: Path) -> None:
    path = tmp_path / "standard input"
    path.write_text("a,b\n" + "".join(f"{i},{i % 3}\n" for i in range(30)))
    found = unveil.assess(unveil.read(path, kind="table"), Policy(quasi=("a", "b")))
    assert found.release.name == "standard input"
    assert not [s for s in next_steps(found) if s.command]
    assert next_steps(found)[-1].sentence.endswith(".")


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        (
            "link 'my folder/release.csv' --people 'my folder/people.csv' --policy 'my folder/own.toml'",
            "assess 'my folder/release.csv' --quasi sex,zip,age --sensitive diagnosis --policy 'my folder/own.toml' "
            "--people 'my folder/people.csv'",
        ),
        (
            "intersect semicolons.csv semicolons.csv --delimiter ';' --quasi sex,zip --sensitive diagnosis "
            "--matches m.csv",
            "assess semicolons.csv --quasi sex,zip,age --sensitive diagnosis --earlier semicolons.csv --delimiter ';'",
        ),
        (
            "assess 'my folder/release.csv' --quasi sex,zip,age --sensitive diagnosis --only linkage.success,classes.k "
            "--tolerance classes.k=1 --tolerance linkage.success=60% --exposed 3",
            "protect 'my folder/release.csv' --quasi sex,zip,age --sensitive diagnosis --tolerance classes.k=1 "
            "--tolerance linkage.success=60% -o 'my folder/release-protected.csv'",
        ),
    ],
)
def test_printed_commands_named_no_files_and_no_policy(typed: str, printed: str, unveil: Any, tmp_path: Path) -> None:
    """What an attacker holds was printed as FILE, and a policy, a folder or a delimiter not at all."""
    rows = [("f" if i % 2 else "m", 100 + i % 5, 20 + i % 7, "flu" if i % 3 else "gout") for i in range(40)]
    folder = tmp_path / "my folder"
    folder.mkdir()
    for path, sep, held in (
        (folder / "release.csv", ",", rows),
        (folder / "people.csv", ",", [row[:3] for row in rows[:9]]),
        (tmp_path / "semicolons.csv", ";", rows),
    ):
        names = ("sex", "zip", "age", "diagnosis")[: len(held[0])]
        path.write_text("".join(sep.join(map(str, row)) + "\n" for row in (names, *held)))
    (folder / "own.toml").write_text('quasi = ["sex", "zip", "age"]\n')
    done = unveil(*shlex.split(typed))
    lines = [line.strip() for line in done.stdout.splitlines() if line.startswith("     unveil ")]
    assert lines == [f"unveil {printed}"], done.stdout + done.stderr
    pasted = unveil(*shlex.split(printed), "--exit-zero")
    assert pasted.returncode in (0, 1), pasted.stderr
    said = [line for line in pasted.stderr.splitlines() if line.startswith("unveil:")]
    assert not said or said[0].endswith("written") or "none of the protections" in said[0]


def test_values_that_were_typed_are_not_printed(unveil: Any, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "age,ill\n" + "".join(f"{i % 9},{'CANARY' if i % 2 else 'flu'}\n" for i in range(40))
    )
    done = unveil(
        "assess", "t.csv", "--quasi", "age", "--sensitive", "ill", "--ruled-out", "ill=CANARY", "--only", "classes"
    )
    assert "CANARY" not in done.stdout and "     unveil " not in done.stdout
