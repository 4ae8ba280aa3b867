"""The command line as a user meets it: results, streams, exit codes, one-line complaints, nothing left behind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from conftest import PATIENTS
from unveil.policy import Policy
from unveil.settings import declared_settings

Unveil = Callable[..., subprocess.CompletedProcess[str]]

ROLES = ("--quasi", "age,zip,sex", "--sensitive", "diagnosis", "--identifier", "name")


@pytest.fixture
def harmless(tmp_path: Path) -> Path:
    path = tmp_path / "harmless.csv"
    path.write_text("sex,score\n" + "f,1\nm,2\nf,2\nm,1\n" * 5)
    return path


def test_the_exit_code_is_the_verdict(unveil: Unveil, patients: Path, harmless: Path) -> None:
    assert unveil("assess", harmless, "--quasi", "sex", "--sensitive", "score").returncode == 0
    assert unveil("assess", patients, *ROLES).returncode == 1
    assert unveil("assess", harmless).returncode == 3
    assert unveil("assess", patients, *ROLES, "--exit-zero").returncode == 0


def test_text_comes_with_the_verdict_first(unveil: Unveil, patients: Path) -> None:
    done = unveil("assess", patients, *ROLES)
    assert "protect first" in done.stdout.splitlines()[0].lower() + done.stdout.splitlines()[1].lower()
    assert "Smallest class (k)" in done.stdout
    assert done.stderr == ""
    assert "\x1b" not in done.stdout


def test_json_is_the_assessment(unveil: Unveil, patients: Path) -> None:
    from unveil import Assessment

    done = unveil("assess", patients, *ROLES, "--format", "json")
    assert Assessment.from_json(done.stdout)["classes.uniques"].value == pytest.approx(1 / 3)


def test_the_same_input_policy_and_seed_give_the_same_bytes(patients: Path) -> None:
    def stable(text: str) -> str:
        data = json.loads(text)
        data["provenance"].pop("started"), data["provenance"].pop("seconds")
        for finding in data["findings"]:
            finding.pop("seconds")
        return json.dumps(data)

    asked = [sys.executable, "-m", "unveil", "assess", patients, *ROLES, "--format", "json", "--seed", "3"]
    first, second = (
        subprocess.run(asked, env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, text=True).stdout
        for seed in ("1", "2")
    )
    assert stable(first) == stable(second)


def test_output_and_report_are_written(unveil: Unveil, patients: Path, tmp_path: Path) -> None:
    done = unveil("assess", patients, *ROLES, "--format", "json", "-o", "out.json", "--report", "report.html")
    assert done.stdout == ""
    assert "report written to report.html" in done.stderr
    assert json.loads((tmp_path / "out.json").read_text())["verdict"]["decision"] == "protect first"
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")
    assert unveil("assess", patients, *ROLES, "--report", "r.html", "--quiet").stderr == ""


def test_a_policy_file_is_found_and_overridden(unveil: Unveil, patients: Path, tmp_path: Path) -> None:
    (tmp_path / "unveil.toml").write_text('[columns]\nquasi = ["age"]\nidentifier = ["name"]\n')
    found = unveil("assess", patients, "--format", "json")
    assert "using the policy in unveil.toml" in found.stderr
    k = {tuple(f["known"]): f["value"] for f in json.loads(found.stdout)["findings"] if f["id"] == "classes.k"}
    assert k["age",] == 3
    overridden = unveil("assess", patients, "--quasi", "zip,sex", "--tolerance", "classes.k=1", "--format", "json")
    findings = {f["id"]: f for f in json.loads(overridden.stdout)["findings"]}
    assert (findings["classes.k"]["value"], findings["classes.k"]["status"]) == (1, "within")
    assert findings["release.identifiers"]["value"] == 1  # the file's other roles stay
    guessed = json.loads(unveil("assess", patients, "--no-policy", "--format", "json").stdout)["findings"]
    assert ["age", "zip", "sex", "diagnosis"] in [f["known"] for f in guessed if f["id"] == "classes.k"]


def test_a_column_with_a_comma_can_be_named(unveil: Unveil, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('"a,b",c\n1,2\n1,2\n')
    done = unveil("assess", "t.csv", "--quasi", '"a,b",c', "--tolerance", "classes.k=2")
    assert done.returncode == 0, done.stderr


def test_init_then_assess(unveil: Unveil, patients: Path, tmp_path: Path) -> None:
    done = unveil("init", patients)
    assert done.returncode == 0
    text = (tmp_path / "unveil.toml").read_text()
    assert "guesses" in text
    assert "CANARY" not in text
    guessed = json.loads(unveil("assess", patients, "--format", "json", "--tolerance", "release.identifiers=9").stdout)
    assert {c["origin"] for c in guessed["columns"]} == {"guessed"}
    again = unveil("init", patients)
    assert again.returncode == 2
    assert "--force" in again.stderr
    assert unveil("init", patients, "--force").returncode == 0


def test_init_explains_every_setting_as_it_is_declared(unveil: Unveil, patients: Path, tmp_path: Path) -> None:
    unveil("init", patients)
    text = " ".join((tmp_path / "unveil.toml").read_text().replace("\n# ", " ").split())
    for name, setting in declared_settings(Policy).items():
        assert f"{name} = " in text or f"[{name}]" in text
        assert setting.help in text or name == "guessed"
    assert Policy.from_toml(tmp_path / "unveil.toml").guessed


def test_a_confirmed_policy_is_no_guess(unveil: Unveil, harmless: Path, tmp_path: Path) -> None:
    unveil("init", harmless)
    policy = tmp_path / "unveil.toml"
    assert unveil("assess", harmless).returncode == 3
    policy.write_text("".join(line for line in policy.read_text().splitlines(True) if not line.startswith("guessed")))
    assert unveil("assess", harmless).returncode == 0


@pytest.mark.parametrize(("file", "kind"), [("b.dat", "transactions"), ("g.edges", "graph")])
def test_init_for_other_kinds(unveil: Unveil, tmp_path: Path, file: str, kind: str) -> None:
    (tmp_path / file).write_text("1 2\n2 3\n")
    assert unveil("init", file).returncode == 0
    text = (tmp_path / "unveil.toml").read_text()
    assert "[columns]" not in text
    assert {"transactions": "items.point_knowledge", "graph": "network.degree_k"}[kind] in text
    assert unveil("assess", file).returncode in (0, 1)


def test_describe(unveil: Unveil, patients: Path, tmp_path: Path) -> None:
    said = json.loads(unveil("describe", patients, "--format", "json").stdout)
    assert (said["kind"], said["rows"]) == ("table", 6)
    columns = {c["name"]: c for c in said["columns"]}
    assert columns["diagnosis"]["missing"] == 1
    assert columns["diagnosis"]["suggested_role"] == "sensitive"
    assert columns["zip"]["type"] == "whole number"
    text = unveil("describe", patients).stdout
    assert "(guess)" in text
    assert "CANARY" not in text
    (tmp_path / "g.edges").write_text("a b\nb a\na a\nb c\n")
    graph = unveil("describe", "g.edges").stdout
    assert "nodes: 3" in graph
    assert "1 loop" in graph


def test_completion_and_schema(unveil: Unveil) -> None:
    for shell in ("zsh", "fish", "bash"):
        assert "_UNVEIL_COMPLETE" in unveil("completion", shell).stdout
    words = {"COMP_WORDS": "unveil assess --qu", "COMP_CWORD": "2", "_UNVEIL_COMPLETE": "bash_complete"}
    assert "--quasi" in unveil(env=words).stdout
    assert json.loads(unveil("schema").stdout)["$schema"]


def test_version_and_help(unveil: Unveil) -> None:
    assert unveil("--version").stdout.startswith("unveil ")
    for command in ("assess", "describe", "init", "crack", "theory", "demo", "schema", "completion"):
        text = unveil(command, "--help").stdout
        examples = text.partition("Examples:")[2].strip().splitlines()
        assert len(examples) >= 2, command
        assert all(e.strip().startswith("unveil ") for e in examples)


def test_demo(unveil: Unveil, tmp_path: Path) -> None:
    names = {
        *("patients.csv", "patients.toml", "baskets.dat", "baskets.toml", "friends.edges", "friends.toml"),
        *("films.csv", "films.toml", "report.html"),
        *("survey.csv", "survey.toml", "patients-protected.csv"),
    }
    (tmp_path / "made").mkdir()
    for name in names:
        (tmp_path / "made" / name).write_text("from an earlier run\n")
    done = unveil("demo", "made")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(Path("made") / "report.html")
    made = {p.name: p.read_text() for p in (tmp_path / "made").iterdir()}
    assert set(made) == names
    assert not [name for name, text in made.items() if "earlier run" in text], "it can be run again"
    verdicts = re.findall(r"^unveil: (\S+): (release|protect first|your call)\.", done.stderr, re.MULTILINE)
    assert verdicts[0] == ("patients.csv", "protect first")
    assert verdicts[-2:] == [("survey.csv", "release"), ("patients-protected.csv", "release")], "before and after"
    again = unveil("assess", "made/survey.csv", "--policy", "made/survey.toml")
    assert again.returncode == 0, "and it really is assessed as that"
    quick = {"baskets.dat": "items.point_knowledge", "friends.edges": "network.degree_k"}
    for name in ("patients.csv", "baskets.dat", "films.csv", "friends.edges"):
        policy = Path("made") / Path(name).with_suffix(".toml")
        only = ("--only", quick[name]) if name in quick else ()
        assert unveil("assess", Path("made") / name, "--policy", policy, *only).returncode in (0, 1, 3)


HOLDS = {
    "b.dat": "CANARY-ITEM 2 3\n2 3\n3\n",
    "b.jsonl": '["CANARY-ITEM", 2, 3]\n[3]\n',
    "long.csv": "basket,item\n1,CANARY-ITEM\n1,2\n2,2\n",
    "g.edges": "CANARY-NODE b\nCANARY-NODE c\n",
    "g.gml": 'graph [ node [ id 0 label "CANARY-NODE" ] node [ id 1 ] node [ id 2 ] edge [ source 0 target 1 ] ]',
    "broken.csv": "a,b\n1,2\nCANARY-LINE\n",
    "patients.csv": PATIENTS,
}


@pytest.mark.parametrize("file", list(HOLDS))
def test_no_canary_in_any_output_without_reveal(unveil: Unveil, tmp_path: Path, file: str) -> None:
    (tmp_path / file).write_text(HOLDS[file])
    runs = [unveil("assess", file, "--format", form) for form in ("json", "html")]
    runs += [unveil("assess", file, "--report", "r.html"), unveil("describe", file), unveil("init", file)]
    written = [p.read_text() for p in tmp_path.iterdir() if p.suffix in (".html", ".toml")]
    assert len(written) == (0 if file == "broken.csv" else 2)
    assert not [text for text in written if "CANARY" in text]
    assert not [run for run in runs if "CANARY" in run.stdout + run.stderr]


def test_no_canary_with_given_roles_and_people(unveil: Unveil, patients: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text('[columns]\nquasi = ["age"]\nCANARY-POLICY = = 3\n')
    arguments = ("--quasi", "age,zip,sex", "--sensitive", "diagnosis", "--subject", "name", "--report", "r.html")
    runs = [unveil("assess", patients, *arguments), unveil("assess", patients, "--policy", "bad.toml")]
    assert not [run for run in runs if "CANARY" in run.stdout + run.stderr]
    assert "CANARY" not in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize(
    ("file", "arguments"),
    [("patients.csv", ROLES), ("b.dat", ()), ("g.edges", ("--tolerance", "network.degree_k=9"))],
)
def test_reveal_shows_what_was_hidden(unveil: Unveil, tmp_path: Path, file: str, arguments: tuple[str, ...]) -> None:
    (tmp_path / file).write_text(HOLDS[file])
    assert "CANARY" in unveil("assess", file, *arguments, "--reveal").stdout


def test_identifiers_that_are_gone_are_no_mistake_in_the_policy(unveil: Unveil, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("sex,shoe\n" + "f,1\nm,2\nf,2\nm,1\n" * 5)
    done = unveil("assess", "t.csv", "--quasi", "sex", "--identifier", "name,email")
    assert done.returncode == 0, done.stdout
    assert "did you mean 'sex'" in unveil("assess", "t.csv", "--quasi", "SEX").stderr


def test_bare_unveil_is_help(unveil: Unveil) -> None:
    done = unveil()
    assert done.returncode == 2
    assert done.stderr.startswith("Usage: unveil")
    assert done.stderr.count("Usage:") == 1


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("doc.pdf", b"%PDF-1.4\nhello\n", "a PDF"),
        ("doc.csv", b"%PDF-1.4\nhello\n", "a PDF"),
        ("old.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old spreadsheet"),
        ("letter.txt", b"dear all,\nhello\n", "instead of 2"),
        ("letter.docx", b"hello this is\nmy letter\n", "--kind"),
    ],
)
def test_what_is_no_release_gets_no_verdict(
    unveil: Unveil, tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(content)
    done = unveil("assess", name)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("assess",), "Missing argument"),
        (("nonsense",), "No such command"),
        (("assess", "nowhere.csv"), "no such file"),
        (("assess", "."), "directory"),
        (("assess", "patients.csv", "--quasi", "agee"), "did you mean 'age'"),
        (("assess", "patients.csv", "--quasi", "age,,zip"), "write a,b,c"),
        (("assess", "patients.csv", "--quasi", "age", "--sensitive", "age"), "keep one role"),
        (("assess", "patients.csv", "--subject", "nobody"), "no column is called 'nobody'"),
        (("assess", "patients.csv", "--quasi", "age", "--subject", "diagnosis"), "1 row has no value"),
        (("assess", "patients.csv", "--tolerance", "classes.k"), "classes.k=11"),
        (("assess", "patients.csv", "--tolerance", "classes.k=lots"), "number or off"),
        (("assess", "patients.csv", "--tolerance", "classes.q=3"), "no finding is called"),
        (("assess", "patients.csv", "--policy", "none.toml"), "no such file"),
        (("assess", "patients.csv", "--kind", "graph", "--strip"), "does not apply"),
        (("assess", "patients.csv", "--encoding", "klingon"), "unknown encoding"),
        (("assess", "patients.csv", "--memory-limit", "much"), "4GB"),
        (("assess", "patients.csv", "--preset", "none"), "is not one of"),
        (("assess", "patients.csv", "-o", "no/such/dir.txt"), "directory does not exist"),
        (("assess", "patients.csv", "--report", "/dev/full/x"), "nothing was written"),
        (("init", "patients.csv", "-o", "."), "exists"),
        (("demo", "patients.csv"), "is a file"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    unveil: Unveil, patients: Path, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    before = set(tmp_path.iterdir())
    done = unveil(*arguments)
    assert done.returncode == 2
    complaint = done.stderr.strip().splitlines()[-1]
    assert complaint.startswith("unveil: ")
    assert said in complaint
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert set(tmp_path.iterdir()) == before


def test_hostile_column_names_reach_no_terminal(unveil: Unveil, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("\x1b[31mred,<script>alert(1)</script>,=cmd()|' /C calc'!A0,[bold]b[/]\n1,2,3,4\n")
    for arguments in (("assess",), ("describe",), ("assess", "--reveal"), ("assess", "--format", "json")):
        done = unveil(arguments[0], "t.csv", *arguments[1:])
        assert "Traceback" not in done.stderr
        assert "\x1b" not in done.stdout + done.stderr
    assert "<script>" not in unveil("assess", "t.csv", "--format", "html").stdout
    assert "[bold]b[/]" in unveil("describe", "t.csv").stdout


@pytest.mark.parametrize("form", ["text", "json", "html"])
def test_a_closed_pipe_is_no_defect_and_no_verdict(patients: Path, form: str) -> None:
    command = [sys.executable, "-m", "unveil", "assess", patients, "--format", form, "--quiet"]  # no progress, if slow
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert said == b""
    assert process.returncode == 128 + signal.SIGPIPE


def test_a_full_disk_on_standard_output_is_said(patients: Path) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "unveil", "assess", str(patients), "--quiet"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "unveil: standard output: No space left on device\n"


def on_a_terminal(command: list[str], **environment: str) -> str:
    """What a command prints on a terminal."""
    import pty

    parent, child = pty.openpty()
    settings = {**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, "TERM": "xterm-256color", **environment}
    process = subprocess.Popen(command, stdout=child, stderr=subprocess.DEVNULL, env=settings)
    os.close(child)
    printed = b""
    while True:
        try:
            part = os.read(parent, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        printed += part
    process.wait()
    os.close(parent)
    return printed.decode()


def test_colour_on_a_terminal_unless_nobody_wants_it(patients: Path) -> None:
    command = [sys.executable, "-m", "unveil", "assess", str(patients)]
    assert "\x1b[" in on_a_terminal(command)
    assert "\x1b[3" not in on_a_terminal(command, NO_COLOR="1")


def test_results_do_not_overwrite_what_they_are_made_from(unveil: Unveil, patients: Path, tmp_path: Path) -> None:
    before = patients.read_bytes()
    (tmp_path / "link.csv").symlink_to(patients)
    for arguments in (("-o", "patients.csv"), ("--report", "link.csv"), ("-o", "same", "--report", "same")):
        done = unveil("assess", patients, *arguments)
        assert done.returncode == 2
        assert "overwrite" in done.stderr
    assert patients.read_bytes() == before
    assert not (tmp_path / "same").exists()


def test_either_all_results_are_written_or_none(unveil: Unveil, patients: Path, tmp_path: Path) -> None:
    done = unveil("assess", patients, "--report", "report.html", "-o", "no/such/dir.txt")
    assert done.returncode == 2
    assert not (tmp_path / "report.html").exists()


def test_a_first_line_of_data_is_not_shown_as_names(unveil: Unveil, tmp_path: Path) -> None:
    (tmp_path / "bare.csv").write_text("35,10072,CANARY,hiv\n40,10073,Eve,flu\n35,10072,Ann,flu\n")
    (tmp_path / "twice.csv").write_text("CANARY,CANARY\n1,2\n")
    for command in ("assess", "describe", "init"):
        for file in ("bare.csv", "twice.csv"):
            done = unveil(command, file)
            assert done.returncode == 2
            assert "CANARY" not in done.stdout + done.stderr
    assert "looks like data" in unveil("assess", "bare.csv").stderr
    assert "column 3" in unveil("describe", "bare.csv", "--no-header").stdout
    (tmp_path / "years.csv").write_text("2019,2020\n1,2\n3,4\n")
    assert "2020" in unveil("describe", "years.csv", "--header").stdout


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "ascii", "cp437", "utf-8"])
def test_output_that_is_not_utf8_killed_a_finished_assessment(encoding: str, tmp_path: Path) -> None:
    """Characters that the output lacks are spelt out."""
    rows = "".join(f"{20 + i // 5},{'fm'[i % 2]},d{i % 3}\n" for i in range(60))
    (tmp_path / "t.csv").write_text("age,sex,\u0142ódź\n" + rows, encoding="utf-8")
    command = [sys.executable, "-m", "unveil", "assess", "t.csv", "--quasi", "age,sex", "--sensitive", "\u0142ódź"]
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    for form in ("text", "json", "html"):
        done = subprocess.run(
            [*command, "--exit-zero", "--format", form], cwd=tmp_path, env=environment, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
        if form == "html":
            assert "(ℓ)" in done.stdout.decode("utf-8")
        else:
            text = done.stdout.decode(encoding)
            assert form == "json" or ("(ℓ)" if encoding == "utf-8" else "(l)") in text
            assert ("odz" if encoding == "ascii" else "ó") in text or form == "json"


def test_ascii_output_got_bytes_of_utf8(tmp_path: Path) -> None:
    """click takes a stream called ASCII for a mistake and writes UTF-8 to it."""
    (tmp_path / "k.csv").write_text("1,1,1\n" * 3)
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    for file, code in (("k.csv", 1), ("é.csv", 2)):
        command = [sys.executable, "-m", "unveil", "crack", file, "--details"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
        assert done.returncode == code, done.stderr
        assert (done.stdout + done.stderr).isascii()


def test_roles_need_a_table(unveil: Unveil, tmp_path: Path) -> None:
    (tmp_path / "people.txt").write_text("34 M\n51 F\n34 F\n")
    done = unveil("assess", "people.txt", "--quasi", "age,sex")
    assert done.returncode == 2
    assert "was read as a graph" in done.stderr
    assert "--kind table" in done.stderr


def test_hostile_names_survive_init(unveil: Unveil, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('a😀,"q""uote",tab\tbed,\x9b31mx,\u202eevil\nu,v,w,x,y\n')
    assert unveil("init", "t.csv", "--delimiter", ",").returncode == 0
    done = unveil("assess", "t.csv", "--delimiter", ",", "--format", "json")
    assert done.returncode in (1, 3), done.stderr
    assert "\x9b" not in done.stdout
    assert "\u202e" not in done.stdout
    assert json.loads(done.stdout)["columns"][0]["name"] == "a😀"


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table whose assessment takes several seconds."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv as csv

    rng = np.random.default_rng(5)
    columns = {f"column {i}": pa.array(rng.integers(0, 10**9, 400_000)) for i in range(40)}
    path = tmp_path_factory.mktemp("large") / "large.csv"
    csv.write_csv(pa.table(columns), path)
    return path


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupting_leaves_nothing_and_says_so(large: Path, tmp_path: Path, number: signal.Signals) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "unveil", "assess", large, "--report", "report.html", "-o", "out.txt"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(scratch)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's & would have it ignored
    )
    deadline = time.monotonic() + 30
    while not list(scratch.glob("unveil-*")) and time.monotonic() < deadline:
        time.sleep(0.05)  # until the engine has started
    time.sleep(1)
    assert process.poll() is None, "the work was over before it could be interrupted"
    process.send_signal(number)
    _, said = process.communicate(timeout=90)
    assert process.returncode == 128 + number, said
    assert said.strip() == "unveil: interrupted; no file was left half-written"
    assert [p.name for p in tmp_path.iterdir()] == ["scratch"]
    assert list(scratch.iterdir()) == []


def test_items_that_are_never_bought_together(unveil: Unveil, tmp_path: Path) -> None:
    """Of the four equally frequent items only hammer and lipstick never meet: who knows that cracks one more."""
    rows = ["hammer 2 3", "hammer 2 3 4", "4 lipstick", "3 4 5 lipstick", "5 lipstick", "lipstick", "hammer 2"]
    (tmp_path / "b.dat").write_text("\n".join([*rows, "hammer 3 4", "hammer 3 5", "2 4 lipstick"]) + "\n")
    (tmp_path / "never.csv").write_text("item,other\nhammer,lipstick\n")
    how = (
        "assess",
        "b.dat",
        "--frequency-precision",
        "0",
        "--tolerance",
        "items.expected_cracks=0.6",
        "--format",
        "json",
    )
    assert unveil(*how).returncode == 0
    done = unveil(*how, "--never-together", "never.csv")
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["verdict"]["because"] == "items.never_together"
    found = {f["id"]: f for f in json.loads(done.stdout)["findings"]}["items.never_together"]
    assert (found["value"], found["method"], found["tolerance"]) == (pytest.approx(4), "exact", pytest.approx(3.6))
    (tmp_path / "pairs.csv").write_text("item,other\nhammer,3\n")
    told = {f["id"]: f for f in json.loads(unveil(*how, "--pairs", "pairs.csv").stdout)["findings"]}[
        "items.correlation"
    ]
    assert (told["decides"], told["value"]) == (
        True,
        pytest.approx(4),
    )  # hammer and 3 are told apart from 4 and lipstick
    refused = unveil(*how, "--pairs", "never.csv")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "never.csv: row 1 names two items that never occur in one basket" in refused.stderr
    assert unveil(*how, "--never-together", "never.csv", "--tolerance", "items.never_together=off").returncode == 3
    assert unveil(*how, "--never-together", "never.csv", "--tolerance", "items.never_together=100%").returncode == 3
    for text, complaint in (
        ("item,other\n", "no rows"),
        ("item,other\nhammer,lipstick\nhammer,lamp\n", "row 2 names an item that is not in the baskets"),
        ("item,other\nhammer,lipstick\n2,hammer\n", "row 2 names two items that do occur in one basket"),
    ):
        (tmp_path / "wrong.csv").write_text(text)
        wrong = unveil(*how, "--never-together", "wrong.csv", "-o", "out.json")
        assert (wrong.returncode, wrong.stdout) == (2, "")
        assert wrong.stderr.startswith("unveil: wrong.csv: ")
        assert complaint in wrong.stderr
        assert not any(name in wrong.stderr for name in ("hammer", "lipstick", "lamp"))
        assert not (tmp_path / "out.json").exists()
    kept = unveil(*how, "--never-together", "never.csv", "-o", "never.csv")
    assert kept.returncode == 2
    assert "would overwrite the input" in kept.stderr
    assert (tmp_path / "never.csv").read_text() == "item,other\nhammer,lipstick\n"


def test_what_an_attacker_of_baskets_holds(unveil: Unveil, tmp_path: Path) -> None:
    rows = [" ".join(str(i) for i in range(1, 13) if b % i == 0) for b in range(1, 241)]
    (tmp_path / "b.dat").write_text("\n".join(rows) + "\n")
    (tmp_path / "similar.dat").write_text("\n".join(rows[:120]) + "\n")
    (tmp_path / "known.csv").write_text("item,low,high\n1,0.9,1\n2,0.4,0.6\n")
    (tmp_path / "sets.csv").write_text("items,sigma\n1 2,0.4\n3 4 5,\n")

    def said(*options: str) -> dict[str, Any]:
        done = unveil("assess", "b.dat", "--format", "json", *options)
        assert done.returncode in (0, 1, 3), done.stderr
        return {f["id"]: f for f in json.loads(done.stdout)["findings"]}

    assert said("--similar", "similar.dat")["items.expected_cracks"]["value"] > 6
    assert said("--beliefs", "known.csv")["items.expected_cracks"]["value"] == pytest.approx(3)
    assert said("--frequency-precision", "mean-gap")["items.expected_cracks"]["value"] < 12
    assert said("--itemsets-file", "sets.csv")["items.itemsets_vulnerable"]["subjects"] == 1
    assert said("--itemsets", "top:20")["items.itemsets_vulnerable"]["decides"]
    assert said("--known-pairs", "3", "--tolerance", "items.expected_cracks=0.3")["items.correlation"][
        "tolerance"
    ] == pytest.approx(3.6)
    for options, complaint in (
        (("--similar", "similar.dat", "--beliefs", "known.csv"), "exclude each other"),
        (("--frequency-precision", "wide"), "is not median-gap, mean-gap, a multiple of the median gap"),
        (("--beliefs", "nothing.csv"), "no such file"),
        (("--never", "never.csv"), "--never is now --never-together"),
    ):
        done = unveil("assess", "b.dat", *options)
        assert done.returncode == 2
        assert complaint in done.stderr
    (tmp_path / "e.edges").write_text("a b\nb c\n")
    elsewhere = unveil("assess", "e.edges", "--known-pairs", "3")
    assert elsewhere.returncode == 2
    assert "--known-pairs is for baskets" in elsewhere.stderr
    refused = unveil("assess", "e.edges", "--never-together", "known.csv")
    assert refused.returncode == 2
    assert "--never-together is for baskets" in refused.stderr
    facts = json.loads(unveil("describe", "b.dat", "--format", "json").stdout)
    assert facts["frequency groups"] == 12
    assert facts["groups of a single item"] == 12
    assert facts["largest gap"] == pytest.approx(0.5)


def test_a_sheet_is_chosen_by_name(unveil: Unveil, tmp_path: Path) -> None:
    """What was read is said; the attacker's workbook is read from its own first sheet."""
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        pd.DataFrame({"about": ["text"]}).to_excel(book, sheet_name="Read me", index=False)
        pd.DataFrame({"sex": ["f", "m"] * 10, "score": [1, 2, 2, 1] * 5}).to_excel(book, sheet_name="Data", index=False)
    pd.DataFrame({"sex": ["f", "m"] * 20}).to_excel(tmp_path / "p.xlsx", sheet_name="People", index=False)
    roles = ("--quasi", "sex", "--insensitive", "score", "--rows-are-people")
    done = unveil("assess", "t.xlsx", "--sheet", "Data", *roles, "--population", "p.xlsx")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines() == [
        "unveil: t.xlsx: the sheet 'Data' was read; 1 other sheet of the file was not (--sheet NAME reads another)",
        "unveil: p.xlsx: the sheet 'People' was read",
    ]
    wrong = unveil("assess", "t.xlsx", "--sheet", "data", *roles)
    assert (wrong.returncode, wrong.stderr) == (2, "unveil: t.xlsx: no sheet is called 'data'; did you mean 'Data'?\n")
    csv = unveil("describe", "x.csv", "--sheet", "Data")
    assert csv.returncode == 2


def test_a_damaged_workbook_is_bad_data(unveil: Unveil, tmp_path: Path) -> None:
    (tmp_path / "t.xlsx").write_bytes(b"PK\x03\x04CANARY")
    done = unveil("assess", "t.xlsx")
    said = "unveil: t.xlsx: not a readable Excel file; write it again, or export it as CSV\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
