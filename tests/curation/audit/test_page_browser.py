"""The audit page in headless Chromium: quiet, offline, inside its width, usable by keyboard, printable."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from curation.audit.page.render import render_page
from tests.browser import Tab, chromium
from tests.curation.audit import pages, reports

OVERFLOWING = """(() => {
  const root = document.documentElement;  // a phone's window widens with its content, this does not
  const inScroll = e => e.closest('.scroll') && !e.classList.contains('scroll');
  const wide = [...document.querySelectorAll('body *')].filter(e => !inScroll(e)
    && !e.matches('.skip, thead, thead *') && e.getBoundingClientRect().right > root.clientWidth + 0.5);
  return [root.scrollWidth - root.clientWidth,
    wide.slice(0, 5).map(e => e.tagName + '.' + e.className)];
})()"""
FOCUS = "(e => e.getAttribute('aria-label') || e.textContent.trim())(document.activeElement)"
RING = """(() => { const s = getComputedStyle(document.activeElement);
  return s.outlineStyle != 'none' && parseFloat(s.outlineWidth) >= 2; })()"""
FAINT = """(() => {
  const part = v => v / 255 <= .03928 ? v / 3294.6 : ((v / 255 + .055) / 1.055) ** 2.4;
  const lum = c => { const p = c.map(part);
    return .2126 * p[0] + .7152 * p[1] + .0722 * p[2]; };
  const rgb = s => s.match(/[\\d.]+/g).map(Number);
  const ground = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > .99) return c.slice(0, 3); } return [255, 255, 255]; };
  const faint = [];
  for (const e of document.querySelectorAll('body *')) {
    if (![...e.childNodes].some(n => n.nodeType == 3 && n.textContent.trim())) continue;
    const one = lum(rgb(getComputedStyle(e).color).slice(0, 3)), two = lum(ground(e));
    const ratio = (Math.max(one, two) + .05) / (Math.min(one, two) + .05);
    if (ratio < 4.5) faint.push(e.tagName + '.' + e.className + ' ' + ratio.toFixed(2));
  }
  return [...new Set(faint)];
})()"""


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every kind of page, written to files."""
    out = tmp_path_factory.mktemp("browser")
    directory = pages.release(out / "release", hostile=True)
    for make in (reports.clean, reports.many, reports.invalid, reports.partial, reports.incomplete):
        page = render_page(make(directory), directory)
        (out / f"{make.__name__}.html").write_text(page, encoding="utf-8")
    report, datasets = reports.foreign(out / "foreign")
    page = render_page(report, out / "foreign", datasets=datasets)
    (out / "foreign.html").write_text(page, encoding="utf-8")
    return out


@pytest.mark.parametrize("width", [390, 768, 1280, 1920])
@pytest.mark.parametrize("name", ["clean", "many", "invalid", "partial", "incomplete", "foreign"])
def test_quiet_offline_and_inside_its_width(tab: Tab, folder: Path, name: str, width: int) -> None:
    tab.open(folder / f"{name}.html", width=width)
    assert tab.run(OVERFLOWING) == [0, []]
    assert tab.run("document.title").startswith("Audit: ")
    assert tab.complaints() == []
    asked = tab.requests()
    assert all(address.startswith(("file:", "data:")) for address in asked)
    assert sum(address.startswith("file:") for address in asked) == 1


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_text_has_contrast_as_drawn(tab: Tab, folder: Path, tmp_path: Path, dark: bool) -> None:
    for name in ("many", "invalid", "foreign"):
        tab.open(folder / f"{name}.html", dark=dark)
        assert tab.run(FAINT) == []
    image = Image.open(tab.photograph(tmp_path / "page.png", whole=False)).convert("RGB")
    corner = image.getpixel((2, 700))
    assert isinstance(corner, tuple) and (sum(corner) < 200) == dark


def test_every_square_of_the_matrix_is_reached_and_opened_by_keyboard(tab: Tab, folder: Path) -> None:
    tab.open(folder / "many.html")
    squares = tab.run("document.querySelectorAll('td.sq a').length")
    assert squares == tab.run("document.querySelectorAll('td.sq:not(.blank)').length") > 100
    reached: list[str] = []
    tab.run("document.querySelector('#matrix').focus()")
    for _ in range(squares + 1):
        tab.press("Tab", 9)
        if tab.run("!!document.activeElement.closest('td.sq')"):
            assert tab.run(RING)
            reached.append(tab.run(FOCUS))
    assert len(reached) == squares
    tab.run("document.querySelector('td.sq.breach-3 a').focus()")
    tab.press("Enter", 13)
    assert tab.run("location.hash") == "#rule-overlap_article"
    tab.run("document.querySelector('td.sq.zero a').focus()")
    tab.press("Enter", 13)
    assert tab.run("location.hash").startswith("#pair-")
    assert tab.run("document.querySelector('details.pairs').open") is True


def test_the_checks_see_what_they_look_for(tab: Tab, folder: Path) -> None:
    """Overflow, faint text, blocked scripts and requests do not go unnoticed."""
    text = (folder / "clean.html").read_text(encoding="utf-8")
    bad = '<div style="width:3000px;color:#ccc;background:#fff">x</div><script>0</script>'
    bad += '<img src="http://192.0.2.1/x">'
    (folder / "bad.html").write_text(text.replace("<main>", "<main>" + bad), encoding="utf-8")
    for size in (390, 1280):
        tab.open(folder / "bad.html", width=size)
        width, wide = tab.run(OVERFLOWING)
        assert width > 1000 and "DIV." in wide
    assert any(item.startswith("DIV.") for item in tab.run(FAINT))
    said = " ".join(tab.complaints())
    assert "script-src" in said and "img-src" in said


def test_the_first_tab_skips_to_the_matrix(tab: Tab, folder: Path) -> None:
    tab.open(folder / "many.html")
    tab.press("Tab", 9)
    assert tab.run(FOCUS) == "Skip to the overlap matrix"
    assert tab.run("document.activeElement.getBoundingClientRect().left >= 0")
    tab.press("Enter", 13)
    assert tab.run("document.activeElement.id") == "matrix"


def names(nodes: list[dict[str, Any]], role: str) -> list[str]:
    return [
        node.get("name", {}).get("value", "") for node in nodes if node.get("role", {}).get("value") == role
    ]


@pytest.mark.parametrize("width", [390, 1280])
def test_what_a_screen_reader_is_told(tab: Tab, folder: Path, width: int) -> None:
    tab.open(folder / "many.html", width=width)
    nodes = tab.tree()
    tables = tab.run("document.querySelectorAll('table').length")
    closed = tab.run("document.querySelectorAll('details:not([open]) table').length")
    assert len(names(nodes, "table")) == tables - closed and all(names(nodes, "table"))
    assert all(names(nodes, "region")) and all(names(nodes, "image")) and all(names(nodes, "link"))
    assert all(names(nodes, "heading")) and names(nodes, "main") and names(nodes, "contentinfo")
    assert names(nodes, "navigation") == ["Tasks of this release"]
    assert len(names(nodes, "rowheader")) > 60
    assert "Verdict: Findings" in names(nodes, "heading")


def test_printing_makes_whole_a4_pages_with_repeated_heads(tab: Tab, folder: Path, tmp_path: Path) -> None:
    for name in ("many", "clean", "foreign"):
        tab.open(folder / f"{name}.html", dark=True)
        data = tab.print(tmp_path / "page.pdf").read_bytes()
        sheets = [tuple(map(float, box.split())) for box in re.findall(rb"/MediaBox \[([^\]]+)\]", data)]
        assert 5 <= len(sheets) <= 40
        assert all(abs(box[2] - 595) < 1 and abs(box[3] - 842) < 1 for box in sheets)
        tab.theme(False, media="print")
        tab.size(695, 980)
        assert tab.run(OVERFLOWING) == [0, []]
        assert tab.run("getComputedStyle(document.querySelector('thead')).display") == "table-header-group"
        assert tab.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        inside = "[...document.querySelectorAll('details table, details ol')]"
        assert tab.run(f"{inside}.filter(e => !e.getClientRects().length).length") == 0
        assert tab.run(FAINT) == []


def test_the_page_works_with_every_letter_twice_as_large(tab: Tab, folder: Path) -> None:
    tab.open(folder / "many.html", width=1280)
    tab.run("document.documentElement.style.fontSize = '32px'")
    assert tab.run(OVERFLOWING)[0] == 0
