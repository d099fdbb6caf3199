"""The stage `labels`: specialty, body system, domain and country of articles, modality and region of figures.

A case or figure gets a topic row of its own only where its text decides for another one than its article's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from curation.extract.panels import words_of
from curation.extract.scope import decide
from curation.labels import country, domain, modality, region, topic
from curation.labels.concepts import named_in, parents_in
from curation.labels.spelled import methods_in, spelled
from curation.labels.summary import Unit, summaries
from curation.labels.taxonomy import load
from curation.labels.texts import Texts, texts_of
from curation.labels.votes import Tallies, Weight, count_words
from schemas.article import Article
from schemas.case import Case
from schemas.concept import Mention
from schemas.diagnosis import PrincipalDiagnosis, Statement
from schemas.extracted import Figure, Panel, Passage
from schemas.ids import title_id
from schemas.image import FigureImage
from schemas.label import Label, RecordLabels
from schemas.stages import Account, Input, RecordStage, Table

_STATEMENT = Weight(3.0, 1.0, 9.0)
_TOLD = Weight(0.6, 0.2, 5.0)
_CAPTION = Weight(2.0, 0.5, 6.0)
_COMPARES = re.compile(
    r"\b(?:mimic(?:s|ked|king)?|mistaken for|misdiagnosed as|masquerad(?:es|ed|ing) as)\b", re.IGNORECASE
)
_MIN_OWN = 4.0
_CASE_TEXT = 4000
Held = dict[topic.TopicFacet, frozenset[str]]
"""What was decided of the article, by facet."""


def label(
    article: Article,
    figures: Sequence[Figure] = (),
    passages: Sequence[Passage] = (),
    cases: Sequence[Case] = (),
    images: Sequence[FigureImage] = (),
    mentions: Sequence[Mention] = (),
    diagnoses: Sequence[PrincipalDiagnosis] = (),
    *,
    relations: Path | None = None,
) -> Iterator[Label | RecordLabels]:
    """Labels of one article, its figures and cases: a pure generator.

    Args:
        article: as parsed.
        figures: its figures as extracted.
        passages: its passages; the sentences that cite a figure are read from them.
        cases: its cases, when they were extracted.
        images: its figures' images, when they were looked at.
        mentions: its concept mentions, when it was grounded.
        diagnoses: of its cases, for where each is stated.
        relations: Parquet of ConceptRelation: mentions then count by what stands above them, too.

    Yields:
        A Label for every decision or lack of one, then a RecordLabels for every record.
    """
    texts = texts_of(article, figures)
    rows = _domain(article, texts)
    is_medical = rows[0].value != domain.NON_MEDICAL
    named = named_in(mentions)
    asserted = replace(texts, titles=_asserted(article, texts.titles, mentions))
    parents = parents_in(relations) if relations is not None and named else None
    held: Held = {}
    for facet in topic.FACETS:
        tallies = topic.points(facet, asserted if facet == "specialty" else texts, named, parents)
        made = list(topic.labels(article.id, article.id, facet, tallies, is_medical=is_medical))
        held[facet] = frozenset(row.value for row in made)
        rows += made
    rows += country.labels(article.id, article.affiliations)
    known = {passage.id: passage.text for passage in passages}
    kinds, affirmed = _kinds(images), _affirmed(mentions)
    methods = methods_in((*known.values(), *(figure.caption for figure in figures))) if figures else {}
    for figure in figures:
        seen, names = kinds.get(figure.id, ()), affirmed.get(figure.id, ())
        told = held if is_medical else {}
        rows += of_figure(figure, known, seen, [item.name for item in names], told, methods)
        for panel in figure.panels:
            alone, own = _alone(figure, panel, names)
            rows += of_figure(alone, known, seen, own, told, methods)
    is_shared = len(cases) > 1 or texts.is_book
    captions = {figure.id: figure.caption for figure in figures}
    stated = {item.case_id: item.statements for item in diagnoses}
    for case in cases:
        said = stated.get(case.id, ())
        rows += _of_case(case, said, known, held) if is_shared else ()
        rows += _region_of(case, said, captions, () if is_shared else texts.titles)
    yield from rows
    records: dict[Unit, list[str]] = {
        "article": [article.id],
        "figure": [item.id for item in figures],
        "panel": [panel.id for item in figures for panel in item.panels],
        "case": [item.id for item in cases],
    }
    yield from summaries(article.id, records, rows)


def _domain(article: Article, texts: Texts) -> list[Label]:
    """The domain of an article; where the scope gate, which reads more of it, keeps it, one of medicine."""
    tallies = domain.points(texts)
    rows = list(domain.labels(article.id, article.id, tallies))
    if rows[0].value == domain.NON_MEDICAL and not decide(article)[0]:
        del tallies[domain.NON_MEDICAL]
        rows = list(domain.labels(article.id, article.id, tallies))
    return rows


def _asserted(article: Article, titles: Sequence[str], mentions: Sequence[Mention]) -> tuple[str, ...]:
    """Titles without what the article's own only compares with: "Abscess mimicking [ovarian cancer]".

    That tells where in the body it is about, but not whose field it is.
    """
    title = article.title
    compares = _COMPARES.search(title)
    if compares is None:
        return tuple(titles)
    for item in mentions:
        is_compared = item.is_hypothetical and item.start >= compares.end()
        if item.text_id == title_id(article.id) and is_compared and title[item.start : item.end] == item.text:
            title = f"{title[: item.start]}{' ' * len(item.text)}{title[item.end :]}"
    return tuple(title if one == article.title else one for one in titles)


def of_figure(
    figure: Figure,
    passages: Mapping[str, str],
    kinds: Sequence[str],
    names: Sequence[str],
    held: Held,
    methods: Mapping[str, str],
) -> Iterator[Label]:
    """Modality and region of a figure, and its body system where that is none of its article's.

    Args:
        figure: as extracted.
        passages: texts of the article's passages by id.
        kinds: kinds of its images.
        names: names of the concepts its caption affirms.
        held: what was decided of the article; empty where that is not medical.
        methods: imaging methods by the short forms that the article gives them.
    """
    citing = _citing(figure, passages)
    starts = [panel.start for panel in figure.panels]
    written, begins = spelled(figure.caption, starts, methods)
    made = list(modality.labels(figure.id, figure.article_id, written, citing, kinds, begins))
    yield from made
    groups = [
        row.value if row.value == region.ANATOMY else row.parent or row.value for row in made if row.value
    ]
    tallies = region.of_figure(figure.caption, citing, names, groups, starts)
    yield from region.labels(figure.id, figure.article_id, tallies, figure.caption, groups)
    if held and (made[0].parent or made[0].value) in region.CLINICAL:
        yield from _own_system(figure, held["body_system"])


def _kinds(images: Sequence[FigureImage]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for image in images:
        if image.kind:
            found.setdefault(image.figure_id, []).append(image.kind)
    return found


def _affirmed(mentions: Sequence[Mention]) -> Mapping[str, list[Mention]]:
    """Concepts that captions affirm, by figure."""
    found: dict[str, list[Mention]] = {}
    for item in mentions:
        if not (item.is_negated or item.is_hypothetical or item.is_historical or item.is_family):
            found.setdefault(item.text_id, []).append(item)
    return found


def _alone(figure: Figure, panel: Panel, names: Sequence[Mention]) -> tuple[Figure, list[str]]:
    """A panel as a figure of its own, and the concepts in its words.

    Its caption is what is said of all panels and of this one; only sentences that cite it tell of it.
    """
    lead, words = words_of(figure.caption, figure.panels, panel)
    caption = f"{lead}\n{words}".lstrip()
    only = replace(panel, start=len(caption) - len(words), end=len(caption))
    cited = tuple(item for item in figure.mentions if panel.letter in item.panels)
    own = [item.name for item in names if item.start < len(lead) or panel.start <= item.start < panel.end]
    return replace(figure, id=panel.id, caption=caption, panels=(only,), mentions=cited), own


def _citing(figure: Figure, passages: Mapping[str, str]) -> list[str]:
    """Sentences that cite this figure alone, each once: several figures would lend each other their words."""
    places = dict.fromkeys(
        (item.passage_id, item.sentence_start, item.sentence_end)
        for item in figure.mentions
        if item.passage_id in passages and item.rule != "range"
    )
    return [passages[name][start:end] for name, start, end in places]


def _own_system(figure: Figure, held: frozenset[str]) -> Iterator[Label]:
    """The body system a clinical image's caption names, where it is not among its article's."""
    tallies: Tallies = {}
    count_words(tallies, load("body_system"), "caption", (figure.caption,), _CAPTION)
    yield from _where_different(figure.id, figure.article_id, "body_system", tallies, held)


def _of_case(
    case: Case, said: Sequence[Statement], passages: Mapping[str, str], held: Held
) -> Iterator[Label]:
    told = " ".join(
        passages[span.passage_id][span.start : span.end] for span in case.spans if span.passage_id in passages
    )[:_CASE_TEXT]
    for facet in topic.FACETS:
        tallies: Tallies = {}
        stated = [item.text for item in said if item.place == "passage"]
        count_words(tallies, load(facet), "case", stated, _STATEMENT)
        count_words(tallies, load(facet), "case", (told,), _TOLD)
        yield from _where_different(case.id, case.article_id, facet, tallies, held[facet])


def _region_of(
    case: Case, said: Sequence[Statement], captions: Mapping[str, str], titles: Sequence[str]
) -> Iterator[Label]:
    """The region of the body a case is about: its story names many, its diagnosis and its images few."""
    stated = [item.text for item in said if item.place != "title"]
    shown = [captions[name] for name in case.figures if name in captions]
    yield from region.labels(case.id, case.article_id, region.of_case(stated, titles, shown), "")


def _where_different(
    record: str, article: str, facet: topic.TopicFacet, tallies: Tallies, held: frozenset[str]
) -> Iterator[Label]:
    made = list(topic.labels(record, article, facet, tallies))
    if made[0].value and made[0].value not in held and tallies[made[0].value].points >= _MIN_OWN:
        yield made[0]


# Named function, not a lambda: stages travel to worker processes.
def _record_ids(
    article: Article, figures: Sequence[Figure], _: Sequence[Passage], cases: Sequence[Case], *__: object
) -> list[str]:
    panels = (panel.id for figure in figures for panel in figure.panels)
    return [article.id, *(figure.id for figure in figures), *panels, *(case.id for case in cases)]


LABELS = RecordStage(
    name="labels",
    version=11,
    inputs=(
        Input("parse.articles", Article, by="id"),
        Input("extract.figures", Figure, by="article_id"),
        Input("extract.passages", Passage, by="article_id"),
        Input("cases.cases", Case, by="article_id"),
        Input("images.images", FigureImage, by="article_id"),
        Input("ground.mentions", Mention, by="article_id"),
        Input("diagnoses.diagnoses", PrincipalDiagnosis, by="article_id"),
    ),
    outputs=(
        Table("labels", Label, ("id", "facet", "rank")),
        Table("records", RecordLabels, ("id",)),
    ),
    process=label,
    accounts=(Account("record", _record_ids, "records", "id"),),
)
