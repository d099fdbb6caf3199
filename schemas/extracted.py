"""What extraction adds: figures with in-text mentions and panels, flat passages, one source per article."""

from __future__ import annotations

from typing import Literal

from schemas.article import Graphic, Licence, Translated
from schemas.record import column, record


@record
class FigureMention:
    """One place in the running text that points at a figure."""

    passage_id: str = column("passage that mentions it")
    start: int = column("offset of the pointer in the passage, label word and panel letters included")
    end: int = column("offset after it")
    text: str = column("the pointer as written; re-extracts from the passage")
    sentence_start: int = column("offset of the enclosing sentence")
    sentence_end: int = column("offset after it")
    panels: tuple[str, ...] = column("panel letters named, upper case, sorted", default=())
    rule: Literal["xref", "range", "text"] = column(
        "xref: the link names the figure; range: inside a linked range; text: unlinked 'Fig. 2'"
    )


@record
class Panel:
    """One panel of a multi-panel figure, from the caption."""

    id: str = column("panel id, e.g. pmc:PMC123.1#F1.B")
    letter: str = column("upper-case letter, digit or position word")
    start: int = column("offset of its sub-caption in the caption")
    end: int = column("offset after it")


@record
class Figure:
    """One figure ready for tasks: caption without label, images, panels, mentions, rights."""

    id: str = column("figure id")
    article_id: str = column("article id")
    number: int = column("1-based, document order")
    label: str = column("label as written", default="")
    caption: str = column("caption without label", default="")
    graphics: tuple[Graphic, ...] = column("web images in order", default=())
    panels: tuple[Panel, ...] = column("panels found in the caption", default=())
    mentions: tuple[FigureMention, ...] = column("in-text mentions, by passage then offset", default=())
    section: int = column("section number")
    parent: str | None = column("main figure of a child figure", default=None)
    is_third_party: bool = column("reproduced from elsewhere: never released", default=False)
    rights: str = column("why: permissions or caption statement, '' if none", default="")
    licence: Licence = column("licence that holds for the figure")
    translations: tuple[Translated, ...] = column("parallel captions", default=())


@record
class Float:
    """A figure or table and where it stands among the passages; of a table, what it says."""

    id: str = column("figure or table id")
    article_id: str = column("article id")
    kind: Literal["figure", "table"] = column("which of the two")
    position: int = column("1-based among the figures and tables of the article, in reading order")
    after: int = column(
        "passages that stand before it, by number; of one that the file keeps apart from the text, those up "
        "to the first that cites it; -1 where none does"
    )
    section: int = column("number of the section it stands in, by the same rule; 0 outside any")
    caption: str = column("of a table: its caption", default="")
    rows: str = column("of a table: a line for each row, cells parted by ' | '", default="")
    notes: str = column("of a table: notes below it, one a line", default="")
    is_third_party: bool = column("of a table: reproduced from elsewhere, never released", default=False)
    licence: Licence | None = column("of a table: the licence that holds for it", default=None)


@record
class Pointer:
    """A span that names a figure, table or supplement by number; neutralised in released text."""

    start: int = column("offset in the passage")
    end: int = column("offset after it")
    figures: tuple[str, ...] = column(
        "figure ids it resolves to, empty if none of this article's", default=()
    )


@record
class Passage:
    """One passage ready for tasks."""

    id: str = column("passage id")
    article_id: str = column("article id")
    number: int = column("1-based, document order")
    section: int = column("section number, 0 outside any")
    section_path: tuple[str, ...] = column("titles from the top section down", default=())
    part: str = column("body, back or floats", default="body")
    kind: str = column("paragraph, list, quote, boxed, note, …", default="paragraph")
    text: str = column("plain text")
    text_sha256: str = column("hex SHA-256 of text")
    language: str = column("BCP-47")
    boilerplate: str = column(
        "what says it is about the publication (title, section type, first words), '' if about its subject",
        default="",
    )
    pointers: tuple[Pointer, ...] = column("figure pointers in order, not overlapping", default=())


@record
class Source:
    """One article as tasks, cards and audits see it: bibliography, licence, scope decision."""

    id: str = column("article id")
    title: str = column("article title")
    authors: tuple[str, ...] = column("authors in order, for the credit CC BY asks for", default=())
    journal: str = column("journal title", default="")
    year: int | None = column("publication year", default=None)
    doi: str | None = column("DOI", default=None)
    pmid: str | None = column("PubMed id", default=None)
    pmcid: str | None = column("PMC id", default=None)
    article_type: str = column("article-type attribute", default="")
    language: str = column("BCP-47 of the running text")
    subjects: tuple[str, ...] = column("subject headings", default=())
    keywords: tuple[str, ...] = column("author keywords in the article's language", default=())
    licence: Licence = column("licence of the article")
    is_book: bool = column("a book chapter: same-section passages may be grade 1", default=False)
    is_retracted: bool = column("retracted by its own XML or a notice in the crawl", default=False)
    is_synthetic: bool = column("marked synthetic", default=False)
    scope: str = column("'' if in scope, else notice, not_medical or not_human", default="")
    scope_evidence: tuple[str, ...] = column(
        "what the scope decision rests on, e.g. 'journal: medicine'", default=()
    )
    raw_sha256: str = column("hex SHA-256 of the XML")
