"""Readings of one PubMed record, field by field.

Elements: https://www.nlm.nih.gov/bsd/licensee/elements_descriptions.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from schemas.article import Abstract, KeywordGroup, RelatedArticle, Translated
from schemas.errors import InputError
from schemas.ids import normalise_doi, normalise_pmcid
from sources.jats.nodes import Element, all_text, child_text, first
from sources.jats.text import flatten
from sources.medline_xml.languages import UNDETERMINED, from_medline

ENGLISH = "en"

_YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")
_TRANSLATED = re.compile(r"^\[(?P<title>.*)\]\.?$", re.DOTALL)
_NO_TITLE = re.compile(r"^\[?\s*(not available|in process citation)\s*\]?\.?$", re.IGNORECASE)
_ELSEWHERE = re.compile(r"^\W*abstract available from the publisher\W*$", re.IGNORECASE)
_TRUNCATED = re.compile(r"\((?:ABSTRACT )?TRUNCATED(?: AT \d+ WORDS)?\)\W*$")
_DOI = re.compile(r"\bdoi:\s*(10\.\S+?)[.;,]?(?:\s|$)", re.IGNORECASE)
_PMID = re.compile(r"^[1-9]\d{0,9}$")

# JATS names of the same relations, so that readers of Article need to know one vocabulary only.
_RELATIONS = {
    "RetractionIn": "retraction-forward",
    "RetractionOf": "retracted-article",
    "PartialRetractionIn": "partial-retraction-forward",
    "PartialRetractionOf": "partial-retraction",
    "ErratumIn": "correction-forward",
    "ErratumFor": "corrected-article",
    "ExpressionOfConcernIn": "concern-forward",
    "ExpressionOfConcernFor": "object-of-concern",
    "CommentIn": "commentary",
    "CommentOn": "commentary-article",
}
_ARTICLE_TYPES = (  # in order: a record has several, the first that fits is the most telling
    ("retraction of publication", "retraction"),
    ("expression of concern", "expression-of-concern"),
    ("published erratum", "correction"),
    ("case reports", "case-report"),
    ("systematic review", "systematic-review"),
    ("review", "review-article"),
    ("editorial", "editorial"),
    ("letter", "letter"),
    ("news", "news"),
)


class Titles(NamedTuple):
    """The title, the same in other languages, and whether the title is NLM's translation into English."""

    title: str
    others: tuple[Translated, ...]
    is_translated: bool


class Ids(NamedTuple):
    """Ids of the record itself, None where it has none."""

    pmid: str | None
    pmcid: str | None
    doi: str | None


def languages(article: Element) -> tuple[str, ...]:
    """Languages of the article as BCP-47, in order, without `und`."""
    stated = (from_medline(all_text(element)) for element in article.iterchildren("Language"))
    return tuple(dict.fromkeys(language for language in stated if language != UNDETERMINED))


def titles(article: Element, stated: tuple[str, ...]) -> Titles:
    """The title; MEDLINE gives `[an English translation]` and beside it the vernacular title.

    Args:
        article: the element that holds ArticleTitle and VernacularTitle.
        stated: languages of the article.
    """
    written = flatten(first(article, "ArticleTitle"))
    vernacular = flatten(first(article, "VernacularTitle"))
    foreign = next((language for language in stated if language != ENGLISH), UNDETERMINED)
    found = _TRANSLATED.match(written)
    is_translated = found is not None and (foreign != UNDETERMINED or bool(vernacular))
    title = found.group("title").strip() if found is not None and is_translated else written
    if _NO_TITLE.match(written):
        title, is_translated = "", False
    if not title:
        return Titles(vernacular, (), False)
    others = (Translated(language=foreign, text=vernacular),) if vernacular else ()
    return Titles(title, others, is_translated)


def abstracts(record: Element, article: Element) -> tuple[tuple[Abstract, ...], set[str]]:
    """Abstracts and flags: the main one is English by NLM's rule, others state their language.

    Args:
        record: the element that holds OtherAbstract.
        article: the element that holds Abstract.
    """
    found: list[Abstract] = []
    flags: set[str] = set()
    elements = [(element, ENGLISH, "") for element in article.iterchildren("Abstract")]
    for element in record.iterchildren("OtherAbstract"):
        kind = (element.get("Type") or "").strip().lower()
        language = from_medline(element.get("Language") or "eng")
        elements.append((element, language, "" if kind == "publisher" else kind))
    for element, language, kind in elements:
        text = "\n".join(_lines(element))
        if _ELSEWHERE.match(text):
            flags.add("abstract_elsewhere")
        elif text:
            found.append(Abstract(language=language, type=kind, text=text))
            if _TRUNCATED.search(text):
                flags.add("abstract_truncated")
    return tuple(found), flags


def _lines(abstract: Element) -> Iterator[str]:
    for part in abstract.iterchildren("AbstractText"):
        label = " ".join((part.get("Label") or "").split())
        text = flatten(part)
        if label and label.upper() != "UNLABELLED":
            yield label  # alone where it says everything: `LEVEL OF EVIDENCE: 4`
        if text:
            yield text


def copyright_statement(article: Element) -> str:
    """What the publisher says of its rights in the abstract, '' when nothing."""
    return child_text(first(article, "Abstract"), "CopyrightInformation")


def keywords(record: Element) -> tuple[KeywordGroup, ...]:
    """MeSH headings as in MEDLINE's MH field (`Asthma/*drug therapy/genetics`), and authors' keywords.

    Groups `mesh` (names) and `mesh-ui` (`D001249/*Q000188/Q000235`) go in step; `*` marks what the article is
    about. `mesh-supplementary` are supplementary concepts, such as rare diseases, as `C536830 Name`.
    """
    names, uis = [], []
    for heading in record.iterfind("MeshHeadingList/MeshHeading"):
        if first(heading, "DescriptorName") is not None:
            parts = [*heading.iterchildren("DescriptorName"), *heading.iterchildren("QualifierName")]
            names.append("/".join(_star(part) + all_text(part) for part in parts))
            uis.append("/".join(_star(part) + (part.get("UI") or "") for part in parts))
    supplementary = [
        f"{element.get('UI') or ''} {all_text(element)}".strip()
        for element in record.iterfind("SupplMeshList/SupplMeshName")
    ]
    groups = [("mesh", names), ("mesh-ui", uis), ("mesh-supplementary", supplementary)]
    found = [
        KeywordGroup(language=ENGLISH, type=kind, terms=tuple(terms)) for kind, terms in groups if any(terms)
    ]
    for listed in record.iterchildren("KeywordList"):
        terms = tuple(filter(None, (flatten(keyword) for keyword in listed.iterchildren("Keyword"))))
        owner = (listed.get("Owner") or "NOTNLM").upper()
        kind = "author" if owner == "NOTNLM" else owner.lower()
        if terms:
            found.append(KeywordGroup(language=UNDETERMINED, type=kind, terms=terms))
    return tuple(found)


def _star(element: Element) -> str:
    return "*" if element.get("MajorTopicYN") == "Y" else ""


def authors(holder: Element) -> tuple[str, ...]:
    """Authors in order, 'Surname Given names' or a group's name; editors and invalid entries left out."""
    names = []
    for listed in holder.iterchildren("AuthorList"):
        if (listed.get("Type") or "authors").lower() != "authors":
            continue
        for author in listed.iterchildren("Author"):
            if author.get("ValidYN") == "N":
                continue
            given = child_text(author, "ForeName") or child_text(author, "Initials")
            parts = (child_text(author, "LastName"), given, child_text(author, "Suffix"))
            names.append(flatten(first(author, "CollectiveName")) or " ".join(filter(None, parts)))
    return tuple(filter(None, names))


def year(*dates: Element | None) -> int | None:
    """Earliest year of some dates: `Year`, or the first in a `MedlineDate` such as `1998 Dec-1999 Jan`."""
    texts = (
        child_text(date, "Year") or child_text(date, "MedlineDate") for date in dates if date is not None
    )
    found = (_YEAR.search(text) for text in texts)
    return min((int(match.group(1)) for match in found if match), default=None)


def publication_types(holder: Element) -> tuple[str, ...]:
    """Publication types in order, each once."""
    found = [*holder.iterfind("PublicationTypeList/PublicationType"), *holder.iterchildren("PublicationType")]
    return tuple(dict.fromkeys(filter(None, map(all_text, found))))


def article_type(types: tuple[str, ...]) -> str:
    """The JATS article-type that publication types amount to, '' when they say nothing special."""
    stated = {kind.lower() for kind in types}
    return next((jats for name, jats in _ARTICLE_TYPES if name in stated), "")


def related(record: Element) -> tuple[RelatedArticle, ...]:
    """Comments, corrections and retractions, by PMID, else by DOI, else by the citation as written."""
    found = []
    for link in record.iterfind("CommentsCorrectionsList/CommentsCorrections"):
        kind = link.get("RefType") or ""
        citation = child_text(link, "RefSource")
        doi = _DOI.search(citation)
        pmid = child_text(link, "PMID")
        if _PMID.match(pmid):
            id_type, target = "pmid", pmid
        elif doi and (normal := normalise_doi(doi.group(1))):
            id_type, target = "doi", normal
        else:
            id_type, target = "citation", citation
        if target:
            found.append(RelatedArticle(type=_RELATIONS.get(kind, kind), id_type=id_type, target=target))
    return tuple(found)


def ids(record: Element, article: Element, data: Element | None) -> Ids:
    """Ids of the record itself: those of its references stand in lists of the same name, deeper.

    Args:
        record: the element that holds PMID.
        article: the element that may hold ELocationID.
        data: the element whose own ArticleIdList counts.
    """
    stated: dict[str, str] = {}
    listed = first(data, "ArticleIdList")
    for element in listed.iterchildren("ArticleId") if listed is not None else ():
        stated.setdefault((element.get("IdType") or "").lower(), all_text(element))
    elsewhere = (
        all_text(element)
        for element in article.iterchildren("ELocationID")
        if element.get("EIdType") == "doi" and element.get("ValidYN") != "N"
    )
    pmid = child_text(record, "PMID")
    try:
        pmcid = normalise_pmcid(stated["pmc"]) if stated.get("pmc") else None
    except InputError:
        pmcid = None
    doi = normalise_doi(stated.get("doi", "")) or next(filter(None, map(normalise_doi, elsewhere)), None)
    return Ids(pmid if _PMID.match(pmid) else None, pmcid, doi)
