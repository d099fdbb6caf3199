"""Summary retrieval: a figure and the text around it must find the abstract of their own article.

The query holds no title, study name, conclusion, aim, main finding or sentence copied from an abstract (13
tokens in a row, or two thirds of its words). Only the own abstract is judged. After M3Retrieve (arXiv
2510.06888), whose texts came from patients' forums.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import pyarrow.parquet as pq

from curation.extract.language import UNKNOWN, guess_language
from curation.extract.sentences import sentence_spans
from curation.tasks.shared.bars import article_bar
from curation.tasks.shared.case_text import sketch
from curation.tasks.shared.titles import title_in
from curation.tasks.shared.words import word_count
from curation.tasks.summary.abstract import released_abstract
from curation.tasks.summary.bars import bars_of
from curation.tasks.summary.context import Context, body_passages, context_of, same_language
from curation.tasks.summary.figure import Shown, choose
from curation.tasks.summary.settings import OwnReason, Settings
from curation.tasks.summary.sql import NAME, AbstractFacts, AbstractShingle
from schemas.article import Abstract, Article
from schemas.benchmark import Document, Evidence, Qrel, Query
from schemas.case import Case
from schemas.concept import DocumentConcept
from schemas.diagnosis import PrincipalDiagnosis
from schemas.extracted import Figure, Passage, Source
from schemas.hashing import sha256_text
from schemas.ids import abstract_id, family_key, normalise_doi, query_id
from schemas.label import RecordLabels
from schemas.stages import Account, Drop, Input, RecordStage, Table

OWN_ABSTRACT = f"{NAME}/own-abstract@2"
_MAIN = ("", "summary", "executive-summary", "structured-summary")
"""Types an article's abstract may have, best first; key points, highlights and teasers are none."""
_MIN_QUOTE = 8
_PUBLICATION = "T170"
"""UMLS semantic type Intellectual Product: case reports, reviews, guidelines."""
_PMCID = re.compile(r"(?:PMC)?(\d{1,12})", re.IGNORECASE)

Row = Query | Document | Qrel | AbstractFacts | AbstractShingle | Drop


@dataclass(frozen=True, slots=True)
class _Material:
    """All that is known of one article."""

    source: Source
    article: Article
    figures: Sequence[Figure]
    passages: Sequence[Passage]
    patient_id: str
    specialty: str
    modalities: dict[str, str]
    regions: dict[str, str]
    topics: tuple[str, ...]
    settings: Settings


def build(
    source: Source,
    articles: Sequence[Article],
    figures: Sequence[Figure],
    passages: Sequence[Passage],
    cases: Sequence[Case],
    labels: Sequence[RecordLabels],
    concepts: Sequence[DocumentConcept],
    diagnoses: Sequence[PrincipalDiagnosis],
    settings: Settings,
    *,
    types: Path,
) -> Iterator[Row]:
    """Query, documents, qrel and facts of one article.

    Args:
        source: the article as tasks see it.
        articles: the article as parsed, for its abstracts and relations; exactly one.
        figures: its figures.
        passages: its passages.
        cases: its patients; the only one of a report is the patient of query and abstract.
        labels: decided labels of the article and its figures.
        concepts: its concepts; those of title and keywords are its topics.
        diagnoses: principal diagnoses of its cases, which are topics too.
        settings: what it is built with.
        types: Parquet of ConceptType rows of the vocabulary.

    Yields:
        The article as a Query or a Drop, every abstract as a Document or a Drop, their Qrel, facts, shingles.
    """
    (article,) = articles
    barred = article_bar(source, settings.licence_profile)
    if barred is not None:
        yield from (_left_out(source, at, *barred) for at in range(1, len(article.abstracts) + 1))
        yield _unasked(source, *barred)
        return
    material = _Material(
        source=source,
        article=article,
        figures=sorted(figures, key=lambda item: (item.number, item.id)),
        passages=passages,
        patient_id=cases[0].id if len(cases) == 1 else "",
        specialty=next(
            (item.specialties[0] for item in labels if item.id == source.id and item.specialties), ""
        ),
        modalities={item.id: item.modalities[0] for item in labels if len(set(item.modalities)) == 1},
        regions={item.id: item.regions[0] for item in labels if len(set(item.regions)) == 1},
        topics=_topics(concepts, diagnoses, types),
        settings=settings,
    )
    yield from _kept(material)


def _topics(
    concepts: Sequence[DocumentConcept], diagnoses: Sequence[PrincipalDiagnosis], types: Path
) -> tuple[str, ...]:
    """What an article is about; that it is a "case report" is its genre."""
    named = {item.concept for item in concepts if item.asserted and (item.in_title or item.in_keywords)}
    return tuple(sorted((named - _genres(types)) | {item.concept for item in diagnoses if item.concept}))


@functools.lru_cache(maxsize=2)
def _genres(types: Path) -> frozenset[str]:
    """Concepts that are kinds of publications."""
    rows = pq.read_table(types, columns=["concept"], filters=[("semantic_type", "==", _PUBLICATION)])
    return frozenset(rows["concept"].to_pylist())


def _kept(material: _Material) -> Iterator[Row]:
    """Rows of an article that may enter."""
    documents, drops, main = _documents(material)
    yield from drops
    yield from documents
    for document in documents:
        yield _facts(material, document, is_main=document is main)
        yield from _shingles(document)
    yield from _query(material, main)


def _documents(material: _Material) -> tuple[list[Document], list[Drop], Document | None]:
    """Abstracts that enter the corpus, those that do not, and the main one in the article's language."""
    source, abstracts = material.source, material.article.abstracts
    languages = [_language(item) for item in abstracts]
    ranked = sorted(
        (_MAIN.index(item.type), at)
        for at, item in enumerate(abstracts)
        if item.type in _MAIN and same_language(languages[at], source.language)
    )
    chosen = ranked[0][1] if ranked else None
    documents: list[Document] = []
    drops: list[Drop] = []
    main: Document | None = None
    for at, item in enumerate(abstracts):
        language = source.language if at == chosen and languages[at] == UNKNOWN else languages[at]
        is_foreign = item.type == "" and not same_language(language, source.language)
        words = word_count(released_abstract(item.text, language)[0])
        if at != chosen and not is_foreign:
            drops.append(_left_out(source, at + 1, OwnReason.OTHER_ABSTRACT, item.type))
        elif words < material.settings.min_abstract_words:
            drops.append(_left_out(source, at + 1, OwnReason.SHORT_ABSTRACT, f"{words} words"))
        else:
            documents.append(_document(material, at + 1, item, language))
            main = documents[-1] if at == chosen else main
    return documents, drops, main


def _language(abstract: Abstract) -> str:
    """The stated language, else the one its words tell, else 'und'."""
    return abstract.language if abstract.language not in ("", UNKNOWN) else guess_language([abstract.text])


def _document(material: _Material, number: int, abstract: Abstract, language: str) -> Document:
    """An abstract as published, its headings kept as lines of their own."""
    source = material.source
    text, transforms = released_abstract(abstract.text, language)
    return Document(
        id=abstract_id(source.id, number),
        task=NAME,
        title=title_in(language, source, material.article),
        text=text,
        language=language,
        article_id=source.id,
        license=source.licence.spdx,
        license_evidence=source.licence.evidence,
        text_sha256=sha256_text(abstract.text),
        transforms=transforms,
        is_synthetic=source.is_synthetic,
        patient_id=material.patient_id,
        specialty=material.specialty,
        genre=source.article_type,
    )


def _facts(material: _Material, document: Document, *, is_main: bool) -> AbstractFacts:
    source = material.source
    names = {f"doi:{normalise_doi(source.doi or '')}", f"pmid:{source.pmid}", f"pmcid:{source.pmcid}"}
    return AbstractFacts(
        corpus_id=document.id,
        article_id=source.id,
        family=family_key(source.id),
        is_main=is_main,
        language=document.language.lower().partition("-")[0],
        genre=document.genre,
        specialty=document.specialty,
        names=tuple(sorted(name for name in names if not name.endswith(":None"))),
        related=tuple(sorted(_links(material.article))),
        topics=material.topics if is_main else (),
    )


def _links(article: Article) -> set[str]:
    """What the front matter links to: corrected, companion, commented articles, preprints."""
    found: set[str] = set()
    for item in article.related:
        doi = normalise_doi(item.target)
        number = _PMCID.fullmatch(item.target.strip())
        if doi:
            found.add(f"doi:{doi}")
        elif number and item.id_type in ("pmc", "pmcid"):
            found.add(f"pmcid:PMC{int(number.group(1))}")
        elif number and item.id_type in ("pmid", "pubmed"):
            found.add(f"pmid:{number.group(1)}")
    return found


def _shingles(document: Document) -> Iterator[AbstractShingle]:
    for item in sketch(document.text):
        yield AbstractShingle(corpus_id=document.id, hash=item)


def _query(material: _Material, main: Document | None) -> Iterator[Query | Qrel | Drop]:
    """The article's query with its one label, or why there is none."""
    source, article, settings = material.source, material.article, material.settings
    if main is None:
        yield _unasked(source, OwnReason.NO_ABSTRACT, f"of {len(article.abstracts)}")
        return
    passages = body_passages(article, material.passages, source.language)
    shown = choose(
        material.figures,
        source.licence,
        {passage.id for passage in passages},
        settings.licence_profile,
        require_image=settings.require_image,
    )
    if not isinstance(shown, Shown):
        yield _unasked(source, *shown)
        return
    abstracts = [item.text for item in article.abstracts]
    released = [released_abstract(item.text, _language(item))[0] for item in article.abstracts]
    titles = [article.title, source.title, *(item.text for item in article.translated_titles)]
    texts = [*(passage.text for passage in material.passages), *(item.caption for item in material.figures)]
    bars = bars_of([*abstracts, *released, main.text], titles, texts)
    limits = (settings.max_context_words, settings.max_caption_words)
    context = context_of(shown.figure, passages, bars, source.language, *limits)
    if context.words < settings.min_context_words:
        yield _unasked(source, OwnReason.SHORT_CONTEXT, f"{context.words} words")
        return
    query = _asked(material, shown, context)
    yield query
    yield Qrel(
        query_id=query.id,
        corpus_id=main.id,
        score=2,
        task=NAME,
        rule=OWN_ABSTRACT,
        label_status="structural",
        evidence=(_quote(main, article),),
    )


def _asked(material: _Material, shown: Shown, context: Context) -> Query:
    source, image = material.source, shown.image
    return Query(
        id=query_id(NAME, context.released, (image.sha256 or "") if image else ""),
        task=NAME,
        text=context.released,
        language=source.language,
        image=image,
        image_count=shown.images,
        source_id=source.id,
        article_id=source.id,
        license=shown.licence.spdx,
        license_evidence=shown.licence.evidence,
        text_sha256=sha256_text(context.source),
        transforms=context.transforms,
        is_synthetic=source.is_synthetic or (image is not None and image.is_synthetic),
        patient_id=material.patient_id,
        specialty=material.specialty,
        modality=material.modalities.get(shown.figure.id, ""),
        region=material.regions.get(shown.figure.id, ""),
    )


def _quote(document: Document, article: Article) -> Evidence:
    """The abstract's first sentence that is no heading."""
    text = article.abstracts[int(document.id.rpartition("abstract")[2]) - 1].text
    spans = [
        (found.start() + start, found.start() + end)
        for found in re.finditer(r"[^\n]+", text)
        for start, end in sentence_spans(found.group())
    ]
    start, end = next((span for span in spans if word_count(text[slice(*span)]) >= _MIN_QUOTE), spans[0])
    return Evidence(text_id=document.id, start=start, end=end, text=text[start:end])


def _left_out(source: Source, number: int, reason: StrEnum, detail: str) -> Drop:
    name = abstract_id(source.id, number)
    return Drop(unit="abstract", id=name, article_id=source.id, reason=reason, detail=detail)


def _unasked(source: Source, reason: StrEnum, detail: str) -> Drop:
    return Drop(unit="article", id=source.id, article_id=source.id, reason=reason, detail=detail)


# Named functions, not lambdas: stages travel to worker processes.
def _article_ids(source: Source, *_: object) -> list[str]:
    return [source.id]


def _abstract_ids(source: Source, articles: Sequence[Article], *_: object) -> list[str]:
    return [abstract_id(source.id, at) for item in articles for at in range(1, len(item.abstracts) + 1)]


PER_ARTICLE = RecordStage(
    name=NAME,
    version=11,
    inputs=(
        Input("extract.sources", Source, by="id"),
        Input("parse.articles", Article, by="id"),
        Input("extract.figures", Figure, by="article_id"),
        Input("extract.passages", Passage, by="article_id"),
        Input("cases.cases", Case, by="article_id"),
        Input("labels.records", RecordLabels, by="article_id"),
        Input("ground.concepts", DocumentConcept, by="article_id"),
        Input("diagnoses.diagnoses", PrincipalDiagnosis, by="article_id"),
    ),
    outputs=(
        Table("queries", Query, ("id", "source_id")),
        Table("documents", Document, ("id",)),
        Table("qrels", Qrel, ("query_id", "corpus_id")),
        Table("facts", AbstractFacts, ("corpus_id",)),
        Table("shingles", AbstractShingle, ("corpus_id", "hash")),
    ),
    process=build,
    accounts=(
        Account("article", _article_ids, "queries", "source_id"),
        Account("abstract", _abstract_ids, "documents", "id"),
    ),
    settings=Settings,
    resources=("types",),
    reasons=frozenset(OwnReason),
)
