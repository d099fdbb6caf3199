"""The rows of a benchmark: query, document, qrel with evidence, excluded pair.

Column names of the published tables follow MTEB and BEIR; see `curation.release`.
"""

from __future__ import annotations

from typing import Literal

from schemas.article import Graphic
from schemas.record import column, record

LabelStatus = Literal["structural", "judge", "expert", "adjudicated"]


@record
class Transform:
    """One replayable change from source text to released text.

    Undoing all transforms of a text, last first, gives the source text back, whose hash is published.
    """

    start: int = column("offset in the released text")
    end: int = column("offset after the replacement")
    original: str = column("what stood in the source text")
    rule: str = column("why it was changed, e.g. figure_pointer")


@record
class Query:
    """One query of a task."""

    id: str = column("hash of the query's content, prefixed by the task")
    task: str = column("task name")
    text: str = column("query text")
    language: str = column("BCP-47")
    image: Graphic | None = column("query image", default=None)
    image_count: int = column("how many images the source figure has; the first is published", default=0)
    source_id: str = column("record it was made from, e.g. a figure id")
    article_id: str = column("article it was made from")
    license: str = column("SPDX id")
    license_evidence: str = column("where the licence was read")
    text_sha256: str = column("hex SHA-256 of the source text")
    transforms: tuple[Transform, ...] = column("from source text to query text", default=())
    is_synthetic: bool = column("made from synthetic input", default=False)


@record
class Document:
    """One corpus document of a task."""

    id: str = column("record it is, e.g. a passage id")
    task: str = column("task name")
    title: str = column("article title")
    text: str = column("released text")
    language: str = column("BCP-47")
    article_id: str = column("article it comes from")
    license: str = column("SPDX id")
    license_evidence: str = column("where the licence was read")
    text_sha256: str = column("hex SHA-256 of the source text")
    transforms: tuple[Transform, ...] = column("from source text to released text", default=())
    is_synthetic: bool = column("made from synthetic input", default=False)


@record
class Evidence:
    """Where a relevance label comes from."""

    text_id: str = column("source passage the span lies in")
    start: int = column("offset in the source passage")
    end: int = column("offset after it")
    text: str = column("the span; re-extracts from the source passage")


@record
class Qrel:
    """One relevance label."""

    query_id: str = column("query")
    corpus_id: str = column("document")
    score: int = column("grade, see schemas.grades")
    task: str = column("task name")
    rule: str = column("named, versioned rule, e.g. visual_context/cites@1")
    label_status: LabelStatus = column("who or what judged it")
    evidence: tuple[Evidence, ...] = column("spans the label rests on", default=())


@record
class Excluded:
    """A pair that is neither positive nor negative; evaluation must leave it out."""

    query_id: str = column("query")
    corpus_id: str = column("document")
    task: str = column("task name")
    reason: str = column("exclusion code, see schemas.grades")
