"""The ground stages: vocabulary concepts named in the texts of one article, one question or exercise."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from curation.concepts.abbreviations import declared
from curation.concepts.annotate import Text, annotate
from curation.concepts.opening import open_backend
from curation.concepts.places import CAPTION, ELSEWHERE, KEYWORD, TITLE, section_weight
from curation.extract.front import keywords, titles
from schemas.article import Article
from schemas.concept import DocumentConcept, Mention
from schemas.extracted import Figure, Passage, Source
from schemas.ids import abstract_id, keyword_id, title_id
from schemas.question import Question
from schemas.stages import Input, RecordStage, Table

_NO_TEXT = ""
"""Id of what an article lists and nobody reads as a text: its abbreviations."""


def ground(
    source: Source,
    articles: Sequence[Article],
    figures: Sequence[Figure],
    passages: Sequence[Passage],
    *,
    vocabulary: Path,
    backend: str,
    overlaps: bool,
) -> Iterator[Mention | DocumentConcept]:
    """Mentions in one article's texts, then its concepts.

    Args:
        source: the article.
        articles: the article as parsed, for its abstracts and the abbreviations it declares.
        figures: its figures.
        passages: its passages.
        vocabulary: folder of the backend's index.
        backend: native, quickumls or scispacy.
        overlaps: names inside longer names too.
    """
    texts = texts_of(source, articles[0], figures, passages)
    named = annotate(source.id, texts, open_backend(backend, vocabulary), overlaps=overlaps)
    found = [item for item in named if item.text_id != _NO_TEXT]
    yield from found
    own = {title_id(source.id), *(keyword_id(source.id, at + 1) for at in range(len(source.keywords)))}
    again = {abstract_id(source.id, number) for number in range(1, len(articles[0].abstracts) + 1)}
    again |= {front.id for front in (*titles(source, articles[0]), *keywords(source, articles[0]))} - own
    yield from _concepts(source, passages, [item for item in found if item.text_id not in again])


def texts_of(
    source: Source, article: Article, figures: Sequence[Figure], passages: Sequence[Passage]
) -> list[Text]:
    """The texts of an article in reading order: abbreviations hold from their definition on."""
    return [
        *(
            Text(_NO_TEXT, f"{long} ({short})", source.language)
            for short, long in declared(article.abbreviations)
        ),
        *(
            Text(front.id, front.text, _spoken(front.language, source.language))
            for front in (*titles(source, article), *keywords(source, article))
        ),
        *(
            Text(abstract_id(source.id, number), abstract.text, _spoken(abstract.language, source.language))
            for number, abstract in enumerate(article.abstracts, start=1)
        ),
        *(Text(passage.id, passage.text, passage.language, _heading(passage)) for passage in passages),
        *(Text(figure.id, figure.caption, source.language) for figure in figures if figure.caption),
    ]


def _heading(passage: Passage) -> str:
    return passage.section_path[-1] if passage.section_path else ""


def _spoken(stated: str, otherwise: str) -> str:
    return otherwise if stated in ("", "und") else stated


def _concepts(
    source: Source, passages: Sequence[Passage], found: Iterable[Mention]
) -> Iterator[DocumentConcept]:
    tops = {passage.id: passage.section_path[0] for passage in passages if passage.section_path}
    known = {passage.id for passage in passages}
    weights = collections.defaultdict(lambda: CAPTION, dict.fromkeys(known, ELSEWHERE))
    weights |= {place: section_weight(top) for place, top in tops.items()}
    weights[title_id(source.id)] = TITLE
    weights |= {keyword_id(source.id, number): KEYWORD for number in range(1, len(source.keywords) + 1)}
    title = title_id(source.id)
    by_concept: dict[str, list[Mention]] = collections.defaultdict(list)
    for mention in found:
        by_concept[mention.concept].append(mention)
    for concept, mentions in sorted(by_concept.items()):
        names = collections.Counter(mention.name for mention in mentions)
        places = list(dict.fromkeys(mention.text_id for mention in mentions))
        others = [place for place in places if place != title and place not in known]
        yield DocumentConcept(
            article_id=source.id,
            concept=concept,
            name=max(names, key=lambda name: names[name]),
            mentions=len(mentions),
            asserted=sum(_is_asserted(mention) for mention in mentions),
            weight=sum(weights[mention.text_id] for mention in mentions if _is_asserted(mention)),
            in_title=title in places,
            in_keywords=any(_is_keyword(source, place) for place in others),
            captions=tuple(place for place in others if not _is_keyword(source, place)),
            sections=tuple(dict.fromkeys(tops[place] for place in places if place in tops)),
        )


def _is_keyword(source: Source, text_id: str) -> bool:
    return text_id.startswith(keyword_id(source.id, 0)[:-1])


def _is_asserted(mention: Mention) -> bool:
    return not (mention.is_negated or mention.is_hypothetical or mention.is_historical or mention.is_family)


def ground_question(
    question: Question, *, vocabulary: Path, backend: str, overlaps: bool
) -> Iterator[Mention]:
    """Mentions in one question: its text (under its id), options, answer and explanation.

    Args:
        question: the question.
        vocabulary: index of the backend.
        backend: native, quickumls or scispacy.
        overlaps: names inside longer names too.
    """
    parts = [
        (question.id, question.text),
        *((f"{question.id}#option{option.letter}", option.text) for option in question.options),
        (f"{question.id}#answer", question.answer),
        (f"{question.id}#explanation", question.explanation),
    ]
    texts = [Text(place, text, question.language) for place, text in parts if text]
    yield from annotate(question.collection, texts, open_backend(backend, vocabulary), overlaps=overlaps)


_PARAMS = {"backend": "native", "overlaps": False}
GROUND = RecordStage(
    name="ground",
    version=14,
    inputs=(
        Input("extract.sources", Source, by="id"),
        Input("parse.articles", Article, by="id"),
        Input("extract.figures", Figure, by="article_id"),
        Input("extract.passages", Passage, by="article_id"),
    ),
    outputs=(
        Table("mentions", Mention, ("text_id", "start", "end", "concept")),
        Table("concepts", DocumentConcept, ("article_id", "concept")),
    ),
    process=ground,
    accounts=(),
    params=_PARAMS,
    resources=("vocabulary",),
)
GROUND_QUESTIONS = RecordStage(
    name="ground_questions",
    version=12,
    inputs=(Input("questions.questions", Question, by="id"),),
    outputs=(Table("mentions", Mention, ("text_id", "start", "end", "concept")),),
    process=ground_question,
    accounts=(),
    params=_PARAMS,
    resources=("vocabulary",),
)
GROUND_EXERCISES = replace(
    GROUND_QUESTIONS,
    name="ground_exercises",
    version=10,
    inputs=(Input("exercises.questions", Question, by="id"),),
)
