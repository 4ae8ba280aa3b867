"""The page in a real browser: nothing is asked for, nothing complains, everything can be read.

Driven with Playwright and Debian's chromium; where there is no chromium the tests are skipped.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from report import samples
from unveil.report.html import render_page

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on the path")

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
]
PAGES = {
    "hospital": lambda: [samples.hospital()],
    "hostile": lambda: [samples.hostile()],
    "crowded": lambda: [samples.crowded()],
    "several": lambda: [samples.hospital(), samples.baskets(), samples.friends()],
}

# The contrast of every visible piece of text against the background it stands on.
CONTRAST = """() => {
  const channels = c => (c.match(/[\\d.]+/g) || []).map(Number);
  const luminance = c => channels(c).slice(0, 3).map(v => v / 255)
    .map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const solid = c => channels(c).length === 3 || channels(c)[3] === 1;
  const behind = e => { while (e && !solid(getComputedStyle(e).backgroundColor)) e = e.parentElement;
                        return getComputedStyle(e || document.documentElement).backgroundColor; };
  const found = [];
  for (const e of document.querySelectorAll('body *')) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.getClientRects().length || e.closest('title, desc, .hidden')) continue;
    const style = getComputedStyle(e);
    const colour = e.namespaceURI.endsWith('svg') ? style.fill : style.color;
    const [low, high] = [luminance(colour), luminance(behind(e))].sort((a, b) => a - b);
    found.push([(high + .05) / (low + .05), e.tagName + ' ' + e.textContent.slice(0, 30)]);
  }
  return found;
}"""

# Texts of one picture that lie on one another, texts that leave it, and how large the smallest is on the screen.
PICTURES = """() => [...document.querySelectorAll('figure > svg')].map(svg => {
  const frame = svg.getBoundingClientRect(), scale = frame.width / svg.viewBox.baseVal.width;
  const texts = [...svg.querySelectorAll('text')].filter(t => t.textContent.trim());
  const boxes = texts.map(t => t.getBoundingClientRect());
  const clash = [], outside = [];
  boxes.forEach((a, i) => {
    if (a.left < frame.left - 6 || a.right > frame.right + 6) outside.push(texts[i].textContent);
    boxes.slice(i + 1).forEach((b, j) => {
      if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 5 && b.top < a.bottom - 5)
        clash.push([texts[i].textContent, texts[i + 1 + j].textContent]);
    });
  });
  return {clash, outside, smallest: Math.min(...texts.map(t => parseFloat(getComputedStyle(t).fontSize) * scale))};
})"""


# Words of tables that are broken into several lines, and cells whose words stick out.
BROKEN_WORDS = """() => {
  const broken = [];
  for (const cell of document.querySelectorAll('table:not(.data table) :is(th, td)')) {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), box = cell.getBoundingClientRect();
    while (walker.nextNode()) for (const word of walker.currentNode.data.matchAll(/\\S+/g)) {
      const range = document.createRange();
      range.setStart(walker.currentNode, word.index);
      range.setEnd(walker.currentNode, word.index + word[0].length);
      const rects = [...range.getClientRects()];
      if (!rects.length || box.width < 2) continue;
      if (new Set(rects.map(r => Math.round(r.top))).size > 1 || rects.some(r => r.right > box.right + 1))
        broken.push(word[0]);
    }
  }
  return broken;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(headless=True, executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    paths = {name: folder / f"{name}.html" for name in PAGES}
    for name, path in paths.items():
        path.write_text(render_page(PAGES[name]()), encoding="utf-8")
    return paths


@pytest.fixture(params=[(w, s) for w in (1280, 390) for s in ("light", "dark")], ids=lambda p: f"{p[0]}-{p[1]}")
def tab(browser: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A page that remembers what it was told and what it asked for."""
    width, scheme = request.param
    opened = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    opened.said, opened.asked, opened.dialogs = [], [], []
    opened.on("console", lambda message: opened.said.append((message.type, message.text)))
    opened.on("pageerror", lambda error: opened.said.append(("error", str(error))))
    opened.on("request", lambda sent: opened.asked.append(sent.url))
    opened.on("dialog", lambda dialog: (opened.dialogs.append(dialog.message), dialog.dismiss()))
    yield opened
    opened.close()


def show(tab: Any, path: Path) -> None:
    tab.goto(path.as_uri(), wait_until="networkidle")
    for summary in tab.query_selector_all("summary"):
        summary.click()


@pytest.mark.parametrize("name", PAGES)
def test_a_quiet_page_that_fits(tab: Any, written: dict[str, Path], name: str) -> None:
    show(tab, written[name])
    assert [said for said in tab.said if said[0] in ("error", "warning")] == []
    assert [url for url in tab.asked if url != "data:,"] == [written[name].as_uri()]
    assert tab.dialogs == []
    assert tab.evaluate("document.querySelectorAll('script, iframe, img, object, [style]').length") == 0
    assert tab.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    assert tab.evaluate("getComputedStyle(document.body).maxWidth !== '' && document.styleSheets.length") == 1


@pytest.mark.parametrize("width", [390, 500, 600, 720, 840])
def test_tables_between_phone_and_tablet_broke_words(browser: Any, written: dict[str, Path], width: int) -> None:
    """Columns were narrower than their words: at leas, t 5."""
    opened = browser.new_page(viewport={"width": width, "height": 900})
    opened.goto(written["hospital"].as_uri())
    assert opened.locator("table:visible").count() >= 2
    assert opened.evaluate(BROKEN_WORDS) == []
    assert opened.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    opened.close()


def test_the_style_is_applied_and_follows_the_scheme(tab: Any, written: dict[str, Path]) -> None:
    show(tab, written["hospital"])
    dark = tab.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    paper = "rgb(19, 22, 27)" if dark else "rgb(247, 246, 243)"
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == paper


def test_hostile_names_are_text(tab: Any, written: dict[str, Path]) -> None:
    show(tab, written["hostile"])
    assert samples.NASTY in tab.inner_text("h1")
    assert tab.evaluate("document.querySelectorAll('svg script, svg a, svg image').length") == 0
    assert tab.dialogs == []


@pytest.mark.parametrize("name", PAGES)
def test_text_stands_out(tab: Any, written: dict[str, Path], name: str) -> None:
    show(tab, written[name])
    found = tab.evaluate(CONTRAST)
    assert len(found) > 50
    assert [f for f in found if f[0] < 4.5] == []


@pytest.mark.parametrize("name", PAGES)
def test_pictures_can_be_read(tab: Any, written: dict[str, Path], name: str) -> None:
    show(tab, written[name])
    pictures = tab.evaluate(PICTURES)
    assert len(pictures) >= 3
    for picture in pictures:
        assert picture["clash"] == []
        assert picture["outside"] == []
        assert picture["smallest"] >= 9


def test_every_picture_has_a_name(tab: Any, written: dict[str, Path]) -> None:
    show(tab, written["several"])
    shown = tab.locator("svg:not([aria-hidden])")
    assert shown.count() == 5
    names = [c.title for a in PAGES["several"]() for f in a.findings for c in f.curves]
    for name in names:
        assert tab.get_by_role("img", name=name, exact=True).count() == 1


def test_the_page_can_be_walked_with_the_keyboard(tab: Any, written: dict[str, Path]) -> None:
    tab.goto(written["hospital"].as_uri())
    seen = []
    while len(seen) < 200:
        tab.keyboard.press("Tab")
        here = tab.evaluate("document.activeElement.className || document.activeElement.tagName")
        if here == "BODY":
            break
        seen.append(here)
        assert tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert seen[0] == "A", "the first stop is the finding that decided"
    assert {"A", "scroll", "SUMMARY"} <= set(seen)
    assert seen.count("scroll") == tab.locator(".scroll:visible").count()


def test_landmarks_and_headings(tab: Any, written: dict[str, Path]) -> None:
    show(tab, written["several"])
    for role in ("banner", "main", "contentinfo"):
        assert tab.get_by_role(role).count() == 1
    assert tab.get_by_role("heading", level=1).count() == 1


@pytest.mark.parametrize("name", PAGES)
def test_the_page_prints(browser: Any, written: dict[str, Path], name: str) -> None:
    opened = browser.new_page()
    opened.goto(written[name].as_uri())
    printed = opened.pdf(prefer_css_page_size=True)
    opened.emulate_media(media="print")
    opened.set_viewport_size({"width": 680, "height": 960})  # the inside of an A4 page
    assert opened.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    assert opened.evaluate("[...document.querySelectorAll('details.data')].every(d => !d.getClientRects().length)")
    assert opened.evaluate("[...document.querySelectorAll('details.roles td')].every(cell => cell.checkVisibility())")
    assert opened.locator("details.roles").count() == (name == "hostile")
    opened.close()
    assert printed.startswith(b"%PDF")
    assert re.search(rb"/MediaBox \[0 0 59[45]\.\d+ 84[12]\.\d+\]|/MediaBox \[0 0 595 842\]", printed)
    assert len(re.findall(rb"/Type /Page\b", printed)) >= 2


# Words of the page that are broken over two lines although a line could hold them, and the text that is cut off.
BROKEN_WORDS = """() => {
  const broken = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!parent.checkVisibility() || parent.closest('svg, .hidden, pre, code, .stack thead')) continue;
    for (const match of node.textContent.matchAll(/(?<!\\S)[\\p{L}\\p{N}_]{2,18}(?![^\\s.,:;)])/gu)) {
      const range = document.createRange();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      const tops = new Set([...range.getClientRects()].filter(r => r.width > 0).map(r => Math.round(r.top)));
      if (tops.size > 1) broken.push(match[0]);
    }
  }
  return broken;
}"""

# Cells of tables that do not lie within the page, and tables that must be scrolled to be read.
CELLS_OUTSIDE = """() => [
  ...[...document.querySelectorAll('th, td')].filter(e => e.checkVisibility() && !e.closest('.stack thead'))
    .filter(e => { const r = e.getBoundingClientRect(); return r.left < -1 || r.right > innerWidth + 1; })
    .map(e => e.textContent.trim().slice(0, 30)),
  ...[...document.querySelectorAll('.scroll')].filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1)
    .map(e => e.getAttribute('aria-label')),
]"""


@pytest.mark.parametrize("name", PAGES)
def test_columns_were_out_of_sight_on_a_phone(browser: Any, written: dict[str, Path], name: str) -> None:
    opened = browser.new_page(viewport={"width": 390, "height": 900})
    show(opened, written[name])
    assert opened.evaluate(CELLS_OUTSIDE) == []
    labels = opened.evaluate(
        "[...document.querySelectorAll('.stack td[data-label]')]"
        ".map(e => getComputedStyle(e, '::before').content === JSON.stringify(e.dataset.label))"
    )
    assert labels and all(labels), "every cell says which column it belongs to"
    opened.close()


@pytest.mark.parametrize("name", PAGES)
def test_words_were_broken_in_print(browser: Any, written: dict[str, Path], name: str) -> None:
    opened = browser.new_page(viewport={"width": 680, "height": 960})
    opened.goto(written[name].as_uri())
    opened.emulate_media(media="print")
    assert opened.evaluate(BROKEN_WORDS) == []
    opened.close()


@pytest.mark.parametrize("name", ["hospital", "crowded", "several"])
def test_the_summary_fits_on_one_printed_page(browser: Any, written: dict[str, Path], name: str) -> None:
    opened = browser.new_page(viewport={"width": 680, "height": 960})
    opened.goto(written[name].as_uri())
    opened.emulate_media(media="print")
    heights = opened.evaluate("[...document.querySelectorAll('.summary')].map(e => e.getBoundingClientRect().height)")
    assert heights and max(heights) < 940, "an A4 page inside its margins, less the masthead"
    opened.close()


@pytest.mark.parametrize("name", PAGES)
def test_printed_pages_were_half_empty(browser: Any, written: dict[str, Path], name: str) -> None:
    """Every page but the last is filled with text to more than half."""
    pdfium = pytest.importorskip("pypdfium2", reason="pypdfium2 is not installed")
    opened = browser.new_page()
    opened.goto(written[name].as_uri())
    document = pdfium.PdfDocument(opened.pdf(prefer_css_page_size=True))
    opened.close()
    filled = []
    for page in document:
        text = page.get_textpage()
        height = page.get_height()
        bottoms = [text.get_charbox(i)[1] for i in range(text.count_chars())]
        filled.append(1 - min((b for b in bottoms if b > 0), default=height) / height)
    assert all(share > 0.5 for share in filled[:-1]), [round(share, 2) for share in filled]
