"""What is a chapter and what is refused; a fixed-seed slice of the mutation campaign."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from schemas.article import Article
from schemas.errors import InputError
from sources.bits import parse
from sources.bits.load import chapter_of, load_book_part
from tests.sources.bits.conftest import NAMESPACES, raw_chapter, wrapper

PART = "<book-part><book-part-meta/><body><p>Text.</p></body></book-part>"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (wrapper(attributes='content-type="toc"', part='book-part-type="toc"'), "table of contents"),
        (
            "<book-part-wrapper content-type='toc'><book-meta/><toc><toc-entry/></toc></book-part-wrapper>",
            "0 ch",
        ),
        ("<book-part book-part-type='toc'><body><p>Contents</p></body></book-part>", "table of contents"),
        (f"<book-part-wrapper>{PART}{PART}</book-part-wrapper>", "2 chapters"),
        ("<book-part-wrapper><preface/></book-part-wrapper>", "0 chapters"),
        (f"<book><book-meta/><body>{PART}{PART}</body></book>", "whole <book> of 2 parts"),
        ("<article><body><p>Text.</p></body></article>", "root element is <article>"),
        ("<html><body>Please try later</body></html>", "root element is <html>"),
        (f"<OAI-PMH>{wrapper()}{wrapper()}</OAI-PMH>", "holds 2 documents"),
        ("<OAI-PMH><error code='idDoesNotExist'/></OAI-PMH>", "no part of a book"),
    ],
)
def test_what_is_no_chapter_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        parse(text.encode(), raw_chapter())
    assert caught.value.reason == "not_an_article"
    assert caught.value.record == "litarch:NBK1/one"


def test_a_chapter_without_anything_is_no_body() -> None:
    with pytest.raises(InputError) as caught:
        parse(b"<book-part><book-part-meta/><body/></book-part>", raw_chapter())
    assert caught.value.reason == "no_body"


def test_a_report_inside_the_file_of_its_contents_is_read(read_bytes: Callable[[str], Article]) -> None:
    article = read_bytes(wrapper(attributes='content-type="toc"', part='book-part-type="section"'))
    assert article.passages[0].text == "Text."


def test_oai_answers_are_unwrapped(read_bytes: Callable[[str], Article]) -> None:
    inner = wrapper(meta="<title-group><title>From OAI</title></title-group>").replace(
        "<book-part-wrapper ", '<book-part-wrapper xmlns="https://jats.nlm.nih.gov/ns/extensions/bits/2.0/" '
    )
    article = read_bytes(
        '<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><GetRecord><record><metadata>'
        f"{inner}</metadata></record></GetRecord></OAI-PMH>"
    )
    assert (article.title, article.flags) == ("From OAI", ("article_unwrapped",))
    assert article.journal == "Invented Injuries"


def test_a_lost_end_tag_does_not_lose_the_body(read_bytes: Callable[[str], Article]) -> None:
    article = read_bytes(wrapper().replace("</book-part-meta>", ""))
    assert "xml_recovered" in article.flags
    assert [passage.text for passage in article.passages] == ["Text."]
    article = read_bytes(wrapper().replace("</book-meta>", ""))
    assert [passage.text for passage in article.passages] == ["Text."]


def test_old_declarations_are_read(read_bytes: Callable[[str], Article]) -> None:
    article = read_bytes(
        '<?xml version="1.0"?><!DOCTYPE book-part SYSTEM "book.dtd"><book-part '
        f"{NAMESPACES}><book-part-meta><title-group><title>Caf&eacute;</title></title-group></book-part-meta>"
        "<body><p>Text &mdash; more.</p></body></book-part>"
    )
    assert article.title == "Café"
    assert article.passages[0].text == "Text — more."


def test_the_root_may_be_read_without_being_a_chapter() -> None:
    root, _ = load_book_part(b"<book-part-wrapper content-type='toc'><toc/></book-part-wrapper>")
    with pytest.raises(InputError):
        chapter_of(root)
