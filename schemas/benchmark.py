"""The rows of a benchmark: query, document, qrel with evidence, excluded pair.

Column names of the published tables follow MTEB and BEIR; see `curation.release`.
"""

from __future__ import annotations

from typing import Literal

from schemas.article import Graphic
from schemas.overlap_policy import Dimension
from schemas.record import column, record

LabelStatus = Literal["structural", "candidate", "judge", "expert", "adjudicated"]
"""structural: a rule says so; candidate: so does a rule that is not yet right often enough for a label."""
Split = Literal["test", "dev"]
CORE_LANGUAGES = ("en", "es", "fr", "ja", "pt", "zh")
"""The parallel core: a family of translations is in it when each of these languages has a query."""


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
    family: str = column("id shared by a query's translations and variants, '' when it has none", default="")
    targets: tuple[str, ...] = column("target concepts (CURIEs) the labels rest on", default=())
    hides_target: bool = column("no name of a target may stand in the query", default=False)
    patient_id: str = column("case the query tells of, '' when it is of none", default="")
    specialty: str = column("main specialty, '' when undecided", default="")
    modality: str = column(
        "imaging modality of the query or of what it asks for, '' when undecided", default=""
    )
    region: str = column("anatomical region, '' when undecided", default="")
    tier: str = column("difficulty tier or unit of tasks that have such, else ''", default="")
    scenario: Literal["question_answering", "examination", "diagnosis", "treatment", "case", ""] = column(
        "what is looked for, one of the five of R2MED (arXiv 2505.14558); '' in tasks without", default=""
    )


@record
class Document:
    """One corpus document of a task."""

    id: str = column("record it is, e.g. a passage, image or case id")
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
    image: Graphic | None = column("document image", default=None)
    patient_id: str = column("case the document tells of or shows, '' when it is of none", default="")
    specialty: str = column("main specialty, '' when undecided", default="")
    genre: str = column(
        "kind of source, e.g. case-report, research-article, book; '' when unknown", default=""
    )


@record
class RowImage:
    """One of the several images of a query or document, in the order of its article."""

    id: str = column("query or document id")
    side: Literal["query", "document"] = column("which of the two")
    source_id: str = column("record that the query or document was made from")
    position: int = column("1-based; the first is the image of the row itself")
    figure_id: str = column("figure it is of")
    figure_number: int = column("of that figure in its article, 1-based")
    graphic_number: int = column("of the image in its figure, 1-based")
    image: Graphic = column("the image")
    caption: str = column("caption as released, '' where this side may not show it", default="")
    caption_sha256: str = column("hex SHA-256 of the source caption, '' where it is not shown", default="")
    caption_transforms: tuple[Transform, ...] = column("from source caption to caption", default=())
    article_id: str = column("article it is of")
    license: str = column("SPDX id of the figure's licence")
    license_evidence: str = column("where the licence was read")


@record
class QueryPanel:
    """The panel of a figure that a query shows, cut out of the figure's image."""

    query_id: str = column("query id")
    panel_id: str = column("panel id, e.g. pmc:PMC123.1#F1.B")
    figure_id: str = column("figure it is a part of")
    article_id: str = column("article it is of")
    letter: str = column("its letter in the caption, upper case")
    left: int = column("pixels from the left edge of the figure's upright image")
    top: int = column("pixels from the top edge")
    right: int = column("first column after the panel")
    bottom: int = column("first row after the panel")
    lead_end: int = column("characters of the figure's caption before any panel's, shown with each")
    caption_start: int = column("offset of the panel's own words in the figure's caption")
    caption_end: int = column("offset after them")
    caption_sha256: str = column("hex SHA-256 of the figure's caption without its label")


@record
class DocumentId:
    """One document before equal ones become one."""

    id: str = column("document id")


PartKind = Literal["passage", "figure", "table"]


@record
class Part:
    """One passage, caption or table of a section or article that is a document."""

    corpus_id: str = column("document")
    position: int = column("1-based among the parts of the section or article, in reading order")
    kind: PartKind = column("passage, figure (its caption) or table")
    part_id: str = column("passage, figure or table id")
    start: int = column("offset in the released text of the document")
    end: int = column("offset after it; the same where it is left out")
    source_start: int = column("offset in the source text of the document")
    source_end: int = column("offset after it")
    left_out: str = column("why it does not stand in the document, '' where it does", default="")
    same_as: str = column("passage of equal text whose labels hold for it, '' for none or itself", default="")


@record
class PassageLabel:
    """What a passage is to a query: what the label of a section or article follows from."""

    query_id: str = column("query")
    passage_id: str = column("passage")
    score: int | None = column("grade, null where the pair is left out", default=None)
    reason: str = column("exclusion code, '' where there is a grade", default="")
    rule: str = column("named, versioned rule, '' where the pair is left out", default="")


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
    score: int = column("grade, as the task declares it")
    task: str = column("task name")
    rule: str = column("named, versioned rule, e.g. visual_context/cites@1")
    label_status: LabelStatus = column("who or what judged it")
    evidence: tuple[Evidence, ...] = column("spans the label rests on", default=())
    via: str = column("concept (CURIE) that links query and document, '' where none does", default="")


@record
class OverlapKey:
    """One thing a query or one of its positives rests on; no two tasks or splits may share one."""

    task: str = column("task name")
    query_id: str = column("query")
    dimension: Dimension = column("target_concept, query, article, patient or image_family")
    key: str = column("concept, hash of the normalised text, article without version, case, image hash")


@record
class Assignment:
    """Where the partition put one query."""

    task: str = column("task name")
    query_id: str = column("query")
    split: Split = column("test or dev")
    group: str = column("smallest query id of its group inside the task: groups never straddle splits")
    since: str = column("version of the release that first published it, '' when none has", default="")


@record
class Excluded:
    """A pair that is neither positive nor negative; evaluation must leave it out."""

    query_id: str = column("query")
    corpus_id: str = column("document")
    task: str = column("task name")
    reason: str = column("exclusion code: a common one of schemas.grades, or the task's own")
