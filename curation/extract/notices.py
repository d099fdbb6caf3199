"""Articles that are no research text: corrections, retractions, obituaries, news, reviews of books.

Told by the article type of JATS, by a subject heading, or by a title that begins as such notices do: many
publishers call a correction a research article.
"""

from __future__ import annotations

import re

from schemas.article import Article

_TYPES = frozenset(
    {
        "correction", "corrected-article", "corrigendum", "erratum", "retraction", "retraction-notice",
        "partial-retraction", "withdrawal", "removal", "expression-of-concern", "addendum", "obituary",
        "in-memoriam", "news", "announcement", "calendar", "book-review", "books-received", "product-review",
        "film-review", "reviewers", "table-of-contents", "collection", "in-brief",
    }
)  # fmt: skip
_SUBJECTS = re.compile(
    r"(?:author['’]?s? |publisher['’]?s? |editorial )?(?:corrections?|corrigend(?:um|a)|errat(?:um|a)"
    r"|retractions?|retraction (?:note|notice)s?|expressions? of concern|addend(?:um|a)|withdrawals?)"
    r"|fe de (?:erratas?|errores)|corrección|correção|correções|rectificación|retificação|retratação"
    r"|obituar(?:y|ies)|obituarios?|obituário|in memoriam|nachrufe?|nécrologie"
    r"|book reviews?|books? received|reseñas?(?: de libros?)?|resenhas?|buchbesprechung(?:en)?"
    r"|news|announcements?|calendar",
    re.IGNORECASE,
)
_TITLES = re.compile(
    r"\W*(?:"
    r"(?:author['’]?s? |publisher['’]?s? |editorial )?(?:correction|addendum|retraction"
    r"|(?:withdrawal|removal) notice)"
    r"(?: (?:note|notice))?(?:\s*:|\s+(?:to|of)\s*:|\s*[–—-]\s|\s*\W*$)"
    r"|(?:author|publisher|editorial) correction\b|retraction (?:note|notice|statement)\b"
    r"|(?:notice|note) of (?:correction|retraction|withdrawal|concern|redundant publication)\b"
    r"|(?:correction|(?:an )?addendum) to\s*(?:[\"“‘'«]|(?:the )?(?:article|paper|manuscript|letter"
    r"|original)\b)"
    r"|(?:correction|addendum) to .*\b(?:(?:19|20)\d\d\s?;|doi\b|https?:)"
    r"|(?:editorial |editors?['’]?s? )?expressions? of concern\b"
    r"|corrigend(?:um|a)\b|errat(?:um|a)\b|fe de (?:erratas?|errores)\b|berichtigung(?:\s*:|\s*$| zu\b)"
    r"|(?:correctif|rectificatif|corrección|correção|rectificación|retificação|retratação)\s*(?::|$)"
    r"|(?:an? )?obituar(?:y|io)\b(?! (?:data|notices? (?:of|as|in)))|in memoriam\b|nachruf\b|death notice\b"
    r"|book reviews?\s*(?:$|[:.–—-])|(?:list of |thanks to (?:our )?)reviewers\b"
    r"|acknowledge?ment (?:to|of) (?:our )?reviewers\b|news(?: briefs?)?\W*$"
    r")|.*[–—-]\s?(?:corrigendum|erratum|retraction|correction)\W*$",
    re.IGNORECASE | re.DOTALL,
)


def notice(article: Article) -> str:
    """What makes an article a notice rather than a research text ('type: correction'), '' if nothing does.

    Chapters of books are none: a chapter may be called a calendar.
    """
    if article.book is not None:
        return ""
    kind = re.sub(r"[\W_]+", "-", article.article_type.strip().lower())
    if kind in _TYPES:
        return f"type: {article.article_type}"
    for subject in article.subjects:
        if any(_SUBJECTS.fullmatch(part.strip(" .")) for part in subject.split(" > ")):
            return f"subject: {subject}"
    return f"title: {article.title}" if _TITLES.match(article.title) else ""
