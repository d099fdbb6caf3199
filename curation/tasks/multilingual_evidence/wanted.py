"""Which questions are translated: those that some passage supports, into every language asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from curation.tasks.multilingual_evidence.names import all_of, given, names_of
from curation.tasks.multilingual_evidence.records import WantedTranslation
from curation.tasks.multilingual_evidence.settings import NAME, Settings
from curation.tasks.shared.mining.records import IndexedView
from curation.tasks.shared.support.records import AnsweredQuery, LabelledPair
from schemas.benchmark import Query
from schemas.stages import Account, Drop, Input, Reason, RecordStage, Table


def want(
    query: Query,
    answers: Sequence[AnsweredQuery],
    views: Sequence[IndexedView],
    labelled: Sequence[LabelledPair],
    settings: Settings,
    *,
    names: Path,
) -> Iterator[Query | WantedTranslation | Drop]:
    """A question with support, and what is to be translated of it.

    Args:
        query: the English question.
        answers: its answer, one row.
        views: concepts that question and answer name.
        labelled: what its pairs are.
        settings: the task's.
        names: Parquet of ConceptName rows of the vocabulary.

    Yields:
        The Query or a Drop; with it a WantedTranslation for each language.
    """
    if not any(pair.score for pair in labelled):
        yield Drop(
            unit="query",
            id=query.id,
            article_id=query.article_id,
            reason=Reason.NO_SUPPORT,
            detail=f"{len(labelled)} pairs judged or cited",
        )
        return
    yield query
    by_view = {view.view: view.concepts for view in views}
    told = by_view.get("question", ())
    hidden = set(by_view.get("answer", ())) - set(told)
    known = names_of(names, {*told, *hidden})
    for language in settings.asked:
        yield WantedTranslation(
            id=f"{query.id}/{language}",
            query_id=query.id,
            article_id=query.article_id,
            language=language,
            text=query.text,
            names=given(known, told, language),
            told=tuple(sorted(told)),
            answers=tuple(sorted({answers[0].answer, *all_of(known, hidden & set(query.targets), language)})),
            core_only=settings.parallel_core,
            translate_back=settings.back_translation,
        )


# A named function, not a lambda: stages travel to worker processes.
def _query_id(query: Query, *_: object) -> list[str]:
    return [query.id]


WANTED = RecordStage(
    name=f"{NAME}_wanted",
    version=2,
    inputs=(
        Input(f"{NAME}_pairs.queries", Query, "id"),
        Input(f"{NAME}_pairs.answers", AnsweredQuery, "query_id"),
        Input(f"{NAME}_pairs.views", IndexedView, "query_id"),
        Input(f"{NAME}_labels.labelled", LabelledPair, "query_id"),
    ),
    outputs=(Table("queries", Query, ("id",)), Table("wanted", WantedTranslation, ("id",))),
    process=want,
    accounts=(Account("query", _query_id, "queries", "id"),),
    settings=Settings,
    resources=("names",),
)
