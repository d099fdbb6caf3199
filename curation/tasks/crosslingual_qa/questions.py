"""Questions on every facet that passages answer, in every language that names the concept.

The questions of a concept and facet in all languages are one family. A question with a name that may not
leave the machine is no query: what is needed to make it again is kept beside them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.tasks.crosslingual_qa.facets import facets_of_types
from curation.tasks.crosslingual_qa.names import chosen, in_script, read_names, shared_names, without_shared
from curation.tasks.crosslingual_qa.passages import NAME
from curation.tasks.crosslingual_qa.records import AskedConcept, Facet, RestrictedQuery, StringOrigin
from curation.tasks.crosslingual_qa.settings import OwnReason, Settings
from curation.tasks.crosslingual_qa.templates import Templates, languages, templates
from curation.tasks.shared.case_facts import read_concepts
from curation.tasks.shared.names import RESTRICTED
from curation.tasks.shared.quoted import licence_of
from schemas.benchmark import CORE_LANGUAGES, Query
from schemas.hashing import sha256_text
from schemas.ids import query_id
from schemas.record import from_table
from schemas.stages import Account, Drop, Input, Reason, RecordStage, Table
from schemas.vocabulary import UNCONFIRMED, ConceptName, VocabularySource

Row = Query | StringOrigin | RestrictedQuery | Drop


def build(
    asked: AskedConcept, settings: Settings, *, names: Path, types: Path, relations: Path, sources: Path
) -> Iterator[Row]:
    """Queries on one concept.

    Args:
        asked: the concept and the facets that passages answer.
        settings: what they are built with.
        names: Parquet of ConceptName rows of the vocabulary.
        types: Parquet of its ConceptType rows.
        relations: Parquet of its ConceptRelation rows.
        sources: Parquet of its VocabularySource rows.

    Yields:
        Every facet in every language as a Query with its StringOrigin, or as a Drop; beside one that is
        dropped for a restricted name, its RestrictedQuery.
    """
    found = read_names(names, asked.concept)
    known_concepts = read_concepts(types, relations)
    clear = without_shared(
        found, shared_names(names), functools.partial(known_concepts.is_above, asked.concept)
    )
    allowed = facets_of_types(types_of(types, asked.concept))
    by_language = {code: chosen(clear, known) for code, known in templates().items()}
    outside = _outside_core(by_language) if settings.parallel_core else frozenset[str]()
    for facet in asked.facets:
        for language, known in templates().items():
            bar = _bar(found, by_language[language], known)
            if facet not in allowed:
                bar = OwnReason.FACET_NOT_OF_TYPE, ""
            elif bar is None and language in outside:
                bar = OwnReason.OUTSIDE_PARALLEL_CORE, ""
            name = by_language[language]
            if name is not None and bar and bar[0] == Reason.RESTRICTED_NAME:
                yield _recipe(asked, facet, known, name)
            if bar is not None:
                yield _left_out(asked, facet, language, *bar)
            elif name is not None:
                yield from _query(asked, facet, known, name, _all_sources(sources)[name.source])


def _outside_core(names: Mapping[str, ConceptName | None]) -> frozenset[str]:
    """Languages in which a concept is not asked about when only the parallel core is wanted."""
    complete = all(
        (name := names[code]) is not None and name.tier != RESTRICTED and name.term_type != UNCONFIRMED
        for code in CORE_LANGUAGES
    )
    return frozenset(languages()) - frozenset(CORE_LANGUAGES if complete else ())


def _bar(
    found: Mapping[str, list[ConceptName]], name: ConceptName | None, known: Templates
) -> tuple[OwnReason | Reason, str] | None:
    """Why a concept is not asked about in a language, or None."""
    if name is None:
        others = found.get(known.language, [])
        if in_script(others, known):
            return Reason.SHARED_NAME, f"{len(others)} names, each of another concept, too"
        if others:
            return Reason.NAME_NOT_IN_LANGUAGE, f"{len(others)} names, none in the script of the language"
        return Reason.NO_NAME_IN_LANGUAGE, ""
    if name.tier == RESTRICTED:
        return Reason.RESTRICTED_NAME, f"{name.source} {name.term_type}"
    if name.term_type == UNCONFIRMED:
        return OwnReason.ONLY_UNCONFIRMED_NAME, name.source
    return None


def place_of(concept: str, facet: str, language: str) -> str:
    """What a query was made of: `MONDO:0005300/treatment/es`."""
    return f"{concept}/{facet}/{language}"


def _left_out(
    asked: AskedConcept, facet: str, language: str, reason: OwnReason | Reason, detail: str
) -> Drop:
    name = place_of(asked.concept, facet, language)
    return Drop(unit="question", id=name, article_id=asked.article_id, reason=reason, detail=detail)


def _id_of(language: str, text: str) -> str:
    return query_id(NAME, language, text)


def _query(
    asked: AskedConcept, facet: Facet, known: Templates, name: ConceptName, source: VocabularySource
) -> Iterator[Query | StringOrigin]:
    """A question; its frame is free for all, so it is under the licence of the name that it quotes."""
    text, start, end = known.ask(facet, name.name)
    licence = licence_of(source)
    made = Query(
        id=_id_of(known.language, text),
        task=NAME,
        text=text,
        language=known.language,
        source_id=place_of(asked.concept, facet, known.language),
        article_id=asked.article_id,
        license=licence,
        license_evidence=f"template {known.id_of(facet)}, CC0-1.0; the name in it is quoted from "
        f"{name.source}: {source.licence}",
        text_sha256=sha256_text(text),
        is_synthetic=asked.is_synthetic,
        family=f"{asked.concept}/{facet}",
        targets=(asked.concept,),
        tier=facet,
    )
    yield made
    yield StringOrigin(
        query_id=made.id,
        language=known.language,
        kind="template",
        template=known.id_of(facet),
        name=name.name,
        start=start,
        end=end,
        concept=asked.concept,
        source=name.source,
        release=source.release,
        license=licence,
        term_type=name.term_type,
        status="candidate" if name.term_type == UNCONFIRMED else "official",
        restriction=name.restriction,
        tier=name.tier,
    )


def _recipe(asked: AskedConcept, facet: Facet, known: Templates, name: ConceptName) -> RestrictedQuery:
    text, _, _ = known.ask(facet, name.name)
    return RestrictedQuery(
        query_id=_id_of(known.language, text),
        language=known.language,
        concept=asked.concept,
        facet=facet,
        template=known.id_of(facet),
        frame=known.frames[facet],
        source=name.source,
        code=name.code or name.concept,
        atom=name.atom,
        term_type=name.term_type,
        name_sha256=sha256_text(name.name),
        text_sha256=sha256_text(text),
        article_id=asked.article_id,
    )


@functools.lru_cache(maxsize=1)
def _all_types(path: Path) -> Mapping[str, tuple[str, ...]]:
    """Concept -> its types of the group of disorders; the last vocabulary is kept."""
    table = pq.read_table(path, columns=["concept", "semantic_type"], filters=pc.field("group") == "DISO")
    found: dict[str, set[str]] = {}
    for concept, kind in zip(*(column.to_pylist() for column in table.columns), strict=True):
        found.setdefault(concept, set()).add(kind)
    return {concept: tuple(sorted(kinds)) for concept, kinds in found.items()}


@functools.lru_cache(maxsize=1)
def _all_sources(path: Path) -> Mapping[str, VocabularySource]:
    """Abbreviation -> source of the vocabulary; the last vocabulary is kept."""
    return {row.source: row for row in from_table(VocabularySource, pq.read_table(path))}


def types_of(path: Path, concept: str) -> tuple[str, ...]:
    """Types of a concept that is a disorder, sorted.

    Args:
        path: Parquet of ConceptType rows.
        concept: CURIE.
    """
    return _all_types(path).get(concept, ())


# A named function, not a lambda: stages travel to worker processes.
def _question_ids(asked: AskedConcept) -> list[str]:
    return [place_of(asked.concept, facet, code) for facet in asked.facets for code in languages()]


QUESTIONS = RecordStage(
    name=f"{NAME}_questions",
    version=6,
    inputs=(Input(f"{NAME}_asked.concepts", AskedConcept, "concept"),),
    outputs=(
        Table("queries", Query, ("id", "source_id")),
        Table("strings", StringOrigin, ("query_id", "concept")),
        Table("recipes", RestrictedQuery, ("query_id", "concept")),
    ),
    process=build,
    accounts=(Account("question", _question_ids, "queries", "source_id"),),
    settings=Settings,
    reasons=frozenset(OwnReason),
    resources=("names", "types", "relations", "sources"),
)
