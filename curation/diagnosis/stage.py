"""The stage `diagnoses`: per case its principal diagnosis, or why it is open, and where it is stated."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.cases import report
from curation.cases.headings import is_final_diagnosis
from curation.diagnosis.candidates import Texts
from curation.diagnosis.concepts import FAMILY, Concepts, build
from curation.diagnosis.named import Rest
from curation.diagnosis.principal import principal
from curation.diagnosis.statements import in_title
from curation.diagnosis.story import MAX_READ, Sentence
from curation.extract.front import keywords, primary, titles
from curation.extract.sentences import sentence_spans
from schemas.article import Article
from schemas.case import Case
from schemas.concept import Mention
from schemas.diagnosis import PrincipalDiagnosis
from schemas.extracted import Passage, Source
from schemas.record import from_table
from schemas.stages import Account, Input, RecordStage, Table
from schemas.vocabulary import ConceptRelation, ConceptType

T = TypeVar("T")


def diagnoses(
    article: Article,
    sources: Sequence[Source],
    cases: Sequence[Case],
    passages: Sequence[Passage],
    mentions: Sequence[Mention],
    *,
    names: Path,
    types: Path,
    relations: Path,
) -> Iterator[PrincipalDiagnosis]:
    """Principal diagnoses of one article's cases, in order.

    Args:
        article: the article as parsed.
        sources: its one Source.
        cases: its cases.
        passages: its passages; those outside the cases are read for what they say of the patients.
        mentions: its grounded mentions, those of title and keywords included.
        names: Parquet of the names of the vocabulary.
        types: Parquet of ConceptType rows of the vocabulary.
        relations: Parquet of its ConceptRelation rows.
    """
    if cases:
        yield from of_article(
            article, sources[0], cases, passages, mentions, _concepts(names, types, relations)
        )


def of_article(
    article: Article,
    source: Source,
    cases: Sequence[Case],
    passages: Sequence[Passage],
    mentions: Sequence[Mention],
    concepts: Concepts,
) -> Iterator[PrincipalDiagnosis]:
    """As :func:`diagnoses`, with the vocabulary's concepts at hand."""
    texts = read_from(article, source, cases, passages, mentions)
    for case in cases:
        yield principal(case, texts, concepts)


def read_from(
    article: Article,
    source: Source,
    cases: Sequence[Case],
    passages: Sequence[Passage],
    mentions: Iterable[Mention],
) -> Texts:
    """What the cases of an article are read from."""
    is_report = bool(report.own_claims(article)) and not source.is_book
    stated = list(titles(source, article))
    title = next((one for one in stated if primary(one.language) == "en"), stated[0])  # roles are read in it
    terms = list(keywords(source, article))
    return Texts(
        title_id=title.id,
        front=frozenset(one.id for one in (*stated, *terms)),
        keywords=tuple(Sentence(term.id, 0, term.text) for term in terms),
        mentions=_by_text(mentions),
        titles=tuple(in_title(title)) if is_report else (),
        rest=Rest(
            title="" if source.is_book else title.text[:MAX_READ],
            keywords=[term.text for term in terms],
            text=" ".join(item.text for items in (article.abstracts, article.passages) for item in items),
        ),
        cases=cases,
        passages={passage.id: passage.text for passage in passages},
        continued={later.passage.id: later.passage.text for later in article.continuations},
        headed=frozenset(
            passage.id
            for passage in passages
            if passage.section_path and is_final_diagnosis(passage.section_path[-1])
        ),
        openings={passage.id: sentence_spans(passage.text)[0][1] for passage in passages if passage.text},
    )


@functools.lru_cache(maxsize=2)
def _concepts(names: Path, types: Path, relations: Path) -> Concepts:
    return build(_rows(ConceptType, types), _rows(ConceptRelation, relations), families(names))


def families(names: Path) -> set[str]:
    """Concepts of a vocabulary that are named after a family of organisms."""
    found: set[str] = set()
    for batch in pq.ParquetFile(names).iter_batches(columns=["concept", "name"]):
        is_family = pc.match_substring_regex(batch.column("name"), f"^{FAMILY}", ignore_case=True)
        found.update(batch.filter(is_family).column("concept").to_pylist())
    return found


def _rows(kind: type[T], path: Path) -> Iterator[T]:
    """Rows of a Parquet file, a batch at a time: UMLS has tens of millions of relations."""
    for batch in pq.ParquetFile(path).iter_batches():
        yield from from_table(kind, pa.Table.from_batches([batch]))


def _case_ids(
    article: Article,
    sources: Sequence[Source],
    cases: Sequence[Case],
    passages: Sequence[Passage],
    mentions: Sequence[Mention],
) -> list[str]:
    return [case.id for case in cases]


DIAGNOSES = RecordStage(
    name="diagnoses",
    version=17,
    inputs=(
        Input("parse.articles", Article, by="id"),
        Input("extract.sources", Source, by="id"),
        Input("cases.cases", Case, by="article_id"),
        Input("extract.passages", Passage, by="article_id"),
        Input("ground.mentions", Mention, by="article_id"),
    ),
    outputs=(Table("diagnoses", PrincipalDiagnosis, ("case_id",)),),
    process=diagnoses,
    accounts=(Account("case", _case_ids, "diagnoses", "case_id"),),
    resources=("names", "types", "relations"),
)


def _by_text(mentions: Iterable[Mention]) -> dict[str, list[Mention]]:
    """Mentions by text id, in order."""
    found: dict[str, list[Mention]] = {}
    for mention in _sorted(mentions):
        found.setdefault(mention.text_id, []).append(mention)
    return found


def _sorted(mentions: Iterable[Mention]) -> Iterator[Mention]:
    yield from sorted(mentions, key=lambda item: (item.text_id, item.start, -item.end, item.concept))
