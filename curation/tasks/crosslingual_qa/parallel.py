"""Known-item search from human text: what an article says in another language finds its own English version.

Titles, abstracts and captions that the article itself has in two languages (sub-articles and trans-titles of
SciELO, vernacular titles of MEDLINE). The English version is a document without a title, so that nothing but
its own words leads to it, and it has to name a disorder, a drug or a procedure itself. What else the article
says is excluded, and so are documents about its concepts.
"""

from __future__ import annotations

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.diagnosis.concepts import Concepts
from curation.extract.front import primary, title_language
from curation.extract.language import UNKNOWN, guess_language
from curation.tasks.crosslingual_qa.passages import NAME
from curation.tasks.crosslingual_qa.records import ConceptPassage, StringOrigin
from curation.tasks.crosslingual_qa.settings import OwnReason, Settings
from curation.tasks.shared.bars import Bar, article_bar, rights_bar
from curation.tasks.shared.case_facts import read_concepts
from curation.tasks.shared.words import word_count
from schemas.article import Article, Licence
from schemas.benchmark import Document, Evidence, Qrel, Query
from schemas.concept import DocumentConcept, Mention
from schemas.extracted import Figure, Source
from schemas.hashing import normalise_text, sha256_text
from schemas.ids import query_id, title_id
from schemas.stages import Account, Drop, Input, Reason, RecordStage, Table

PARALLEL = "parallel"
"""Tier of these queries, and what their files and configs are called by."""
TRANSLATION_OF = f"{NAME}/translation-of@1"
ENGLISH = "en"
MEDICAL = ("DISO", "CHEM")
"""Groups of UMLS types of which a text that is looked for names something, or else a procedure."""
PROCEDURES = ("T059", "T060", "T061")
"""In the laboratory, to diagnose, to treat: a survey and a profession are of the same group."""
LONG = 25
"""Words from which a language that is guessed otherwise than stated counts; below, only English does."""
Row = Query | Document | Qrel | StringOrigin | ConceptPassage | Drop


@dataclass(frozen=True, slots=True)
class Version:
    """One text of an article in one language.

    Attributes:
        id: of the record that it is.
        of: what it is a version of: the title, the abstract, the caption of one figure.
        language: primary subtag, 'und' where neither stated nor plain.
        text: as written.
        licence: that holds for it.
        bar: why it may not be published, or None.
    """

    id: str
    of: str
    language: str
    text: str
    licence: Licence
    bar: Bar | None


def build(
    source: Source,
    articles: Sequence[Article],
    figures: Sequence[Figure],
    concepts: Sequence[DocumentConcept],
    mentions: Sequence[Mention],
    settings: Settings,
    *,
    types: Path,
    relations: Path,
) -> Iterator[Row]:
    """Queries of one article's texts in other languages, with the English versions they have to find.

    Args:
        source: the article.
        articles: the article as parsed; at most one.
        figures: its figures, with captions in other languages.
        concepts: concepts named in it.
        mentions: where.
        settings: what they are built with.
        types: Parquet of ConceptType rows of the vocabulary.
        relations: Parquet of its ConceptRelation rows.

    Yields:
        Every text in another language as a Query with its Document, or as a Drop.
    """
    versions = _versions(source, articles, figures, settings)
    english: dict[str, list[Version]] = {}
    for version in versions:
        if version.language == ENGLISH:
            english.setdefault(version.of, []).append(version)
    barred = article_bar(source, settings.licence_profile)
    taken: set[tuple[str, str]] = set()
    found: set[str] = set()
    medical = medical_concepts(types)
    said = _Said.of(mentions)
    known = read_concepts(types, relations)
    about = {item.concept for item in specific(concepts, known, settings.max_family) if is_about(item)}
    for title in english.get(_of("title", title_id(source.id)), []):
        about |= _specific_in(title, said, known, settings)
    for version in versions:
        if version.language == ENGLISH:
            continue
        bar = barred or _why_not(version, english.get(version.of, []), settings)
        if bar is None and said.concepts_in(english[version.of][0].text).isdisjoint(medical):
            bar = OwnReason.NO_MEDICAL_CONCEPT, english[version.of][0].id
        if bar is None and (version.of, version.language) in taken:
            bar = Reason.DUPLICATE_QUERY, f"a further {version.language} version"
        if bar is not None:
            yield Drop(unit="version", id=version.id, article_id=source.id, reason=bar[0], detail=bar[1])
            continue
        taken.add((version.of, version.language))
        own = english[version.of][0]
        if own.id not in found:
            found.add(own.id)
            yield _document(source, own)
            for concept in sorted(_specific_in(own, said, known, settings)):
                how: Literal["about", "mention"] = "about" if concept in about else "mention"
                yield ConceptPassage(corpus_id=own.id, concept=concept, how=how)
        yield from _query(source, version, own, min(about) if len(about) == 1 else "")


@dataclass(frozen=True, slots=True)
class _Said:
    """What the words of an article mean in it.

    Attributes:
        meant: words as written somewhere in it -> concepts they stand for.
    """

    meant: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, mentions: Iterable[Mention]) -> _Said:
        meant: dict[str, set[str]] = defaultdict(set)
        for item in mentions:
            meant[item.text.casefold()].add(item.concept)
        return cls({written: frozenset(found) for written, found in meant.items()})

    def concepts_in(self, text: str) -> frozenset[str]:
        """Concepts that a text of the article names."""
        rest = text.casefold()
        return frozenset[str]().union(
            *(
                found
                for written, found in self.meant.items()
                if written in rest and re.search(rf"(?<!\w){re.escape(written)}(?!\w)", rest)
            )
        )


@functools.lru_cache(maxsize=1)
def medical_concepts(types: Path) -> frozenset[str]:
    """Disorders, drugs and procedures of a vocabulary: what a medical text is about; the last one is kept."""
    is_medical = pc.field("group").isin(MEDICAL) | pc.field("semantic_type").isin(PROCEDURES)
    table = pq.read_table(types, columns=["concept"], filters=is_medical)
    return frozenset(table["concept"].to_pylist())


def _why_not(version: Version, english: Sequence[Version], settings: Settings) -> Bar | None:
    """Why a text is no query for its English version, or None."""
    if version.language == UNKNOWN:
        return Reason.LANGUAGE_NOT_READ, ""
    if not english:
        return OwnReason.NO_ENGLISH_VERSION, ""
    own = english[0]
    if len({normalise_text(other.text) for other in english}) > 1:
        return OwnReason.SEVERAL_ENGLISH_VERSIONS, ", ".join(other.id for other in english)
    if (bar := version.bar or own.bar) is not None:
        return bar
    if normalise_text(own.text) == normalise_text(version.text):
        return Reason.SELF_MATCH, "the same words"
    if (words := min(word_count(own.text), word_count(version.text))) < settings.min_version_words:
        return Reason.SHORT_PASSAGE, f"{words} words"
    for one in (version, own):
        seen = guess_language([one.text])
        is_other = seen not in (UNKNOWN, one.language)
        if is_other and (ENGLISH in (seen, one.language) or word_count(one.text) >= LONG):
            return OwnReason.OTHER_LANGUAGE, f"{one.id}: stated {one.language}, reads as {seen}"
    return None


def _versions(
    source: Source, articles: Iterable[Article], figures: Iterable[Figure], settings: Settings
) -> list[Version]:
    """Titles, main abstracts and captions of an article in the order given; ids are unique."""
    found: list[Version] = []
    ids: Counter[str] = Counter()
    for kind, place, stated, text, licence, bar in _texts(source, articles, figures, settings):
        if not text.strip():
            continue
        language = spoken(stated, text)
        name = f"{place}-{language}"
        ids[name] += 1
        unique = name if ids[name] == 1 else f"{name}-{ids[name]}"
        found.append(Version(unique, _of(kind, place), language, text, licence, bar))
    return found


def _of(kind: str, place: str) -> str:
    """What texts of one kind and place are versions of."""
    return f"{kind} {place}"


def spoken(stated: str, text: str) -> str:
    """The primary subtag of the language that is stated, else the one that a text reads as."""
    language = primary(stated)
    return guess_language([text]) if language in ("", UNKNOWN) else language


def _texts(
    source: Source, articles: Iterable[Article], figures: Iterable[Figure], settings: Settings
) -> Iterator[tuple[str, str, str, str, Licence, Bar | None]]:
    """Kind, id, stated language, text, licence and bar of all that may have versions."""
    for article in articles:
        place = title_id(source.id)
        yield "title", place, title_language(article), article.title, source.licence, None
        for item in article.translated_titles:
            yield "title", place, item.language, item.text, source.licence, None
        for abstract in article.abstracts:
            if abstract.type == "":  # highlights and summaries for laymen are texts of their own
                place = f"{source.id}#abstract"
                yield "abstract", place, abstract.language, abstract.text, source.licence, None
    for figure in figures:
        if figure.translations:
            bar = rights_bar(figure, settings.licence_profile)
            yield "caption", figure.id, source.language, figure.caption, figure.licence, bar
            for item in figure.translations:
                yield "caption", figure.id, item.language, item.text, figure.licence, bar


def _document(source: Source, own: Version) -> Document:
    """The English version, without a title."""
    return Document(
        id=own.id,
        task=NAME,
        title="",
        text=own.text,
        language=ENGLISH,
        article_id=source.id,
        license=own.licence.spdx,
        license_evidence=own.licence.evidence,
        text_sha256=sha256_text(own.text),
        is_synthetic=source.is_synthetic,
    )


def specific(
    concepts: Iterable[DocumentConcept], known: Concepts, max_family: int
) -> Iterator[DocumentConcept]:
    """The disorders among the concepts of an article that have at most so many below them."""
    return (item for item in concepts if is_specific(item.concept, known, max_family))


def is_specific(concept: str, known: Concepts, max_family: int) -> bool:
    """Whether a concept is a disorder with at most so many below it."""
    return known.kind(concept) != "other" and not known.has_kinds(concept, max_family + 1)


def is_about(item: DocumentConcept) -> bool:
    """Whether an article's title or keywords name a disorder: what its versions are about."""
    return item.in_title or item.in_keywords


def _specific_in(version: Version, said: _Said, known: Concepts, settings: Settings) -> set[str]:
    """The disorders that a version names itself."""
    found = said.concepts_in(version.text)
    return {concept for concept in found if is_specific(concept, known, settings.max_family)}


def _query(
    source: Source, version: Version, own: Version, concept: str
) -> Iterator[Query | Qrel | StringOrigin]:
    """The query, where its words come from, and its one label."""
    query = Query(
        id=query_id(NAME, version.language, version.text),
        task=NAME,
        text=version.text,
        language=version.language,
        source_id=version.id,
        article_id=source.id,
        license=version.licence.spdx,
        license_evidence=version.licence.evidence,
        text_sha256=sha256_text(version.text),
        is_synthetic=source.is_synthetic,
        family=own.id,
        tier=PARALLEL,
    )
    yield query
    yield StringOrigin(
        query_id=query.id,
        language=version.language,
        kind="human",
        start=0,
        end=len(version.text),
        concept=concept,
        source=source.id,
        record=version.id,
        license=version.licence.spdx,
        term_type="",
        status="official",
        tier="open",
    )
    yield Qrel(
        query_id=query.id,
        corpus_id=own.id,
        score=2,
        task=NAME,
        rule=TRANSLATION_OF,
        label_status="structural",
        evidence=(Evidence(text_id=own.id, start=0, end=len(own.text), text=own.text),),
    )


# A named function, not a lambda: stages travel to worker processes.
def _version_ids(
    source: Source,
    articles: Sequence[Article],
    figures: Sequence[Figure],
    _: Sequence[DocumentConcept],
    __: Sequence[Mention],
) -> list[str]:
    versions = _versions(source, articles, figures, Settings())
    return [version.id for version in versions if version.language != ENGLISH]


VERSIONS = RecordStage(
    name=f"{NAME}_versions",
    version=5,
    inputs=(
        Input("extract.sources", Source, by="id"),
        Input("parse.articles", Article, by="id"),
        Input("extract.figures", Figure, by="article_id"),
        Input("ground.concepts", DocumentConcept, by="article_id"),
        Input("ground.mentions", Mention, by="article_id"),
    ),
    outputs=(
        Table("queries", Query, ("id", "source_id")),
        Table("documents", Document, ("id",)),
        Table("qrels", Qrel, ("query_id", "corpus_id")),
        Table("strings", StringOrigin, ("query_id",)),
        Table("named", ConceptPassage, ("corpus_id", "concept")),
    ),
    process=build,
    accounts=(Account("version", _version_ids, "queries", "source_id"),),
    settings=Settings,
    reasons=frozenset(OwnReason),
    resources=("types", "relations"),
)
