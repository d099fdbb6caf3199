"""Which passages of an article are documents of a corpus of passages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum

from curation.extract.bibliographic import is_bibliographic
from curation.extract.neutralise import neutralise
from curation.tasks.shared.words import word_count
from schemas.benchmark import Document
from schemas.extracted import Passage, Source
from schemas.stages import Drop, Reason


def passage_document(task: str, source: Source, passage: Passage, *, min_words: int) -> Document | Drop:
    """A passage as a document, or why it is none: about the publication, a reference, too short.

    Args:
        task: whose document.
        source: its article.
        passage: the passage.
        min_words: least words of the released text.
    """
    if passage.boilerplate:
        return _left_out(passage, Reason.BOILERPLATE, passage.boilerplate)
    if is_bibliographic(passage.text):
        return _left_out(passage, Reason.BOILERPLATE, "a reference")
    spans = [(pointer.start, pointer.end) for pointer in passage.pointers]
    text, transforms = neutralise(passage.text, spans, passage.language)
    words = word_count(text)
    if words < min_words:
        return _left_out(passage, Reason.SHORT_PASSAGE, f"{words} words")
    return Document(
        id=passage.id,
        task=task,
        title=source.title,
        text=text,
        language=passage.language,
        article_id=source.id,
        license=source.licence.spdx,
        license_evidence=source.licence.evidence,
        text_sha256=passage.text_sha256,
        transforms=transforms,
        is_synthetic=source.is_synthetic,
    )


def drop_passages(passages: Iterable[Passage], reason: StrEnum, detail: str) -> Iterator[Drop]:
    """Drops of all passages of an article for one reason."""
    for passage in passages:
        yield _left_out(passage, reason, detail)


def _left_out(passage: Passage, reason: StrEnum, detail: str) -> Drop:
    return Drop(unit="passage", id=passage.id, article_id=passage.article_id, reason=reason, detail=detail)
