"""No number of a report contradicts another: whatever appears in several places is collected and compared.

A number is collected with its label, so that it is known what it claims: the measured value of a finding, its
tolerance, the size of the release, how many reasons there are, how many findings are shown. The places are the verdict,
the reasons, the tables, the cards, the sentences and the readings of charts, in the forms text, details, page,
Markdown, JUnit and JSON. The collector is itself tested: a report in which one place is altered must be noticed.
"""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from html.parser import HTMLParser
from types import MappingProxyType

import pytest

from contract.cases import CASES, assessed
from unveil import Assessment
from unveil.finding import Finding
from unveil.report import phrases
from unveil.report.arrangement import attacker_letters, findings_by_group, order_findings
from unveil.wording import percent_text, safe_text

Claims = dict[tuple[str, str], dict[str, str]]  # (finding or release, what is claimed): the place, and what it says

REPORTED = tuple(name for name in CASES)
FORMS: dict[str, Callable[[Assessment], str]] = {
    "text": lambda a: a.to_text(),
    "details": lambda a: a.to_text(details=True),
    "page": Assessment.to_html,
    "markdown": Assessment.to_markdown,
    "junit": Assessment.to_junit,
    "json": Assessment.to_json,
}


class Page(HTMLParser):
    """The cells of the page's tables, its cards and its text, as a reader sees them."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[list[str]] = []
        self.cards: dict[str, str] = {}
        self.text = ""
        self._articles: list[str] = []
        self._cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        self._cell = tag in ("td", "th") or (self._cell and tag not in ("tr", "table"))
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "article":
            name = dict(attrs).get("id") or ""
            self._articles.append(name)
            self.cards[name] = ""

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._cell = False
        if tag in ("td", "th", "dt", "dd", "p", "li", "h1", "h2", "h3", "h4", "summary"):
            self.handle_data(" ")
        if tag == "article":
            self._articles.pop()

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._cell and self.rows:
            self.rows[-1][-1] += data
        if self._articles:
            self.cards[self._articles[-1]] += data


@cache
def rendered(name: str) -> Mapping[str, str]:
    """The forms of the report of a case."""
    return MappingProxyType({form: render(assessed(name)) for form, render in FORMS.items()})


def flat(text: str) -> str:
    return " ".join(text.split())


def key(f: Finding) -> str:
    return f"{f.id} {f.column or ''} {', '.join(f.known or ())}".strip()


def collect(a: Assessment, forms: dict[str, str]) -> Claims:
    """Every claim of the reports, by what it is about and the place it stands in."""
    claims: Claims = defaultdict(dict)
    for place, about, what, said in (
        *_json_claims(a, forms["json"]),
        *_page_claims(a, forms["page"]),
        *_markdown_claims(a, forms["markdown"]),
        *_text_claims(a, forms["text"], "text"),
        *_text_claims(a, forms["details"], "details"),
        *_junit_claims(a, forms["junit"]),
    ):
        claims[about, what][place] = said
    return claims


Claim = tuple[str, str, str, str]


def _json_claims(a: Assessment, text: str) -> Iterator[Claim]:
    """What the JSON says, worded as the other forms word it."""
    plain = json.loads(text)
    for data in plain["findings"]:
        f = Finding.from_dict(data)
        yield "json", key(f), "measured", flat(phrases.measured_text(f))
        yield "json", key(f), "tolerated", f.tolerance_text if data["tolerance"] is not None else "–"
        yield "json", key(f), "status", {"over": "over", None: "none"}.get(data["status"], data["status"])
        yield "json", key(f), "sentence", flat(safe_text(data["sentence"], 20_000))
    yield "json", "verdict", "decision", plain["verdict"]["decision"]
    yield "json", "verdict", "reasons", str(len(plain["verdict"]["reasons"]))
    yield "json", "release", "size", flat(phrases.size_text(a))


def _row_claims(place: str, a: Assessment, rows: list[list[str]]) -> Iterator[Claim]:
    """The rows of a table of findings, which stand in the order of the report."""
    for f, row in zip(order_findings(a.findings), rows, strict=False):
        title, measured, tolerated, letter = row
        assert title == flat(safe_text(phrases.short_title(f), 200)), (place, title)
        yield place, key(f), "measured", measured
        yield place, key(f), "tolerated", tolerated.replace("-", "–") if tolerated == "-" else tolerated
        yield place, key(f), "attacker", letter.replace("-", "–") if letter == "-" else letter


def _page_claims(a: Assessment, text: str) -> Iterator[Claim]:
    page = Page(text)
    rows = [[flat(cell) for cell in row] for row in page.rows]
    start = next(i for i, row in enumerate(rows) if row[:2] == ["Finding", "Status"])
    main = order_findings(a.findings)
    found = [[row[0], row[2], row[3], row[4]] for row in rows[start + 1 : start + 1 + len(main)]]
    yield from _row_claims("page, table", a, found)
    letters = attacker_letters(a)
    cards = {name.partition("-")[2]: flat(body) for name, body in page.cards.items()}
    seen: dict[str, int] = defaultdict(int)
    for f in a.findings:
        seen[f.id] += 1
        card = cards[f.id.replace(".", "-") + (f"-{seen[f.id]}" if seen[f.id] > 1 else "")]
        number = "not measured" if f.value is None else f.text_in_unit(f.value)
        assert number in card and flat(safe_text(f.sentence, 20_000)) in card, f.id
        tolerated = re.search(r"Tolerated (.*?) Method", card)
        assert tolerated
        limit = tolerated[1].partition(" (")[0]
        yield "page, card", key(f), "tolerated", "–" if limit.startswith("no tolerance") else limit
        if f.attacker and f in main:
            told = re.search(r"Attacker ([A-Z]+)\b", card)
            assert told and letters[f.attacker] == told[1]
            yield "page, card", key(f), "attacker", told[1]
    yield from _summary_claims("page", a, flat(page.text))


def _summary_claims(place: str, a: Assessment, text: str) -> Iterator[Claim]:
    """The verdict, its reasons and the size of the release."""
    headlines = {text.find(headline): d for d, headline in phrases.VERDICT_HEADLINES.items() if headline in text}
    yield place, "verdict", "decision", headlines[min(headlines)]
    size = re.search(r"Assessed: (.*?)(?:\.| What to do next)", text)
    assert size
    yield place, "release", "size", size[1]
    shown = sum(flat(safe_text(reason.text, 300))[:60] in text for reason in phrases.verdict_reasons(a))
    more = re.search(r"(\d+) more (?:checks? fails?|points? ha)", text)
    total = max(shown, min(shown, phrases.MOST_REASONS) + int(more[1])) if more else shown
    yield place, "verdict", "reasons", str(total)
    for f in a.findings:
        if f.decides and f.status == "over":
            title = re.escape(flat(safe_text(f.title, 300)))
            for value, limit in re.findall(rf"{title}: ([^:]*?), must be (at \w+ \S+)", text):
                yield f"{place}, reasons", key(f), "measured", value
                yield f"{place}, reasons", key(f), "tolerated", limit.rstrip(".")


def _markdown_claims(a: Assessment, text: str) -> Iterator[Claim]:
    rows = []
    for line in text.splitlines():
        if line.startswith("| ") and not line.startswith("| Finding"):
            cells = [
                flat(re.sub(r"\\(.)", r"\1", c).replace("<!-- -->", "")) for c in re.split(r"(?<!\\)\|", line)[1:-1]
            ]
            rows.append(cells[:4])
    assert len(rows) == len(order_findings(a.findings))
    yield from _row_claims("markdown, table", a, rows)
    yield from _summary_claims("markdown", a, flat(re.sub(r"\\(.)", r"\1", text).replace("<!-- -->", "")))


def _text_claims(a: Assessment, text: str, place: str) -> Iterator[Claim]:
    lines = text.splitlines()
    ruled = [i for i, line in enumerate(lines) if line.startswith("────") and lines[i - 1].startswith("Finding ")]
    if ruled:
        starts = [m.start() for m in re.finditer(r"\S+", lines[ruled[0] - 1])]
        yield from _row_claims(f"{place}, table", a, _table_rows(lines[ruled[0] + 1 :], starts))
    yield from _summary_claims(place, a, flat(text))
    groups = findings_by_group(a.findings)
    said = re.search(r"Findings not shown here: (.*?)\.", flat(text))
    shown = len(order_findings(a.findings)) - sum(map(int, re.findall(r"\d+", said[1]))) if said else None
    if shown is not None:
        yield place, "release", "rows", str(shown)
        yield f"{place}, table", "release", "rows", str(len(_table_rows(lines[ruled[0] + 1 :], starts)) if ruled else 0)
    assert groups


def _table_rows(lines: list[str], starts: list[int]) -> list[list[str]]:
    """The rows of a text table: a line with a status begins a row, others continue it."""
    rows: list[list[str]] = []
    for line in lines:
        if not line.strip() or (line.startswith(" ") and not rows):
            break
        cells = [line[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]
        if line.startswith(("Findings not shown", "--details")):
            break
        if cells[5]:
            rows.append(cells)
        else:
            rows[-1] = [f"{old} {new}".strip() for old, new in zip(rows[-1], cells, strict=True)]
    return [row[:4] for row in rows]


def _junit_claims(a: Assessment, text: str) -> Iterator[Claim]:
    suite = ET.fromstring(text).find("testsuite")
    assert suite is not None
    deciding = [f for g, found in findings_by_group(a.findings).items() if g != "informs" for f in found]
    cases = suite.findall("testcase")
    yield "junit", "verdict", "decision", (cases[0].get("name") or "").removeprefix("The verdict is ")
    for f, case in zip(deciding, cases[1:], strict=True):
        for outcome in case:
            measured, limited, limit = (outcome.get("message") or "").rpartition(", must be ")
            yield "junit", key(f), "measured", flat(measured or limit)
            yield "junit", key(f), "tolerated", limit if limited else "–"
            yield "junit", key(f), "sentence", flat(outcome.text or "")


def contradictions(claims: Claims) -> list[tuple[tuple[str, str], dict[str, str]]]:
    return [(about, places) for about, places in claims.items() if len(set(places.values())) > 1]


@pytest.mark.parametrize("name", REPORTED)
def test_the_forms_of_a_report_contradicted_each_other(name: str) -> None:
    found = assessed(name)
    claims = collect(found, rendered(name))
    assert contradictions(claims) == []
    main = order_findings(found.findings)
    assert all(len(claims[key(f), "measured"]) >= 3 for f in main), "every number was found in several places"
    assert len(claims["release", "size"]) == 5 and len(claims["verdict", "decision"]) == 6


ALTERED: tuple[tuple[str, str, str], ...] = (
    ("page", "1 person", "2 people"),
    ("page", "at least 5 (higher is better)", "at least 6 (higher is better)"),
    ("text", "at least 5 ", "at least 4 "),
    ("details", "Protect first", "Your call"),
    ("markdown", "1 person |", "3 people |"),
    ("junit", 'message="1 person, must be at least 5"', 'message="1 person, must be at least 50"'),
    ("json", '"tolerance": 5', '"tolerance": 3'),
    ("text", "more checks fail", "0 more checks fail"),
)


@pytest.mark.parametrize(("form", "said", "instead"), ALTERED)
def test_an_altered_report_is_noticed(form: str, said: str, instead: str) -> None:
    found = assessed("patients.csv")
    forms = dict(rendered("patients.csv"))
    position = forms[form].rindex(said) if form in ("markdown", "junit", "json") else forms[form].index(said)
    forms[form] = forms[form][:position] + instead + forms[form][position + len(said) :]
    try:
        noticed = bool(contradictions(collect(found, forms)))
    except AssertionError:  # the collector itself found a place that does not say what it should
        noticed = True
    assert noticed


# ---- numbers inside sentences ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REPORTED)
def test_sentences_count_the_people_that_the_finding_counts(name: str) -> None:
    """Where a sentence says "3 of 12 people (25%)", the parts fit together, and the total is the finding's."""
    for f in assessed(name).findings:
        for about, part, whole, percent in re.findall(
            r"(about )?(?<![\d.,])([\d,]+(?:\.\d+)?) of ([\d,]+) [a-z ]+? \(([\d.]+)%\)", f.sentence
        ):
            n, total = (float(x.replace(",", "")) for x in (part, whole))
            assert n <= total
            rounding = 0.5 if about else 0.06 * total / 100
            assert abs(n - float(percent) * total / 100) <= rounding * 1.01, f.sentence


@pytest.mark.parametrize("name", REPORTED)
def test_readings_of_charts_agree_with_their_findings(name: str) -> None:
    """What the reading of a chart says about guessing and about one in so many is what its finding says."""
    for f in assessed(name).findings:
        for reading in (curve.reading for curve in f.curves):
            for percent, n in re.findall(r"([\d.]+%) \(1 in (\d+)\)", reading):
                assert round(100 / float(percent.rstrip("%"))) == int(n), (f.id, reading)
            for guessed in re.findall(r"guessing finds ([\w. ]*[\d.]+%)", reading):
                assert f.baseline is not None and guessed == percent_text(f.baseline), (f.id, reading)
            for average in re.findall(r"the average ([\d.]+%)", reading):
                assert f.unit != "share" or f.value is None or average == percent_text(f.value), (f.id, reading)
