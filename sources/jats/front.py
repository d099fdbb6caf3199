"""Front matter: identifiers, titles, journal, dates, subjects, related articles, retraction.

Accepts every id form PMC has used (`pmc`, `pmcid`, with and without prefix, `pmcid-ver`) and NLM 2.x layouts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from schemas.article import Affiliation, RelatedArticle, Translated
from schemas.errors import InputError
from schemas.ids import normalise_doi, normalise_pmcid
from sources.jats.nodes import (
    UNDETERMINED,
    Element,
    all_text,
    child_text,
    first,
    href_of,
    language_of,
    local,
    squeeze,
)
from sources.jats.text import flatten, title_text

_PMID = re.compile(r"^\d{1,9}$")
_YEAR = re.compile(r"^(1[6-9]|20)\d\d$")
_RETRACTED_TITLE = re.compile(
    r"^\W*(?:retracted(?:\s+article)?\s*[:\]\)–—-]|retracted\s*$|withdrawn\s*:)", re.IGNORECASE
)
_EMAIL = re.compile(r"[^\s@;,()<>]+@[\w.-]+\w")
_LOOSE_STOP = re.compile(r" (?=[,;.])")
_NOT_OF_A_PLACE = frozenset({"label", "sup", "email", "institution-id", "xref", "fn"})
_NOTICE_TYPES = frozenset({"retraction", "retraction-notice"})
_FORWARD_LINKS = frozenset({"retraction-forward", "retracted-by", "retraction"})


@dataclass(frozen=True, slots=True)
class Ids:
    """Identifiers of an article as its front matter states them, normalised."""

    pmcid: str | None = None
    pmid: str | None = None
    doi: str | None = None


def _pmcid(text: str) -> str | None:
    try:
        return normalise_pmcid(text.partition(".")[0])
    except InputError:
        return None


def article_ids(meta: Element | None) -> Ids:
    """PMCID, PMID and DOI; `pmcid-ver` counts where nothing else is, `pmcaid` and `pmcaiid` never."""
    found: dict[str, str] = {}
    for element in meta.iterchildren("article-id") if meta is not None else ():
        kind, text = (element.get("pub-id-type") or "").lower(), all_text(element)
        if kind in {"pmc", "pmcid"} and (pmcid := _pmcid(text)):
            found.setdefault("pmcid", pmcid)
        elif kind == "pmcid-ver" and (pmcid := _pmcid(text)):
            found.setdefault("version", pmcid)
        elif kind == "pmid" and _PMID.match(text):
            found.setdefault("pmid", text)
        elif kind == "doi" and (doi := normalise_doi(text)):
            found.setdefault("doi", doi)
    return Ids(found.get("pmcid") or found.get("version"), found.get("pmid"), found.get("doi"))


def titles(meta: Element | None) -> tuple[str, tuple[Translated, ...]]:
    """Article title with its subtitle, and translated titles."""
    group = first(meta, "title-group")
    if group is None:
        return "", ()
    main = [title_text(group.find("article-title")), *map(title_text, group.iterchildren("subtitle"))]
    translated = [
        Translated(language=language_of(part) or language_of(title) or UNDETERMINED, text=text)
        for part in group.iterchildren("trans-title-group", "trans-title")
        for title in (part.iterchildren("trans-title") if local(part) == "trans-title-group" else (part,))
        if (text := title_text(title))
    ]
    return ": ".join(filter(None, main)), tuple(translated)


def _subject_paths(group: Element, above: str) -> Iterator[str]:
    for subject in group.iterchildren("subject", "compound-subject"):
        if text := flatten(subject):
            yield f"{above} > {text}" if above else text
    name = title_text(group.find("subject"))
    for inner in group.iterchildren("subj-group"):
        yield from _subject_paths(inner, f"{above} > {name}" if above and name else name or above)


def subjects(meta: Element | None) -> tuple[str, ...]:
    """Subject headings in order, nested groups as `Surgery > Case Report`, each once."""
    return subject_headings(first(meta, "article-categories"))


def subject_headings(holder: Element | None) -> tuple[str, ...]:
    """The same of the `subj-group`s directly inside an element (books have no article-categories)."""
    groups = holder.iterchildren("subj-group") if holder is not None else ()
    return tuple(dict.fromkeys(path for group in groups for path in _subject_paths(group, "")))


def journal_and_publisher(front: Element | None) -> tuple[str, str]:
    """Journal title (or its abbreviation or id) and publisher name."""
    meta = first(front, "journal-meta")
    if meta is None:
        return "", ""
    group = meta.find("journal-title-group")
    places = (group, meta) if group is not None else (meta,)
    names = (
        child_text(place, name) for name in ("journal-title", "abbrev-journal-title") for place in places
    )
    title = next(filter(None, names), "") or child_text(meta, "journal-id")
    return title, child_text(meta.find("publisher"), "publisher-name")


def authors(meta: Element | None) -> tuple[str, ...]:
    """Names of the contributors that are authors: 'Surname Given names', or the name of a group."""
    return tuple(name for name in map(_contributor_name, _authors(meta)) if name)


def _authors(meta: Element | None) -> list[Element]:
    return [
        contributor
        for group in (meta.iterchildren("contrib-group") if meta is not None else ())
        for contributor in group.iterchildren("contrib")
        if _is_author(contributor)
    ]


def _is_author(contributor: Element) -> bool:
    return (contributor.get("contrib-type") or "author") == "author"


def _contributor_name(contributor: Element) -> str:
    name = first(contributor, "name")
    if name is None and (alternatives := first(contributor, "name-alternatives")) is not None:
        name = first(alternatives, "name")
    if name is not None:
        parts = (child_text(name, part) for part in ("surname", "given-names", "suffix"))
        return " ".join(filter(None, parts))
    group = first(contributor, "collab")
    if group is not None:  # its members may be listed inside it
        return child_text(group, "institution") or " ".join((group.text or "").split())
    return child_text(contributor, "string-name")


def affiliations(meta: Element | None) -> tuple[Affiliation, ...]:
    """Affiliations of the corresponding and the first author, else those of the article."""
    if meta is None:
        return ()
    by_id = {str(item.get("id")): item for item in meta.iter("aff") if item.get("id")}
    people = _authors(meta)
    corresponding = next(filter(_is_corresponding, people), None)
    found: list[Affiliation] = []
    if corresponding is not None:
        found += _of_author(corresponding, by_id, "corresponding")
    if people and people[0] is not corresponding:
        found += _of_author(people[0], by_id, "first")
    return tuple(found or _of_article(meta))


def _is_corresponding(author: Element) -> bool:
    return author.get("corresp") == "yes" or any(
        link.get("ref-type") == "corresp" for link in author.iterchildren("xref")
    )


def _of_author(
    author: Element, by_id: dict[str, Element], whose: Literal["corresponding", "first"]
) -> list[Affiliation]:
    linked = [
        by_id[name]
        for link in author.iterchildren("xref")
        if link.get("ref-type") == "aff"
        for name in (link.get("rid") or "").split()
        if name in by_id
    ]
    stated = (_affiliation(item, whose) for item in (*linked, *author.iterchildren("aff")))
    return [item for item in stated if item is not None]


def _of_article(meta: Element) -> list[Affiliation]:
    """Affiliations outside contributors, those that only editors and reviewers point at left out."""
    groups = list(meta.iterchildren("contrib-group"))
    others = {
        name
        for group in groups
        for person in group.iterchildren("contrib")
        if not _is_author(person)
        for link in person.iterchildren("xref")
        for name in (link.get("rid") or "").split()
    }
    holders = [meta, *(group for group in groups if any(map(_is_author, group.iterchildren("contrib"))))]
    places = (item for holder in holders for item in holder.iterchildren("aff"))
    stated = (_affiliation(item, "article") for item in places if item.get("id") not in others)
    return [item for item in stated if item is not None]


def _affiliation(element: Element, whose: Literal["corresponding", "first", "article"]) -> Affiliation | None:
    """An `<aff>` as a record, None when nothing is left of it."""
    words = squeeze(_EMAIL.sub(" ", " ".join(_place_words(element))))
    text = _LOOSE_STOP.sub("", words).strip(" ,;.:")
    countries = list(element.iter("country"))
    if not text and not countries:
        return None
    country = countries[-1] if countries else None
    return Affiliation(
        author=whose,
        text=text,
        country=all_text(country) if country is not None else "",
        country_code=(country.get("country") or "").strip() if country is not None else "",
    )


def _place_words(element: Element) -> Iterator[str]:
    if element.text:
        yield element.text
    for child in element:
        if isinstance(child.tag, str) and local(child) not in _NOT_OF_A_PLACE:
            yield from _place_words(child)
        if child.tail:
            yield child.tail


def year(meta: Element | None) -> int | None:
    """Earliest year among the publication dates, else that of the article's copyright."""
    if meta is None:
        return None
    stated = [
        child_text(date, "year") or (date.get("iso-8601-date") or "")[:4] for date in meta.iter("pub-date")
    ]
    copyrights = (all_text(item) for item in meta.iterfind("permissions/copyright-year"))
    years = [int(text) for text in stated if _YEAR.match(text)] or [
        int(text) for text in copyrights if _YEAR.match(text)
    ]
    return min(years, default=None)


def _target(link: Element) -> str:
    href = href_of(link)
    kind = (link.get("ext-link-type") or "").lower()
    text = href or all_text(link)
    if kind in {"pmc", "pmcid"} and (pmcid := _pmcid(text)):
        return pmcid
    return normalise_doi(text) or text


def related(meta: Element | None) -> tuple[RelatedArticle, ...]:
    """Links to corrected, retracted, commented articles, in order."""
    return tuple(
        RelatedArticle(
            type=link.get("related-article-type") or "",
            id_type=(link.get("ext-link-type") or "").lower(),
            target=_target(link),
        )
        for link in (meta.iterchildren("related-article") if meta is not None else ())
    )


def is_retracted(article_type: str, title: str, links: tuple[RelatedArticle, ...]) -> bool:
    """Whether the article itself is retracted; a notice that retracts another article is not."""
    kinds = {link.type.lower() for link in links}
    if article_type in _NOTICE_TYPES and ("retracted-article" in kinds or not _RETRACTED_TITLE.match(title)):
        return False
    if article_type in {"retracted-article", "retracted"} or kinds & _FORWARD_LINKS:
        return True
    return bool(_RETRACTED_TITLE.match(title))


def is_synthetic(meta: Element | None) -> bool:
    """Whether custom metadata mark the article as synthetic (our own sample does)."""
    return meta is not None and any(
        child_text(entry, "meta-name").lower() == "synthetic"
        and child_text(entry, "meta-value").lower() in {"yes", "true", "1"}
        for entry in meta.iter("custom-meta")
    )
