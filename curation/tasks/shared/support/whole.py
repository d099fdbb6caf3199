"""Whole articles as documents: their eligible passages in reading order, one a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from curation.tasks.shared.words import word_count
from schemas.benchmark import Document
from schemas.extracted import Source
from schemas.hashing import sha256_text
from schemas.ids import whole_id

SUFFIX = whole_id("")
"""Ids of such documents are the article's with this behind it; those of passages never end so."""


def article_document(
    source: Source, passages: Sequence[Document], sources: Sequence[str], *, min_words: int
) -> Document | str:
    """An article as one document, or how many words it has where that is too few.

    The source text is that of the passages joined by line breaks; undoing all changes leads back to it.

    Args:
        source: the article.
        passages: its eligible passages as documents, one or more.
        sources: source text of each.
        min_words: least words of the released text.
    """
    released, transforms = "", []
    for passage in passages:
        shift = len(released) + bool(released)
        released = f"{released}\n{passage.text}" if released else passage.text
        transforms += [
            replace(one, start=one.start + shift, end=one.end + shift) for one in passage.transforms
        ]
    words = word_count(released)
    if words < min_words:
        return f"{words} words in the article"
    return replace(
        passages[0],
        id=whole_id(source.id),
        text=released,
        language=source.language,
        text_sha256=sha256_text("\n".join(sources)),
        transforms=tuple(transforms),
        genre=source.article_type,
    )
