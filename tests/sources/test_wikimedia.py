"""Wikimedia: pages out of dumps, wikitext read, images with the licence Commons states."""

from __future__ import annotations

import bz2
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.hostile import wiki as mutated
from flows.engine.runner import run_records
from schemas.article import Article, RawArticle
from schemas.errors import FetchError, InputError
from schemas.stages import Drop, Reason
from sources import wiki
from sources.ledger import Ledger
from sources.stage import PARSE
from sources.store import RawStore
from sources.wikimedia import (
    Criteria,
    WikimediaContext,
    fetch,
    fetch_dump,
    list_dumps,
    load_dumps,
    read_titles,
)
from sources.wikimedia.commons import CommonsContext, ask, stated_licence
from sources.wikimedia.dump import DumpLimits, Page, read_dump
from tests.sources.conftest import jpeg
from tests.sources.fakes.wikimedia import CommonsFile, FakeWikimedia, dump, page

BOX = "{{infobox_medical condition (new)|name=x}}\n"
ILL = BOX + "'''Ill''' is bad.\n== Signs ==\n[[File:rash_one.jpg|thumb|A rash]]\n[[File:Two.svg|mini|Drawn]]"
NAME = "enwiki-20250101-pages-articles.xml.bz2"


@pytest.fixture
def site() -> Iterator[FakeWikimedia]:
    drawn = CommonsFile(b"<svg/>", mime="image/svg+xml", rendered=jpeg(2))
    with FakeWikimedia(files={"Rash one.jpg": CommonsFile(jpeg(1)), "Two.svg": drawn}) as fake:
        yield fake


@pytest.fixture
def context(
    site: FakeWikimedia, tmp_path: Path, make_client: Callable[..., Any]
) -> Iterator[WikimediaContext]:
    client = make_client(max_attempts=2)
    commons = CommonsContext(client, endpoint=f"{site.endpoint}w/api.php", pause=lambda seconds: None)
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        store = RawStore(tmp_path / "raw", ledger)
        yield WikimediaContext(store, commons=commons, client=client, endpoint=site.endpoint)


def put(tmp_path: Path, data: bytes, name: str = NAME) -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


def read(text: str, **facts: Any) -> Article:
    raw = RawArticle(
        id="wikimedia:enwiki/1",
        source="wikimedia",
        format="wiki",
        locator="enwiki/1",
        version=7,
        path="x",
        sha256="0" * 64,
    )
    told = {"title": "Made up", "language": "en", "base": "https://en.wikipedia.org/wiki/Main_Page", **facts}
    return wiki.parse(text.encode(), raw, {wiki.PAGE: json.dumps(told).encode()})


def texts(text: str) -> list[tuple[int, str, str]]:
    return [(each.section, each.kind, each.text) for each in read(text).passages]


# ---- wikitext


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("'''A''' is ''b''<ref>c {{cite|d}}</ref>, e<ref name=x />.", "A is b, e."),
        (
            "[[Skin]] [[skin|the skin]] [[:File:a.jpg]] [https://x.org x]",
            "Skin the skin File:a.jpg x",
        ),
        ("A ({{IPA|a}}; {{lang|de|Haut}}) b ({{x}}) c", "A (; Haut) b c"),
        ("{{convert|3|day}} {{cvt|10|mg}} {{nowrap|5 [[mm]]}}{{unknown|gone}}.", "3 day 10 mg 5 mm."),
        (
            "39&nbsp;&deg;C &lt;5 H<sub>2</sub>O<br/>next <!-- no -->line\ngoes on",
            "39 °C <5 H2O next line goes on",
        ),
        ("&#0;&#xD800;a&#1;b", "&#0; a b"),
        ("a <math>x</math> __NOTOC__ <nowiki>[[b]]</nowiki> {{{1|c}}}", "a [[b]] c"),
    ],
)
def test_inline_markup(markup: str, text: str) -> None:
    assert [each[2] for each in texts(markup)] == [text]


def test_paragraphs_lists_sections_and_tables() -> None:
    article = read(
        "Lead\none.\n\nLead two.\n{| class=x\n| cell\n|}\n== A ''b'' ==\n* one\n** two\nAfter.\n"
        "=== Deep ===\n<div>In a div\n\n</div>\n; Term\n: meaning\n"
        "== References ==\n* [[Link]]\n=== Books ===\nA book.\n"
        "== Later ==\nEnd.\n[[Category:made ills|x]][[de:X]]"
    )
    assert [(each.section, each.kind, each.text) for each in article.passages] == [
        (0, "paragraph", "Lead one."),
        (0, "paragraph", "Lead two."),
        (1, "list", "one"),
        (1, "list", "two"),
        (1, "paragraph", "After."),
        (2, "paragraph", "In a div"),
        (2, "list", "Term"),
        (2, "list", "meaning"),
        (5, "paragraph", "End."),
    ]
    assert [(each.number, each.parent, each.title, each.part) for each in article.sections] == [
        (1, 0, "A b", "body"),
        (2, 1, "Deep", "body"),
        (3, 0, "References", "back"),
        (4, 3, "Books", "back"),
        (5, 0, "Later", "body"),
    ]
    assert article.subjects == ("Made ills",)
    assert article.flags == ("table_left_out",)


def test_figures_and_their_captions() -> None:
    article = read(
        "{{Infobox x|image=File:box_1.png|caption=In the [[box]]}}\nLead.\n==S==\n"
        "[[Datei:a b.JPG|mini|rechts|hochkant=1.2|200px|alt=alt text|"
        "Cap [[x|y|z]] ''i''<ref>r</ref>|100x20px]]\n"
        "[[File:icon.svg|15px]] [[File:plain.jpg|no thumb]] [[Image:sound.ogg|thumb|x]]\n"
        "<gallery>\nFile:g1.jpg|alt=q|One, [[two]]\ng2.png\n</gallery>",
        file_names=["datei"],
    )
    found = [(each.graphics[0].href, each.caption, each.section, each.type) for each in article.figures]
    assert found == [
        ("Box 1.png", "In the box", 0, "infobox"),
        ("A b.JPG", "Cap y|z i", 1, "thumb"),
        ("G1.jpg", "One, two", 1, "gallery"),
        ("G2.png", "", 1, "gallery"),
    ]
    assert [each.id for each in article.figures] == [f"wikimedia:enwiki/1#fig{n}" for n in (1, 2, 3, 4)]
    assert [each.graphics[0].alt for each in article.figures] == ["", "alt text", "q", ""]
    assert "inline_image_left_out" in article.flags
    assert all(each.licence and each.licence.spdx == "LicenseRef-unknown" for each in article.figures)


def test_attribution_names_the_revision() -> None:
    article = read("Text.", title="Ill/Ä b", timestamp="2025-03-01T00:00:00Z", site="Wikipedia")
    assert (article.licence.spdx, article.year, article.journal) == ("CC-BY-SA-4.0", 2025, "Wikipedia")
    assert article.authors == ("Wikipedia contributors",)
    assert "https://en.wikipedia.org/w/index.php?title=Ill/%C3%84_b&oldid=7" in article.licence.statement


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", Reason.NO_BODY),
        (b"{{a}}", Reason.NO_BODY),
        (b"a\xff", Reason.RECORD_INVALID),
        (b"<b>" * 5_000 + b"x", Reason.RECORD_INVALID),
        (b"[http://a " * 5_000, Reason.RECORD_INVALID),
        (b"<b x=" + b"[http://a " * 5_000 + b"\n<i>y</i>", Reason.RECORD_INVALID),
        (b"{|\n" * 5_000 + b"x", Reason.RECORD_INVALID),
        (b"{{{" * 30_000 + b"}}}" * 30_000, Reason.RECORD_INVALID),
        (b"x" * (1024 * 1024 + 1), Reason.TOO_LARGE),
    ],
)
def test_unusable_wikitext(data: bytes, reason: Reason) -> None:
    with pytest.raises(InputError) as caught:
        read(data.decode("latin-1")) if data[1:] != b"\xff" else wiki.parse(
            data, replace(_raw(), path="x"), {wiki.PAGE: b'{"title": "x"}'}
        )
    assert (caught.value.reason, caught.value.record) == (reason.value, "wikimedia:enwiki/1")


def _raw() -> RawArticle:
    return RawArticle(
        id="wikimedia:enwiki/1", source="wikimedia", format="wiki", locator="enwiki/1", path="", sha256=""
    )


def test_page_without_its_description() -> None:
    for parts in ({}, {wiki.PAGE: b"[]"}, {wiki.PAGE: b"{"}):
        with pytest.raises(InputError):
            wiki.parse(b"text", _raw(), parts)


# ---- dumps


def test_pages_of_a_dump(tmp_path: Path) -> None:
    redirect = '    <redirect title="Ill" />\n'
    pages = (
        page(1, "Ill", "a & b <ref>c</ref>"),
        page(2, "Moved", "#REDIRECT [[Ill]]", extra=redirect),
        page(3, "Talk:Ill", "x", ns=1),
        page(4, "Other", "d"),
    )
    for streams in (1, 2):
        found = list(read_dump(put(tmp_path, dump(*pages, streams=streams))))
        assert [(each.id, each.title, each.text) for each in found if isinstance(each, Page)] == [
            (1, "Ill", "a & b <ref>c</ref>"),
            (4, "Other", "d"),
        ]
        assert len(found) == 2


def test_selection_by_title_template_category(tmp_path: Path, context: WikimediaContext) -> None:
    path = put(
        tmp_path,
        dump(
            page(1, "Ill", ILL),
            page(2, "Drug", "{{Drugbox|x}} text [[category : made_things|k]]"),
            page(3, "Town", "{{Infobox settlement}}"),
        ),
    )
    assert load_dumps([path], Criteria(), context).locators == ("enwiki/1",)
    by = [Criteria(templates=frozenset({"drugbox"})), Criteria(categories=frozenset({"Made things"}))]
    assert [load_dumps([path], each, context).locators for each in by] == [("enwiki/2",)] * 2
    titles = put(tmp_path, b"\xef\xbb\xbf# ours\ntown\nAbsent\n\n", "titles.txt")
    chosen = load_dumps([path], Criteria(titles=read_titles(titles)), context)
    assert chosen.locators == ("enwiki/3",)
    assert {key: each.reason for key, each in chosen.drops.items()} == {"Absent": Reason.NOT_FOUND}


def test_language_without_known_templates_asks_for_criteria(
    tmp_path: Path, context: WikimediaContext
) -> None:
    path = put(tmp_path, dump(page(1, "X", "y"), wiki="xxwiki", language="xx"))
    found = load_dumps([path], Criteria(), context)
    assert found.locators == () and found.drops[NAME].unit == "file"


def test_latest_revision_of_a_page_counts(tmp_path: Path, context: WikimediaContext) -> None:
    new = put(
        tmp_path, dump(page(1, "Ill", BOX + "new", revision=20)), "enwiki-20250101-pages-articles.xml.bz2"
    )
    old = put(
        tmp_path, dump(page(1, "Ill", BOX + "old", revision=10)), "enwiki-20250201-pages-articles.xml.bz2"
    )
    assert load_dumps([old, new], Criteria(), context).locators == ("enwiki/1",)
    raw = fetch("enwiki/1", context)
    assert isinstance(raw, RawArticle) and raw.version == 20
    assert (context.store.root / raw.path).read_text() == BOX + "new"


def test_damaged_page_costs_itself_alone(tmp_path: Path) -> None:
    whole = bz2.decompress(dump(*(page(number, f"P{number}", "text") for number in range(1, 6))))
    for old, new, count in ((b"<id>3</id>", b"<id>3</", 5), (b"P3</title>", b"P3</", 5)):
        found = list(read_dump(put(tmp_path, whole.replace(old, new))))
        assert len(found) == count
        assert [each.number for each in found if not isinstance(each, Page)] == [3]
    lost = whole.replace(b"</page>", b"", 1)
    assert [type(each).__name__ for each in read_dump(put(tmp_path, lost))] == ["Unreadable"] + ["Page"] * 4
    last = b"".join(whole.rsplit(b"</page>", 1))
    assert [type(each).__name__ for each in read_dump(put(tmp_path, last))] == ["Page"] * 4 + ["Unreadable"]


def test_page_over_the_limit_costs_itself_alone(tmp_path: Path) -> None:
    big = page(2, "Big", "x" * 3_000_000)
    path = put(tmp_path, dump(page(1, "A", "a"), big, page(3, "C", "c")))
    found = list(read_dump(path, DumpLimits(page_bytes=100_000)))
    assert [each.title if isinstance(each, Page) else each.number for each in found] == ["A", 2, "C"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", Reason.NOT_AN_ARTICLE),
        (b"<html><page></page></html>", Reason.NOT_AN_ARTICLE),
        (dump(page(1, "A", "a"))[:-20], Reason.ARCHIVE_INVALID),
        (bz2.decompress(dump(page(1, "A", "a")))[:-20], Reason.ARCHIVE_INVALID),
        (b'<!DOCTYPE a [<!ENTITY b "c">]>' + bz2.decompress(dump(page(1, "A", "a"))), Reason.XML_HOSTILE),
        (bz2.compress(b" " * 20_000_000), Reason.NOT_AN_ARTICLE),
    ],
)
def test_unusable_dump_is_a_drop_of_its_file(
    tmp_path: Path, context: WikimediaContext, data: bytes, reason: Reason
) -> None:
    found = load_dumps([put(tmp_path, data)], Criteria(titles=frozenset({"A"})), context)
    assert (found.drops[NAME].unit, found.drops[NAME].reason) == ("file", reason)


def test_bomb_is_stopped(tmp_path: Path) -> None:
    head, closing = bz2.decompress(dump(page(1, "A", "a"))).split(b"</mediawiki>")
    spaces = [bz2.compress(b" " * 30_000_000)] * 12
    bomb = b"".join([bz2.compress(head), *spaces, bz2.compress(b"</mediawiki>" + closing)])
    with pytest.raises(InputError) as caught:
        list(read_dump(put(tmp_path, bomb)))
    assert caught.value.reason == Reason.ARCHIVE_HOSTILE.value


def test_dump_over_http(site: FakeWikimedia, context: WikimediaContext) -> None:
    site.dumps = {
        name: dump(page(1, "Ill", ILL))
        for name in (
            NAME,
            NAME.replace("articles", "articles-multistream"),
            "enwiki-20250101-abstract.xml.bz2",
        )
    }
    assert list(list_dumps("enwiki", "20250101", context)) == [NAME]
    path = fetch_dump(NAME, context)
    assert path.read_bytes() == site.dumps[NAME]
    before = len(site.asked)
    assert fetch_dump(NAME, context) == path
    assert [each for each in site.asked[before:] if each.endswith(".bz2")] == []
    with pytest.raises(InputError):
        fetch_dump("../../etc/passwd", context)
    with pytest.raises(FetchError):
        list_dumps("dewiki", "20250101", context)


# ---- Commons


def stored(tmp_path: Path, context: WikimediaContext, text: str = ILL) -> RawArticle | Drop:
    assert load_dumps([put(tmp_path, dump(page(1, "Ill", text)))], Criteria(), context).locators
    return fetch("enwiki/1", context)


def test_page_with_its_images(tmp_path: Path, site: FakeWikimedia, context: WikimediaContext) -> None:
    raw = stored(tmp_path, context)
    assert isinstance(raw, RawArticle)
    assert [(each.name, each.format) for each in raw.media] == [("Rash one.jpg", "jpeg"), ("Two.svg", "jpeg")]
    assert (context.store.root / raw.media[0].path).read_bytes() == jpeg(1)
    kept, drops, counts = run_records(
        PARSE, {"crawl.raw": [raw]}, dict(PARSE.params), {"raw": context.store.root}
    )
    [article] = kept["articles"]
    assert not drops and counts["article"] == {"in": 1, "kept": 1, "dropped": 0}
    first, second = article.figures
    assert (first.graphics[0].width, first.graphics[0].problem, first.caption) == (24, "", "A rash")
    assert first.licence.spdx == "CC-BY-SA-4.0" and first.licence.evidence == "commons:extmetadata"
    assert first.licence.statement.startswith("A. Nurse, CC BY-SA 4.0, http://127.0.0.1")
    assert second.graphics[0].path == raw.media[1].path
    assert "mailto:" in site.agents[-1]
    before = len(site.asked)
    assert fetch("enwiki/1", context) == raw
    assert len(site.asked) == before


@pytest.mark.parametrize(
    ("said", "problem", "spdx"),
    [
        (
            {"LicenseShortName": "Fair use", "NonFree": "true"},
            "licence_not_allowed",
            "LicenseRef-all-rights-reserved",
        ),
        ({}, "licence_unknown", "LicenseRef-unknown"),
        ({"LicenseShortName": "GFDL"}, "licence_unknown", "LicenseRef-unknown"),
        ({"License": "pd", "LicenseShortName": "Public domain"}, "", "LicenseRef-public-domain"),
        ({"License": "cc-by-2.5-it"}, "", "CC-BY-2.5"),
        ({"License": "cc0"}, "", "CC0-1.0"),
    ],
)
def test_licence_decides_whether_an_image_is_fetched(
    tmp_path: Path,
    site: FakeWikimedia,
    context: WikimediaContext,
    said: dict[str, str],
    problem: str,
    spdx: str,
) -> None:
    site.files["Rash one.jpg"].said = said
    raw = stored(tmp_path, context)
    assert isinstance(raw, RawArticle)
    assert [each.reason for each in raw.media_problems] == ([problem] if problem else [])
    assert any("/files/Rash" in each for each in site.asked) is not bool(problem)
    kept, _, _ = run_records(PARSE, {"crawl.raw": [raw]}, dict(PARSE.params), {"raw": context.store.root})
    figure = kept["articles"][0].figures[0]
    assert (figure.graphics[0].problem, figure.licence.spdx) == (problem, spdx)


def test_images_that_cannot_be_had(tmp_path: Path, site: FakeWikimedia, context: WikimediaContext) -> None:
    del site.files["Rash one.jpg"]
    site.files["Two.svg"].rendered = b"<html>"
    raw = stored(tmp_path, context)
    assert isinstance(raw, RawArticle)
    assert [(each.name, each.reason) for each in raw.media_problems] == [
        ("Rash one.jpg", "image_missing"),
        ("Two.svg", "image_corrupt"),
    ]


def test_wrong_bytes_drop_the_page(tmp_path: Path, site: FakeWikimedia, context: WikimediaContext) -> None:
    site.files["Rash one.jpg"].sha1 = "0" * 40
    drop = stored(tmp_path, context)
    assert isinstance(drop, Drop)
    assert (drop.id, drop.reason) == ("enwiki/1", Reason.CHECKSUM_MISMATCH)


def test_renamed_files_and_continued_answers(site: FakeWikimedia, context: WikimediaContext) -> None:
    assert context.commons is not None
    site.files = {f"F{number}.jpg": CommonsFile(jpeg(number)) for number in range(60)}
    site.renamed = {"File:Old.jpg": "File:F3.jpg"}
    site.batch = 20
    facts = ask([*site.files, "Old.jpg"], context.commons)
    assert len(facts) == 61 and not any(each.problem for each in facts.values())
    assert facts["Old.jpg"].sha1 == facts["F3.jpg"].sha1


def test_busy_servers_are_waited_for(site: FakeWikimedia, context: WikimediaContext) -> None:
    assert context.commons is not None
    waits: list[float] = []
    commons = replace(context.commons, pause=waits.append)
    site.faults = ["maxlag", "html", "503", "ratelimited"]
    assert ask(["Rash one.jpg"], commons)["Rash one.jpg"].problem == ""
    assert 5.0 in waits
    site.faults = ["maxlag"] * 20
    with pytest.raises(FetchError, match="maxlag"):
        ask(["Rash one.jpg"], commons)
    site.faults = ["badvalue"]
    with pytest.raises(FetchError, match="badvalue"):
        ask(["Rash one.jpg"], commons)
    assert not site.faults


def test_failure_that_may_pass_drops_the_page_and_the_next_crawl_has_it(
    tmp_path: Path, site: FakeWikimedia, context: WikimediaContext
) -> None:
    site.faults = ["503"] * 2
    drop = stored(tmp_path, context)
    assert isinstance(drop, Drop) and drop.reason == Reason.FETCH_FAILED
    assert isinstance(fetch("enwiki/1", context), RawArticle)


def test_locators_that_are_none(context: WikimediaContext) -> None:
    for locator in ("enwiki/9", "enwiki/../x", "x", ""):
        drop = fetch(locator, context)
        assert isinstance(drop, Drop) and drop.reason == Reason.NOT_FOUND


def test_text_alone_needs_no_network(tmp_path: Path, context: WikimediaContext, site: FakeWikimedia) -> None:
    raw = stored(tmp_path, replace(context, commons=None, client=None))
    assert isinstance(raw, RawArticle) and not raw.media and site.asked == []


def test_stricter_than_a_name_is_the_address() -> None:
    values = {"LicenseUrl": "https://creativecommons.org/licenses/by-nc/4.0/", "License": "cc-by-4.0"}
    assert stated_licence(values) == "CC-BY-NC-4.0"


def test_damaged_pages_and_dumps() -> None:
    found = Counter(
        mutated.outcome(data).split(":")[0] for _, _, data in mutated.mutants(mutated.seeds(), 64, 3)
    )
    assert set(found) == {"read", "quarantined"} and found["read"] > 20
