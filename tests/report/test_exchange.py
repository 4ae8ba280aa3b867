"""Markdown and JUnit: what continuous integration shows, and names that stay names in it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from report.samples import NASTY
from unveil.assessment import Assessment
from unveil.report import phrases
from unveil.report.arrangement import findings_by_group
from unveil.report.markdown import code_block, escape_markdown, render_markdown
from unveil.verdict import decide_verdict

HOSTILE_TEXTS = (
    "# heading",
    "- item",
    "1. item",
    "===",
    "| cell |",
    "[link](javascript:alert(1))",
    "![image](https://example.org/x.png)",
    "<img src=x onerror=alert(1)>",
    "&lt;b&gt;",
    "`code` and ```fence```",
    "@somebody and #12 and me@example.org",
    "https://example.org www.example.org",
    "$x$ ~~gone~~ *bold* _it_ \\",
)


class Tags(HTMLParser):
    """The tags of a piece of Markdown that are not escaped."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)


def unescaped(text: str) -> str:
    """The text without what a backslash makes plain, and without code blocks and comments."""
    outside = re.sub(r"(`{3,})sh\n.*?\n\s*\1", "", text, flags=re.DOTALL)
    return re.sub(r"\\[!-/:-@\[-`{-~]", "x", outside.replace("<!-- -->", ""))


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_names_were_markup_in_markdown(text: str) -> None:
    plain = unescaped(escape_markdown(text))
    assert not re.search(r"[<>|`*_\[\]#$~&\\]", plain)
    assert not re.match(r"\d*[-+=.)](?!\d)", plain)
    assert not re.search(r"https?://|www\.|@\w|#\d", escape_markdown(text))


def test_a_command_cannot_leave_its_block() -> None:
    lines = code_block("unveil assess 'a```b````c'")
    assert lines[0] == "`````sh" and lines[-1] == "`````"
    assert len(lines) == 3


def test_the_markdown_of_hostile_names_holds_only_its_own_tags(hostile: Assessment) -> None:
    text = unescaped(render_markdown(hostile))
    assert set(Tags(text).found) <= {"details", "summary"}
    assert NASTY not in text
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", text)


def test_markdown_says_what_was_measured(sample: Assessment) -> None:
    text = render_markdown(sample)
    assert text.startswith("## ")
    assert phrases.VERDICT_HEADLINES[sample.verdict.decision] in text.splitlines()[0]
    rows = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| Finding")]
    groups = findings_by_group(sample.findings)
    assert len(rows) == sum(map(len, groups.values()))
    for findings in groups.values():
        for f in findings:
            assert any(escape_markdown(phrases.measured_text(f), 300) in row for row in rows)
    assert len(text) < 65_536, "what a comment may hold"


def test_a_table_in_markdown_keeps_its_columns(hostile: Assessment) -> None:
    rows = [line for line in render_markdown(hostile).splitlines() if line.startswith("|")]
    assert rows
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {7}


# ---- JUnit -----------------------------------------------------------------------------------------------------------


def outcomes(assessment: Assessment) -> dict[str, str]:
    suite = ET.fromstring(assessment.to_junit()).find("testsuite")
    assert suite is not None
    cases = suite.findall("testcase")
    counted = {tag: sum(case.find(tag) is not None for case in cases) for tag in ("failure", "error")}
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == (
        str(len(cases)),
        str(counted["failure"]),
        str(counted["error"]),
    )
    return {f"{c.get('classname')} {c.get('name')}": next((o.tag for o in c), "passed") for c in cases}


def test_every_deciding_check_and_the_verdict_is_a_test_case(sample: Assessment) -> None:
    found = outcomes(sample)
    verdict = {"protect first": "failure", "your call": "error", "release": "passed"}[sample.verdict.decision]
    assert found[f"verdict The verdict is {sample.verdict.decision}"] == verdict
    groups = findings_by_group(sample.findings)
    expected = {"fails": "failure", "open": "error", "within": "passed"}
    told = [expected[g] for g, findings in groups.items() if g in expected for _ in findings]
    assert sorted(found.values()) == sorted([verdict, *told])


def test_what_is_for_information_never_fails(hospital: Assessment) -> None:
    only = tuple(replace(f, decides=False) for f in hospital.findings)
    assert list(outcomes(replace(hospital, findings=only, verdict=decide_verdict(only))).values()) == ["error"]


def test_characters_that_xml_lacks_are_replaced(hostile: Assessment) -> None:
    broken = replace(hostile, release=replace(hostile.release, name="a\x00\x1b\ufffe\uffff\ud800<&>\"'"))
    suite = ET.fromstring(broken.to_junit()).find("testsuite")
    assert suite is not None
    assert suite.get("name") == "a�����<&>\"'"
