"""Queries over one panel of a figure, cut out of it: what cites "Fig. 2B" must be found by panel B.

Stands beside what curation.tasks.visual_context.build makes of whole figures, and changes none of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from curation.extract.panels import words_of
from curation.tasks.shared.bars import CLINICAL_KINDS, article_bar, first_image
from curation.tasks.shared.words import word_count
from curation.tasks.visual_context.build import cited_by, evidence_of, is_self_match
from curation.tasks.visual_context.captions import Captions
from curation.tasks.visual_context.figure import bar
from curation.tasks.visual_context.settings import OwnReason, Settings
from curation.tasks.visual_context.several import JOINT
from schemas.benchmark import Document, Excluded, Qrel, Query, QueryPanel
from schemas.extracted import Figure, FigureMention, Panel, Passage, Source
from schemas.hashing import sha256_text
from schemas.ids import query_id
from schemas.image import FigureImage, PanelBox
from schemas.stages import Drop, Input, Reason, RecordStage, Table

NAME = "visual_context_panels"
TASK = "visual_context"
CITES_PANEL = f"{TASK}/cites-panel@1"
CITES_FIGURE = "cites_figure"
PANEL = "panel"
"""Tier of its queries."""
_OWN_WORDS = 2
"""A letter and a word of its own."""
LEAST_SIDE = 64
"""Pixels of the shorter side of a panel that makes a query."""

Made = Query | Qrel | Excluded | QueryPanel | Drop


@dataclass(frozen=True, slots=True)
class _Article:
    """One article: its passages by id, its documents, what each passage cites."""

    captions: Captions
    passages: Mapping[str, Passage]
    documents: Sequence[Document]
    cited: Mapping[str, set[str]]
    settings: Settings


@dataclass(frozen=True, slots=True)
class _Cut:
    """A panel and where it stands in the figure's image."""

    figure: Figure
    panel: Panel
    box: PanelBox

    @property
    def lead_end(self) -> int:
        """Where the words of the caption before any panel's end."""
        return len(words_of(self.figure.caption, self.figure.panels, self.panel)[0])

    @property
    def source_text(self) -> str:
        """What the caption says of all panels, and of this one."""
        return JOINT.join(filter(None, words_of(self.figure.caption, self.figure.panels, self.panel)))

    def is_named_by(self, mention: FigureMention) -> bool:
        """Whether a pointer names this panel, and not simply every one."""
        return self.panel.letter in mention.panels and not set(mention.panels) >= {
            panel.letter for panel in self.figure.panels
        }


def build(
    source: Source,
    figures: Sequence[Figure],
    passages: Sequence[Passage],
    images: Sequence[FigureImage],
    documents: Sequence[Document],
    *,
    settings: Settings,
) -> Iterator[Made]:
    """Queries over single panels of one article with their pairs.

    Args:
        source: the article.
        figures: its figures.
        passages: its passages.
        images: what was seen in their images.
        documents: its documents in visual_context.
        settings: what it is built with; without `panels` nothing is made.

    Yields:
        Every panel that a caption names as a Query with its QueryPanel, Qrels and Excluded, or as a Drop.
    """
    if not settings.panels:
        return
    ordered = sorted(figures, key=lambda one: (one.number, one.id))
    if barred := article_bar(source, settings.licence_profile):
        yield from (_dropped(panel, figure, *barred) for figure in ordered for panel in figure.panels)
        return
    article = _Article(
        Captions.of(source, figures, passages),
        {passage.id: passage for passage in passages},
        sorted(documents, key=lambda document: document.id),
        cited_by(figures),
        settings,
    )
    boxes = {box.panel_id: box for image in images for box in image.panels}
    made: dict[str, str] = {}
    for figure in ordered:
        for panel in figure.panels:
            result = _of_panel(article, figure, panel, boxes.get(panel.id))
            if isinstance(result, Drop):
                yield result
                continue
            query, place, pairs = result
            if query.id in made:
                yield _dropped(panel, figure, Reason.DUPLICATE_QUERY, made[query.id])
                continue
            made[query.id] = panel.id
            yield query
            yield place
            yield from pairs


def _of_panel(
    article: _Article, figure: Figure, panel: Panel, box: PanelBox | None
) -> tuple[Query, QueryPanel, list[Qrel | Excluded]] | Drop:
    """The query of a panel, where it was cut and its pairs; or why there is none."""
    settings = article.settings
    if barred := bar(figure, settings.licence_profile, require_image=True):
        return _dropped(panel, figure, *barred)
    if box is None:
        return _dropped(panel, figure, OwnReason.NO_PANEL_BOX, "image and caption do not agree on the panels")
    if min(box.right - box.left, box.bottom - box.top) < LEAST_SIDE:
        size = f"{box.right - box.left} × {box.bottom - box.top} pixels"
        return _dropped(panel, figure, OwnReason.NO_PANEL_BOX, size)
    if settings.clinical_only and box.kind not in CLINICAL_KINDS:
        return _dropped(panel, figure, Reason.NO_CLINICAL_IMAGE, f"kind {box.kind or 'undecided'}")
    cut = _Cut(figure, panel, box)
    query = _query(article, cut)
    own = word_count(figure.caption[panel.start : panel.end])
    if own < _OWN_WORDS:
        return _dropped(panel, figure, Reason.SHORT_CAPTION, f"{own} words of the panel's own")
    if barred := article.captions.bar(query.text, settings.min_caption_words):
        return _dropped(panel, figure, *barred)
    pairs = _pairs(article, cut, query)
    if not any(isinstance(pair, Qrel) for pair in pairs):
        return _unanswered(panel, figure, {pair.reason for pair in pairs if isinstance(pair, Excluded)})
    return query, _place(cut, query), pairs


def _query(article: _Article, cut: _Cut) -> Query:
    source, figure, box = article.captions.source, cut.figure, cut.box
    image = first_image(figure)
    assert image is not None  # `bar` has looked
    text, transforms = article.captions.released(cut.source_text)
    place = f"{image.sha256 or ''} {box.left},{box.top},{box.right},{box.bottom}"
    return Query(
        id=query_id(TASK, text, place),
        task=TASK,
        text=text,
        language=source.language,
        image=image,
        image_count=1,
        tier=PANEL,
        source_id=cut.panel.id,
        article_id=source.id,
        license=figure.licence.spdx,
        license_evidence=figure.licence.evidence,
        text_sha256=sha256_text(cut.source_text),
        transforms=transforms,
        is_synthetic=source.is_synthetic or image.is_synthetic,
    )


def _place(cut: _Cut, query: Query) -> QueryPanel:
    return QueryPanel(
        query_id=query.id,
        panel_id=cut.panel.id,
        figure_id=cut.figure.id,
        article_id=cut.figure.article_id,
        letter=cut.panel.letter,
        left=cut.box.left,
        top=cut.box.top,
        right=cut.box.right,
        bottom=cut.box.bottom,
        lead_end=cut.lead_end,
        caption_start=cut.panel.start,
        caption_end=cut.panel.end,
        caption_sha256=sha256_text(cut.figure.caption),
    )


def _pairs(article: _Article, cut: _Cut, query: Query) -> list[Qrel | Excluded]:
    """Every document of the article as a positive or an excluded pair."""
    mentions: dict[str, list[FigureMention]] = defaultdict(list)
    for mention in cut.figure.mentions:
        mentions[mention.passage_id].append(mention)
    found: list[Qrel | Excluded] = []
    for document in article.documents:
        citing = mentions.get(document.id, [])
        naming = [mention for mention in citing if cut.is_named_by(mention)]
        reason = _exclusion(article, cut, query, document, len(citing), len(naming))
        if reason:
            found.append(Excluded(query_id=query.id, corpus_id=document.id, task=TASK, reason=reason))
            continue
        spans = sorted({(mention.sentence_start, mention.sentence_end) for mention in naming})
        found.append(
            Qrel(
                query_id=query.id,
                corpus_id=document.id,
                score=2,
                task=TASK,
                rule=CITES_PANEL,
                label_status="structural",
                evidence=tuple(evidence_of(article.passages[document.id], *span) for span in spans),
            )
        )
    return found


def _exclusion(
    article: _Article, cut: _Cut, query: Query, document: Document, citing: int, naming: int
) -> str:
    """Why a document is no positive of a panel, '' if it is one."""
    if not naming:
        return CITES_FIGURE if citing else "own_article"
    if word_count(document.text) < article.settings.min_words:
        return "short_passage"
    if len(article.cited.get(document.id, ())) > article.settings.max_figures:
        return "many_figures"
    source = article.passages[document.id].text
    if is_self_match(query.text, document.text) or is_self_match(cut.figure.caption, source):
        return "self_match"
    return ""


def _unanswered(panel: Panel, figure: Figure, reasons: set[str]) -> Drop:
    """The drop of a panel that no passage answers; the reason nearest to an answer is named."""
    for reason in (Reason.SELF_MATCH, OwnReason.MANY_FIGURES, Reason.SHORT_PASSAGE):
        if reason.value in reasons:
            return _dropped(panel, figure, reason, "of every passage that cites the panel")
    return _dropped(panel, figure, Reason.NO_CITING_PASSAGE, "")


def _dropped(panel: Panel, figure: Figure, reason: StrEnum, detail: str) -> Drop:
    return Drop(unit="panel", id=panel.id, article_id=figure.article_id, reason=reason, detail=detail)


PER_ARTICLE = RecordStage(
    name=NAME,
    version=5,
    inputs=(
        Input("extract.sources", Source, by="id"),
        Input("extract.figures", Figure, by="article_id"),
        Input("extract.passages", Passage, by="article_id"),
        Input("images.images", FigureImage, by="article_id"),
        Input("visual_context.documents", Document, by="article_id"),
    ),
    outputs=(
        Table("queries", Query, ("id", "source_id")),
        Table("qrels", Qrel, ("query_id", "corpus_id")),
        Table("excluded", Excluded, ("query_id", "corpus_id")),
        Table("panels", QueryPanel, ("query_id", "panel_id")),
    ),
    process=build,
    accounts=(),
    settings=Settings,
    reasons=frozenset(OwnReason),
)
