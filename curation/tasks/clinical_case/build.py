"""Clinical case retrieval: presentation and findings of a patient must find others with the same disease.

The diagnosis is hidden: the query is cut before the first words that give it away. After the case retrieval
of R2MED (arXiv 2505.14558), which publishes no diagnosis, so that nobody can check that a pair shares one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from curation.tasks.clinical_case.clues import GIVES_AWAY, HIDDEN, read_clues
from curation.tasks.clinical_case.records import Clue, Cut
from curation.tasks.clinical_case.settings import Settings
from curation.tasks.clinical_case.sql import NAME
from curation.tasks.shared.bars import article_bar
from curation.tasks.shared.case_facts import why_unpaired
from curation.tasks.shared.case_reports import (
    ACCOUNTS,
    FACTS,
    CaseReport,
    Fact,
    drop_both,
    drop_query,
)
from curation.tasks.shared.case_text import CaseText, assemble
from curation.tasks.shared.hide import Hidden, Revealed, hide, places_of, wordings_of
from curation.tasks.shared.wordings import near
from curation.tasks.shared.words import word_count
from schemas.article import Article
from schemas.benchmark import Document, Query
from schemas.case import Case
from schemas.concept import DocumentConcept, Mention
from schemas.diagnosis import PrincipalDiagnosis
from schemas.extracted import Passage, Source
from schemas.hashing import sha256_text
from schemas.ids import query_id
from schemas.label import RecordLabels
from schemas.stages import Drop, Input, Reason, RecordStage, Table

Row = Query | Document | Cut | Clue | Fact | Drop


def build(
    source: Source,
    articles: Sequence[Article],
    cases: Sequence[Case],
    passages: Sequence[Passage],
    mentions: Sequence[Mention],
    named: Sequence[DocumentConcept],
    labels: Sequence[RecordLabels],
    diagnoses: Sequence[PrincipalDiagnosis],
    *,
    settings: Settings,
    names: Path,
    types: Path,
    relations: Path,
) -> Iterator[Row]:
    """Queries and documents of one article's cases, and what their pairs rest on.

    Args:
        source: the article.
        articles: the same as parsed: short forms it explains, and cases that go on in a later document.
        cases: its cases.
        passages: its passages.
        mentions: concepts named in it.
        named: the same, summed up.
        labels: what its cases are about.
        diagnoses: principal diagnoses of its cases.
        settings: what it is built with.
        names: Parquet of ConceptName rows of the vocabulary.
        types: Parquet of its ConceptType rows.
        relations: Parquet of its ConceptRelation rows.

    Yields:
        Every case as a Document or a Drop and as a Query or a Drop; of every Document its facts; of a Query
        where it was cut, and what in it points to the diagnosis.
    """
    if not cases:
        return
    report = CaseReport.of(
        source, articles, passages, mentions, named, labels, diagnoses, types=types, relations=relations
    )
    barred = article_bar(source, settings.licence_profile, judges_books=False)
    for case in sorted(cases, key=lambda item: item.number):
        if barred:
            yield from drop_both(case, *barred)
        else:
            yield from _case(report, articles, case, settings, names, relations)


def _case(
    report: CaseReport,
    articles: Sequence[Article],
    case: Case,
    settings: Settings,
    names: Path,
    relations: Path,
) -> Iterator[Row]:
    """One case: its document, its query, its facts."""
    text = assemble(case, report.passages, report.later, report.source.language)
    if text is None:
        yield from drop_both(case, Reason.RECORD_INVALID, "a passage of the case is not there")
        return
    words = word_count(text.released)
    if words < settings.min_words:
        yield from drop_both(case, Reason.SHORT_CASE, f"{words} words")
        return
    document = report.document(NAME, case, text)
    found = report.diagnoses.get(case.id)
    open_because = why_unpaired(found, report.concepts, settings.min_confidence)
    yield document
    yield from report.facts(case, text, None if open_because else found, settings.max_family)
    if found is None or open_because:
        yield drop_query(case, *(open_because or (Reason.OPEN_DIAGNOSIS, "")))
        return
    close = near(found.concept, report.concepts, settings.max_family)
    wordings = wordings_of(report, articles, found.concept, close, text.language, names)
    if wordings is None:
        yield drop_query(case, Reason.NOT_NAMED_IN_LANGUAGE, f"{found.concept} in {text.language}")
        return
    hidden = hide(report, case, wordings, places_of(report, close))
    words = word_count(hidden.text.released) if hidden.text else 0
    if hidden.text is None or words < settings.min_words:
        yield _dropped(case, hidden, words)
        return
    yield from _query(report, document, text, hidden, found.concept, close, settings, relations)


def _dropped(case: Case, hidden: Hidden, words: int) -> Drop:
    """A case that tells too little before it gives its diagnosis away, or too little at all."""
    if hidden.revealed is None:
        return drop_query(case, Reason.SHORT_CASE, f"{words} words of presentation and findings")
    cut = hidden.revealed
    return drop_query(case, Reason.REVEALED_EARLY, f"{words} words before {cut.text[:80]!r} ({cut.how})")


def _query(
    report: CaseReport,
    document: Document,
    whole: CaseText,
    hidden: Hidden,
    concept: str,
    close: frozenset[str],
    settings: Settings,
    relations: Path,
) -> Iterator[Row]:
    """The query of a case, where it was cut, and what in it points to the diagnosis."""
    text = hidden.text
    assert text is not None
    clues = read_clues(relations)
    pointing = clues.of(close, settings.max_diseases) if clues else {}
    name = query_id(NAME, text.released)
    given = [
        Clue(query_id=name, case_id=document.id, concept=item.concept, kind=pointing[item.concept],
             start=place[0], end=place[1], text=item.text)
        for item in report.mentions
        if item.concept in pointing and (place := text.locate(item.text_id, item.start, item.end))
    ]  # fmt: skip
    yield Query(
        id=name,
        task=NAME,
        text=text.released,
        language=text.language,
        source_id=document.id,
        article_id=document.article_id,
        license=document.license,
        license_evidence=document.license_evidence,
        text_sha256=sha256_text(text.source),
        transforms=text.transforms,
        is_synthetic=document.is_synthetic,
        targets=(concept,),
        hides_target=True,
        patient_id=document.patient_id,
        specialty=document.specialty,
        region=report.first(document.id, "regions"),
        scenario="case",
        tier="" if clues is None else GIVES_AWAY if given else HIDDEN,
    )
    yield from {(item.concept, item.start): item for item in given}.values()
    if hidden.revealed:
        yield _cut(name, document.id, whole, hidden.revealed)


def _cut(query: str, case: str, whole: CaseText, revealed: Revealed) -> Cut:
    place = whole.locate(revealed.passage_id, revealed.start, revealed.end)
    assert place is not None, case
    return Cut(
        query_id=query, case_id=case, start=place[0], end=place[1], text=revealed.text, how=revealed.how
    )


PER_ARTICLE = RecordStage(
    name=NAME,
    version=7,
    inputs=(
        Input("extract.sources", Source, by="id"),
        Input("parse.articles", Article, by="id"),
        Input("cases.cases", Case, by="article_id"),
        Input("extract.passages", Passage, by="article_id"),
        Input("ground.mentions", Mention, by="article_id"),
        Input("ground.concepts", DocumentConcept, by="article_id"),
        Input("labels.records", RecordLabels, by="article_id"),
        Input("diagnoses.diagnoses", PrincipalDiagnosis, by="article_id"),
    ),
    outputs=(
        Table("queries", Query, ("id", "source_id")),
        Table("documents", Document, ("id",)),
        Table("cuts", Cut, ("case_id",)),
        Table("gives_away", Clue, ("case_id", "concept", "start")),
        *FACTS,
    ),
    process=build,
    accounts=ACCOUNTS,
    settings=Settings,
    resources=("names", "types", "relations"),
)
