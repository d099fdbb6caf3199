"""One record of PubMed (a journal article or a book chapter) read into an :class:`Article` without a body.

What it serves: titles and abstracts in several languages, MeSH, publication types, retractions. It is under
no licence, so no release may hold it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemas import licences
from schemas.article import Article, Licence, RawArticle
from schemas.errors import InputError
from schemas.stages import Reason
from sources.jats.front import is_retracted
from sources.jats.load import Shape, load
from sources.jats.nodes import Element, child_text, first, local
from sources.medline_xml import fields
from sources.medline_xml.languages import UNDETERMINED

__all__ = ["LICENCE_EVIDENCE", "RECORDS", "parse"]

RECORDS = ("PubmedArticle", "PubmedBookArticle")
LICENCE_EVIDENCE = "medline:no licence; NLM grants none for abstracts, their publishers hold the rights"
_MAX_STATEMENT = 500
_WRAPPERS = frozenset({"PubmedArticleSet", "PubmedBookArticleSet"})


def parse(data: bytes, raw: RawArticle, parts: Mapping[str, bytes] | None = None) -> Article:
    """Read one record.

    Args:
        data: bytes of one `PubmedArticle` or `PubmedBookArticle`, alone or in a set that holds nothing else.
        raw: what the crawl stored of it.
        parts: not needed, a record stands alone.

    Returns:
        The article; `language` is that of the article, `title` is English where NLM translated it (flag
        `title_translated`, the original is then in `translated_titles`). Further flags: `no_body` always,
        `abstract_elsewhere`, `abstract_truncated`, `id_mismatch`, and those of reading damaged XML.

    Raises:
        InputError: `too_large`, `xml_hostile`, `xml_invalid`, `not_an_article`, or `no_body` when there is
            neither a title nor an abstract nor a link to another article.
    """
    try:
        record, flags = load(data, Shape(_record_in, ("MedlineCitation", "PubmedData")))
        return _article(record, raw, flags - {"article_unwrapped"})
    except InputError as error:
        raise InputError(
            error.message, reason=error.reason, record=raw.id, file=raw.path, hint=error.hint
        ) from error


def _record_in(root: Element) -> tuple[Element, bool]:
    if local(root) in RECORDS:
        return root, False
    if local(root) in _WRAPPERS:
        inside = [child for child in root if local(child) in RECORDS]
        if len(inside) == 1:
            return inside[0], True
        what = f"<{local(root)}> holds {len(inside)} records, not one"
        raise InputError(what, reason=Reason.NOT_AN_ARTICLE)
    what = f"the root element is <{local(root)[:60]}>, not a PubMed record"
    raise InputError(what, reason=Reason.NOT_AN_ARTICLE)


def _article(record: Element, raw: RawArticle, flags: set[str]) -> Article:
    citation, article, details = _journal(record) if local(record) == RECORDS[0] else _book(record)
    found = fields.ids(citation, article, details.pop("data"))
    stated = fields.languages(article)
    title = fields.titles(article, stated)
    abstracts, more = fields.abstracts(citation, article)
    types = fields.publication_types(article)
    links = fields.related(citation)
    if not title.title and not abstracts and not links:
        is_damaged = "xml_recovered" in flags
        reason = Reason.XML_INVALID if is_damaged else Reason.NO_BODY
        raise InputError("neither a title nor an abstract nor a link", reason=reason)
    kind = details.pop("article_type", "") or fields.article_type(types)
    flags |= more | {"no_body"} | ({"title_translated"} if title.is_translated else set())
    flags |= {"id_mismatch"} if found.pmid not in (None, raw.locator) else set()
    retracted = "retracted publication" in {name.lower() for name in types}
    return Article(
        id=raw.id,
        source=raw.source,
        version=raw.version,
        pmcid=found.pmcid,
        pmid=found.pmid or raw.pmid,
        doi=found.doi or raw.doi,
        article_type=kind,
        language=stated[0] if stated else UNDETERMINED,
        title=title.title,
        translated_titles=title.others,
        authors=fields.authors(article),
        subjects=types,
        keywords=fields.keywords(citation),
        abstracts=abstracts,
        licence=_licence(article),
        related=links,
        is_retracted=retracted or is_retracted(kind, title.title, links),
        flags=tuple(sorted(flags)),
        is_synthetic=raw.is_synthetic,
        raw_sha256=raw.sha256,
        **details,
    )


def _licence(article: Element) -> Licence:
    statement = fields.copyright_statement(article)[:_MAX_STATEMENT]
    return Licence(spdx=licences.UNKNOWN, evidence=LICENCE_EVIDENCE, statement=statement)


def _required(holder: Element, name: str) -> Element:
    found = first(holder, name)
    if found is None:
        raise InputError(f"the record has no {name}", reason=Reason.XML_INVALID)
    return found


def _journal(record: Element) -> tuple[Element, Element, dict[str, Any]]:
    citation = _required(record, "MedlineCitation")
    article = _required(citation, "Article")
    journal = first(article, "Journal")
    issue = first(journal, "JournalIssue")
    dates = [first(issue, "PubDate"), *article.iterchildren("ArticleDate")]
    return (
        citation,
        article,
        {
            "journal": child_text(journal, "Title") or child_text(journal, "ISOAbbreviation"),
            "year": fields.year(*dates),
            "data": first(record, "PubmedData"),
        },
    )


def _book(record: Element) -> tuple[Element, Element, dict[str, Any]]:
    """A chapter of Bookshelf, or a whole book where there is no ArticleTitle."""
    document = _required(record, "BookDocument")
    book = first(document, "Book")
    if first(document, "ArticleTitle") is None and book is not None:
        title = first(book, "BookTitle")
        if title is not None:
            title.tag = "ArticleTitle"
            document.insert(0, title)
    dates = [first(book, "PubDate"), first(document, "ContributionDate")]
    return (
        document,
        document,
        {
            "journal": child_text(book, "BookTitle"),
            "publisher": child_text(first(book, "Publisher"), "PublisherName"),
            "year": fields.year(*dates),
            "article_type": "book-part",
            "data": document,
        },
    )
