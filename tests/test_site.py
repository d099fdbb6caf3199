"""The documentation as a site: built strictly, reads as in the checkout, asks nothing of elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from lxml import html
from markdown_it import MarkdownIt

from scripts.setup_venv import ROOT, ensure_own
from tests.browser import chromium

WIDTHS = (375, 1440)
WIDE = ("index.html", "benchmarks.html", "commands.html", "records.html", "tasks.html")
"""Pages with the widest tables and the longest names."""
BLOCKS = ("h1", "h2", "h3", "h4", "li", "table", "tr", "td", "pre", "img")
TOO_WIDE = """(() => {
  const width = document.documentElement.clientWidth;
  const out = [...document.querySelectorAll('article *')].filter(e =>
    e.getBoundingClientRect().right > width + 1 && !e.closest('.md-typeset__scrollwrap, pre'))
    .map(e => e.outerHTML.slice(0, 80));
  return document.scrollingElement.scrollWidth > width ? ['the page scrolls', ...out] : out })()"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make site` builds it but with warnings as errors shown."""
    out = tmp_path_factory.mktemp("site")
    mkdocs = ensure_own(ROOT, "site", Path(sys.executable)) / "mkdocs"
    done = subprocess.run(
        [mkdocs, "build", "--strict", "--quiet", "--site-dir", out],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return out


def sources() -> dict[str, Path]:
    """Page of the site -> what it was made of."""
    added = {
        "index": "README.md",
        "contributing": "CONTRIBUTING.md",
        "changelog": "CHANGELOG.md",
        "benchmarks": "benchmarks/README.md",
        "benchmarks_coverage": "benchmarks/coverage.md",
    }
    pages = {f"{name}.html": ROOT / path for name, path in added.items()}
    docs = ROOT / "docs"
    return pages | {str(path.relative_to(docs).with_suffix(".html")): path for path in docs.rglob("*.md")}


def test_every_page_is_in_the_site_as_it_reads_in_the_checkout(site: Path) -> None:
    """Lists and tables come out as in CommonMark, by which the pages are read elsewhere."""
    found = {str(path.relative_to(site)) for path in site.rglob("*.html")} - {"404.html"}
    assert found == set(sources())
    reader = MarkdownIt("commonmark").enable("table")
    for name, source in sources().items():
        wanted = html.fromstring(reader.render(source.read_text("utf-8")))
        shown = html.parse(str(site / name)).getroot().find(".//article")
        assert shown is not None
        for tag in BLOCKS:
            assert len(shown.findall(f".//{tag}")) == len(wanted.findall(f".//{tag}")), f"{name}: {tag}"


def test_nothing_is_loaded_from_elsewhere_and_no_link_is_broken(site: Path) -> None:
    kinds: Counter[str] = Counter()
    for page in site.rglob("*.html"):
        tree = html.parse(str(page))
        for element in tree.xpath("//*[@src or @href][not(self::a)]"):
            address = element.get("src") or element.get("href")
            assert "//" not in address, f"{page.name}: {address}"
            kinds[element.tag] += 1
        for target in tree.xpath("//article//a/@href"):
            path, _, anchor = target.partition("#")
            if "://" in target or target.startswith("mailto:"):
                continue
            other = (page.parent / path).resolve() if path else page
            assert other.is_file(), f"{page.name}: {target}"
            assert not anchor or html.parse(str(other)).xpath("//*[@id=$id]", id=anchor), target
    assert kinds["script"] and kinds["link"]
    assert not any("url(http" in path.read_text("utf-8") for path in site.rglob("*.css"))


def test_pages_fit_a_phone_and_a_desk(site: Path) -> None:
    with chromium() as tab:
        for name in WIDE:
            tab.open(site / name, width=WIDTHS[0], height=800)
            for width in WIDTHS:
                tab.size(width, 800)
                assert tab.run(TOO_WIDE) == [], (name, width)
            assert [url for url in tab.requests() if not url.startswith(("file:", "data:"))] == []
            assert tab.complaints() == []
