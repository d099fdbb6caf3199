"""JATS and NLM articles (every DTD from NLM 2.0 to JATS 1.4) read into one :class:`Article`.

Nothing fails on a missing id, label, caption or graphic; only input that is no usable article raises.
"""

from __future__ import annotations

from typing import Any

from schemas.article import Article, RawArticle
from schemas.errors import InputError
from schemas.stages import Reason
from sources.jats.abstracts import abbreviations, abstracts, keywords
from sources.jats.body import BodyReader
from sources.jats.front import (
    Ids,
    affiliations,
    article_ids,
    authors,
    is_retracted,
    is_synthetic,
    journal_and_publisher,
    related,
    subjects,
    titles,
    year,
)
from sources.jats.licence import article_licence
from sources.jats.load import load
from sources.jats.nodes import UNDETERMINED, Element, first, language_of
from sources.jats.translations import fold_translations

__all__ = ["parse"]


def parse(data: bytes, raw: RawArticle) -> Article:
    """Read one JATS file.

    Args:
        data: bytes of the XML.
        raw: what the crawl stored of it; its media resolve the figures' hrefs.

    Returns:
        The article. `flags` name what the reader should know: `xml_recovered`, `encoding_repaired`,
        `entity_unknown`, `article_unwrapped`, `id_mismatch`, `html_as_text`, `translated_figure_unmatched`,
        `exercises_left_out`, `front_matter_in_body`, `no_body`.

    Raises:
        InputError: `too_large`, `xml_hostile`, `xml_invalid`, `not_an_article`, or `no_body` when there is
            neither text, figure, abstract nor a link to another article.
    """
    try:
        element, flags = load(data)
        return _article(element, raw, flags)
    except InputError as error:
        raise InputError(
            error.message, reason=error.reason, record=raw.id, file=raw.path, hint=error.hint
        ) from error


def _article(element: Element, raw: RawArticle, flags: set[str]) -> Article:
    front = first(element, "front")
    meta = first(front, "article-meta")
    language = language_of(element) or UNDETERMINED
    journal, publisher = journal_and_publisher(front)
    body = BodyReader(raw, language)
    body.read(element)
    extra = fold_translations(element, body.figures)
    title, translated = titles(meta)
    ids = article_ids(meta)
    front_matter = _front_matter(element, meta, raw, title, ids)
    found = {
        "translated_figure_unmatched": extra.unmatched_figures > 0,
        "id_mismatch": ids.pmcid not in {None, front_matter["pmcid"]},
    }
    all_abstracts = (*abstracts(meta, language), *extra.abstracts)
    flags |= body.flags | {flag for flag, is_set in found.items() if is_set}
    if not body.passages and not body.figures:
        flags |= _without_text(flags, title, bool(all_abstracts or front_matter["related"]))
    return Article(
        id=raw.id,
        source=raw.source,
        version=raw.version,
        language=language,
        **front_matter,
        journal=journal,
        publisher=publisher,
        translated_titles=(*translated, *extra.titles),
        keywords=(*keywords(meta, language), *extra.keywords),
        abstracts=all_abstracts,
        licence=article_licence(meta, journal=journal, publisher=publisher, license_code=raw.license_code),
        sections=tuple(body.sections),
        passages=tuple(body.passages),
        figures=tuple(body.figures),
        tables=tuple(body.tables),
        boxes=tuple(body.boxes),
        flags=tuple(sorted(flags)),
        raw_sha256=raw.sha256,
    )


def _front_matter(
    element: Element, meta: Element | None, raw: RawArticle, title: str, ids: Ids
) -> dict[str, Any]:
    """Columns that rest on the front matter alone; the repository's own ids fill what the XML leaves out."""
    article_type = element.get("article-type") or ""
    links = related(meta)
    return {
        "pmcid": raw.locator if raw.source in ("pmc", "europepmc") else ids.pmcid,
        "pmid": ids.pmid or raw.pmid,
        "doi": ids.doi or raw.doi,
        "article_type": article_type,
        "title": title,
        "authors": authors(meta),
        "affiliations": affiliations(meta),
        "year": year(meta),
        "subjects": subjects(meta),
        "abbreviations": abbreviations(element, meta),
        "related": links,
        "is_retracted": is_retracted(article_type, title, links),
        "is_synthetic": raw.is_synthetic or is_synthetic(meta),
    }


def _without_text(flags: set[str], title: str, is_useful: bool) -> set[str]:
    """The flag of an article without text and figures, or an error when nothing else in it can be used."""
    if not is_useful:
        is_damaged = "xml_recovered" in flags and not title
        raise InputError(
            "its text is HTML pasted as characters"
            if "html_as_text" in flags
            else "no text, figure or abstract",
            reason=Reason.XML_INVALID if is_damaged else Reason.NO_BODY,
        )
    return {"no_body"}
