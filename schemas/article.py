"""What a crawl stored (RawArticle) and what a parser read out of it (Article), before any interpretation.

Offsets are in Unicode code points of the text beside them.
"""

from __future__ import annotations

from typing import Literal

from schemas.record import column, record


@record
class RawMedia:
    """One media file stored with an article."""

    name: str = column("file name in the repository")
    path: str = column("path under the workspace's raw/ folder")
    sha256: str = column("hex SHA-256 of the stored bytes")
    size_bytes: int = column("length of the stored bytes")
    format: str = column("format told by magic bytes: jpeg, png, gif, tiff, webp")
    is_synthetic: bool = column("made by a test or demo server, not a real figure", default=False)


@record
class MediaProblem:
    """A media file an article names that could not be stored, or a stored one that nothing names."""

    name: str = column("file name or href")
    reason: str = column("reason code: image_missing, image_corrupt, image_too_large, media_unnamed")
    detail: str = column("what was seen", default="")


@record
class RawPart:
    """Another stored file the parser needs beside the main one: a book's collection or licence file."""

    name: str = column("what it is to the parser, e.g. collection, licence, module:m58782")
    path: str = column("path under the workspace's raw/ folder")
    sha256: str = column("hex SHA-256 of the stored bytes")


@record
class BookPlace:
    """Where a chapter or module stands in its book."""

    book_id: str = column("key of the book in its repository, e.g. livertox or microbiology")
    title: str = column("title of the book")
    chapter: str = column("number of the chapter as printed, '' when it has none", default="")
    chapter_title: str = column("title of the chapter", default="")
    position: int = column("1-based position of this document in the book")
    revision: str = column("commit, release or date of the book that was read", default="")


SourceName = Literal["pmc", "folder", "europepmc", "litarch", "openstax", "medline", "wikimedia", "questions"]
Format = Literal["jats", "bits", "cnxml", "medline", "wiki", "questions"]


@record
class RawArticle:
    """One article version as fetched: where its bytes lie and what the repository says of it."""

    id: str = column("article id, e.g. pmc:PMC123.1")
    source: SourceName = column("repository")
    format: Format = column("which reader the bytes are for", default="jats")
    locator: str = column("versionless key in the repository: PMCID or path inside the folder")
    version: int | None = column("repository version, None where there are none", default=None)
    path: str = column("path of the XML under raw/")
    sha256: str = column("hex SHA-256 of the XML")
    license_code: str | None = column("licence the repository's metadata states, verbatim", default=None)
    pmid: str | None = column("PubMed id from the metadata", default=None)
    doi: str | None = column("DOI from the metadata", default=None)
    media: tuple[RawMedia, ...] = column("stored media files, sorted by name", default=())
    media_problems: tuple[MediaProblem, ...] = column("what could not be matched or stored", default=())
    parts: tuple[RawPart, ...] = column("other stored files the reader needs, sorted by name", default=())
    book: BookPlace | None = column("place in a book, None for articles", default=None)
    is_synthetic: bool = column("the repository marks the article as synthetic", default=False)


@record
class Licence:
    """The licence that holds for a record, and where it was read."""

    spdx: str = column("SPDX id, or LicenseRef-unknown / LicenseRef-… for anything outside SPDX")
    evidence: str = column(
        "where it was read: e.g. jats:license/@href, jats:license-p text, metadata:license_code"
    )
    url: str | None = column("licence URL as written", default=None)
    statement: str = column("rights statement, at most 500 characters", default="")
    is_disputed: bool = column("metadata and XML disagree; the stricter was taken", default=False)


@record
class Translated:
    """A text in a stated language."""

    language: str = column("BCP-47, 'und' when not stated")
    text: str = column("plain text")


@record
class Abstract:
    """One abstract (main, translated, graphical, …)."""

    language: str = column("BCP-47, 'und' when not stated")
    type: str = column("abstract-type attribute, '' for the main one")
    text: str = column("section titles and paragraphs, separated by line breaks")


@record
class Affiliation:
    """Where an author of an article works, as its front matter says; e-mail addresses are left out."""

    author: Literal["corresponding", "first", "article"] = column(
        "whose it is: the corresponding author's, the first author's when that is another, or the article's "
        "where neither has one of their own"
    )
    text: str = column("as written, without its label")
    country: str = column("text of its country element, '' when it has none", default="")
    country_code: str = column("code its country element states, as written, '' when none", default="")


@record
class KeywordGroup:
    """One group of keywords."""

    language: str = column("BCP-47, 'und' when not stated")
    type: str = column("kwd-group-type attribute, '' when absent")
    terms: tuple[str, ...] = column("keywords in order")


@record
class RelatedArticle:
    """A link from the front matter: retraction, correction, commentary."""

    type: str = column("related-article-type attribute")
    id_type: str = column("ext-link-type: doi, pmid, pmcid, uri, …")
    target: str = column("normalised DOI, PMCID or the href as written")


@record
class Section:
    """One section of the body, back matter or an appendix."""

    number: int = column("1-based, document order")
    parent: int = column("number of the enclosing section, 0 at the top")
    xml_id: str | None = column("id attribute", default=None)
    type: str = column("sec-type attribute, '' when absent", default="")
    title: str = column("title without its number label", default="")
    part: Literal["body", "back", "floats"] = column("which part of the article")


@record
class Box:
    """One box set apart from the running text: boxed-text, or a book's feature note."""

    number: int = column("1-based, document order")
    xml_id: str | None = column("id attribute", default=None)
    type: str = column("content-type or class as written, e.g. 'microbiology clinical-focus'", default="")
    title: str = column("title or label as written", default="")
    continues: int = column(
        "number of the earlier box of this document it goes on from, 0 if none", default=0
    )


@record
class Xref:
    """One cross-reference inside a passage, as written: nothing is resolved here."""

    start: int = column("offset of the reference's text in the passage (empty references: start = end)")
    end: int = column("offset after it")
    ref_type: str = column("ref-type attribute: fig, bibr, table, supplementary-material, …")
    rids: tuple[str, ...] = column("targets, in order")
    document: str | None = column("another document's id for cross-document links", default=None)


@record
class ArticlePassage:
    """One paragraph of running text, without the floats nested in it."""

    id: str = column("passage id, e.g. pmc:PMC123.1#p17")
    section: int = column("section number, 0 outside any section")
    kind: Literal["paragraph", "list", "quote", "boxed", "note"] = column(
        "what element it was", default="paragraph"
    )
    text: str = column("plain text, spaces collapsed; what is raised in Unicode or behind ^ (10⁹, Age^a)")
    text_sha256: str = column("hex SHA-256 of text")
    xrefs: tuple[Xref, ...] = column("cross-references in order", default=())
    language: str = column("BCP-47 if the element states one, else ''", default="")
    box: int = column("number of the box it stands in, 0 outside any", default=0)


@record
class Continuation:
    """A passage of a later document of the same book that goes on with a box begun in this one."""

    box: int = column("number of the box it goes on with")
    document: str = column("article id of the document it stands in")
    passage: ArticlePassage = column("the passage, as that document has it")


@record
class Graphic:
    """One image reference of a figure, resolved to a stored file where there is one."""

    href: str = column("href as written")
    use: str = column("specific-use or content-type attribute, '' when absent", default="")
    alt: str = column("alternative text for people who cannot see the image, as written", default="")
    name: str | None = column("stored media file it resolves to", default=None)
    path: str | None = column("path of that file under raw/", default=None)
    sha256: str | None = column("hex SHA-256 of that file", default=None)
    format: str | None = column("format told by magic bytes", default=None)
    width: int | None = column("pixels", default=None)
    height: int | None = column("pixels", default=None)
    problem: str = column("reason code when the image cannot be used, '' otherwise", default="")
    is_synthetic: bool = column("the stored file is marked synthetic", default=False)


@record
class Emphasis:
    """Inline markup kept from a caption."""

    start: int = column("offset in the caption")
    end: int = column("offset after it")
    kind: Literal["bold", "italic", "sup", "sub", "underline"] = column("markup")


@record
class ArticleFigure:
    """One `<fig>` as written; the same figure in a translation is folded into `translations`."""

    id: str = column("figure id, e.g. pmc:PMC123.1#F1")
    number: int = column("1-based, document order")
    xml_id: str | None = column("id attribute", default=None)
    type: str = column("fig-type or specific-use attribute, '' when absent", default="")
    label: str = column("label as written, e.g. 'Figure 2.'", default="")
    caption: str = column(
        "caption title, paragraphs, legend and attrib, in order, one space between", default=""
    )
    caption_emphasis: tuple[Emphasis, ...] = column("inline markup of the caption", default=())
    caption_xrefs: tuple[Xref, ...] = column("cross-references inside the caption", default=())
    graphics: tuple[Graphic, ...] = column(
        "web images in order; thumbnails and print-only copies left out", default=()
    )
    group: str | None = column("xml id or label of the enclosing fig-group", default=None)
    group_caption: str = column("label and caption of the fig-group itself", default="")
    parent: str | None = column("figure id of the main figure, for child figures (supplements)", default=None)
    section: int = column("section number it stands in, 0 outside")
    part: Literal["body", "back", "floats"] = column("which part of the article")
    passage: str | None = column("id of the passage it is nested in", default=None)
    after: int = column("passages that stand before it", default=0)
    rights: str = column(
        "its own permissions, or a third-party statement in the caption; '' if none", default=""
    )
    licence: Licence | None = column("its own licence, when it states one", default=None)
    translations: tuple[Translated, ...] = column("the same figure's captions in other languages", default=())


@record
class ArticleTable:
    """One table as written: its caption, its rows, its notes."""

    id: str = column("table id, e.g. pmc:PMC123.1#T1")
    number: int = column("1-based, document order")
    xml_id: str | None = column("id attribute", default=None)
    label: str = column("label as written, e.g. 'Table 2.'", default="")
    caption: str = column("caption title and paragraphs", default="")
    rows: str = column("a line for each row, cells parted by ' | '; '' for a table that is an image")
    notes: str = column("notes below the table, one a line", default="")
    section: int = column("section number it stands in, 0 outside")
    part: Literal["body", "back", "floats"] = column("which part of the article")
    after: int = column("passages that stand before it")
    after_figures: int = column("figures that stand before it")
    rights: str = column(
        "its own permissions, or a third-party statement in caption or notes; '' if none", default=""
    )
    licence: Licence | None = column("its own licence, when it states one", default=None)


@record
class Article:
    """A faithful reading of one article version."""

    id: str = column("article id")
    source: str = column("repository")
    version: int | None = column("repository version", default=None)
    pmcid: str | None = column("PMC…", default=None)
    pmid: str | None = column("PubMed id", default=None)
    doi: str | None = column("normalised DOI", default=None)
    article_type: str = column("article-type attribute", default="")
    language: str = column("BCP-47, 'und' when not stated")
    title: str = column("article title")
    translated_titles: tuple[Translated, ...] = column("trans-title and translation sub-articles", default=())
    authors: tuple[str, ...] = column("authors as 'Surname Given names' or group name, in order", default=())
    affiliations: tuple[Affiliation, ...] = column(
        "where the corresponding and the first author work, in that order", default=()
    )
    journal: str = column("journal title", default="")
    publisher: str = column("publisher name", default="")
    year: int | None = column("first publication year", default=None)
    subjects: tuple[str, ...] = column("subject headings; nested groups joined by ' > '", default=())
    keywords: tuple[KeywordGroup, ...] = column("keyword groups", default=())
    abbreviations: tuple[str, ...] = column("declared abbreviations, 'SHORT = long form'", default=())
    abstracts: tuple[Abstract, ...] = column("abstracts in order", default=())
    licence: Licence = column("licence of the article")
    related: tuple[RelatedArticle, ...] = column("retraction, correction and similar links", default=())
    is_retracted: bool = column("the XML itself says the article is retracted", default=False)
    sections: tuple[Section, ...] = column("sections, document order", default=())
    passages: tuple[ArticlePassage, ...] = column("passages, document order", default=())
    figures: tuple[ArticleFigure, ...] = column("figures, document order", default=())
    tables: tuple[ArticleTable, ...] = column("tables, document order", default=())
    boxes: tuple[Box, ...] = column("boxes, document order", default=())
    continuations: tuple[Continuation, ...] = column(
        "where boxes of this document go on in later ones of its book, in reading order", default=()
    )
    book: BookPlace | None = column("place in a book, None for articles", default=None)
    flags: tuple[str, ...] = column(
        "what the reader should know, sorted: xml_recovered, image_unnamed, …", default=()
    )
    is_synthetic: bool = column(
        "marked as synthetic by the repository or in its own custom-meta", default=False
    )
    raw_sha256: str = column("hex SHA-256 of the XML it was read from")
