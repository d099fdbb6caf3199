"""The corpus: English passages, with the concept each is about and the facets of it that it answers.

A passage is about a concept that the nearest heading above it with a disorder names, or, where none does, the
article's title; it must name the concept itself. A facet comes from a heading in reviews, textbooks and
Wikipedia alone ("Treatment" in a methods section is no therapy), or from a sentence whose words around the
concept's name say it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from curation.diagnosis.concepts import Concepts
from curation.extract.sentences import sentence_at, sentence_spans
from curation.tasks.crosslingual_qa.facets import answered, facet_of_heading, looks_back, touched
from curation.tasks.crosslingual_qa.narrower import Link, above, disputed_links
from curation.tasks.crosslingual_qa.records import ConceptPassage, Facet, FacetAnswer
from curation.tasks.crosslingual_qa.settings import OwnReason, Settings
from curation.tasks.shared.bars import article_bar
from curation.tasks.shared.case_facts import read_concepts
from curation.tasks.shared.passages import drop_passages, passage_document
from schemas.benchmark import Document, Evidence
from schemas.concept import Mention
from schemas.extracted import Passage, Source
from schemas.ids import title_id
from schemas.stages import Account, Drop, Input, RecordStage, Table

NAME = "crosslingual_qa"
BY_HEADING, BY_SENTENCE = f"{NAME}/facet-heading@1", f"{NAME}/facet-sentence@1"
OF_FACETS = frozenset({"review-article", "systematic-review", "book-chapter", "chapter", "reference-entry"})
"""Article types whose headings announce facets; books and Wikipedia have them whatever their type."""
Row = Document | FacetAnswer | ConceptPassage | Drop


def build(
    source: Source,
    passages: Sequence[Passage],
    mentions: Sequence[Mention],
    settings: Settings,
    *,
    types: Path,
    relations: Path,
) -> Iterator[Row]:
    """Documents of one article, what each is about, which facets it answers.

    Args:
        source: the article.
        passages: its passages.
        mentions: concepts named in its texts.
        settings: what it is built with.
        types: Parquet of ConceptType rows of the vocabulary.
        relations: Parquet of its ConceptRelation rows.

    Yields:
        Every passage as a Document or a Drop. Nothing where documents are abstracts.
    """
    if settings.granularity != "passage":
        return
    passages = sorted(passages, key=lambda passage: (passage.number, passage.id))
    barred = article_bar(source, settings.licence_profile)
    if barred is not None:
        yield from drop_passages(passages, *barred)
        return
    known, disputed = read_concepts(types, relations), disputed_links(relations)
    article = _Article.of(source, mentions, known, disputed, settings.max_family)
    for passage in passages:
        if passage.language.lower().partition("-")[0] != "en":
            yield from drop_passages([passage], OwnReason.LANGUAGE_NOT_SEARCHED, passage.language)
            continue
        row = passage_document(NAME, source, passage, min_words=settings.min_document_words)
        yield row
        if isinstance(row, Document):
            yield from article.facts(passage)


@dataclass(frozen=True, slots=True)
class _Article:
    """What of an article tells its passages' subjects.

    Attributes:
        named: text -> mentions of specific disorders in it, in order.
        surfaces: name as written, folded -> concepts it stands for in this article.
        topics: concepts that the title names.
        has_facets: whether its headings announce facets.
        concepts: the vocabulary.
        disputed: links between them that not all sources agree on.
        max_family: a concept with more below it is not asked about.
    """

    named: Mapping[str, Sequence[Mention]]
    surfaces: Mapping[str, frozenset[str]]
    topics: frozenset[str]
    has_facets: bool
    concepts: Concepts
    disputed: frozenset[Link]
    max_family: int

    @classmethod
    def of(
        cls,
        source: Source,
        mentions: Sequence[Mention],
        concepts: Concepts,
        disputed: frozenset[Link],
        max_family: int,
    ) -> _Article:
        named: dict[str, list[Mention]] = defaultdict(list)
        surfaces: dict[str, set[str]] = defaultdict(set)
        for item in sorted(mentions, key=lambda item: (item.text_id, item.start, item.end, item.concept)):
            if concepts.kind(item.concept) == "other" or concepts.has_kinds(item.concept, max_family + 1):
                continue
            named[item.text_id].append(item)
            for written in (item.text, item.name):
                surfaces[written.casefold()].add(item.concept)
        has_facets = source.is_book or source.article_type in OF_FACETS or source.id.startswith("wikimedia:")
        return cls(
            named,
            {written: frozenset(found) for written, found in surfaces.items()},
            frozenset(item.concept for item in named[title_id(source.id)]),
            has_facets,
            concepts,
            disputed,
            max_family,
        )

    def facts(self, passage: Passage) -> Iterator[FacetAnswer | ConceptPassage]:
        """What one passage is about and answers."""
        mentions = [item for item in self.named.get(passage.id, ()) if not _is_no_subject(item)]
        subjects, heading_facet = self._subjects(passage.section_path)
        about = subjects & {item.concept for item in mentions}
        touches = touched(passage.text)
        spans = sentence_spans(passage.text)
        for concept in sorted(about):
            own = [item for item in mentions if item.concept == concept]
            found = _by_sentence(passage, own, spans)
            if heading_facet and self.has_facets and len(subjects) == 1:
                found.setdefault(heading_facet, (BY_HEADING, sentence_at(spans, own[0].start)))
            for facet, (rule, span) in sorted(found.items()):
                yield _answer(passage, concept, facet, rule, span)
            yield ConceptPassage(corpus_id=passage.id, concept=concept, how="about", touches=touches)
        yield from self._others(passage, about)

    def _others(self, passage: Passage, about: frozenset[str]) -> Iterator[ConceptPassage]:
        """Concepts that a passage merely names, and those above what it is about that can be asked about."""
        named = {item.concept for item in self.named.get(passage.id, ())} - about
        for concept in sorted(named):
            yield ConceptPassage(corpus_id=passage.id, concept=concept, how="mention")
        for concept, how in above(about, self.concepts, self.disputed).items():
            if concept not in named and not self.concepts.has_kinds(concept, self.max_family + 1):
                yield ConceptPassage(corpus_id=passage.id, concept=concept, how=how)

    def _subjects(self, path: Sequence[str]) -> tuple[frozenset[str], Facet | None]:
        """Concepts that the nearest heading with any names, else the title; and the nearest facet."""
        facet: Facet | None = None
        for heading in reversed(path):
            found, rest = self._read(heading)
            facet = facet or facet_of_heading(rest)
            if found:
                return found, facet
        return self.topics, facet

    def _read(self, heading: str) -> tuple[frozenset[str], str]:
        """Concepts of this article that a heading names, the longest names first, and what is left of it."""
        rest, found = heading.casefold(), frozenset[str]()
        for written in sorted(self.surfaces, key=lambda item: (-len(item), item)):
            if written in rest and (place := re.search(rf"(?<!\w){re.escape(written)}(?!\w)", rest)):
                found |= self.surfaces[written]
                rest = f"{rest[: place.start()]} {rest[place.end() :]}"
        return found, rest


def _is_no_subject(mention: Mention) -> bool:
    return mention.is_negated or mention.is_historical or mention.is_family


def _by_sentence(
    passage: Passage, mentions: Sequence[Mention], spans: list[tuple[int, int]]
) -> dict[Facet, tuple[str, tuple[int, int]]]:
    """Facets that sentences around a concept's mentions answer, each with the first that does.

    One that speaks of what the sentence before it told is quoted with that one, where no other answers.
    """
    found: dict[Facet, tuple[str, tuple[int, int]]] = {}
    leaning: dict[Facet, tuple[str, tuple[int, int]]] = {}
    for item in mentions:
        start, end = sentence_at(spans, item.start)
        sentence = passage.text[start:end]
        for facet in answered(sentence, item.start - start, item.end - start):
            if not looks_back(sentence):
                found.setdefault(facet, (BY_SENTENCE, (start, end)))
            elif start > spans[0][0]:
                leaning.setdefault(facet, (BY_SENTENCE, (sentence_at(spans, start - 1)[0], end)))
    return leaning | found


def _answer(passage: Passage, concept: str, facet: Facet, rule: str, span: tuple[int, int]) -> FacetAnswer:
    start, end = span
    quote = Evidence(text_id=passage.id, start=start, end=end, text=passage.text[start:end])
    return FacetAnswer(corpus_id=passage.id, concept=concept, facet=facet, rule=rule, evidence=(quote,))


# A named function, not a lambda: stages travel to worker processes.
def _passage_ids(
    _: Source, passages: Sequence[Passage], __: Sequence[Mention], *, granularity: str
) -> list[str]:
    return [passage.id for passage in passages] if granularity == "passage" else []


PER_ARTICLE = RecordStage(
    name=NAME,
    version=8,
    inputs=(
        Input("extract.sources", Source, by="id"),
        Input("extract.passages", Passage, by="article_id"),
        Input("ground.mentions", Mention, by="article_id"),
    ),
    outputs=(
        Table("documents", Document, ("id",)),
        Table("answers", FacetAnswer, ("corpus_id", "concept", "facet")),
        Table("named", ConceptPassage, ("corpus_id", "concept")),
    ),
    process=build,
    accounts=(Account("passage", _passage_ids, "documents", "id", params=("granularity",)),),
    settings=Settings,
    reasons=frozenset({OwnReason.LANGUAGE_NOT_SEARCHED}),
    resources=("types", "relations"),
)
