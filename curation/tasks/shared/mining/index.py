"""Texts as mining searches them: index terms counted, asserted concepts listed."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable

from curation.evaluation.terms import Analyser
from curation.tasks.shared.mining.records import IndexedDocument, IndexedView, TermUse, View
from schemas.benchmark import Document
from schemas.concept import Mention
from schemas.ids import family_key


@functools.cache
def _analyser() -> Analyser:
    return Analyser()  # one per process: it remembers what words become


def term_uses(text: str, language: str) -> tuple[TermUse, ...]:
    """Index terms of a text with how often it has each, by term."""
    counted = Counter(_analyser()(text, language))
    return tuple(TermUse(term=term, uses=uses) for term, uses in sorted(counted.items()))


def asserted(mentions: Iterable[Mention]) -> tuple[str, ...]:
    """Concepts asserted, in order: neither negated nor said of what may be, was, or of a relative."""
    said = (
        one
        for one in mentions
        if not (one.is_negated or one.is_hypothetical or one.is_historical or one.is_family)
    )
    return tuple(sorted({one.concept for one in said}))


def indexed(document: Document, mentions: Iterable[Mention]) -> IndexedDocument:
    """What is searched of a document.

    Args:
        document: a passage of the corpus.
        mentions: concepts named in its text.
    """
    terms = term_uses(document.text, document.language)
    return IndexedDocument(
        corpus_id=document.id,
        article_key=family_key(document.article_id),
        length=sum(term.uses for term in terms),
        terms=terms,
        concepts=asserted(mentions),
    )


def named(mentions: Iterable[Mention]) -> tuple[str, ...]:
    """All concepts that mentions name, in order: a question asserts nothing, and asks all the same."""
    return tuple(sorted({one.concept for one in mentions}))


def view_of(
    query_id: str,
    source_id: str,
    view: View,
    text: str,
    language: str,
    *,
    own_article: str = "",
    mentions: Iterable[Mention] = (),
) -> IndexedView:
    """A text that stands for a query.

    Args:
        query_id: the query.
        source_id: record it was made of.
        view: which text of it.
        text: the text.
        language: BCP-47.
        own_article: article whose passages are not searched, '' for none.
        mentions: concepts named in the text.
    """
    return IndexedView(
        query_id=query_id,
        source_id=source_id,
        view=view,
        article_key=family_key(own_article),
        terms=term_uses(text, language),
        concepts=named(mentions),
    )
