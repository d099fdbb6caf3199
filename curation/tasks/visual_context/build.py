"""Visual context retrieval: a figure (image and caption) must find the passages that discuss it.

Relevance rests on citation: a passage that links to the figure is grade 2; in books one of its section, 1.
After M3Retrieve (arXiv 2510.06888), which published neither its parser nor its filters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from curation.extract.sentences import sentence_spans
from curation.similarity.text.edited import copyable, edited_copies
from curation.tasks.shared.bars import article_bar, file_problem, first_image
from curation.tasks.shared.passages import drop_passages, passage_document
from curation.tasks.shared.words import word_count
from curation.tasks.visual_context.captions import Captions
from curation.tasks.visual_context.figure import Kinds, bar, kinds_of
from curation.tasks.visual_context.settings import OwnReason, Settings
from schemas.benchmark import Document, Evidence, Excluded, Qrel, Query
from schemas.extracted import Figure, FigureMention, Passage, Source
from schemas.hashing import normalise_text, sha256_text
from schemas.ids import query_id
from schemas.image import FigureImage
from schemas.stages import Account, Drop, Input, Reason, RecordStage, Table

NAME = "visual_context"
CITES = {rule: f"{NAME}/cites-{rule}@1" for rule in ("xref", "range", "text")}
SAME_SECTION = f"{NAME}/same-section@1"
SELF_MATCH_TOKENS = 13
"""A passage sharing this many tokens in a row with the caption would be found by string matching alone."""

_STRENGTH = {"xref": 0, "range": 1, "text": 2}

Row = Query | Document | Qrel | Excluded | Drop


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A query with the pairs it gives rise to."""

    query: Query
    qrels: tuple[Qrel, ...]
    excluded: dict[str, str]


def build(
    source: Source,
    figures: Sequence[Figure],
    passages: Sequence[Passage],
    images: Sequence[FigureImage] = (),
    *,
    settings: Settings,
) -> Iterator[Row]:
    """Queries, documents, qrels and excluded pairs of one article.

    Args:
        source: the article.
        figures: its figures.
        passages: its passages.
        images: its images, which tell what is clinical where the settings ask.
        settings: what it is built with.

    Yields:
        Every figure as a Query or a Drop, every passage as a Document or a Drop, their Qrels and Excluded.
    """
    figures = sorted(figures, key=lambda figure: (figure.number, figure.id))
    passages = sorted(passages, key=lambda passage: (passage.number, passage.id))
    barred = article_bar(source, settings.licence_profile)
    if barred is not None:
        yield from _drop_all(source, figures, passages, *barred)
        return
    documents: dict[str, Document] = {}
    for passage in passages:
        row = passage_document(NAME, source, passage, min_words=settings.min_document_words)
        if isinstance(row, Document):
            documents[passage.id] = row
        yield row
    kinds = kinds_of(images) if settings.clinical_only else None
    yield from _queries(source, figures, passages, documents, settings, kinds)


def is_self_match(caption: str, text: str) -> bool:
    """Whether a text repeats the caption: a run of its words, or one of its sentences with changes.

    The audit's rules self_match and edited_copy ask the same of a release.
    """
    return shares_run(caption, text) or bool(edited_copies(caption, copyable([text])))


def shares_run(caption: str, text: str, length: int = SELF_MATCH_TOKENS) -> bool:
    """Whether a text repeats `length` tokens of the caption in a row, or the whole of a shorter caption."""
    tokens = normalise_text(caption).split()
    inside = f" {normalise_text(text)} "
    size = min(length, len(tokens))
    return size > 0 and any(
        f" {' '.join(tokens[at : at + size])} " in inside for at in range(len(tokens) - size + 1)
    )


def cited_by(figures: Iterable[Figure]) -> dict[str, set[str]]:
    """Passage -> the figures it cites; a figure with its supplements is one figure."""
    cited: dict[str, set[str]] = defaultdict(set)
    for figure in figures:
        for mention in figure.mentions:
            cited[mention.passage_id].add(figure.parent or figure.id)
    return cited


def _drop_all(
    source: Source, figures: Iterable[Figure], passages: Iterable[Passage], reason: StrEnum, detail: str
) -> Iterator[Drop]:
    for figure in figures:
        yield Drop(unit="figure", id=figure.id, article_id=source.id, reason=reason, detail=detail)
    yield from drop_passages(passages, reason, detail)


def _queries(
    source: Source,
    figures: Sequence[Figure],
    passages: Sequence[Passage],
    documents: dict[str, Document],
    settings: Settings,
    kinds: Kinds | None,
) -> Iterator[Row]:
    cited = cited_by(figures)
    by_id = {passage.id: passage for passage in passages}
    captions = Captions.of(source, figures, passages)
    made: dict[str, list[_Candidate]] = defaultdict(list)
    for figure in figures:
        barred = bar(figure, settings.licence_profile, require_image=settings.require_image, kinds=kinds)
        if barred is not None:
            yield _dropped(figure, *barred)
            continue
        result = _query(captions, figure, by_id, documents, cited, settings)
        if isinstance(result, Drop):
            yield result
            continue
        twins = made[result.query.id]
        if twins:
            detail = twins[0].query.source_id
            yield _dropped(figure, Reason.DUPLICATE_QUERY, detail)
        twins.append(result)
    for query in sorted(made):
        yield made[query][0].query
        yield from _pairs(made[query])


def _pairs(twins: Sequence[_Candidate]) -> Iterator[Qrel | Excluded]:
    """Pairs of a query; of figures with one caption and image, the best label of each passage holds."""
    best: dict[str, Qrel] = {}
    excluded: dict[str, str] = {}
    for twin in twins:
        for qrel in twin.qrels:
            if qrel.corpus_id not in best or qrel.score > best[qrel.corpus_id].score:
                best[qrel.corpus_id] = qrel
        for corpus_id, reason in twin.excluded.items():
            if excluded.get(corpus_id, "own_article") == "own_article":
                excluded[corpus_id] = reason
    yield from (best[corpus_id] for corpus_id in sorted(best))
    query_of = twins[0].query.id
    for corpus_id in sorted(excluded.keys() - best.keys()):
        yield Excluded(query_id=query_of, corpus_id=corpus_id, task=NAME, reason=excluded[corpus_id])


def _query(
    captions: Captions,
    figure: Figure,
    passages: dict[str, Passage],
    documents: dict[str, Document],
    cited: dict[str, set[str]],
    settings: Settings,
) -> _Candidate | Drop:
    source, image = captions.source, first_image(figure)
    text, transforms = captions.released(figure.caption)
    if barred := captions.bar(text, settings.min_caption_words):
        return _dropped(figure, *barred)
    query = Query(
        id=query_id(NAME, text, (image.sha256 or "") if image else ""),
        task=NAME,
        text=text,
        language=source.language,
        image=image,
        image_count=sum(1 for graphic in figure.graphics if file_problem(graphic) is None),
        source_id=figure.id,
        article_id=source.id,
        license=figure.licence.spdx,
        license_evidence=figure.licence.evidence,
        text_sha256=sha256_text(figure.caption),
        transforms=transforms,
        is_synthetic=source.is_synthetic or (image is not None and image.is_synthetic),
    )
    return _judged(query, source, figure, passages, documents, cited, settings)


def _judged(
    query: Query,
    source: Source,
    figure: Figure,
    passages: dict[str, Passage],
    documents: dict[str, Document],
    cited: dict[str, set[str]],
    settings: Settings,
) -> _Candidate | Drop:
    """Label every document of the figure's own article, or drop the figure if none is relevant."""
    mentions: dict[str, list[FigureMention]] = defaultdict(list)
    for mention in figure.mentions:
        mentions[mention.passage_id].append(mention)
    qrels: list[Qrel] = []
    excluded: dict[str, str] = {}
    for passage_id, document in documents.items():
        passage = passages[passage_id]
        rule, evidence = _relevance(source, figure, passage, mentions.get(passage_id, []))
        reason = _exclusion(query, figure, passage, document, rule, len(cited[passage_id]), settings)
        if reason:
            excluded[passage_id] = reason
            continue
        qrels.append(
            Qrel(
                query_id=query.id,
                corpus_id=passage_id,
                score=1 if rule == SAME_SECTION else 2,
                task=NAME,
                rule=rule,
                label_status="structural",
                evidence=evidence,
            )
        )
    if not qrels:
        return _unanswered(figure, mentions.keys() - documents.keys(), excluded)
    return _Candidate(query, tuple(qrels), excluded)


def _relevance(
    source: Source, figure: Figure, passage: Passage, mentions: Sequence[FigureMention]
) -> tuple[str, tuple[Evidence, ...]]:
    """Rule and evidence that make a passage relevant, ('', ()) if none does."""
    if mentions:
        spans = sorted({(mention.sentence_start, mention.sentence_end) for mention in mentions})
        strongest = min((mention.rule for mention in mentions), key=_STRENGTH.__getitem__)
        return CITES[strongest], tuple(evidence_of(passage, *span) for span in spans)
    if source.is_book and figure.section and figure.section == passage.section:
        return SAME_SECTION, tuple(evidence_of(passage, *span) for span in sentence_spans(passage.text)[:1])
    return "", ()


def _exclusion(
    query: Query,
    figure: Figure,
    passage: Passage,
    document: Document,
    rule: str,
    figures_cited: int,
    settings: Settings,
) -> str:
    """Why a document is not judged, '' if it is relevant."""
    if not rule:
        return "own_article"
    if word_count(document.text) < settings.min_words:
        return "short_passage"
    if figures_cited > settings.max_figures:
        return "many_figures"
    if is_self_match(query.text, document.text) or is_self_match(figure.caption, passage.text):
        return "self_match"
    return ""


def _unanswered(figure: Figure, citing_dropped: Iterable[str], excluded: dict[str, str]) -> Drop:
    """The drop of a figure no passage answers; the reason nearest to an answer is named."""
    reasons = set(excluded.values())
    for reason in (Reason.SELF_MATCH, OwnReason.MANY_FIGURES, Reason.SHORT_PASSAGE):
        if reason.value in reasons:
            return _dropped(figure, reason, "of every citing passage")
    if any(True for _ in citing_dropped):
        return _dropped(figure, Reason.SHORT_PASSAGE, "of every citing passage")
    return _dropped(figure, Reason.NO_CITING_PASSAGE, "")


def evidence_of(passage: Passage, start: int, end: int) -> Evidence:
    """A stretch of a passage as evidence."""
    return Evidence(text_id=passage.id, start=start, end=end, text=passage.text[start:end])


def _dropped(figure: Figure, reason: StrEnum, detail: str) -> Drop:
    return Drop(unit="figure", id=figure.id, article_id=figure.article_id, reason=reason, detail=detail)


# Named functions, not lambdas: stages travel to worker processes.
def _figure_ids(_: Source, figures: Sequence[Figure], *__: object) -> list[str]:
    return [figure.id for figure in figures]


def _passage_ids(_: Source, __: object, passages: Sequence[Passage], *___: object) -> list[str]:
    return [passage.id for passage in passages]


PER_ARTICLE = RecordStage(
    name=NAME,
    version=8,
    inputs=(
        Input("extract.sources", Source, by="id"),
        Input("extract.figures", Figure, by="article_id"),
        Input("extract.passages", Passage, by="article_id"),
        Input("images.images", FigureImage, by="article_id"),
    ),
    outputs=(
        Table("queries", Query, ("id", "source_id")),
        Table("documents", Document, ("id",)),
        Table("qrels", Qrel, ("query_id", "corpus_id")),
        Table("excluded", Excluded, ("query_id", "corpus_id")),
    ),
    process=build,
    accounts=(
        Account("figure", _figure_ids, "queries", "source_id"),
        Account("passage", _passage_ids, "documents", "id"),
    ),
    settings=Settings,
    reasons=frozenset(OwnReason),
)
