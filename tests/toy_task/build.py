"""From a figure's caption to the passages that cite it: the first one is best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from curation.extract.neutralise import neutralise, neutralise_caption
from curation.tasks.shared.bars import article_bar, rights_bar
from curation.tasks.shared.words import word_count
from curation.tasks.visual_context.build import is_self_match
from schemas.benchmark import Document, Evidence, Excluded, Qrel, Query
from schemas.extracted import Figure, Passage, Source
from schemas.hashing import sha256_text
from schemas.ids import query_id
from schemas.stages import Account, Drop, Input, Reason, RecordStage, Table
from tests.toy_task.settings import OwnReason, Settings

NAME = "toy_search"
FIRST, LATER = f"{NAME}/first@1", f"{NAME}/later@1"
Row = Query | Document | Qrel | Excluded | Drop


def build(
    source: Source, figures: Sequence[Figure], passages: Sequence[Passage], *, settings: Settings
) -> Iterator[Row]:
    """Rows of one article."""
    barred = article_bar(source, settings.licence_profile)
    documents: dict[str, Document] = {}
    for passage in sorted(passages, key=lambda item: item.number):
        made = _document(source, passage)
        short = word_count(made.text) < settings.min_words
        if bar := barred or ((Reason.SHORT_PASSAGE, "") if short else None):
            yield Drop(unit="passage", id=passage.id, article_id=source.id, reason=bar[0], detail=bar[1])
        else:
            documents[passage.id] = made
            yield made
    seen: set[str] = set()
    texts = {passage.id: passage.text for passage in passages}
    for figure in sorted(figures, key=lambda item: item.number):
        query = _query(source, figure)
        bar = barred or rights_bar(figure, settings.licence_profile)
        if not bar and word_count(query.text) < settings.min_words:
            bar = Reason.SHORT_CAPTION, ""
        if not bar and query.id in seen:
            bar = Reason.DUPLICATE_QUERY, ""
        pairs = [] if bar else list(_pairs(query, figure, documents, texts))
        if not any(isinstance(row, Qrel) for row in pairs):
            reason, detail = bar or (OwnReason.TOY_UNCITED, "")
            yield Drop(unit="figure", id=figure.id, article_id=source.id, reason=reason, detail=detail)
            continue
        seen.add(query.id)
        yield query
        yield from pairs


def _document(source: Source, passage: Passage) -> Document:
    spans = [(pointer.start, pointer.end) for pointer in passage.pointers]
    text, transforms = neutralise(passage.text, spans, passage.language)
    return Document(
        id=passage.id,
        task=NAME,
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


def _query(source: Source, figure: Figure) -> Query:
    text, transforms = neutralise_caption(figure.caption, source.language)
    return Query(
        id=query_id(NAME, text),
        task=NAME,
        text=text,
        language=source.language,
        source_id=figure.id,
        article_id=source.id,
        license=figure.licence.spdx,
        license_evidence=figure.licence.evidence,
        text_sha256=sha256_text(figure.caption),
        transforms=transforms,
        is_synthetic=source.is_synthetic,
    )


def _pairs(
    query: Query, figure: Figure, documents: dict[str, Document], texts: dict[str, str]
) -> Iterator[Qrel | Excluded]:
    """Labels of the article's passages; `documents` by passage id, in order."""
    cited = {item.passage_id: item for item in figure.mentions}
    found = 0
    for name, document in documents.items():
        repeats = is_self_match(query.text, document.text)
        if name not in cited or repeats:
            reason = "toy_repeats" if name in cited else "own_article"
            yield Excluded(query_id=query.id, corpus_id=name, task=NAME, reason=reason)
            continue
        start, end = cited[name].sentence_start, cited[name].sentence_end
        found += 1
        yield Qrel(
            query_id=query.id,
            corpus_id=name,
            score=2 if found == 1 else 1,
            task=NAME,
            rule=FIRST if found == 1 else LATER,
            label_status="structural",
            evidence=(Evidence(text_id=name, start=start, end=end, text=texts[name][start:end]),),
        )


def figure_ids(_: Source, figures: Sequence[Figure], __: Sequence[Passage]) -> list[str]:
    """What the account of figures counts."""
    return [figure.id for figure in figures]


def passage_ids(_: Source, __: Sequence[Figure], passages: Sequence[Passage]) -> list[str]:
    """What the account of passages counts."""
    return [passage.id for passage in passages]


PER_ARTICLE = RecordStage(
    name=NAME,
    version=1,
    inputs=(
        Input("extract.sources", Source, by="id"),
        Input("extract.figures", Figure, by="article_id"),
        Input("extract.passages", Passage, by="article_id"),
    ),
    outputs=(
        Table("queries", Query, ("id",)),
        Table("documents", Document, ("id",)),
        Table("qrels", Qrel, ("query_id", "corpus_id")),
        Table("excluded", Excluded, ("query_id", "corpus_id")),
    ),
    process=build,
    accounts=(
        Account("figure", figure_ids, "queries", "source_id"),
        Account("passage", passage_ids, "documents", "id"),
    ),
    settings=Settings,
    reasons=frozenset(OwnReason),
)
