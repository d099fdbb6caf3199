"""Abstracts as documents, and what their MeSH headings say of them: `Asthma/*drug therapy` tells treatment.

PubMed's records are under no licence, so their abstracts are in no release. Their headings are those of the
article, whoever publishes it: an abstract under a licence of its own, such as one of PMC, has the headings of
the record with its PMID, PMCID or DOI. A heading counts where it is a main point (`*`); another is a mere
mention. A facet comes from a qualifier (mesh.toml), of a main heading with main qualifiers from these alone.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.diagnosis.concepts import Concepts
from curation.extract.sentences import sentence_spans
from curation.tasks.crosslingual_qa.facets import touched
from curation.tasks.crosslingual_qa.narrower import Link, above, disputed_links
from curation.tasks.crosslingual_qa.parallel import ENGLISH, is_about, specific, spoken
from curation.tasks.crosslingual_qa.passages import NAME
from curation.tasks.crosslingual_qa.records import ConceptPassage, Facet, IndexedAbstract, IndexedConcept
from curation.tasks.crosslingual_qa.settings import Settings
from curation.tasks.shared.bars import article_bar
from curation.tasks.shared.case_facts import read_concepts
from curation.tasks.shared.titles import title_in
from curation.tasks.shared.words import word_count
from schemas.article import Abstract, Article
from schemas.benchmark import Document, Evidence
from schemas.concept import DocumentConcept
from schemas.extracted import Source
from schemas.hashing import sha256_text
from schemas.ids import normalise_doi
from schemas.stages import Account, Drop, Input, Reason, RecordStage, Table

_MAIN = "*"
_MESH = "MESH:"
Row = Document | IndexedAbstract | IndexedConcept | ConceptPassage | Drop


@dataclass(frozen=True, slots=True)
class Heading:
    """One MeSH heading.

    Attributes:
        descriptor: CURIE.
        written: as MEDLINE writes it, `Asthma/*drug therapy/genetics`.
        is_main: whether the article is about it.
        facets: what its qualifiers say that the article tells.
        minor: what those say that are no main point.
    """

    descriptor: str
    written: str
    is_main: bool
    facets: frozenset[Facet]
    minor: frozenset[Facet]


def build(
    source: Source,
    articles: Sequence[Article],
    concepts: Sequence[DocumentConcept],
    settings: Settings,
    *,
    names: Path,
    types: Path,
    relations: Path,
) -> Iterator[Row]:
    """The English abstract of one article, and what its record says of it and of its copies.

    Args:
        source: the article.
        articles: the article as parsed; at most one.
        concepts: concepts named in it.
        settings: what they are built with.
        names: Parquet of ConceptName rows of the vocabulary.
        types: Parquet of its ConceptType rows.
        relations: Parquet of its ConceptRelation rows.

    Yields:
        Every main English abstract as a Document or a Drop; the disorders it is indexed with. Nothing where
        documents are passages.
    """
    if settings.granularity != "abstract":
        return
    known = read_concepts(types, relations)
    bar = article_bar(source, settings.licence_profile)
    keys = _keys(source)
    for article in articles:
        if keys:
            disputed = disputed_links(relations)
            yield from _indexed(source, headings(article), keys, known, disputed, settings, _codes(names))
        for name, abstract in _english(source, article):
            why = bar
            if why is None and (words := word_count(abstract.text)) < settings.min_document_words:
                why = Reason.SHORT_PASSAGE, f"{words} words"
            if why is not None:
                yield Drop(unit="abstract", id=name, article_id=source.id, reason=why[0], detail=why[1])
                continue
            yield from _document(source, article, name, abstract, keys)
            for item in specific(concepts, known, settings.max_family):
                how = "about" if is_about(item) else "mention"
                yield ConceptPassage(corpus_id=name, concept=item.concept, how=how)  # type: ignore[arg-type]


def _english(source: Source, article: Article) -> Iterator[tuple[str, Abstract]]:
    """The first main abstract in English, with its id."""
    for abstract in article.abstracts:
        if abstract.type == "" and spoken(abstract.language, abstract.text) == ENGLISH:
            yield f"{source.id}#abstract", abstract
            return


def _document(
    source: Source, article: Article, name: str, abstract: Abstract, keys: tuple[str, ...]
) -> Iterator[Document | IndexedAbstract]:
    yield Document(
        id=name,
        task=NAME,
        title=title_in(ENGLISH, source, article),
        text=abstract.text,
        language=ENGLISH,
        article_id=source.id,
        license=source.licence.spdx,
        license_evidence=source.licence.evidence,
        text_sha256=sha256_text(abstract.text),
        is_synthetic=source.is_synthetic,
    )
    start, end = sentence_spans(abstract.text)[0]
    first = Evidence(text_id=name, start=start, end=end, text=abstract.text[start:end])
    yield IndexedAbstract(corpus_id=name, names=keys, touches=touched(abstract.text), evidence=(first,))


def _keys(source: Source) -> tuple[str, ...]:
    """What an article is called in every repository, sorted."""
    found = {"pmid": source.pmid, "pmcid": source.pmcid, "doi": normalise_doi(source.doi or "")}
    return tuple(sorted(f"{kind}:{value}" for kind, value in found.items() if value))


def headings(article: Article) -> list[Heading]:
    """The MeSH headings of a record, names and ids in step (`sources.medline_xml`)."""
    groups = {group.type: group.terms for group in article.keywords}
    found = []
    for written, ids in zip(groups.get("mesh", ()), groups.get("mesh-ui", ()), strict=False):
        descriptor, *qualifiers = ids.split("/")
        said = written.split("/")[len(written.split("/")) - len(qualifiers) :] if qualifiers else []
        facets: dict[bool, set[Facet]] = {True: set(), False: set()}
        for qualifier in said:
            facet = _facets().get(qualifier.removeprefix(_MAIN).lower())
            if facet is not None:
                facets[qualifier.startswith(_MAIN)].add(facet)
        has_main = any(qualifier.startswith(_MAIN) for qualifier in said)
        is_main = has_main or descriptor.startswith(_MAIN)
        told = facets[True] if has_main else facets[False] if is_main else set()
        found.append(
            Heading(
                descriptor=_MESH + descriptor.removeprefix(_MAIN),
                written=written,
                is_main=is_main,
                facets=frozenset(told),
                minor=frozenset((facets[True] | facets[False]) - told),
            )
        )
    return found


@functools.cache
def _facets() -> Mapping[str, Facet]:
    read = tomllib.loads(Path(__file__).with_name("mesh.toml").read_text("utf-8"))
    return dict(read["qualifiers"])


@functools.lru_cache(maxsize=1)
def _codes(names: Path) -> Mapping[str, str]:
    """MeSH descriptor -> concept it was merged into; the last vocabulary is kept."""
    read = pq.read_table(
        names, columns=["code", "concept"], filters=pc.starts_with(pc.field("code"), _MESH)
    ).to_pylist()
    return {row["code"]: row["concept"] for row in read}


def _indexed(
    source: Source,
    listed: Iterable[Heading],
    keys: tuple[str, ...],
    known: Concepts,
    disputed: frozenset[Link],
    settings: Settings,
    codes: Mapping[str, str],
) -> Iterator[IndexedConcept]:
    """Disorders that a record is indexed with, and those above its main ones that can be asked about."""
    by_concept: dict[str, list[Heading]] = {}
    for heading in listed:
        concept = codes.get(heading.descriptor, heading.descriptor)
        if known.kind(concept) != "other" and not known.has_kinds(concept, settings.max_family + 1):
            by_concept.setdefault(concept, []).append(heading)
    main = {concept for concept, found in by_concept.items() if any(item.is_main for item in found)}
    for concept, found in sorted(by_concept.items()):
        facets = frozenset().union(*(item.facets for item in found))
        yield IndexedConcept(
            article_id=source.id,
            names=keys,
            concept=concept,
            how="about" if concept in main else "mention",
            facets=tuple(sorted(facets)),
            minor=tuple(sorted(frozenset().union(*(item.minor for item in found)) - facets)),
            headings=tuple(item.written for item in found),
        )
    for concept, how in above(main, known, disputed).items():
        if concept not in by_concept and not known.has_kinds(concept, settings.max_family + 1):
            yield IndexedConcept(article_id=source.id, names=keys, concept=concept, how=how)


# A named function, not a lambda: stages travel to worker processes.
def _abstract_ids(
    source: Source, articles: Sequence[Article], _: Sequence[DocumentConcept], *, granularity: str
) -> list[str]:
    if granularity != "abstract":
        return []
    return [name for article in articles for name, _ in _english(source, article)]


ABSTRACTS = RecordStage(
    name=f"{NAME}_abstracts",
    version=4,
    inputs=(
        Input("extract.sources", Source, by="id"),
        Input("parse.articles", Article, by="id"),
        Input("ground.concepts", DocumentConcept, by="article_id"),
    ),
    outputs=(
        Table("documents", Document, ("id",)),
        Table("facts", IndexedAbstract, ("corpus_id",)),
        Table("indexed", IndexedConcept, ("article_id", "concept")),
        Table("named", ConceptPassage, ("corpus_id", "concept")),
    ),
    process=build,
    accounts=(Account("abstract", _abstract_ids, "documents", "id", params=("granularity",)),),
    settings=Settings,
    resources=("names", "types", "relations"),
)
