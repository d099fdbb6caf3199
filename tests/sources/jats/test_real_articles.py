"""Every shared real article through the parser."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from lxml import etree

from schemas.article import Article, RawArticle
from schemas.errors import InputError
from schemas.ids import normalise_pmcid
from schemas.stages import Reason
from sources.jats import parse

DATA = Path(__file__).resolve().parents[3] / "../shared/data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the shared articles are not on this machine")

# What MANIFEST.tsv calls a licence, as the SPDX id the parser must read in the XML.
LICENCES = {
    "CC BY (text)": "LicenseRef-CC-BY",
    "CC BY-NC (text)": "CC-BY-NC-4.0",  # its address is written in the prose, not linked
    "CC0 1.0": "CC0-1.0",
}
# An editorial of 1997 whose whole text is HTML pasted as characters.
QUARANTINED = {"jats-multilingual/10.1590_S0036-36341997000100001.xml": Reason.NO_BODY}


def raw_of(path: Path) -> RawArticle:
    if path.parent.parent.name != "pmc-bucket":
        return RawArticle(
            id=f"doi:10.1234/{path.stem}", source="folder", locator=path.name, path=path.name, sha256="0" * 64
        )
    stated = json.loads(path.with_suffix(".json").read_text())
    return RawArticle(
        id=f"pmc:{stated['pmcid']}.{stated['version']}",
        source="pmc",
        locator=normalise_pmcid(stated["pmcid"]),
        version=stated["version"],
        path=path.name,
        sha256="0" * 64,
        license_code=stated["license_code"],
    )


@pytest.fixture(scope="module")
def rows() -> dict[str, dict[str, str]]:
    with (DATA / "MANIFEST.tsv").open(encoding="utf-8", newline="") as handle:
        listed = {row["path"]: row for row in csv.DictReader(handle, delimiter="\t")}
    return {path: row for path, row in listed.items() if path.startswith(("pmc-bucket/", "jats-"))}


@pytest.fixture(scope="module")
def articles(rows: dict[str, dict[str, str]]) -> dict[str, Article]:
    return {
        path: parse((DATA / path).read_bytes(), raw_of(DATA / path))
        for path in rows
        if path not in QUARANTINED
    }


def test_every_article_is_read(articles: dict[str, Article]) -> None:
    assert len(articles) == 236 - len(QUARANTINED)
    assert [path for path, article in articles.items() if not article.title] == []
    assert {flag for article in articles.values() for flag in article.flags} == {"html_as_text", "no_body"}
    assert sum(len(article.passages) for article in articles.values()) > 7000


@pytest.mark.parametrize(("path", "reason"), QUARANTINED.items())
def test_what_cannot_be_used_is_quarantined(path: str, reason: Reason) -> None:
    with pytest.raises(InputError) as caught:
        parse((DATA / path).read_bytes(), raw_of(DATA / path))
    assert caught.value.reason == reason


def test_every_figure_of_the_xml_is_there(articles: dict[str, Article]) -> None:
    for path, article in articles.items():
        root = etree.parse(DATA / path, etree.XMLParser(remove_comments=True)).getroot()
        written = [
            figure
            for figure in root.iter("fig")
            if not any(above.tag in {"sub-article", "response"} for above in figure.iterancestors())
        ]
        folded = sum(len(figure.translations) for figure in article.figures if figure.group)
        assert len(article.figures) + folded == len(written), path
        for figure, element in zip(article.figures, written, strict=not folded):
            own = [g for g in element.iter("graphic") if next(g.iterancestors("fig")) is element]
            assert folded or bool(figure.graphics) == bool(own), f"{path} {figure.id}"


def test_licences_agree_with_the_manifest(
    rows: dict[str, dict[str, str]], articles: dict[str, Article]
) -> None:
    for path, article in articles.items():
        stated = rows[path]["licence"]
        expected = LICENCES.get(stated, stated.replace("CC BY", "CC-BY").replace(" ", "-"))
        assert (article.licence.spdx, article.licence.is_disputed) == (expected, False), path


def test_spans_ids_and_text_are_sound(articles: dict[str, Article]) -> None:
    for path, article in articles.items():
        ids = [passage.id for passage in article.passages] + [figure.id for figure in article.figures]
        assert len(ids) == len(set(ids)), path
        for passage in article.passages:
            assert passage.text == " ".join(passage.text.split()) != "", passage.id
            assert 0 <= passage.section <= len(article.sections)
            for xref in passage.xrefs:
                assert 0 <= xref.start <= xref.end <= len(passage.text)
                quoted = passage.text[xref.start : xref.end]
                assert quoted == quoted.strip(), passage.id
        for figure in article.figures:
            assert figure.passage is None or figure.passage in ids


def test_no_word_of_the_running_text_is_lost(articles: dict[str, Article]) -> None:
    """Words of the paragraphs directly in sections, floats taken out by lxml itself, against the passages."""
    floats = "fig|table-wrap|disp-formula|inline-formula|list|def-list|boxed-text|disp-quote|fn"
    floats += "|supplementary-material"
    for path, article in articles.items():
        if article.flags:
            continue
        root = etree.parse(DATA / path, etree.XMLParser(remove_comments=True, remove_pis=True)).getroot()
        read = {passage.text for passage in article.passages}
        for paragraph in root.iterfind("body/sec/p"):
            if any(
                re.fullmatch(floats, str(inner.tag)) or "}" in str(inner.tag) for inner in paragraph.iter()
            ):
                continue
            words = " ".join("".join(str(part) for part in paragraph.itertext()).split())
            assert not words or words in read or paragraph.find(".//element-citation") is not None, path
