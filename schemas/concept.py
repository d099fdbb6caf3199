"""Concept mentions: a vocabulary concept named in a text, with offsets that re-extract."""

from __future__ import annotations

from schemas.record import column, record


@record
class Mention:
    """One concept named in a passage or caption."""

    article_id: str = column("article id")
    text_id: str = column("passage id or figure id (its caption)")
    start: int = column("offset in that text")
    end: int = column("offset after it")
    text: str = column("the words as written; re-extracts")
    concept: str = column("CURIE, e.g. HP:0001250")
    name: str = column("the vocabulary name that matched")


@record
class ConceptName:
    """One name of one concept in a vocabulary."""

    concept: str = column("CURIE")
    name: str = column("name as the vocabulary writes it")
    is_preferred: bool = column("the concept's label rather than a synonym", default=False)
