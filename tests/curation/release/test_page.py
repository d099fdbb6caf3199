"""The audit page: escaped, self-contained, the same for the same files, and sound in a real browser."""

from __future__ import annotations

import html.parser
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from PIL import Image

from curation.release.audit import audit, render_page
from tests.curation.release.known import edit, run_sql
from tests.curation.release.test_audit import COPIED, copied_answer

HOSTILE = '<script>document.title="owned"</script> Figure 3 <img src="http://192.0.2.1/x" onerror="x()">'
OVERRIDE = "\u202egnp.exe"


@pytest.fixture
def hostile(copy: Path) -> Path:
    """A copy whose text attacks its reader, with findings that quote it."""
    copied_answer(copy)

    def change(rows: list[dict[str, object]]) -> None:
        rows[3]["text"] = OVERRIDE + HOSTILE + "x" * 2000
        rows[3]["id"] = '"><b onclick="x">'
        rows[3]["license"] = "<i>CC</i>"

    edit(copy, "corpus", change)
    edit(copy, "provenance/drops", lambda rows: rows[0].update({"reason": "<u>why</u>"}))
    return copy


class Outline(html.parser.HTMLParser):
    """Tags and addresses of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        for name, value in attrs:
            if name in ("href", "src", "action", "data", "poster", "srcset"):
                self.addresses.append(value or "")
            if name == "id":
                self.ids.append(value or "")


def outline(page: str) -> Outline:
    found = Outline()
    found.feed(page)
    return found


def test_hostile_text_is_shown_and_never_obeyed(hostile: Path) -> None:
    page = render_page(audit(hostile, run_sql), hostile)
    found = outline(page)
    assert not {"script", "img", "b", "i", "u", "iframe", "object"} & set(found.tags)
    assert not [name for name in found.attributes if name.startswith("on")]
    assert "&lt;script&gt;" in page and "&lt;u&gt;why&lt;/u&gt;" in page
    assert "\u202e" not in page and "\\u202egnp.exe" in page


def test_the_page_loads_nothing_and_its_links_stay_inside(hostile: Path) -> None:
    found = outline(render_page(audit(hostile, run_sql), hostile))
    assert all(address.startswith("#") or address == "data:," for address in found.addresses)
    assert {address[1:] for address in found.addresses if address.startswith("#")} <= set(found.ids)
    assert len(found.ids) == len(set(found.ids))


def test_the_page_says_the_verdict_and_marks_the_shared_words(hostile: Path, known: Path) -> None:
    page = render_page(audit(hostile, run_sql), hostile)
    assert '<div class="verdict findings"' in page
    assert f"Panel overview: <mark>{COPIED}</mark>." in page
    clean = render_page(audit(known, run_sql), known)
    assert '<div class="verdict clean"' in clean and "26 passed." in clean
    assert "<code>licence_not_allowed</code>" in clean


def test_the_same_files_give_the_same_page(known: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(known, moved)
    assert render_page(audit(known, run_sql), known) == render_page(audit(moved, run_sql), moved)


def test_a_page_can_be_made_of_a_broken_release(copy: Path) -> None:
    for path in copy.rglob("*.parquet"):
        path.write_bytes(b"PAR1 no longer a table")
    page = render_page(audit(copy, run_sql), copy)
    assert "not run" in page and str(copy) not in page


def test_headings_landmarks_and_captions(known: Path) -> None:
    found = outline(render_page(audit(known, run_sql), known))
    assert [found.tags.count(tag) for tag in ("main", "header", "footer", "h1")] == [1, 1, 1, 1]
    assert found.tags.count("table") == found.tags.count("caption")
    assert {"lang", "aria-labelledby", "scope"} <= found.attributes


def luminance(colour: str) -> float:
    digits = colour if len(colour) == 7 else "#" + "".join(2 * c for c in colour[1:])
    parts = [int(digits[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, two: str) -> float:
    light, dark = sorted((luminance(one), luminance(two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_text_contrast_meets_wcag_aa_in_light_dark_and_print(known: Path) -> None:
    page = render_page(audit(known, run_sql), known)
    themes = [
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,6})", block))
        for block in re.findall(r":root \{(.*?)\}", page, re.S)
    ]
    assert len(themes) == 3
    pairs = [(ink, ground) for ink in ("ink", "soft", "accent") for ground in ("bg", "card")]
    pairs += [(name, f"{name}-bg") for name in ("good", "bad", "warn", "note")]
    pairs += [("ink", f"{name}-bg") for name in ("good", "bad", "warn", "note")] + [("ink", "mark")]
    for theme in themes:
        for ink, ground in pairs:
            assert contrast(theme[ink], theme[ground]) >= 4.5, (ink, ground, theme)


def browse(page: Path, profile: Path, *options: str) -> subprocess.CompletedProcess[str]:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    assert browser, "no Chromium: run scripts/system-deps.sh"
    quiet = (
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
    )
    return subprocess.run(
        [
            browser,
            *("--headless", "--no-sandbox", "--disable-gpu", *quiet),
            f"--user-data-dir={profile}",
            "--enable-logging=stderr",
            "--window-size=1000,1400",
            *options,
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=90,
        check=True,
    )


@pytest.mark.parametrize("scheme", ["0", "1"], ids=["dark", "light"])
def test_in_a_browser(hostile: Path, tmp_path: Path, scheme: str) -> None:
    page = tmp_path / "audit.html"
    page.write_text(render_page(audit(hostile, run_sql), hostile), encoding="utf-8")
    shot, net = tmp_path / "page.png", tmp_path / "net.json"
    done = browse(
        page,
        tmp_path / "profile",
        f"--blink-settings=preferredColorScheme={scheme}",
        f"--screenshot={shot}",
        f"--log-net-log={net}",
    )
    assert "CONSOLE" not in done.stderr, done.stderr
    assert "192.0.2.1" not in net.read_text(encoding="utf-8")
    image = Image.open(shot).convert("RGB")
    colours = image.getcolors(1_000_000)
    assert colours is not None and len(colours) > 100
    corner = image.getpixel((2, 700))
    assert isinstance(corner, tuple) and (sum(corner) < 200) == (scheme == "0")
    title = browse(page, tmp_path / "profile", "--dump-dom").stdout
    assert "<title>Audit: known@1.0.0 visual_context</title>" in title
