"""What tasks that ask questions of collections have in common."""

from __future__ import annotations

from schemas.extracted import Source
from schemas.hashing import normalise_text, sha256_text
from schemas.question import Question, QuestionCollection

PREFIX = "questions:"
"""Ids of collections begin with it; those of books with exercises with their repository."""


def is_file(collection: QuestionCollection) -> bool:
    """Whether it is a file of questions, and no module with exercises."""
    return collection.id.startswith(PREFIX)


def source_of(collection: QuestionCollection) -> Source:
    """A file of questions as a source that is credited; a module is an article already."""
    return Source(
        id=collection.id,
        title=collection.title or collection.name,
        article_type="questions",
        language=collection.language,
        licence=collection.licence,
        is_synthetic=collection.is_synthetic,
        raw_sha256=collection.raw_sha256,
    )


def answer_of(question: Question) -> str:
    """The answer in words: the text of the one correct option, else the answer as given."""
    texts = [option.text for option in question.options if option.letter in question.correct]
    return texts[0] if len(texts) == 1 else question.answer


def family_of(question: Question) -> str:
    """What all queries made of one question share, in whatever task and collection it stands."""
    return f"question:{sha256_text(normalise_text(question.text))}"
