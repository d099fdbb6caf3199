"""The corpus: every eligible passage of the crawl, as a document and as mining searches it."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from curation.tasks.shared.bars import article_bar
from curation.tasks.shared.mining.index import indexed
from curation.tasks.shared.mining.records import IndexedDocument
from curation.tasks.shared.passages import drop_passages, passage_document
from curation.tasks.shared.support.records import ArticleKey, DocumentPart
from curation.tasks.shared.support.settings import VERSION, SupportSettings
from curation.tasks.shared.support.whole import article_document
from schemas.benchmark import Document
from schemas.concept import Mention
from schemas.extracted import Passage, Source
from schemas.stages import Account, Drop, Input, Reason, RecordStage, Table

Row = Document | IndexedDocument | ArticleKey | DocumentPart | Drop


def build(
    source: Source,
    passages: Sequence[Passage],
    mentions: Sequence[Mention],
    settings: SupportSettings,
    *,
    task: str,
    language: str = "",
) -> Iterator[Row]:
    """Documents of one article, what is searched of each, and how answers may name the article.

    Args:
        source: the article.
        passages: its passages; exercises and their solutions are none.
        mentions: concepts named in its texts.
        settings: what it is built with.
        task: whose corpus it is.
        language: primary subtag of what is searched; '' for any.

    Yields:
        Every passage as a part of a Document or a Drop.
    """
    passages = sorted(passages, key=lambda passage: (passage.number, passage.id))
    barred = article_bar(source, settings.licence_profile)
    if barred is not None:
        yield from drop_passages(passages, *barred)
        return
    foreign = [passage for passage in passages if language and primary(passage.language) != language]
    for passage in foreign:
        yield from drop_passages([passage], Reason.LANGUAGE_NOT_SEARCHED, passage.language)
    passages = [passage for passage in passages if passage not in foreign]
    named: dict[str, list[Mention]] = defaultdict(list)
    for mention in mentions:
        named[mention.text_id].append(mention)
    if settings.granularity == "article":
        yield from _whole(source, passages, mentions, settings, task)
    else:
        yield from _each(source, passages, named, settings, task)
    for key in _keys(source):
        yield ArticleKey(article_id=source.id, key=key)


def _each(
    source: Source,
    passages: Sequence[Passage],
    named: Mapping[str, Sequence[Mention]],
    settings: SupportSettings,
    task: str,
) -> Iterator[Row]:
    """Every passage as a document of its own."""
    for passage in passages:
        row = passage_document(task, source, passage, min_words=settings.min_document_words)
        yield row
        if isinstance(row, Document):
            yield indexed(row, named.get(passage.id, ()))
            yield DocumentPart(passage_id=passage.id, corpus_id=row.id)


def _whole(
    source: Source,
    passages: Sequence[Passage],
    mentions: Sequence[Mention],
    settings: SupportSettings,
    task: str,
) -> Iterator[Row]:
    """The article as one document."""
    made = [(passage, passage_document(task, source, passage, min_words=0)) for passage in passages]
    yield from (row for _, row in made if isinstance(row, Drop))
    kept = [(passage, row) for passage, row in made if isinstance(row, Document)]
    if not kept:
        return
    used = [passage for passage, _ in kept]
    document = article_document(
        source,
        [row for _, row in kept],
        [passage.text for passage in used],
        min_words=settings.min_document_words,
    )
    if isinstance(document, str):
        yield from drop_passages(used, Reason.SHORT_PASSAGE, document)
        return
    yield document
    ids = {passage.id for passage in used}
    yield indexed(document, [mention for mention in mentions if mention.text_id in ids])
    for passage in used:
        yield DocumentPart(passage_id=passage.id, corpus_id=document.id)


def primary(language: str) -> str:
    """The primary subtag of a BCP-47 tag, in lower case."""
    return language.lower().partition("-")[0]


def _keys(source: Source) -> list[str]:
    found = [f"article:{source.id}"]
    found += [f"pmid:{source.pmid}"] if source.pmid else []
    found += [f"pmcid:{source.pmcid.upper()}"] if source.pmcid else []
    found += [f"doi:{source.doi.lower()}"] if source.doi else []
    return sorted(set(found))


# A named function, not a lambda: stages travel to worker processes.
def _passage_ids(_: Source, passages: Sequence[Passage], __: Sequence[Mention]) -> list[str]:
    return [passage.id for passage in passages]


def corpus_stage(task: str, settings: type[SupportSettings], language: str = "") -> RecordStage:
    """The stage that makes a task's corpus of each article.

    Args:
        task: its name, and the stage's.
        settings: the task's.
        language: primary subtag of what is searched; '' for any.
    """
    return RecordStage(
        name=task,
        version=VERSION,
        inputs=(
            Input("extract.sources", Source, by="id"),
            Input("extract.passages", Passage, by="article_id"),
            Input("ground.mentions", Mention, by="article_id"),
        ),
        outputs=(
            Table("documents", Document, ("id",)),
            Table("indexed", IndexedDocument, ("corpus_id",)),
            Table("parts", DocumentPart, ("passage_id",)),
            Table("article_keys", ArticleKey, ("article_id", "key")),
        ),
        process=functools.partial(build, task=task, language=language),
        accounts=(Account("passage", _passage_ids, "parts", "passage_id"),),
        settings=settings,
    )
