"""Questions of collections as vignettes, by the rules; and what of their rewrites is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from curation.concepts.annotate import Text, annotate
from curation.concepts.opening import open_backend
from curation.diagnosis.concepts import Concepts
from curation.fidelity.compare import Change, Found, changes
from curation.fidelity.leaks import Leak, leaks, says
from curation.fidelity.meanings import VocabularyMeanings, meanings
from curation.tasks.clinical_evidence.asking import EXAMS
from curation.tasks.clinical_evidence.records import Intent, Rewrite, Vignette
from curation.tasks.clinical_evidence.rules import RuleReason, why_not
from curation.tasks.clinical_evidence.settings import REASONS, OwnReason, Settings
from curation.tasks.clinical_evidence.vignettes import NAME
from curation.tasks.shared.case_facts import read_concepts
from curation.tasks.shared.questions import answer_of, family_of, source_of
from curation.tasks.shared.wordings import Wordings, near, read_names, word_counts
from schemas.concept import Mention
from schemas.extracted import Source
from schemas.hashing import sha256_text
from schemas.ids import query_id
from schemas.licences import is_allowed
from schemas.question import Question, QuestionCollection
from schemas.stages import Account, Drop, Input, Reason, RecordStage, Table

_BACKEND = "native"


def exams(
    collection: QuestionCollection,
    questions: Sequence[Question],
    *,
    settings: Settings,
    vocabulary: Path,
    names: Path,
    types: Path,
    relations: Path,
) -> Iterator[Vignette | Source | Drop]:
    """Each question of a collection as a vignette that still has to be rewritten, or why it makes none.

    Args:
        collection: a file of questions.
        questions: its questions.
        settings: what they are made with.
        vocabulary: index of the native matcher.
        names: Parquet of ConceptName rows of the vocabulary.
        types: Parquet of its ConceptType rows.
        relations: Parquet of its ConceptRelation rows.
    """
    known = meanings(names, types, read_concepts(types, relations))
    yield source_of(collection)
    for question in sorted(questions, key=lambda item: (item.number, item.id)):
        yield _exam(question, settings, vocabulary, known)


def _exam(
    question: Question, settings: Settings, vocabulary: Path, known: VocabularyMeanings
) -> Vignette | Drop:
    if question.language.split("-")[0] != "en":
        return _drop(question.id, question.collection, OwnReason.LANGUAGE_NOT_READ, question.language)
    if not is_allowed(question.licence.spdx, settings.licence_profile):
        return _drop(question.id, question.collection, Reason.LICENCE_NOT_ALLOWED, question.licence.spdx)
    answer = answer_of(question)
    named = mentions_in(answer, vocabulary)
    targets = tuple(dict.fromkeys(item.concept for item in named if known.answers(item.concept)))
    broken = why_not(question, targets, settings.min_words)
    told = next(says(question.text, answer, mentions_in(question.text, vocabulary), named, known), "")
    if broken is None and told:
        broken = RuleReason.NAMES_ANSWER, told
    if broken is not None:
        return _drop(question.id, question.collection, *broken)
    return Vignette(
        id=query_id(NAME, question.text),
        unit=question.id,
        origin="question",
        scenario="",
        text=question.text,
        language=question.language,
        source_id=question.id,
        article_id=question.collection,
        license=question.licence.spdx,
        license_evidence=question.licence.evidence,
        text_sha256=sha256_text(question.text),
        is_synthetic=question.is_synthetic,
        family=family_of(question),
        targets=targets,
        answer=answer,
        answer_words=(answer,),
        explanation=question.explanation,
        options=question.options,
        correct=question.correct,
    )


def checked(
    vignette: Vignette,
    rewrites: Sequence[Rewrite],
    intents: Sequence[Intent],
    *,
    settings: Settings,
    vocabulary: Path,
    names: Path,
    types: Path,
    relations: Path,
    definitions: Path,
) -> Iterator[Vignette | Drop]:
    """A question as it was rewritten, if that says what the question says and does not tell the answer.

    Args:
        vignette: of a question.
        rewrites: what a model made of it, one or none.
        intents: what it asks for, one or none.
        settings: what it is made with.
        vocabulary: index of the native matcher.
        names: Parquet of ConceptName rows of the vocabulary.
        types: Parquet of its ConceptType rows.
        relations: Parquet of its ConceptRelation rows.
        definitions: Parquet of its ConceptDefinition rows.
    """
    if not rewrites:
        yield _drop(vignette.unit, vignette.article_id, OwnReason.LEFT_OUT_BEFORE, "")
        return
    concepts = read_concepts(types, relations)
    text, known = rewrites[0].text, meanings(names, types, concepts, definitions)
    found = faults(vignette, text, settings, vocabulary, names, known, concepts)
    if found:
        yield _drop(vignette.unit, vignette.article_id, found[0].reason, found[0].detail)
        return
    yield replace(
        vignette,
        id=query_id(NAME, text),
        scenario=intents[0].scenario,
        text=text,
        text_sha256=sha256_text(text),
    )


def faults(
    vignette: Vignette,
    text: str,
    settings: Settings,
    vocabulary: Path,
    names: Path,
    known: VocabularyMeanings,
    concepts: Concepts,
) -> list[Found]:
    """All that is wrong with a rewrite, what tells the answer first."""
    told, retold = mentions_in(vignette.text, vocabulary), mentions_in(text, vocabulary)
    named = mentions_in(vignette.answer, vocabulary)
    others = [option.text for option in vignette.options if option.letter not in vignette.correct]
    found = [*leaks(text, vignette.answer, others, vignette.text, retold, named, known)]
    for concept in vignette.targets:
        close = near(concept, concepts, settings.max_family)
        wordings = Wordings.of(concept, read_names(names, close), (), (), word_counts(names, concepts))
        hit = wordings.find(text)
        if hit is not None and wordings.find(vignette.text) is None:
            found.append(Found(Leak.ANSWER_LEFT, text[hit.start : hit.end]))
    return [*found, *changes(vignette.text, text, told, retold, known)]


def mentions_in(text: str, vocabulary: Path) -> list[Mention]:
    """Concepts named in a text, those inside longer names too."""
    return annotate("", [Text("text", text)], open_backend(_BACKEND, vocabulary), overlaps=True)


def _drop(unit: str, collection: str, reason: StrEnum, detail: str) -> Drop:
    return Drop(unit="question", id=unit, article_id=collection, reason=reason, detail=detail)


def _question_ids(_: QuestionCollection, questions: Sequence[Question]) -> list[str]:
    return [question.id for question in questions]


def _unit(vignette: Vignette, *_: object) -> list[str]:
    return [vignette.unit]


_RESOURCES = ("vocabulary", "names", "types", "relations")
QUESTIONS = RecordStage(
    name=f"{NAME}_questions",
    version=2,
    inputs=(
        Input("questions.collections", QuestionCollection, by="id"),
        Input("questions.questions", Question, by="collection"),
    ),
    outputs=(Table("vignettes", Vignette, ("unit",)), Table("sources", Source, ("id",))),
    process=exams,
    accounts=(Account("question", _question_ids, "vignettes", "unit"),),
    settings=Settings,
    reasons=REASONS,
    resources=_RESOURCES,
)
CHECKED = RecordStage(
    name=f"{NAME}_checked",
    version=8,
    inputs=(
        Input(EXAMS, Vignette, by="unit"),
        Input(f"{NAME}_rewrites.rewrites", Rewrite, by="unit"),
        Input(f"{NAME}_intents.intents", Intent, by="unit"),
    ),
    outputs=(Table("vignettes", Vignette, ("unit",)),),
    process=checked,
    accounts=(Account("question", _unit, "vignettes", "unit"),),
    settings=Settings,
    reasons=REASONS | frozenset(Change) | frozenset(Leak),
    resources=(*_RESOURCES, "definitions"),
)
