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
