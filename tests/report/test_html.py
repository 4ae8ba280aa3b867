"""The page: verdict first, nothing from outside, names that stay names, structure that can be navigated."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from report import samples
from report.samples import NASTY, OVERRIDE, five_links
from unveil.assessment import Assessment
from unveil.finding import Curve
from unveil.policy import Policy
from unveil.report import phrases
from unveil.report.html import render_fragment, render_page
from unveil.verdict import decide_verdict

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Document(HTMLParser):
    """The tags with their attributes and the text of each, read strictly: what is opened must be closed."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[int] = []
        self.inside: dict[int, str] = {}
        self.feed(text)
        self.close()
        assert self.open == [], "everything that was opened is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), "no attribute twice"
        self.tags.append((tag, dict(attrs)))
        self.inside[len(self.tags) - 1] = ""
        if tag not in VOID:
            self.open.append(len(self.tags) - 1)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.tags[self.open.pop()][0] == tag, "tags are nested"

    def handle_data(self, data: str) -> None:
        for i in self.open:
            self.inside[i] += data

    def all(self, *names: str) -> list[tuple[dict[str, str | None], str]]:
        return [(attrs, " ".join(self.inside[i].split())) for i, (tag, attrs) in enumerate(self.tags) if tag in names]

    def raw(self, name: str) -> list[str]:
        return [self.inside[i] for i, (tag, _) in enumerate(self.tags) if tag == name]

    @property
    def text(self) -> str:
        return self.all("body")[0][1]


def test_the_policy_of_the_page_allows_nothing_but_its_own_style(sample: Assessment) -> None:
    document = Document(render_page([sample]))
    policies = [a["content"] for a, _ in document.all("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    styles = document.raw("style")
    assert len(policies) == len(styles) == 1
    digest = base64.b64encode(hashlib.sha256(styles[0].encode()).digest()).decode()
    rules = [rule.strip() for rule in (policies[0] or "").split(";")]
    assert "default-src 'none'" in rules
    assert f"style-src 'sha256-{digest}'" in rules
    assert "unsafe" not in (policies[0] or "")


def test_the_page_asks_for_nothing_and_runs_nothing(sample: Assessment) -> None:
    text = render_page([sample])
    for tag, attrs in Document(text).tags:
        assert tag not in {"script", "iframe", "object", "embed", "img", "form", "base", "foreignobject", "image"}
        assert "style" not in attrs
        assert not any(name.startswith("on") for name in attrs)
        for name in ("href", "src", "xlink:href", "srcset", "action"):
            assert (attrs.get(name) or "#").startswith("#") or attrs[name] == "data:,"
    assert not re.search(r"@import|url\(", text)
    assert "://" not in text


def test_the_verdict_comes_first(sample: Assessment) -> None:
    document = Document(render_page([sample]))
    heading = document.all("h1")[0][1]
    assert phrases.VERDICT_HEADLINES[sample.verdict.decision] in heading
    body = document.text
    assert body.index(phrases.VERDICT_HEADLINES[sample.verdict.decision]) < body.index("What to do next")


def test_a_release_is_never_called_safe(baskets: Assessment) -> None:
    assert baskets.verdict.decision == "release"
    document = Document(render_page([baskets]))
    assert "Within tolerance against these attackers" in document.text
    for text in (document.text, Document(render_fragment(baskets)).all("div")[0][1]):
        assert not re.search(r"\bsafe\b", text, re.IGNORECASE)


def test_the_deciding_finding_is_named_and_linked(hospital: Assessment) -> None:
    document = Document(render_page([hospital]))
    decided = hospital.deciding_finding
    assert decided is not None
    links = [(a["href"], text) for a, text in document.all("a")]
    assert ("#a1-release-identifiers", decided.title) in links
    assert decided.sentence in document.all("header")[1][1]


def test_everything_that_was_measured_is_said(sample: Assessment) -> None:
    document = Document(render_page([sample]))
    articles = {a["id"]: text for a, text in document.all("article")}
    for f in sample.findings:
        text = articles[f"a1-{f.id.replace('.', '-')}"]
        assert phrases.status_text(f) in text
        assert ("not measured" if f.value is None else f.text_in_unit(f.value)) in text
        assert (phrases.baseline_label(f) in text) == (f.baseline is not None)
        assert ("Missing values" in text) == bool(f.missing)
        assert text.count("Data table") == sum(bool(phrases.chart_table(c)[1]) for c in f.curves)
        if f.tolerance is not None:
            assert phrases.tolerance_text(f) in text
    assert len(document.all("figure")) == sum(len(f.curves) for f in sample.findings)


def test_hospital_says_each_sentence_and_each_reading(hospital: Assessment) -> None:
    text = Document(render_page([hospital])).text
    for f in hospital.findings:
        for said in (f.sentence, f.attacker, f.missing, f.source, *(c.reading for c in f.curves)):
            assert said in text
        assert all(e.because in text for e in f.exposed)


def test_exposed_subjects_that_differ_in_nothing_are_told_together(hospital: Assessment) -> None:
    k = hospital["classes.k"]
    row = k.exposed[0]
    same = replace(
        k, exposed=(*(replace(row, subject=f"row {i}") for i in range(1, 5)), replace(row, subject="row 9", risk=0.5))
    )
    rows = [
        t
        for _, t in Document(render_page([replace(hospital, findings=(same,), verdict=decide_verdict([same]))])).all(
            "th"
        )
    ]
    assert "row 1, row 2, row 3 and row 4" in rows
    assert "row 9" in rows


def test_the_direction_is_said_in_words(hospital: Assessment) -> None:
    text = Document(render_page([hospital])).text
    assert "at least 5 (higher is better)" in text
    assert "fails" in text


def test_names_stay_names(hostile: Assessment) -> None:
    text = render_page([hostile])
    document = Document(text)
    assert NASTY in document.text
    assert NASTY not in text.replace("&lt;", "")
    assert "{{ 7*7 }}" in document.text
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", text)
    assert OVERRIDE not in document.text


def test_values_are_shown_only_when_revealed_and_then_with_a_warning(hospital: Assessment, hostile: Assessment) -> None:
    warning = "This report shows values from the data"
    assert warning not in Document(render_page([hospital])).text
    assert not [t for _, t in Document(render_page([hospital])).all("th") if t == "Values"]
    assert warning in Document(render_page([hostile])).text
    assert [t for _, t in Document(render_page([hostile])).all("th") if t == "Values"]
    assert warning in Document(render_page([hospital, hostile])).text


@pytest.mark.parametrize("several", [False, True])
def test_headings_are_in_order(hospital: Assessment, friends: Assessment, several: bool) -> None:
    document = Document(render_page([hospital, friends] if several else [hospital]))
    levels = [int(tag[1]) for tag, _ in document.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


def test_ids_are_unique_and_links_lead_somewhere(
    hospital: Assessment, baskets: Assessment, friends: Assessment
) -> None:
    document = Document(render_page([hospital, baskets, hospital, friends]))
    ids = [attrs["id"] for _, attrs in document.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    targets = {(a["href"] or "")[1:] for a, _ in document.all("a")}
    assert targets <= set(ids)
    assert {"a1", "a2", "a3", "a4"} <= targets


def test_tables_say_what_they_are(sample: Assessment) -> None:
    document = Document(render_page([sample]))
    tables = document.all("table")
    assert len(document.all("caption")) == len(tables) > 0
    assert all(a.get("scope") in ("col", "row") for a, _ in document.all("th"))
    boxes = [attrs for _, attrs in document.tags if attrs.get("class") == "scroll"]
    assert len(boxes) == len(tables)
    assert all(a.get("tabindex") == "0" and a.get("role") == "region" and a.get("aria-label") for a in boxes)


def test_pictures_have_names_or_are_decoration(sample: Assessment) -> None:
    document = Document(render_page([sample]))
    named = [a for a, _ in document.all("svg") if a.get("aria-hidden") != "true"]
    assert len(named) == sum(len(f.curves) for f in sample.findings)
    assert all(a.get("role") == "img" for a in named)
    assert document.all("html")[0][0]["lang"] == "en"


def test_the_policy_can_be_pasted_into_a_file(hospital: Assessment) -> None:
    policy = Document(render_page([hospital])).raw("pre")[-1]
    assert Policy.from_dict(tomllib.loads(policy)) == Policy.from_dict(hospital.provenance.policy)


def test_a_column_with_a_dot_in_its_name_was_written_as_two_keys(hospital: Assessment) -> None:
    asked = Policy(quasi=(("postal.code",),), hierarchy={"postal.code": "prefixes"})
    page = render_page([replace(hospital, provenance=replace(hospital.provenance, policy=asked.to_dict()))])
    assert Policy.from_dict(tomllib.loads(Document(page).raw("pre")[-1])) == asked


def test_roles_and_suggestion(hospital: Assessment, hostile: Assessment) -> None:
    document = Document(render_page([hospital]))
    for column in hospital.columns:
        assert column.name in [t for _, t in document.all("th")]
    assert "Some roles are guesses" not in document.text
    guessed = Document(render_page([hostile]))
    assert "Some roles are guesses" in guessed.text
    assert guessed.raw("pre")[0].startswith("unveil init ")
    assert "guessed, please check" in guessed.text


def test_provenance_is_there(sample: Assessment) -> None:
    said = [text for _, text in Document(render_page([sample])).all("dd")]
    made = sample.provenance
    assert {made.hmac_sha256, made.key_id, made.started, str(made.seed), "4.217 seconds"} <= set(said)
    assert any("unveil 0.1.0" in text for text in said)


def test_the_glossary_explains_every_method_and_role() -> None:
    glossary = Document(render_page([samples.hospital()])).all("section")[-1][1]
    for meaning in (
        *phrases.METHOD_MEANINGS.values(),
        *phrases.ROLE_MEANINGS.values(),
        *phrases.TERM_MEANINGS.values(),
    ):
        assert meaning in glossary


def test_several_assessments_start_with_an_overview(hospital: Assessment, friends: Assessment) -> None:
    document = Document(render_page([hospital, friends]))
    assert document.all("h1")[0][1] == "2 releases assessed"
    assert document.all("h2")[0][1].endswith("Protect first")
    assert document.all("h2")[1][1].endswith("Your call")


def test_a_page_is_small(sample: Assessment) -> None:
    assert len(render_page([sample]).encode()) < 300_000


def test_long_tables_of_numbers_are_cut(baskets: Assessment) -> None:
    n = 3_000
    finding = baskets.findings[0]
    long = replace(finding.curves[0], x=tuple(map(float, range(n))), y=(0.5,) * n, low=None, high=None)
    text = render_page([replace(baskets, findings=(replace(finding, curves=(long,)),))])
    assert "2,800 more rows are in the JSON form" in text
    assert len(text) < 300_000


def test_a_table_of_links_names_the_likeliest_first_and_is_cut(linked: Assessment) -> None:
    few, many = (phrases.chart_table(f.curves[0]) for f in linked.findings)
    assert few[0] == ["disease", "candidates", "risk"]
    assert [" ".join(row) for row in few[1]] == ["4 4 44.4%", "2 3 33.3%", "5 3 33.3%", "1 3 27.8%", "3 4 22.2%"]
    assert many[1][:3] == [["1", "6", "16.7%"], ["300", "6", "16.7%"], ["2", "7", "14.3%"]]
    document = Document(render_page([linked]))
    rows = [t for _, t in document.all("tr")]
    assert rows.count("4444.4%") == 1
    assert len(rows) == 3 + 6 + 61, "the overview, all five, and sixty of many"
    assert "240 more rows are in the JSON form" in document.text


def test_true_pairs_come_with_a_warning(linked: Assessment) -> None:
    few = linked.findings[0]
    told = replace(five_links(), true=((0, 2), (1, 3), (2, 4), (3, 0), (4, 1)))
    revealed = replace(linked, findings=(replace(few, curves=(told,)),), verdict=decide_verdict([few]))
    assert "true pair" not in render_page([linked])
    assert not phrases.reveals_values(linked)
    assert phrases.reveals_values(revealed)
    document = Document(render_page([revealed]))
    assert "This report shows values from the data" in document.text
    assert "true pseudonym" in [t for _, t in document.all("th")]
    assert [row[-1] for row in phrases.chart_table(told)[1]] == ["1", "4", "2", "3", "5"]


def test_nothing_measured_is_said(baskets: Assessment) -> None:
    empty = replace(baskets, findings=(), verdict=decide_verdict(()))
    text = Document(render_page([empty])).text
    assert "Your call" in text
    assert "Nothing was measured against a tolerance." in text


def test_a_page_needs_an_assessment() -> None:
    with pytest.raises(ValueError, match="needs an assessment"):
        render_page([])


def test_the_same_assessments_give_the_same_bytes(hospital: Assessment) -> None:
    assert render_page([hospital]) == render_page([hospital])


def test_importing_is_light() -> None:
    load = "import sys; from unveil.report import charts, html, phrases, schema, terminal; "
    check = "print(sorted({'altair', 'jinja2', 'rich', 'vl_convert'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", load + check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_fragment_keeps_to_itself(sample: Assessment) -> None:
    document = Document(render_fragment(sample))
    rules = [selector for rule in re.findall(r"([^{}]+)\{", document.raw("style")[0]) for selector in rule.split(",")]
    assert rules
    assert all(selector.strip().startswith(".unveil-report") for selector in rules)
    assert not {"script", "link", "img"} & {tag for tag, _ in document.tags}
    text = document.all("div")[0][1]
    assert phrases.VERDICT_HEADLINES[sample.verdict.decision] in text
    assert len(document.all("tbody")[0][1]) > 0
    assert len(document.all("tr")) == 1 + len(sample.findings)


def test_the_names_of_lines_are_text(baskets: Assessment) -> None:
    shared = {"title": "t", "x_label": "facts", "y_label": "people", "reading": "r"}
    lines = Curve(kind="line", x=(1, 2, 1), y=(1, 2, 3), series=("<b>", "<b>", "c"), **shared)  # type: ignore[arg-type]
    text = render_page([replace(baskets, findings=(replace(baskets.findings[0], curves=(lines,)),))])
    assert "<b>" not in text
    document = Document(text)
    assert [inside for _, inside in document.all("text") if inside in ("<b>", "c")] == ["<b>", "c"]
    assert [inside for _, inside in document.all("th") if inside in ("<b>", "c")] == ["<b>", "<b>", "c"]
