"""Every article of the sample, and of the shared data, through the parser."""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from pathlib import Path

import pytest
from lxml import etree

from schemas.article import Article, RawArticle
from schemas.errors import InputError
from schemas.ids import normalise_pmcid
from schemas.stages import Reason
from sources.jats import parse
from sources.sample import bucket_dir
from tests.conftest import Library

# What MANIFEST.tsv calls a licence, as the SPDX id the parser must read in the XML.
LICENCES = {
    "CC BY (text)": "LicenseRef-CC-BY",
    "CC BY-NC (text)": "CC-BY-NC-4.0",  # its address is written in the prose, not linked
    "CC0 1.0": "CC0-1.0",
}
OF_SAMPLE = {
    "PMC990000004": "CC BY (text)",
    "PMC990000006": "CC BY-NC-ND 4.0",
    "PMC990000007": "CC BY-SA 4.0",
    "PMC990000008": "CC0 1.0",
    "PMC990000009": "CC BY-NC 4.0",  # its JSON says CC BY: the stricter one counts
}
"""Licences as sources/sample/README.md has them; CC BY 4.0 where none is told."""
DISPUTED = {"PMC990000009"}
# An editorial of 1997 whose whole text is HTML pasted as characters.
QUARANTINED = {"jats-multilingual/10.1590_S0036-36341997000100001.xml": Reason.NO_BODY}


def raw_of(path: Path) -> RawArticle:
    if not path.with_suffix(".json").is_file():
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
def licences(library: Library) -> dict[str, str]:
    """What is known of each article's licence, by its path below the library's root."""
    if library.is_sample:
        return {
            path.relative_to(library.root).as_posix(): OF_SAMPLE.get(path.name.partition(".")[0], "CC BY 4.0")
            for path in library.files
        }
    with (library.root / "MANIFEST.tsv").open(encoding="utf-8", newline="") as handle:
        listed = {row["path"]: row["licence"] for row in csv.DictReader(handle, delimiter="\t")}
    return {path: said for path, said in listed.items() if path.startswith(("pmc-bucket/", "jats-"))}


@pytest.fixture(scope="module")
def articles(library: Library, licences: dict[str, str]) -> dict[str, Article]:
    paths = {path: library.root / path for path in licences if path not in QUARANTINED}
    return {name: parse(path.read_bytes(), raw_of(path)) for name, path in paths.items()}


def test_every_article_is_read(articles: dict[str, Article], library: Library) -> None:
    assert len(articles) == (25 if library.is_sample else 236 - len(QUARANTINED))
    assert [path for path, article in articles.items() if not article.title] == []
    flags = set() if library.is_sample else {"html_as_text", "no_body", "front_matter_in_body"}
    assert {flag for article in articles.values() for flag in article.flags} == flags
    assert sum(len(article.passages) for article in articles.values()) > (250 if library.is_sample else 7000)


def test_an_article_of_the_sample_without_text_is_quarantined() -> None:
    path = bucket_dir() / "PMC990000005.1" / "PMC990000005.1.xml"
    data = re.sub(
        rb"<(abstract|trans-abstract|body|sub-article)\b.*?</\1>", b"", path.read_bytes(), flags=re.S
    )
    with pytest.raises(InputError) as caught:
        parse(data, raw_of(path))
    assert caught.value.reason == Reason.NO_BODY


@pytest.mark.sibling("test_an_article_of_the_sample_without_text_is_quarantined")
@pytest.mark.parametrize(("path", "reason"), QUARANTINED.items())
def test_what_cannot_be_used_is_quarantined(path: str, reason: Reason, shared_data: Path) -> None:
    with pytest.raises(InputError) as caught:
        parse((shared_data / path).read_bytes(), raw_of(shared_data / path))
    assert caught.value.reason == reason


def test_every_figure_of_the_xml_is_there(articles: dict[str, Article], library: Library) -> None:
    for path, article in articles.items():
        root = etree.parse(library.root / path, etree.XMLParser(remove_comments=True)).getroot()
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


def test_licences_agree_with_what_is_known(licences: dict[str, str], articles: dict[str, Article]) -> None:
    for path, article in articles.items():
        stated = licences[path]
        expected = LICENCES.get(stated, stated.replace("CC BY", "CC-BY").replace(" ", "-"))
        is_disputed = Path(path).name.partition(".")[0] in DISPUTED
        assert (article.licence.spdx, article.licence.is_disputed) == (expected, is_disputed), path


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


def _flat(text: str) -> str:
    """As if nothing were raised: no degree sign, no space behind the letter of a note, no comma."""
    plain = re.sub(
        "[-−–‐]", "-", unicodedata.normalize("NFKC", re.sub("[\u00ad\u200b\u2060\ufeff]", "", text))
    )
    return re.sub(r"[\s^,]", "", re.sub(r"[°0o∘](?=[CF]\b)", "°", plain))


def _is_beside_a_formula(paragraph: etree._Element) -> bool:
    beside = (paragraph.getprevious(), paragraph.getnext())
    return any(block is not None and next(block.iter("disp-formula"), None) is not None for block in beside)


def test_no_word_of_the_running_text_is_lost(articles: dict[str, Article], library: Library) -> None:
    """Words of the paragraphs directly in sections, floats taken out by lxml itself, against the passages."""
    floats = "fig|table-wrap|disp-formula|inline-formula|list|def-list|boxed-text|disp-quote|fn"
    floats += "|supplementary-material"
    for path, article in articles.items():
        if article.flags:
            continue
        root = etree.parse(
            library.root / path, etree.XMLParser(remove_comments=True, remove_pis=True)
        ).getroot()
        read = {_flat(passage.text) for passage in article.passages}
        for paragraph in root.iterfind("body/sec/p"):
            if any(
                re.fullmatch(floats, str(inner.tag)) or "}" in str(inner.tag) for inner in paragraph.iter()
            ):
                continue
            words = " ".join("".join(str(part) for part in paragraph.itertext()).split())
            if words and _is_beside_a_formula(paragraph):  # one passage with it
                assert any(_flat(words) in text for text in read), path
                continue
            assert not words or _flat(words) in read or paragraph.find(".//element-citation") is not None, (
                path
            )
