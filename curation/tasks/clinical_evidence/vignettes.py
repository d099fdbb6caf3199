"""Vignettes of case reports: the story up to a decision, and the question what should be decided.

After R2MED (arXiv 2505.14558), whose vignettes come from exams; here the answer is what the authors did, by
offsets into their report.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Final, get_args

import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.cases.roles import Role
from curation.fidelity.meanings import VocabularyMeanings, meanings
from curation.prompts.intent import SCENARIOS, Scenario
from curation.tasks.clinical_evidence.decisions import FINDERS, cut_before
from curation.tasks.clinical_evidence.records import Decision, Vignette
from curation.tasks.clinical_evidence.rules import RuleReason
from curation.tasks.clinical_evidence.settings import REASONS, OwnReason, Settings
from curation.tasks.shared.bars import article_bar
from curation.tasks.shared.case_facts import why_unpaired
from curation.tasks.shared.case_reports import CaseReport
from curation.tasks.shared.case_text import CaseText, assemble
from curation.tasks.shared.hide import (
    Sentence,
    case_sentences,
    hide,
    places_of,
    text_of,
    wordings_of,
)
from curation.tasks.shared.mining.index import indexed
from curation.tasks.shared.mining.records import IndexedDocument
from curation.tasks.shared.passages import drop_passages, passage_document
from curation.tasks.shared.wordings import near
from curation.tasks.shared.words import word_count
from schemas.article import Article
from schemas.benchmark import Document, Evidence, Transform
from schemas.case import Case
from schemas.concept import DocumentConcept, Mention
from schemas.diagnosis import PrincipalDiagnosis
from schemas.extracted import Passage, Source
from schemas.hashing import sha256_text
from schemas.ids import query_id
from schemas.label import RecordLabels
from schemas.stages import Account, Drop, Input, Reason, RecordStage, Table

NAME = "clinical_evidence"
ASKED: Final[Mapping[Scenario, str]] = {
    "examination": "Which examination should be done next?",
    "diagnosis": "What is the most likely diagnosis?",
    "treatment": "What should the treatment be?",
}
"""What is asked at the end of a vignette of each scenario."""
QUESTION_RULE = "question"
"""Transform that adds the question to the text of a case."""
_ALL_ROLES: Final[frozenset[Role]] = frozenset(get_args(Role))
_TREATS = "T061"
"""UMLS type Therapeutic or Preventive Procedure."""
Row = Vignette | Decision | Document | IndexedDocument | Drop
Made = tuple[Vignette, Decision]


def vignettes(
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
    """Passages of one article, and vignettes of its cases: every case and scenario a Vignette or a Drop.

    Args:
        source: the article.
        articles: the same as parsed.
        cases: its cases.
        passages: its passages.
        mentions: concepts named in it.
        named: the same, summed up.
        labels: what its cases are about.
        diagnoses: principal diagnoses of its cases.
        settings: what they are made with.
        names: Parquet of ConceptName rows of the vocabulary.
        types: Parquet of its ConceptType rows.
        relations: Parquet of its ConceptRelation rows.
    """
    yield from _documents(source, cases, passages, mentions, settings)
    if not cases:
        return
    report = CaseReport.of(
        source, articles, passages, mentions, named, labels, diagnoses, types=types, relations=relations
    )
    barred = article_bar(source, settings.licence_profile, judges_books=False)
    for case in sorted(cases, key=lambda item: item.number):
        if barred:
            made: dict[Scenario, Made | Drop] = {
                scenario: _drop(case, scenario, *barred) for scenario in SCENARIOS
            }
        else:
            made = _of_case(report, articles, case, settings, names, types)
        yield from _one(case, made) if settings.one_per_patient else _all(made)


def _documents(
    source: Source,
    cases: Sequence[Case],
    passages: Sequence[Passage],
    mentions: Sequence[Mention],
    settings: Settings,
) -> Iterator[Document | IndexedDocument | Drop]:
    """Every eligible passage; one that tells a case of the article says which."""
    barred = article_bar(source, settings.licence_profile)
    if barred:
        yield from drop_passages(passages, *barred)
        return
    told = {span.passage_id: case.id for case in cases for span in case.spans}
    named: dict[str, list[Mention]] = {}
    for mention in mentions:
        named.setdefault(mention.text_id, []).append(mention)
    for passage in passages:
        row = passage_document(NAME, source, passage, min_words=settings.min_document_words)
        if isinstance(row, Document):
            yield replace(row, patient_id=told.get(passage.id, ""))
            yield indexed(row, named.get(passage.id, ()))
        else:
            yield row


def _of_case(
    report: CaseReport,
    articles: Sequence[Article],
    case: Case,
    settings: Settings,
    names: Path,
    types: Path,
) -> dict[Scenario, Made | Drop]:
    whole = assemble(case, report.passages, report.later, report.source.language)
    if whole is None:
        lost = "a passage of the case is not there"
        return {scenario: _drop(case, scenario, Reason.RECORD_INVALID, lost) for scenario in SCENARIOS}
    if whole.language.split("-")[0] != "en":
        spoken = whole.language
        return {
            scenario: _drop(case, scenario, OwnReason.LANGUAGE_NOT_READ, spoken) for scenario in SCENARIOS
        }
    return {
        "diagnosis": _diagnosis(report, articles, case, whole, settings, names),
        "examination": _decided(report, case, whole, "examination", settings, names, types),
        "treatment": _decided(report, case, whole, "treatment", settings, names, types),
    }


def _decided(
    report: CaseReport,
    case: Case,
    whole: CaseText,
    scenario: Scenario,
    settings: Settings,
    names: Path,
    types: Path,
) -> Made | Drop:
    """The vignette that ends before an examination or a treatment."""
    sentences = list(case_sentences(report, case))
    answer = FINDERS[scenario](sentences, report.mentions, _treatments(types))
    if answer is None:
        return _drop(case, scenario, OwnReason.NO_DECISION, "")
    at = cut_before(sentences, answer)
    text = text_of(report, case, sentences[:at], _ALL_ROLES)
    words = word_count(text.released) if text else 0
    if text is None or words < settings.min_words:
        return _drop(case, scenario, _short(at, answer.at), f"{words} words before {answer.words[0]!r}")
    if answer.at - at > settings.max_gap:
        gap = f"{answer.at - at} sentences before {answer.words[0]!r}"
        return _drop(case, scenario, Reason.REVEALED_EARLY, gap)
    told = sentences[answer.at]
    span = told.span
    targets = _targets(report, told, answer.words, meanings(names, types, report.concepts))
    if not targets:
        return _drop(case, scenario, RuleReason.NO_TARGET, ", ".join(answer.words))
    vignette = _vignette(
        report,
        case,
        text,
        scenario,
        targets=targets,
        answer=told.text,
        answer_words=answer.words,
        evidence=(Evidence(text_id=span.passage_id, start=span.start, end=span.end, text=told.text),),
    )
    return vignette, _cut(vignette, whole, sentences[at], "answer" if at == answer.at else "hint")


def _targets(
    report: CaseReport, told: Sentence, words: Sequence[str], known: VocabularyMeanings
) -> tuple[str, ...]:
    """Specific concepts that the words of an answer name."""
    said = [word.lower() for word in words]
    inside = [
        item.concept
        for item in report.mentions
        if item.text_id == told.span.passage_id
        and told.span.start <= item.start
        and item.end <= told.span.end
        and known.answers(item.concept)
        and any(word in item.text.lower() or item.text.lower() in word for word in said)
    ]
    return tuple(dict.fromkeys(inside))


def _short(at: int, told: int) -> Reason:
    return Reason.REVEALED_EARLY if at < told else Reason.SHORT_CASE


def _diagnosis(
    report: CaseReport,
    articles: Sequence[Article],
    case: Case,
    whole: CaseText,
    settings: Settings,
    names: Path,
) -> Made | Drop:
    """The vignette that ends before the diagnosis is given away, as a query of clinical_case does."""
    found = report.diagnoses.get(case.id)
    open_because = why_unpaired(found, report.concepts, settings.min_confidence)
    if found is None or open_because:
        return _drop(case, "diagnosis", *(open_because or (Reason.OPEN_DIAGNOSIS, "")))
    close = near(found.concept, report.concepts, settings.max_family)
    wordings = wordings_of(report, articles, found.concept, close, whole.language, names)
    if wordings is None:
        spoken = f"{found.concept} in {whole.language}"
        return _drop(case, "diagnosis", Reason.NOT_NAMED_IN_LANGUAGE, spoken)
    hidden = hide(report, case, wordings, places_of(report, close))
    words = word_count(hidden.text.released) if hidden.text else 0
    if hidden.text is None or words < settings.min_words or hidden.revealed is None:
        reason = Reason.REVEALED_EARLY if hidden.revealed else OwnReason.NO_DECISION
        return _drop(case, "diagnosis", reason, f"{words} words before it is told")
    cut = hidden.revealed
    sentences = list(case_sentences(report, case))
    places = [
        item for item in sentences if item.span.passage_id == cut.passage_id and item.span.end >= cut.end
    ]
    told = places[0]
    vignette = _vignette(
        report,
        case,
        hidden.text,
        "diagnosis",
        targets=(found.concept,),
        answer=found.name,
        answer_words=(found.name,),
        evidence=tuple(
            Evidence(text_id=item.text_id, start=item.start, end=item.end, text=item.text)
            for item in found.evidence
        ),
    )
    return vignette, _cut(vignette, whole, replace(told, text=cut.text), cut.how, (cut.start, cut.end))


def _cut(
    vignette: Vignette,
    whole: CaseText,
    sentence: Sentence,
    how: str,
    place: tuple[int, int] | None = None,
) -> Decision:
    start, end = place or (sentence.span.start, sentence.span.end)
    found = whole.locate(sentence.span.passage_id, start, end)
    assert found is not None and vignette.scenario, vignette.unit
    return Decision(
        vignette_id=vignette.id,
        case_id=vignette.patient_id,
        scenario=vignette.scenario,
        start=found[0],
        end=found[1],
        text=sentence.text,
        how=how,
    )


def _vignette(
    report: CaseReport, case: Case, text: CaseText, scenario: Scenario, **answered: object
) -> Vignette:
    asked = f"\n{ASKED[scenario]}"
    whole = text.released + asked
    added = Transform(start=len(text.released), end=len(whole), original="", rule=QUESTION_RULE)
    return Vignette(
        id=query_id(NAME, whole),
        unit=unit_of(case, scenario),
        origin="case",
        scenario=scenario,
        text=whole,
        language=text.language,
        source_id=case.id,
        article_id=report.source.id,
        patient_id=case.id,
        license=report.source.licence.spdx,
        license_evidence=report.source.licence.evidence,
        text_sha256=sha256_text(text.source),
        transforms=(*text.transforms, added),
        is_synthetic=report.source.is_synthetic,
        specialty=report.first(case.id, "specialties"),
        **answered,  # type: ignore[arg-type]
    )


def _one(case: Case, made: Mapping[Scenario, Made | Drop]) -> Iterator[Row]:
    """One vignette of a case, its scenario drawn by hash; the others are dropped for it."""
    possible = [scenario for scenario, item in made.items() if not isinstance(item, Drop)]
    chosen = min(possible, key=lambda scenario: sha256_text(unit_of(case, scenario)), default=None)
    for scenario, item in made.items():
        if isinstance(item, Drop):
            yield item
        elif scenario == chosen:
            yield from item
        else:
            yield _drop(case, scenario, OwnReason.OTHER_SCENARIO, f"the case makes one of {chosen}")


def _all(made: Mapping[Scenario, Made | Drop]) -> Iterator[Row]:
    for item in made.values():
        yield from (item,) if isinstance(item, Drop) else item


def unit_of(case: Case, scenario: Scenario) -> str:
    """What the account counts: a case and one of the scenarios."""
    return f"{case.id}/{scenario}"


def _drop(case: Case, scenario: Scenario, reason: StrEnum, detail: str) -> Drop:
    unit = unit_of(case, scenario)
    return Drop(unit="vignette", id=unit, article_id=case.article_id, reason=reason, detail=detail)


@functools.lru_cache(maxsize=2)
def _treatments(types: Path) -> frozenset[str]:
    """Concepts that are substances or treatments."""
    chosen = (pc.field("group") == "CHEM") | (pc.field("semantic_type") == _TREATS)
    return frozenset(pq.read_table(types, columns=["concept"], filters=chosen)["concept"].to_pylist())


def passage_ids(
    source: Source,
    articles: Sequence[Article],
    cases: Sequence[Case],
    passages: Sequence[Passage],
    *_: object,
) -> list[str]:
    """What the account of documents counts."""
    return [passage.id for passage in passages]


def units(source: Source, articles: Sequence[Article], cases: Sequence[Case], *_: object) -> list[str]:
    """What the account counts."""
    return [unit_of(case, scenario) for case in cases for scenario in SCENARIOS]


PER_ARTICLE = RecordStage(
    name=NAME,
    version=10,
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
        Table("vignettes", Vignette, ("unit",)),
        Table("decisions", Decision, ("case_id", "scenario")),
        Table("documents", Document, ("id",)),
        Table("indexed", IndexedDocument, ("corpus_id",)),
    ),
    process=vignettes,
    accounts=(
        Account("vignette", units, "vignettes", "unit"),
        Account("passage", passage_ids, "documents", "id"),
    ),
    settings=Settings,
    reasons=REASONS,
    resources=("names", "types", "relations"),
)
