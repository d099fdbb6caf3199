"""The stage `extract`: one Article becomes one Source, its Figures with in-text mentions, its Passages."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from curation.extract.boilerplate import boilerplate_paragraph, boilerplate_sections
from curation.extract.figures import FigureIndex, build_figure, label_key, panels_of, split_label
from curation.extract.floats import floats_of
from curation.extract.front import own_keywords
from curation.extract.label_words import heads_in
from curation.extract.language import running_language
from curation.extract.mentions import resolve
from curation.extract.scope import decide
from schemas.article import Article, Section
from schemas.extracted import Figure, FigureMention, Float, Passage, Source
from schemas.stages import Account, Drop, Input, Reason, RecordStage, Table

_BOOK_SOURCES = frozenset({"litarch", "openstax"})
_BOOK_TYPES = frozenset({"book-chapter", "book-part", "chapter"})
_WORD = re.compile(r"\w")


def extract(article: Article) -> Iterator[Source | Figure | Float | Passage | Drop]:
    """Resolve one article: a pure generator, the same rows for the same article.

    Args:
        article: the parsed article.

    Yields:
        Its Source, one Figure per parsed figure, one Passage per parsed passage that holds a word,
        a Drop (short_passage) for each that holds none, and a Float per figure and table.
    """
    language = running_language(article.language, (passage.text for passage in article.passages))
    yield _source(article, language)
    split = [split_label(figure.label, figure.caption) for figure in article.figures]
    index = FigureIndex(
        article.figures,
        [
            label_key(label, figure.group_caption)
            for figure, (label, _, _) in zip(article.figures, split, strict=True)
        ],
    )
    panels = [
        panels_of(figure, caption, cut)
        for figure, (_, caption, cut) in zip(article.figures, split, strict=True)
    ]
    letters = frozenset(panel.letter for each in panels for panel in each)
    heads = heads_in([passage.text for passage in article.passages])
    paths = _section_paths(article.sections)
    parts = {section.number: section.part for section in article.sections}
    formal = boilerplate_sections(article.sections)
    mentions: dict[int, list[FigureMention]] = defaultdict(list)
    for number, passage in enumerate(article.passages, start=1):
        if not _WORD.search(passage.text):
            yield Drop(
                unit="passage",
                id=passage.id,
                article_id=article.id,
                reason=Reason.SHORT_PASSAGE,
                detail="no word in it",
            )
            continue
        pointers, found = resolve(passage, index, letters, heads[number - 1])
        for at, mention in found:
            mentions[at].append(mention)
        boilerplate = formal.get(passage.section) or ("" if found else boilerplate_paragraph(passage.text))
        yield Passage(
            id=passage.id,
            article_id=article.id,
            number=number,
            section=passage.section,
            section_path=paths.get(passage.section, ()),
            part=parts.get(passage.section, "body"),
            kind=passage.kind,
            text=passage.text,
            text_sha256=passage.text_sha256,
            language=passage.language or language,
            boilerplate=boilerplate,
            pointers=pointers,
        )
    for at, (figure, (label, caption, _)) in enumerate(zip(article.figures, split, strict=True)):
        yield build_figure(article, figure, label, caption, panels[at], mentions[at], index.main_of(at))
    yield from floats_of(article, mentions)


def _source(article: Article, language: str) -> Source:
    scope, evidence = decide(article)
    return Source(
        id=article.id,
        title=article.title,
        authors=article.authors,
        journal=article.journal,
        year=article.year,
        doi=article.doi,
        pmid=article.pmid,
        pmcid=article.pmcid,
        article_type=article.article_type,
        language=language,
        subjects=article.subjects,
        keywords=own_keywords(article, language),
        licence=article.licence,
        is_book=article.source in _BOOK_SOURCES or article.article_type in _BOOK_TYPES,
        is_retracted=article.is_retracted,
        is_synthetic=article.is_synthetic,
        scope=scope,
        scope_evidence=evidence,
        raw_sha256=article.raw_sha256,
    )


def _section_paths(sections: Sequence[Section]) -> dict[int, tuple[str, ...]]:
    """Titles from the top section down, by section number; a parent always stands before its children."""
    paths: dict[int, tuple[str, ...]] = {0: ()}
    for section in sections:
        paths[section.number] = (*paths.get(section.parent, ()), section.title)
    return paths


# Named functions, not lambdas: stages travel to worker processes.
def _article_ids(article: Article) -> list[str]:
    return [article.id]


def _figure_ids(article: Article) -> list[str]:
    return [figure.id for figure in article.figures]


def _passage_ids(article: Article) -> list[str]:
    return [passage.id for passage in article.passages]


def _float_ids(article: Article) -> list[str]:
    return [*_figure_ids(article), *(table.id for table in article.tables)]


EXTRACT = RecordStage(
    name="extract",
    version=24,
    inputs=(Input("parse.articles", Article, by="id"),),
    outputs=(
        Table("sources", Source, ("id",)),
        Table("figures", Figure, ("id",)),
        Table("passages", Passage, ("id",)),
        Table("floats", Float, ("id",)),
    ),
    process=extract,
    accounts=(
        Account("article", _article_ids, "sources", "id"),
        Account("figure", _figure_ids, "figures", "id"),
        Account("passage", _passage_ids, "passages", "id"),
        Account("float", _float_ids, "floats", "id"),
    ),
)
